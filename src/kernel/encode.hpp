// Features become integer codes that keep their order; near-equal values share a code.
#pragma once

#include <algorithm>
#include <cmath>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "common.hpp"
#include "hot.hpp"
#include "layout.hpp"

namespace tripletree {

// Values that differ by rounding count as equal. Rounding errors are a few units in the last place of the numbers that were added
// up: of a value's own size, or, near 0, of the size that the feature usually has. That is told by the middle seven eighths of its
// samples, which neither an outlier nor a spell of rest can move; the share leaves room for errors that pile up.
constexpr double equal_share = 0x1p-31;  // of the range of the middle samples
constexpr double own_share = 0x1p-50;    // of a value itself
constexpr size_t outer_part = 16;        // one sample in so many lies below the middle ones, and one above

// Writes eight words, the first of which begins a cache line: past the caches, where that can be said.
inline void write_line(uint64_t* to, const uint64_t* line) {
#if defined(__SSE2__)
    for (int k = 0; k < 4; ++k) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + k, _mm_load_si128(reinterpret_cast<const __m128i*>(line) + k));
#else
    std::memcpy(to, line, 8 * sizeof(uint64_t));
#endif
}

// Puts word(0) .. word(n - 1) into buckets, of which next[bucket(word)] is the place of the next word. In a long log the caches cannot hold
// a line of memory for every bucket until it is full; so each is collected here, and written as a whole.
constexpr size_t long_list = size_t{1} << 19;
template <class Word, class Bucket>
void scatter(size_t n, const Word& word, const Bucket& bucket, std::vector<uint32_t>& next, uint64_t* to, const Flag& cancel) {
    if (n < long_list)
        return in_steps(n, cancel, [&](size_t a, size_t b) {
            for (size_t i = a; i < b; ++i) to[next[bucket(word(i))]++] = word(i);
        });
    const std::vector<uint32_t> start = next;
    const Array<uint64_t> lines = make_array<uint64_t>(8 * next.size());
    in_steps(n, cancel, [&, next = next.data(), start = start.data(), lines = lines.get()](size_t a, size_t b) {
        for (size_t i = a; i < b; ++i) {
            const uint64_t here = word(i);
            const size_t k = bucket(here);
            const uint32_t at = next[k]++;
            lines[8 * k + at % 8] = here;
            if (at % 8 < 7) continue;
            if (at - 7 >= start[k]) write_line(to + at - 7, lines + 8 * k);
            else std::copy(lines + 8 * k + start[k] % 8, lines + 8 * k + 8, to + start[k]);
        }
    });
    for (size_t k = 0; k < next.size(); ++k) {
        const uint32_t from = std::max(start[k], next[k] / 8 * 8);
        std::copy(lines.get() + 8 * k + from % 8, lines.get() + 8 * k + from % 8 + (next[k] - from), to + from);
    }
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

// Words of key << 32 | place, sorted by key: two passes over its upper bits, so many that few words share them, and then those.
inline void sort_keys(const uint32_t* keys, size_t n, uint64_t* words, uint64_t* spare, const Flag& cancel) {
    auto word = [=](size_t i) { return static_cast<uint64_t>(keys[i]) << 32 | i; };
    if (n < 512) {
        for (size_t i = 0; i < n; ++i) words[i] = word(i);
        std::sort(words, words + n);
        return;
    }
    const int bits = n < long_list ? 11 : 12, buckets = 1 << bits, low = 64 - 2 * bits, high = 64 - bits;
    std::vector<uint32_t> places_low(static_cast<size_t>(buckets), 0), places_high(static_cast<size_t>(buckets), 0);
    uint32_t *count_low = places_low.data(), *count_high = places_high.data();
    in_steps(n, cancel, [=](size_t a, size_t b) {
        for (size_t i = a; i < b; ++i) ++count_low[keys[i] >> (low - 32) & (buckets - 1)], ++count_high[keys[i] >> (high - 32)];
    });
    uint32_t at_low = 0, at_high = 0;
    for (int b = 0; b < buckets; ++b) {
        std::swap(count_low[b], at_low), at_low += count_low[b];
        std::swap(count_high[b], at_high), at_high += count_high[b];
    }
    scatter(n, word, [=](uint64_t word) { return word >> low & (buckets - 1); }, places_low, spare, cancel);
    scatter(n, [=](size_t i) { return spare[i]; }, [=](uint64_t word) { return word >> high; }, places_high, words, cancel);
    for (size_t from = 1; from < n;) {
        stop_if(cancel);
        const size_t to = std::min(n, from + (step >> 4)), i = hot.first_descent(words, from, to);
        from = i;
        if (i == to) continue;
        size_t a = i - 1, b = i + 1;
        while (a > 0 && words[a - 1] >> low == words[i] >> low) --a;
        while (b < n && words[b] >> low == words[i] >> low) ++b;
        std::sort(words + a, words + b);
        from = b;
    }
}

// One feature: where its values are, and the window in which keys are linear. Values outside it have the first or the last key.
struct Column {
    const double* x;
    size_t stride;
    double scale, low, width;     // a power of two, and the window of the values times that: neither overflows
    bool more_below, more_above;  // whether there are values outside
    double at(uint64_t word) const { return x[(word & 0xffffffffu) * stride]; }
    double per_key() const { return width / scale / 4294967295.0; }
    // A little more than it should be, so that the last value surely has the last key. 0 for a constant.
    double per_step() const { return width > 0 ? 4294967295.0 / width * (1 + 0x1p-50) : 0; }
    // Whether a key has no values but those within its step.
    bool inside(uint64_t key) const { return key == 0 ? !more_below : key == UINT32_MAX ? !more_above : true; }
};

// Whether all words have one value. Values are fetched ahead of their use: in memory they are far apart.
inline bool all_alike(const uint64_t* words, size_t count, const Column& column) {
    constexpr size_t piece = 64;
    const double first = column.at(words[0]);
    for (size_t a = 1; a < count; a += piece) {
        bool alike = true;
        const size_t b = std::min(count, a + piece), more = std::min(count, b + piece);
        for (size_t i = b; i < more; ++i) __builtin_prefetch(column.x + (words[i] & 0xffffffffu) * column.stride);
        for (size_t i = a; i < b; ++i) alike &= column.at(words[i]) == first;
        if (!alike) return false;
    }
    return true;
}

struct Entry {
    double value;
    uint64_t word;
    bool operator<(const Entry& other) const { return value < other.value; }
};

// Puts words in the order of their values. In pieces, because there may be as many as there are samples, and Ctrl-C must not wait.
inline void sort_by_value(uint64_t* words, size_t count, const Column& column, const Flag& cancel, std::vector<Entry>& entries) {
    entries.resize(count);
    for (size_t i = 0; i < count; ++i) entries[i] = {column.at(words[i]), words[i]};
    const auto place = [&](size_t i) { return entries.begin() + static_cast<std::ptrdiff_t>(std::min(i, count)); };
    size_t piece = size_t{1} << 17;
    for (size_t i = 0; i < count; i += piece) stop_if(cancel), std::sort(place(i), place(i + piece));
    for (; piece < count; piece *= 2)
        for (size_t i = 0; i < count; i += 2 * piece) stop_if(cancel), std::inplace_merge(place(i), place(i + piece), place(i + 2 * piece));
    for (size_t i = 0; i < count; ++i) words[i] = entries[i].word;
}

// The value at a place of the sorted list; words are sorted by key.
inline double value_at(uint64_t* words, size_t n, size_t place, const Column& column, const Flag& cancel, std::vector<Entry>& entries) {
    size_t from = place, to = place + 1;
    while (from > 0 && words[from - 1] >> 32 == words[place] >> 32) --from;
    while (to < n && words[to] >> 32 == words[place] >> 32) ++to;
    if (!all_alike(words + from, to - from, column)) sort_by_value(words + from, to - from, column, cancel, entries);
    return column.at(words[place]);
}

// The distance up to which values near 0 count as equal. Where the middle samples are all alike, some of the outer ones join them.
inline double tolerance(uint64_t* words, size_t n, const Column& column, const Flag& cancel, std::vector<Entry>& entries) {
    for (size_t outer = std::min((n + outer_part - 1) / outer_part, (n - 1) / 2);; outer /= 2) {
        const double low = value_at(words, n, outer, column, cancel, entries), high = value_at(words, n, n - 1 - outer, column, cancel, entries);
        if (low < high || outer == 0) return high * equal_share - low * equal_share;
    }
}

// Samples before each cluster of near-equal values (ascending), closed by n; words are sorted by key. Each value belongs to the first
// of its cluster, so that no chain of them can be longer than the tolerance. Returns their number.
inline size_t clusters(uint64_t* words, size_t n, const Column& column, const Flag& cancel, uint32_t* starts) {
    std::vector<Entry> entries;
    const double equal = tolerance(words, n, column, cancel, entries);
    // Values whose keys are further apart than this are surely different. (With room for rounded keys, and for a first value that
    // lies outside the window.)
    const double size = std::max(std::fabs(column.low), std::fabs(column.low + column.width)) / column.scale;
    const double far = 2 * std::max(equal, own_share * size) / column.per_key() + 2;
    const uint64_t limit = far < 4294967295.0 ? static_cast<uint64_t>(far) : UINT32_MAX;
    auto near = [=](size_t i) { return (words[i] >> 32) - (words[i - 1] >> 32) <= limit; };
    size_t found = 0, next = 0;
    auto divide = [&](size_t from, size_t to) {  // neighbours whose keys are near
        starts[found++] = static_cast<uint32_t>(from);
        // Values with one key are nearer than its step (a little more, with the rounding): as a rule one that repeats a lot.
        const uint64_t key = words[from] >> 32;
        if (key == words[to - 1] >> 32 && 1.001 * column.per_key() <= equal && column.inside(key)) return;
        if (all_alike(words + from, to - from, column)) return;
        sort_by_value(words + from, to - from, column, cancel, entries);
        double first = entries[0].value;
        for (size_t i = 1; i < to - from; ++i) {
            if (!(entries[i].value - first > std::max(equal, own_share * std::fabs(first)))) continue;
            first = entries[i].value;
            starts[found++] = static_cast<uint32_t>(from + i);
        }
    };
    in_steps(n, cancel, [&](size_t, size_t b) {
        while (next < b) {
            const size_t i = hot.first_near(words, next + 1, b, limit) - 1;
            for (size_t k = next; k < i; ++k) starts[found + k - next] = static_cast<uint32_t>(k);  // as a rule
            found += i - next, next = i + 1;
            while (next < n && near(next)) ++next;
            divide(i, next);
        }
    });
    starts[found] = static_cast<uint32_t>(n);
    return found;
}

// The first cluster of each of about `bins` bins, closed by the number of clusters: bins of equally many samples, and one of its
// own for each of the `heavy` clusters that fill one.
inline std::vector<size_t> divide_clusters(const uint32_t* starts, size_t k, const std::vector<size_t>& heavy, size_t bins) {
    const uint64_t n = starts[k];
    std::vector<size_t> firsts;
    if (k <= bins) {
        for (size_t i = 0; i <= k; ++i) firsts.push_back(i);
        return firsts;
    }
    size_t i = 0;
    auto next_heavy = heavy.begin();
    for (uint64_t full = 0; i < k;) {  // samples x bins before the end of the bin under way
        firsts.push_back(i);
        if (starts[i] * bins >= full) full = (starts[i] * bins / n + 1) * n;
        next_heavy = std::lower_bound(next_heavy, heavy.end(), i);
        if (next_heavy != heavy.end() && *next_heavy == i) {
            ++i;
            continue;
        }
        const auto end = static_cast<size_t>(std::lower_bound(starts + i + 1, starts + k, (full + bins - 1) / bins) - starts);
        i = next_heavy == heavy.end() ? end : std::min(end, *next_heavy);
    }
    firsts.push_back(k);
    return firsts;
}

// The clusters of at least n / bins samples.
inline std::vector<size_t> heavy_clusters(const uint32_t* starts, size_t k, size_t bins) {
    std::vector<size_t> heavy;
    const auto least = static_cast<uint32_t>((starts[k] + bins - 1) / bins);
    constexpr size_t many = 64;
    for (size_t a = 0; a < k; a += many) {
        const size_t b = std::min(k, a + many);
        uint32_t any = 0;
        for (size_t i = a; i < b; ++i) any |= starts[i + 1] - starts[i] >= least ? 1u : 0u;
        for (size_t i = a; i < b && any; ++i)
            if (starts[i + 1] - starts[i] >= least) heavy.push_back(i);
    }
    return heavy;
}

// The same for at most `bins` bins. Those of repeated values come on top, so fewer are asked for until all fit.
inline std::vector<size_t> divide_at_most(const uint32_t* starts, size_t k, size_t bins) {
    for (size_t want = bins;;) {
        std::vector<size_t> firsts = divide_clusters(starts, k, heavy_clusters(starts, k, want), want);
        if (firsts.size() - 1 <= bins) return firsts;
        const size_t excess = firsts.size() - 1 - bins;
        want = want > excess ? want - excess : 1;
    }
}

// What a thread needs to sort n values. The thread that calls takes it, see Room in grow.hpp.
struct Words {
    Array<uint64_t> words;
    bool fresh = true;
    uint64_t* spare;  // the second half; both begin where a cache line does
    explicit Words(size_t n) : words(make_array<uint64_t>(2 * n + 8)), spare(words.get() + (n + 7) / 8 * 8) {}
};

// Whether a feature has two values only, the first of them with key 0, the other with the last.
inline bool two_values(const uint32_t* keys, size_t n, const Column& column, double lo, double hi, const Flag& cancel) {
    if (!(hi - lo > std::max(equal_share * hi - equal_share * lo, own_share * std::fabs(lo)))) return false;
    for (size_t a = 0; a < n; a += 4096) {
        bool two = true;
        if (a % step == 0) stop_if(cancel);
        for (size_t i = a; i < std::min(n, a + 4096); ++i) two &= keys[i] + 1 < 2;
        for (size_t i = a; i < std::min(n, a + 4096) && two; ++i) two &= column.x[i * column.stride] == (keys[i] ? hi : lo);
        if (!two) return false;
    }
    return true;
}

// Codes of one feature from its keys, in place: one per cluster.
inline void encode_feature(uint32_t* codes, size_t n, const Column& column, double lo, double hi, size_t bins, const Flag& cancel, Words& room) {
    if (two_values(codes, n, column, lo, hi, cancel))
        return in_steps(n, cancel, [=](size_t a, size_t b) {
            for (size_t i = a; i < b; ++i) codes[i] = codes[i] ? 1u << offset_bits : 0;
        });
    uint64_t *const words = room.words.get(), *const spare = room.spare;
    // Memory is given when first touched, which may take long: a step of the sort would touch all of it.
    if (room.fresh)
        in_steps(2 * n, cancel, [=](size_t a, size_t b) {
            for (size_t i = a; i < b; i += 512) words[i] = 0;
        });
    room.fresh = false;
    sort_keys(codes, n, words, spare, cancel);
    auto* const starts = reinterpret_cast<uint32_t*>(spare);  // not needed any more
    const size_t k = clusters(words, n, column, cancel, starts);
    const std::vector<size_t> firsts = divide_at_most(starts, k, bins);
    uint32_t unit = 1u << spare_bits;  // of all offsets
    for (size_t bin = 0; bin + 1 < firsts.size(); ++bin)
        if (firsts[bin + 1] - firsts[bin] > offset_mask / unit) unit = 1;
    for (size_t bin = 0; bin + 1 < firsts.size(); ++bin) {
        const size_t first = firsts[bin], size = firsts[bin + 1] - first;
        const uint32_t spread = size == 1 ? 0 : offset_mask / static_cast<uint32_t>(size) / unit * unit,
                       lowest = static_cast<uint32_t>(bin) << offset_bits | (spread > 0 ? unit : 0);
        const size_t from = starts[first], to = starts[first + size];
        if (to - from == size) {  // as a rule
            for (size_t q = from; q < to; ++q) codes[words[q] & 0xffffffffu] = lowest + static_cast<uint32_t>(q - from) * spread;
        } else {
            for (size_t c = 0; c < size; ++c)
                for (size_t q = starts[first + c]; q < starts[first + c + 1]; ++q) codes[words[q] & 0xffffffffu] = lowest + static_cast<uint32_t>(c) * spread;
        }
        stop_if(cancel);
    }
}

// The window of a feature that reaches from lo to hi: some of its values, spaced evenly over the log, tell where most of them are.
// It changes the speed, not the codes.
inline Column make_column(const double* x, size_t n, size_t stride, double lo, double hi) {
    const double scale = std::isinf(hi - lo) ? 0.5 : hi - lo < 0x1p-900 ? 0x1p200 : 1.0;
    double low = lo * scale, high = hi * scale;
    constexpr size_t sample = 512, outer = sample / 32;
    if (n >= 8 * sample) {
        double some[sample];
        for (size_t i = 0; i < sample; ++i) some[i] = x[i * n / sample * stride] * scale;
        std::nth_element(some, some + outer, some + sample);
        const double a = some[outer];
        std::nth_element(some, some + sample - 1 - outer, some + sample);
        const double b = some[sample - 1 - outer], margin = (b - a) / 4;
        if (margin > 0) low = std::max(low, a - margin), high = std::min(high, b + margin);
    }
    return {x, stride, scale, low, high - low, low > lo * scale, high < hi * scale};
}

// Codes of all features, feature after feature. Eight of them (a cache line of the states) are read at a time.
inline void encode(const double* states, size_t n, size_t d, size_t bins, std::vector<Words>& room, Team& team, const Flag& cancel, uint32_t* codes) {
    constexpr size_t side = 8, block = 1 << 13;
    const size_t blocks = (n + block - 1) / block;
    for (size_t f0 = 0; f0 < d; f0 += side) {
        const size_t width = std::min(side, d - f0);
        std::vector<double> lo(blocks * side, HUGE_VAL), hi(blocks * side, -HUGE_VAL);
        Column columns[side];
        double scale[side], low[side], per_step[side];
        team.run(static_cast<int>(blocks), [&](int task, int) {
            stop_if(cancel);
            const size_t t = static_cast<size_t>(task), a = t * block, b = std::min(n, a + block);
            double *l = lo.data() + t * side, *h = hi.data() + t * side;
            bool finite = true;
            if (width == side) finite = hot.widen_ranges(states + a * d + f0, b - a, d, true, l, h);
            else
                for (size_t k = 0; k < width; ++k) finite &= hot.widen_ranges(states + a * d + f0 + k, b - a, d, false, l + k, h + k);
            if (!finite) throw std::invalid_argument("states must be finite");
        });
        for (size_t k = 0; k < width; ++k) {
            for (size_t t = 1; t < blocks; ++t) lo[k] = std::min(lo[k], lo[t * side + k]), hi[k] = std::max(hi[k], hi[t * side + k]);
            columns[k] = make_column(states + f0 + k, n, d, lo[k], hi[k]);
            scale[k] = columns[k].scale, low[k] = columns[k].low, per_step[k] = columns[k].per_step();
        }
        team.run(static_cast<int>(blocks), [&](int task, int) {
            stop_if(cancel);
            const size_t a = static_cast<size_t>(task) * block, b = std::min(n, a + block);
            hot.make_keys(states + a * d + f0, b - a, d, width, scale, low, per_step, codes + f0 * n + a, n);
        });
        team.run(static_cast<int>(width), [&](int task, int thread) {
            const auto k = static_cast<size_t>(task), t = static_cast<size_t>(thread);
            if (columns[k].width > 0) encode_feature(codes + (f0 + k) * n, n, columns[k], lo[k], hi[k], bins, cancel, room[t]);
        });
    }
}

}  // namespace tripletree
