// The exact best split of a set of rows: bins of a few rows, opened only where a better cut may hide.
#pragma once

#include <algorithm>

#include "histogram.hpp"
#include "split.hpp"

namespace tripletree {

constexpr size_t rows_per_bin = 16, sort_limit = 32;

// A range of neighbouring samples along one feature that may hide the best cut.
struct Item {
    double bound;
    int feature;
    size_t begin, count;     // rows, in Search::ids
    size_t base;             // centred sums before it, in Search::bases
    double left, left_d;
    bool operator<(const Item& other) const { return bound < other.bound; }
};

struct Search {
    Best best;
    Centre centre;
    Scan scan;
    std::vector<Item> items;
    std::vector<uint32_t> ids, opened, codes, start, sorted, lo;
    std::vector<double> bases, base, sums, zero;
    std::vector<CodeRange> ranges;
    std::vector<float> factor;
    std::vector<uint16_t> local;  // bins by row and feature
    std::vector<Block> generic;
    double min_leaf = 1;
};

// How a range of codes is divided: a few repeated values get one bin each; else there are bins of a few rows.
struct Ruler {
    size_t bins;
    bool repeated;
    float factor;
    Ruler(const CodeRange& range, size_t count) {
        const size_t usual = std::max<size_t>(4, count / rows_per_bin), values = ((range.hi - range.lo) >> offset_bits) + 1;
        repeated = !range.offsets && values <= std::max<size_t>(32, usual);
        bins = repeated ? values : usual;
        factor = repeated ? 1.0f / (1u << offset_bits) : static_cast<float>(static_cast<double>(bins) / (static_cast<double>(range.hi - range.lo) + 1) * (1 - 1e-6));
    }
};

// A short range along one feature: all its cuts.
inline void weigh_all(const Table& table, Search& s, int feature, const uint32_t* ids, size_t count, const Base& base) {
    uint32_t codes[sort_limit];
    uint64_t keys[sort_limit];
    double gain[sort_limit];
    hot.gather_codes(table, static_cast<size_t>(feature), ids, count, codes);
    for (size_t i = 0; i < count; ++i) {
        const uint64_t key = static_cast<uint64_t>(codes[i]) << 32 | ids[i];
        size_t j = i;
        for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
        keys[j] = key;
    }
    hot.try_all(table, s.centre, s.min_leaf, keys, count, base, s.generic[0].lane, gain);
    for (size_t i = 0; i < count; ++i)
        if (gain[i] > 0) s.best.offer(gain[i], feature, base.left + static_cast<double>(i + 1), static_cast<uint32_t>(keys[i] >> 32));
}

// A longer range along one feature: edges of its bins, and the hopeful bins for later. `local` holds the rows' bins, `stride` apart.
inline void weigh_bins(const Table& table, Search& s, int feature, const Ruler& ruler, const uint16_t* local, size_t stride, const uint32_t* ids, size_t count,
                       const Base& base) {
    const size_t width = static_cast<size_t>(table.lanes.width), bins = ruler.bins;
    if (s.sorted.size() < count) s.sorted.resize(count);
    if (s.start.size() < 3 * bins + 1) s.start.resize(3 * bins + 1);
    hot.sort_into_bins(local, stride, ids, count, bins, s.start.data(), s.sorted.data());
    if (s.sums.size() < bins * width) s.sums.resize(bins * width);
    s.scan.reserve(bins, width);
    const uint32_t* start = s.start.data();
    hot.bin_sums(table, s.sorted.data(), start, bins, s.sums.data());
    hot.scan_bins(s.sums.data(), bins, table.square_unit, table.lanes, s.centre, base, s.generic[0].lane, s.scan);
    const size_t marked = hot.mark_bins(bins, s.centre, s.best.floor(), s.scan);
    for (size_t k = 0; k < marked; ++k) {
        const size_t b = s.scan.marked[k];
        const double gain = hot.bin_gain(b, s.centre, s.min_leaf, s.scan);
        if (gain <= 0 || gain < s.best.floor()) continue;
        uint32_t cut = 0;
        for (uint32_t i = start[b]; i < start[b + 1]; ++i) cut = std::max(cut, table.codes[s.sorted[i] * table.d + static_cast<size_t>(feature)]);
        s.best.offer(gain, feature, s.scan.before[b] + s.scan.count[b], cut);
    }
    if (ruler.repeated) return;  // nothing inside
    for (size_t k = 0; k < marked; ++k) {
        const size_t b = s.scan.marked[k];
        if (s.scan.hope[b] < 2) continue;
        const double bound = hot.bin_bound(b, table.lanes, s.centre, s.min_leaf, s.scan);
        if (bound < s.best.floor()) continue;
        s.items.push_back({bound, feature, s.ids.size(), start[b + 1] - start[b], s.bases.size(), s.scan.before[b], s.centre.two_groups ? s.scan.before_d[b] : 0});
        s.ids.insert(s.ids.end(), s.sorted.begin() + start[b], s.sorted.begin() + start[b + 1]);
        const auto prefix = s.scan.prefix.begin() + static_cast<std::ptrdiff_t>(b * width);
        s.bases.insert(s.bases.end(), prefix, prefix + static_cast<std::ptrdiff_t>(width));
    }
}

// One range along one feature.
inline void weigh_range(const Table& table, Search& s, int feature, const uint32_t* ids, size_t count, const Base& base) {
    if (count <= sort_limit) return weigh_all(table, s, feature, ids, count, base);
    const auto f = static_cast<size_t>(feature);
    CodeRange range;
    hot.code_ranges(table, f, f + 1, ids, count, &range);
    if (range.lo == range.hi) return;
    const Ruler ruler(range, count);
    if (s.local.size() < count) s.local.resize(count);
    hot.bin_rows(table, f, f + 1, ids, count, &range.lo, &ruler.factor, s.local.data());
    weigh_bins(table, s, feature, ruler, s.local.data(), 1, ids, count, base);
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
        s.opened.assign(s.ids.data() + item.begin, s.ids.data() + item.begin + item.count);
        s.base.assign(s.bases.data() + item.base, s.bases.data() + item.base + table.lanes.width);
        weigh_range(table, s, item.feature, s.opened.data(), item.count, {s.base.data(), item.left, item.left_d});
        for (size_t i = before; i < s.items.size(); ++i) std::push_heap(s.items.begin(), s.items.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    s.items.clear();
    s.ids.clear();
    s.bases.clear();
}

// The best split of a small node, whose rows stay in the cache.
inline void search_small(const Table& table, const uint32_t* order, size_t count, Search& s) {
    const size_t d = table.d;
    const Base origin{s.zero.data(), 0, 0};
    if (count <= sort_limit) {
        for (size_t f = 0; f < d; ++f) weigh_all(table, s, static_cast<int>(f), order, count, origin);
        return;
    }
    s.ranges.resize(d), s.lo.resize(d), s.factor.resize(d);
    if (s.local.size() < count * d) s.local.resize(count * d);
    hot.code_ranges(table, 0, d, order, count, s.ranges.data());
    for (size_t f = 0; f < d; ++f) s.lo[f] = s.ranges[f].lo, s.factor[f] = Ruler(s.ranges[f], count).factor;
    hot.bin_rows(table, 0, d, order, count, s.lo.data(), s.factor.data(), s.local.data());
    for (size_t f = 0; f < d; ++f)
        if (s.ranges[f].lo < s.ranges[f].hi) weigh_bins(table, s, static_cast<int>(f), Ruler(s.ranges[f], count), s.local.data() + f, d, order, count, origin);
    open_items(table, s);
}

// The best split of a large node from its histogram; rows are fetched only for the bins that are opened.
inline void search_histogram(const Table& table, const uint32_t* order, size_t count, const double* histogram, Search& s, const Flag& cancel) {
    const size_t width = static_cast<size_t>(table.lanes.width), d = table.d;
    struct Hope {
        double bound;
        size_t feature, bin, base, count;
        double left, left_d;
    };
    std::vector<Hope> hopes;
    std::vector<double> bases;
    for (size_t f = 0; f < d; ++f) {
        const size_t first = table.first_bin[f], bins = table.first_bin[f + 1] - first;
        s.scan.reserve(bins, width);
        hot.scan_bins(histogram + first * width, bins, table.square_unit, table.lanes, s.centre, {s.zero.data(), 0, 0}, s.generic[0].lane, s.scan);
        const size_t marked = hot.mark_bins(bins, s.centre, s.best.floor(), s.scan);
        for (size_t k = 0; k < marked; ++k) {
            const size_t b = s.scan.marked[k];
            const double gain = hot.bin_gain(b, s.centre, s.min_leaf, s.scan);
            if (gain > 0) s.best.offer(gain, static_cast<int>(f), s.scan.before[b] + s.scan.count[b], static_cast<uint32_t>(b) << offset_bits | offset_mask);
        }
        for (size_t k = 0; k < marked; ++k) {
            const size_t b = s.scan.marked[k];
            if (s.scan.hope[b] < 2 || table.one_value[first + b]) continue;
            const double bound = hot.bin_bound(b, table.lanes, s.centre, s.min_leaf, s.scan);
            if (bound < s.best.floor()) continue;
            hopes.push_back({bound, f, b, bases.size(), static_cast<size_t>(s.scan.count[b]), s.scan.before[b], s.centre.two_groups ? s.scan.before_d[b] : 0});
            const auto prefix = s.scan.prefix.begin() + static_cast<std::ptrdiff_t>(b * width);
            bases.insert(bases.end(), prefix, prefix + static_cast<std::ptrdiff_t>(width));
        }
    }
    // One feature after the other, the one with the highest bound first: what it yields may leave the others without hope.
    std::stable_sort(hopes.begin(), hopes.end(), [](const Hope& a, const Hope& b) { return a.bound > b.bound; });
    std::vector<uint32_t> slot, fill;
    std::vector<bool> done(d, false);
    for (const Hope& lead : hopes) {
        if (lead.bound < s.best.floor()) break;
        const size_t f = lead.feature;
        if (done[f]) continue;
        done[f] = true;
        stop_if(cancel);
        slot.assign(table.first_bin[f + 1] - table.first_bin[f], UINT32_MAX);
        fill.clear();
        size_t rows = 0;
        for (const Hope& h : hopes) {
            if (h.feature != f || h.bound < s.best.floor()) continue;
            slot[h.bin] = static_cast<uint32_t>(fill.size());
            fill.push_back(static_cast<uint32_t>(rows));
            s.items.push_back({h.bound, static_cast<int>(f), rows, h.count, s.bases.size(), h.left, h.left_d});
            const auto base = bases.begin() + static_cast<std::ptrdiff_t>(h.base);
            s.bases.insert(s.bases.end(), base, base + static_cast<std::ptrdiff_t>(width));
            rows += h.count;
        }
        s.ids.resize(rows);
        for (size_t i = 0; i < count; ++i) {
            const uint32_t k = slot[table.codes[order[i] * d + f] >> offset_bits];
            if (k != UINT32_MAX) s.ids[fill[k]++] = order[i];
        }
        open_items(table, s);
    }
}

}  // namespace tripletree
