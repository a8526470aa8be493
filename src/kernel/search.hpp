// The exact best split of a set of rows held close together: bins of a few rows, opened only where a better cut may hide.
#pragma once

#include "histogram.hpp"

namespace tripletree {

constexpr size_t rows_per_bin = 8, sort_limit = 40;

// Rows copied together, so that every feature's pass finds them in the cache. Local numbers 0 .. size-1.
struct Pool {
    std::vector<int32_t> y;             // size x width
    std::vector<double> squares, squares_d;
    std::vector<uint32_t> codes;        // feature after feature, `size` each
    size_t size = 0;
};

// A range of neighbouring samples along one feature that may hide the best cut.
struct Item {
    double bound;
    int feature;
    const uint32_t* codes;   // by local number
    size_t begin, count;     // local numbers, in Search::ids
    size_t base;             // centred sums before it, in Search::bases
    double left, left_d;
    bool operator<(const Item& other) const { return bound < other.bound; }
};

struct Search {
    Pool pool;
    Best best;
    Centre centre;
    Scan scan;
    std::vector<Item> items;
    std::vector<uint32_t> ids, bucket, start, sorted;
    std::vector<double> bases, sums, zero, generic;
    std::vector<uint64_t> keys;
    double min_leaf = 1;
    bool one_code_per_bin = false;  // of the last sort_into_bins: nothing to open
};

// Copies rows into the pool; codes of all features, or of one only.
TT_CLONES void fill_pool(const Table& table, const uint32_t* order, size_t count, int only_feature, Pool& pool) {
    const size_t width = static_cast<size_t>(table.lanes.width), d = table.d;
    pool.size = count;
    const size_t features = only_feature < 0 ? d : 1;
    if (pool.y.size() < count * width) pool.y.resize(count * width);
    if (pool.squares.size() < count) pool.squares.resize(count), pool.squares_d.resize(count);
    if (pool.codes.size() < count * features) pool.codes.resize(count * features);
    for (size_t i = 0; i < count; ++i) {
        const size_t row = order[i];
        if (i + 16 < count) {
            const size_t ahead = order[i + 16];
            __builtin_prefetch(table.rows + ahead * width);
            __builtin_prefetch(table.codes + ahead * d);
            __builtin_prefetch(table.squares.data() + ahead);
        }
        std::memcpy(pool.y.data() + i * width, table.rows + row * width, width * sizeof(int32_t));
        pool.squares[i] = static_cast<double>(table.squares[row]);
        if (table.missing) pool.squares_d[i] = static_cast<double>(table.squares_d[row]);
        if (only_feature >= 0) pool.codes[i] = table.codes[row * d + static_cast<size_t>(only_feature)];
    }
    if (only_feature >= 0) return;
    constexpr size_t block = 16;  // a cache line of codes of each feature at a time
    for (size_t a = 0; a < count; a += block) {
        const size_t b = std::min(a + block, count);
        for (size_t f = 0; f < d; ++f)
            for (size_t i = a; i < b; ++i) pool.codes[f * count + i] = table.codes[order[i] * d + f];
    }
}

// Sorts local numbers into bins along a feature; returns the number of bins, 0 if there is one code only.
TT_CLONES size_t sort_into_bins(const uint32_t* codes, const uint32_t* ids, size_t count, Search& s) {
    uint32_t lo = UINT32_MAX, hi = 0, offsets = 0;
    for (size_t i = 0; i < count; ++i) {
        const uint32_t c = ids ? codes[ids[i]] : codes[i];
        lo = std::min(lo, c), hi = std::max(hi, c), offsets |= c & offset_mask;
    }
    if (lo == hi) return 0;
    if (s.bucket.size() < count) s.bucket.resize(count), s.sorted.resize(count);
    size_t bins;
    uint32_t* bucket = s.bucket.data();
    s.one_code_per_bin = !offsets;
    if (!offsets) {  // a few repeated values: one bin each
        bins = ((hi - lo) >> offset_bits) + 1;
        for (size_t i = 0; i < count; ++i) bucket[i] = ((ids ? codes[ids[i]] : codes[i]) - lo) >> offset_bits;
    } else {
        bins = std::max<size_t>(4, count / rows_per_bin);
        const uint64_t factor = (static_cast<uint64_t>(bins) << 32) / (static_cast<uint64_t>(hi - lo) + 1);
        if (ids)
            for (size_t i = 0; i < count; ++i) bucket[i] = static_cast<uint32_t>((codes[ids[i]] - lo) * factor >> 32);
        else
            for (size_t i = 0; i < count; ++i) bucket[i] = static_cast<uint32_t>((codes[i] - lo) * factor >> 32);
    }
    s.start.assign(bins + 2, 0);
    uint32_t* start = s.start.data() + 2;  // shifted, so that after placing start[-1 + b] is where bin b begins
    for (size_t i = 0; i < count; ++i) ++start[bucket[i]];
    uint32_t at = 0;
    for (size_t b = 0; b < bins; ++b) at += start[b], start[b] = at;
    --start;
    for (size_t i = 0; i < count; ++i) s.sorted[start[bucket[i]]++] = ids ? ids[i] : static_cast<uint32_t>(i);
    return bins;
}

template <int NV>
TT_INLINE void bin_sums_impl(const Lanes& lanes, const Pool& pool, bool missing, const uint32_t* sorted, const uint32_t* start, size_t bins, double* sums) {
    const int nv = NV ? NV : lanes.vectors;
    const size_t width = static_cast<size_t>(nv) * 8;
    for (size_t b = 0; b < bins; ++b) {
        double* record = sums + b * width;
        const uint32_t begin = start[b], end = start[b + 1];
        if (begin == end) {
            record[lanes.count()] = 0;
            continue;
        }
        double q = 0, q_d = 0;
        for (uint32_t i = begin; i < end; ++i) q += pool.squares[sorted[i]];
        if (missing)
            for (uint32_t i = begin; i < end; ++i) q_d += pool.squares_d[sorted[i]];
        if (NV) {
            V8 total[NV ? NV : 1] = {};
            // Targets have 24 bits, so 127 of them fit an int32 lane.
            for (uint32_t a = begin; a < end; a += 127) {
                I8 part[NV ? NV : 1] = {};
                const uint32_t z = std::min(end, a + 127);
                for (uint32_t i = a; i < z; ++i) {
                    const auto* y = reinterpret_cast<const I8*>(pool.y.data() + sorted[i] * width);
                    for (int j = 0; j < nv; ++j) part[j] += y[j];
                }
                for (int j = 0; j < nv; ++j) total[j] += __builtin_convertvector(part[j], V8);
            }
            for (int j = 0; j < nv; ++j) reinterpret_cast<V8*>(record)[j] = total[j];
        } else {
            std::memset(record, 0, width * sizeof(double));
            for (uint32_t i = begin; i < end; ++i) {
                const auto* y = reinterpret_cast<const I8*>(pool.y.data() + sorted[i] * width);
                for (int j = 0; j < nv; ++j) reinterpret_cast<V8*>(record)[j] += __builtin_convertvector(y[j], V8);
            }
        }
        record[lanes.count()] = end - begin;
        record[lanes.squares()] = q;
        record[lanes.derivative_squares()] = q_d;
    }
}

TT_CLONES void bin_sums(const Lanes& lanes, const Pool& pool, bool missing, const uint32_t* sorted, const uint32_t* start, size_t bins, double* sums) {
    switch (lanes.vectors) {
        case 1: return bin_sums_impl<1>(lanes, pool, missing, sorted, start, bins, sums);
        case 2: return bin_sums_impl<2>(lanes, pool, missing, sorted, start, bins, sums);
        case 3: return bin_sums_impl<3>(lanes, pool, missing, sorted, start, bins, sums);
        case 4: return bin_sums_impl<4>(lanes, pool, missing, sorted, start, bins, sums);
        case 8: return bin_sums_impl<8>(lanes, pool, missing, sorted, start, bins, sums);
        default: return bin_sums_impl<0>(lanes, pool, missing, sorted, start, bins, sums);
    }
}

template <int NV, bool TWO>
TT_INLINE void try_all_impl(const Lanes& lanes, const Centre& centre, double min_leaf, const Pool& pool, const uint64_t* keys, size_t count,
                            const Base& base, int feature, double* generic, Best& best) {
    const int nv = NV ? NV : lanes.vectors;
    const size_t width = static_cast<size_t>(nv) * 8;
    const auto *whole = reinterpret_cast<const V8*>(centre.whole.data()), *rest = reinterpret_cast<const V8*>(centre.rest.data()),
               *plain = reinterpret_cast<const V8*>(centre.plain.data()), *deriv = reinterpret_cast<const V8*>(centre.derivative.data());
    V8 local[NV ? NV : 1];
    V8* prefix = NV ? local : reinterpret_cast<V8*>(generic);
    for (int j = 0; j < nv; ++j) prefix[j] = reinterpret_cast<const V8*>(base.sums)[j];
    double left = base.left, left_d = base.left_d;
    for (size_t i = 0; i < count; ++i) {
        const int32_t* y = pool.y.data() + (keys[i] & 0xffffffffu) * width;
        const double has = TWO ? y[lanes.with_derivative()] : 0;
        for (int j = 0; j < nv; ++j) {
            const V8 v = __builtin_convertvector(reinterpret_cast<const I8*>(y)[j], V8);
            if (TWO) prefix[j] += v * (plain[j] + deriv[j]) - (plain[j] + has * deriv[j]) * whole[j];
            else prefix[j] += v * plain[j] - whole[j];
        }
        left += 1;
        left_d += has;
        // The end of the range was weighed as an edge already.
        if (i + 1 == count || keys[i] >> 32 == keys[i + 1] >> 32 || left < min_leaf || centre.n - left < min_leaf) continue;
        V8 a = {}, a_d = {};
        for (int j = 0; j < nv; ++j) {
            if (TWO) {
                const V8 u = prefix[j] - (left * plain[j] + left_d * deriv[j]) * rest[j];
                a += u * u * plain[j];
                a_d += u * u * deriv[j];
            } else {
                const V8 u = prefix[j] - left * rest[j];
                a += u * u;
            }
        }
        const double uu = horizontal_sum(a);
        const double gain = TWO ? gain_of(uu, left, horizontal_sum(a_d), left_d, centre.n, centre.nd) : gain_of(uu, left, centre.n);
        if (gain >= best.floor()) best.offer(gain, feature, left, static_cast<uint32_t>(keys[i] >> 32));
    }
}

// Weighs every cut inside a short range of samples, sorted by code.
TT_CLONES void try_all(const Lanes& lanes, const Centre& centre, double min_leaf, const Pool& pool, const uint64_t* keys, size_t count, const Base& base,
                       int feature, double* generic, Best& best) {
#define TT_CASE(NV)                                                                                                                    \
    if (centre.two_groups) try_all_impl<NV, true>(lanes, centre, min_leaf, pool, keys, count, base, feature, generic, best);            \
    else try_all_impl<NV, false>(lanes, centre, min_leaf, pool, keys, count, base, feature, generic, best);                            \
    return;
    switch (lanes.vectors) {
        case 1: TT_CASE(1)
        case 2: TT_CASE(2)
        case 3: TT_CASE(3)
        case 4: TT_CASE(4)
        default: TT_CASE(0)
    }
#undef TT_CASE
}

// Keeps the bins of the last scan whose bound leaves hope. `member(b)` gives a bin's local numbers.
template <class Members>
inline void keep_hopeful(Search& s, size_t bins, size_t width, int feature, const uint32_t* codes, const Members& members) {
    for (size_t b = 0; b < bins; ++b) {
        if (!(s.scan.bound[b] >= s.best.floor()) || s.scan.count[b] < 2) continue;
        Item item{s.scan.bound[b], feature, codes, s.ids.size(), 0, s.bases.size(), s.scan.before[b], s.centre.two_groups ? s.scan.before_d[b] : 0};
        item.count = members(b);
        if (!item.count) continue;
        const double* base = s.scan.prefix.data() + b * width;
        s.bases.insert(s.bases.end(), base, base + width);
        s.items.push_back(item);
    }
}

// One range along one feature: all cuts if it is short, else edges of bins and the hopeful bins for later.
inline void weigh_range(const Table& table, Search& s, int feature, const uint32_t* codes, const uint32_t* ids, size_t count, const Base& base) {
    const size_t width = static_cast<size_t>(table.lanes.width);
    if (count <= sort_limit) {
        s.keys.resize(count);
        for (size_t i = 0; i < count; ++i) {
            const uint32_t id = ids ? ids[i] : static_cast<uint32_t>(i);
            const uint64_t key = static_cast<uint64_t>(codes[id]) << 32 | id;
            size_t j = i;
            for (; j > 0 && s.keys[j - 1] > key; --j) s.keys[j] = s.keys[j - 1];
            s.keys[j] = key;
        }
        try_all(table.lanes, s.centre, s.min_leaf, s.pool, s.keys.data(), count, base, feature, s.generic.data(), s.best);
        return;
    }
    const size_t bins = sort_into_bins(codes, ids, count, s);
    if (!bins) return;
    if (s.sums.size() < bins * width) s.sums.resize(bins * width);
    s.scan.reserve(bins, width);
    const uint32_t* start = s.start.data();
    bin_sums(table.lanes, s.pool, table.missing, s.sorted.data(), start, bins, s.sums.data());
    scan_bins(s.sums.data(), bins, 1.0, table.lanes, s.centre, base, s.generic.data(), s.scan);
    weigh_bins(bins, s.centre, s.min_leaf, s.scan);
    for (size_t b = 0; b < bins; ++b)
        if (s.scan.gain[b] >= s.best.floor() && s.scan.gain[b] > 0) {
            uint32_t cut = 0;
            for (uint32_t i = start[b]; i < start[b + 1]; ++i) cut = std::max(cut, codes[s.sorted[i]]);
            s.best.offer(s.scan.gain[b], feature, s.scan.before[b] + s.scan.count[b], cut);
        }
    if (s.one_code_per_bin) return;
    keep_hopeful(s, bins, width, feature, codes, [&](size_t b) {
        s.ids.insert(s.ids.end(), s.sorted.begin() + start[b], s.sorted.begin() + start[b + 1]);
        return static_cast<size_t>(start[b + 1] - start[b]);
    });
}

// Opens the hopeful ranges, most promising first, until none can hold a better cut.
inline void open_items(const Table& table, Search& s) {
    std::make_heap(s.items.begin(), s.items.end());
    while (!s.items.empty() && s.items.front().bound >= s.best.floor()) {
        std::pop_heap(s.items.begin(), s.items.end());
        const Item item = s.items.back();
        s.items.pop_back();
        const size_t before = s.items.size();
        // Copies: opening may append to the vectors these live in.
        const std::vector<uint32_t> ids(s.ids.begin() + static_cast<std::ptrdiff_t>(item.begin), s.ids.begin() + static_cast<std::ptrdiff_t>(item.begin + item.count));
        const auto from = s.bases.begin() + static_cast<std::ptrdiff_t>(item.base);
        const std::vector<double> base(from, from + table.lanes.width);
        weigh_range(table, s, item.feature, item.codes, ids.data(), item.count, {base.data(), item.left, item.left_d});
        for (size_t i = before; i < s.items.size(); ++i) std::push_heap(s.items.begin(), s.items.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    s.items.clear();
    s.ids.clear();
    s.bases.clear();
}

// The best split of a small node, all its rows in the pool.
inline void search_pool(const Table& table, const uint32_t* order, size_t count, Search& s) {
    fill_pool(table, order, count, -1, s.pool);
    for (size_t f = 0; f < table.d; ++f) weigh_range(table, s, static_cast<int>(f), s.pool.codes.data() + f * count, nullptr, count, {s.zero.data(), 0, 0});
    open_items(table, s);
}

// The best split of a large node from its histogram; rows are fetched only for the bins that are opened.
inline void search_histogram(const Table& table, const uint32_t* order, size_t count, const double* histogram, Search& s, const Flag& cancel) {
    const size_t width = static_cast<size_t>(table.lanes.width);
    struct Hope {
        double bound;
        size_t feature, bin, base;
        double left, left_d;
        size_t count;
    };
    std::vector<Hope> hopes;
    std::vector<double> bases;
    for (size_t f = 0; f < table.d; ++f) {
        const size_t first = table.first_bin[f], bins = table.first_bin[f + 1] - first;
        s.scan.reserve(bins, width);
        scan_bins(histogram + first * width, bins, histogram_square_unit, table.lanes, s.centre, {s.zero.data(), 0, 0}, s.generic.data(), s.scan);
        weigh_bins(bins, s.centre, s.min_leaf, s.scan);
        for (size_t b = 0; b < bins; ++b)
            if (s.scan.gain[b] >= s.best.floor() && s.scan.gain[b] > 0)
                s.best.offer(s.scan.gain[b], static_cast<int>(f), s.scan.before[b] + s.scan.count[b], static_cast<uint32_t>(b) << offset_bits | offset_mask);
        for (size_t b = 0; b < bins; ++b)
            if (s.scan.bound[b] >= s.best.floor() && !table.one_value[first + b]) {
                hopes.push_back({s.scan.bound[b], f, b, bases.size(), s.scan.before[b], s.centre.two_groups ? s.scan.before_d[b] : 0, static_cast<size_t>(s.scan.count[b])});
                bases.insert(bases.end(), s.scan.prefix.begin() + static_cast<std::ptrdiff_t>(b * width), s.scan.prefix.begin() + static_cast<std::ptrdiff_t>((b + 1) * width));
            }
    }
    std::stable_sort(hopes.begin(), hopes.end(), [](const Hope& a, const Hope& b) { return a.bound > b.bound; });
    std::vector<uint32_t> slot, picked, fill;
    std::vector<bool> done(table.d, false);
    for (const Hope& lead : hopes) {  // one pass over the node for each feature with a hopeful bin, the best feature first
        if (lead.bound < s.best.floor()) break;
        if (done[lead.feature]) continue;
        const size_t f = lead.feature;
        done[f] = true;
        slot.assign(table.first_bin[f + 1] - table.first_bin[f], UINT32_MAX);
        fill.clear();
        size_t rows = 0;
        for (const Hope& h : hopes)
            if (h.feature == f && h.bound >= s.best.floor()) {
                slot[h.bin] = static_cast<uint32_t>(fill.size());
                fill.push_back(static_cast<uint32_t>(rows));
                s.items.push_back({h.bound, static_cast<int>(f), nullptr, rows, h.count, s.bases.size(), h.left, h.left_d});
                s.bases.insert(s.bases.end(), bases.begin() + static_cast<std::ptrdiff_t>(h.base), bases.begin() + static_cast<std::ptrdiff_t>(h.base + width));
                rows += h.count;
            }
        picked.resize(rows);
        for (size_t i = 0; i < count; ++i) {
            if ((i & 0xffff) == 0) stop_if(cancel);
            if (i + 16 < count) __builtin_prefetch(table.codes + order[i + 16] * table.d + f);
            const uint32_t k = slot[table.codes[order[i] * table.d + f] >> offset_bits];
            if (k != UINT32_MAX) picked[fill[k]++] = order[i];
        }
        fill_pool(table, picked.data(), rows, static_cast<int>(f), s.pool);
        s.ids.resize(rows);
        for (size_t i = 0; i < rows; ++i) s.ids[i] = static_cast<uint32_t>(i);
        for (Item& item : s.items) item.codes = s.pool.codes.data();
        open_items(table, s);
    }
}

}  // namespace tripletree
