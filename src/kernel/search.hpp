// The exact best split of a set of rows: runs of a few neighbours, opened only where a better cut may hide.
#pragma once

#include <algorithm>
#include <memory_resource>

#include "histogram.hpp"
#include "split.hpp"

namespace tripletree {

constexpr size_t short_list = size_t{1} << 16;  // so many places can be told apart by 16 bits

// A run of sorted rows that may hide the best cut.
struct Item {
    double bound;
    int feature;
    size_t begin, count;  // rows, in Search::ids
    size_t base;          // centred sums before it, in Search::bases
    double left, left_d, rows;
};

// A bin of a histogram that may hide the best cut.
struct Hope {
    double bound;
    size_t feature, bin;
    size_t base;  // centred sums before it, in Search::hope_bases
    size_t count;
    double left, left_d, rows;
};

// What one thread needs to search.
struct Search {
    std::pmr::monotonic_buffer_resource room;  // for nodes, which stay until all go: to free them one by one would take as long as to make them
    template <class T>
    T* make(size_t count) {
        T* made = static_cast<T*>(room.allocate(count * sizeof(T), alignof(T)));
        std::uninitialized_value_construct_n(made, count);
        return made;
    }
    double min_leaf = 1;
    double sure_above = 0;   // nodes of a higher priority are as good as sure to be split
    size_t all_at_once = 0;  // ranges of at most so many rows are not worth runs
    Best best;
    Centre centre;
    Scan scan;
    std::vector<Item> items;
    std::vector<Hope> hopes;
    Doubles bases, hope_bases, sums, zero;
    ShortSums shorts;
    std::vector<uint32_t> ids, id_values;     // rows of the items, and what tells their values apart
    std::vector<uint32_t> hopeful;            // rows of the hopeful bins of a feature
    std::vector<uint32_t> kept[most_blocks];  // the same, in the order of the node
    size_t opened = 0;                        // rows in the runs that were opened
    std::vector<uint32_t> rows, values, codes, words;
    std::vector<uint64_t> keys;
    std::vector<uint8_t> side;
    std::vector<uint16_t> places;
    std::vector<Cut> cuts;
    std::vector<Block> generic;
    // Rows before a bin of the last scan, and after it. Without weights rows are what is counted.
    double rows_before(size_t b) const { return centre.weighted ? scan.rows[b] : scan.before[b]; }
    double rows_after(size_t b) const { return centre.weighted ? scan.rows[b + 1] : scan.before[b] + scan.count[b]; }
    void prepare(size_t width, double least) {
        min_leaf = least;
        zero.assign(width, 0.0);
        generic.resize(width / 4);
        all_at_once = width <= 16 ? 128 : 32;
        for (auto* v : {&centre.whole, &centre.rest, &centre.plain, &centre.derivative}) v->assign(width, 0.0);
    }
    void make_room(size_t count) {  // for a list of so many places
        if (places.size() >= count) return;
        words.resize(2 * count), side.resize(count), places.resize(count);
    }
};

// Rows sorted along a feature, and what tells their values apart: by way of places in a list of rows, or as they are.
template <class Value>
struct Places {
    const uint32_t* rows;
    const uint16_t* list;
    const Value* values;  // by place; nullptr: all are different
    uint32_t row(size_t i) const { return rows[list[i]]; }
    uint32_t value(size_t i) const { return values ? values[list[i]] : static_cast<uint32_t>(i); }
    void sum_runs(const Table& table, size_t count, double* sums) const { hot.sum_places(table, rows, list, count, sums); }
};
struct Line {
    const uint32_t *rows, *values;
    uint32_t row(size_t i) const { return rows[i]; }
    uint32_t value(size_t i) const { return values[i]; }
    void sum_runs(const Table& table, size_t count, double* sums) const { hot.sum_rows_by_run(table, rows, count, sums); }
};

// All cuts inside a range of sorted rows.
inline void weigh_all(const Table& table, Search& s, int feature, const Line& line, size_t count, const Base& base) {
    if (s.cuts.size() < count) s.cuts.resize(count);
    const size_t found = hot.try_cuts(table, s.centre, s.min_leaf, line.rows, line.values, count, base, s.best.floor(), s.generic[0].lane, s.cuts.data());
    for (size_t k = 0; k < found; ++k) s.best.offer(s.cuts[k].gain, feature, base.rows + static_cast<double>(s.cuts[k].at), line.values[s.cuts[k].at - 1]);
}

// A range of rows with several values, sorted along a feature: edges of its runs, and the hopeful runs for later.
template <class Sorted>
void weigh_sorted(const Table& table, Search& s, int feature, const Sorted& line, size_t count, const Base& base) {
    const size_t width = static_cast<size_t>(table.lanes.width), length = run_length, runs = (count + length - 1) / length;
    auto keep = [&](size_t begin, size_t end) {
        const size_t at = s.ids.size();
        s.ids.resize(at + end - begin), s.id_values.resize(at + end - begin);
        uint32_t *ids = s.ids.data() + at, *values = s.id_values.data() + at;
        for (size_t i = begin; i < end; ++i) *ids++ = line.row(i), *values++ = line.value(i);
        return at;
    };
    if (count <= s.all_at_once) {
        const size_t at = keep(0, count);
        weigh_all(table, s, feature, {s.ids.data() + at, s.id_values.data() + at}, count, base);
        s.ids.resize(at), s.id_values.resize(at);
        return;
    }
    if (s.sums.size() < runs * width) s.sums.resize(runs * width);
    s.scan.reserve(runs, width);
    line.sum_runs(table, count, s.sums.data());
    hot.scan_bins(s.sums.data(), runs, table.square_unit, table.lanes, s.centre, base, s.generic[0].lane, s.scan);
    size_t marked = hot.mark_bins(runs, s.centre, s.best.floor(), s.scan);
    const double floor = s.best.floor();
    for (size_t k = 0; k < marked; ++k) {
        const size_t b = s.scan.marked[k], end = (b + 1) * length;
        if (end >= count) break;  // the end of the range is not inside it
        const double gain = hot.bin_gain(b, s.centre, s.min_leaf, s.scan);
        if (gain <= 0 || gain < s.best.floor()) continue;
        const uint32_t value = line.value(end - 1);
        if (value != line.value(end)) s.best.offer(gain, feature, s.rows_after(b), value);
    }
    if (s.best.floor() > floor) marked = hot.mark_bins(runs, s.centre, s.best.floor(), s.scan);
    for (size_t k = 0; k < marked; ++k) {
        const size_t b = s.scan.marked[k], begin = b * length, end = std::min(count, begin + length);
        if (s.scan.hope[b] < 2) continue;
        // To open a run of short rows costs no more than a closer look at its bound.
        const double bound = hot.bin_bound(b, table.lanes, s.centre, s.min_leaf, table.lanes.vectors > 3 ? s.best.floor() : 0, s.scan);
        if (bound < s.best.floor() || line.value(begin) == line.value(end - 1)) continue;
        s.items.push_back(
            {bound, feature, keep(begin, end), end - begin, s.bases.size(), s.scan.before[b], s.centre.two_groups ? s.scan.before_d[b] : 0, s.rows_before(b)});
        const auto prefix = s.scan.prefix.begin() + static_cast<std::ptrdiff_t>(b * width);
        s.bases.insert(s.bases.end(), prefix, prefix + static_cast<std::ptrdiff_t>(width));
    }
}

// Opens the hopeful runs, the most promising first: what it yields may leave most others without hope.
inline void open_runs(const Table& table, Search& s) {
    size_t most = 0;
    for (size_t k = 1; k < s.items.size(); ++k)
        if (s.items[k].bound > s.items[most].bound) most = k;
    if (!s.items.empty()) std::swap(s.items[0], s.items[most]);
    for (const Item& item : s.items) {
        if (item.bound < s.best.floor()) continue;
        weigh_all(table, s, item.feature, {s.ids.data() + item.begin, s.id_values.data() + item.begin}, item.count,
                  {s.bases.data() + item.base, item.left, item.left_d, item.rows});
        s.opened += item.count;
    }
    s.items.clear(), s.ids.clear(), s.id_values.clear(), s.bases.clear();
}

// A bin's rows, in any order.
inline void weigh_bin(const Table& table, Search& s, int feature, const uint32_t* rows, size_t count, const Base& base) {
    if (s.codes.size() < count) s.codes.resize(count);
    hot.gather_codes(table, static_cast<size_t>(feature), rows, count, s.codes.data());
    if (count <= short_list) {
        for (size_t i = 0; i < count; ++i) __builtin_prefetch(table.rows + rows[i] * static_cast<size_t>(table.lanes.width));  // for the sums
        s.make_room(count);
        if (hot.sort_places(s.codes.data(), count, s.words.data(), s.places.data()) != Values::one)
            weigh_sorted(table, s, feature, Places<uint32_t>{rows, s.places.data(), s.codes.data()}, count, base);
        return;
    }
    s.keys.resize(count), s.rows.resize(count), s.values.resize(count);
    for (size_t i = 0; i < count; ++i) s.keys[i] = static_cast<uint64_t>(s.codes[i]) << 32 | rows[i];
    std::sort(s.keys.begin(), s.keys.end());
    for (size_t i = 0; i < count; ++i) s.rows[i] = static_cast<uint32_t>(s.keys[i]), s.values[i] = static_cast<uint32_t>(s.keys[i] >> 32);
    const Line line{s.rows.data(), s.values.data()};
    if (line.value(0) < line.value(count - 1)) weigh_sorted(table, s, feature, line, count, base);
}

// The bins of a large node that may hide the best cut, and the best of their edges. Without a histogram (nullptr) one is made and
// forgotten group by group.
inline void find_hopes(const Table& table, const uint32_t* order, size_t count, const double* histogram, Search& s, const Flag& cancel) {
    const auto width = static_cast<size_t>(table.lanes.width);
    const std::vector<size_t> groups = feature_groups(table);
    s.hopes.clear(), s.hope_bases.clear();
    for (size_t f = 0, group = 0; f < table.d; ++f) {
        const size_t first = table.first_bin[f], bins = table.first_bin[f + 1] - first;
        if (f == groups[group + 1]) ++group;
        if (!histogram && f == groups[group]) {
            s.sums.resize(std::max(s.sums.size(), (table.first_bin[groups[group + 1]] - first) * width));
            build_group(table, order, count, f, groups[group + 1], s.shorts, 1, s.sums.data(), nullptr, cancel);
        }
        const double* sums = histogram ? histogram + first * width : s.sums.data() + (first - table.first_bin[groups[group]]) * width;
        s.scan.reserve(bins, width);
        hot.scan_bins(sums, bins, table.square_unit, table.lanes, s.centre, {s.zero.data(), 0, 0, 0}, s.generic[0].lane, s.scan);
        const size_t marked = hot.mark_bins(bins, s.centre, s.best.floor(), s.scan);
        for (size_t k = 0; k < marked; ++k) {
            const size_t b = s.scan.marked[k];
            const double gain = hot.bin_gain(b, s.centre, s.min_leaf, s.scan);
            if (gain > 0) s.best.offer(gain, static_cast<int>(f), s.rows_after(b), table.last_code(f, b));
        }
        for (size_t k = 0; k < marked; ++k) {
            const size_t b = s.scan.marked[k];
            if (s.scan.hope[b] < 2 || table.one_value[first + b]) continue;
            const double bound = hot.bin_bound(b, table.lanes, s.centre, s.min_leaf, s.best.floor(), s.scan);
            if (bound < s.best.floor()) continue;
            s.hopes.push_back({bound, f, b, s.hope_bases.size(), static_cast<size_t>(s.rows_after(b) - s.rows_before(b)), s.scan.before[b],
                               s.centre.two_groups ? s.scan.before_d[b] : 0, s.rows_before(b)});
            const auto prefix = s.scan.prefix.begin() + static_cast<std::ptrdiff_t>(b * width);
            s.hope_bases.insert(s.hope_bases.end(), prefix, prefix + static_cast<std::ptrdiff_t>(width));
        }
    }
    std::stable_sort(s.hopes.begin(), s.hopes.end(), [](const Hope& a, const Hope& b) { return a.bound > b.bound; });
}

// Which of a node's rows lie in wanted bins.
template <class Bins>
void pick_rows(const Bins& bins, const std::vector<uint8_t>& wanted, const uint32_t* order, size_t count, std::vector<uint32_t>& kept) {
    constexpr size_t later = 64, piece = 4096;
    uint32_t some[piece];
    for (size_t i = 0; i < count;) {
        size_t k = 0;
        for (const size_t end = std::min(count, i + piece); i < end; ++i) {  // no branch: every row is written down, and kept if its bin is wanted
            if (i + later < count) bins.fetch(order[i + later]);
            some[k] = order[i];
            k += wanted[bins(order[i])];
        }
        kept.insert(kept.end(), some, some + k);
    }
}

// Opens the hopeful bins along one feature: their rows are collected, bin by bin.
inline void open_bins(const Table& table, const uint32_t* order, size_t count, size_t feature, Search& s, Team* team, const Flag& cancel) {
    std::vector<uint32_t> slot(table.first_bin[feature + 1] - table.first_bin[feature], UINT32_MAX), fill;
    std::vector<const Hope*> opened;
    size_t rows = 0;
    for (const Hope& h : s.hopes) {
        if (h.feature != feature || h.bound < s.best.floor()) continue;
        slot[h.bin] = static_cast<uint32_t>(fill.size());
        fill.push_back(static_cast<uint32_t>(rows));
        opened.push_back(&h);
        rows += h.count;
    }
    if (const Groups* groups = table.grouped(feature)) {
        std::vector<uint32_t> apart(groups->of.size());
        for (size_t bin = 0; bin < apart.size(); ++bin) apart[bin] = groups->of[bin] < slot.size() ? slot[groups->of[bin]] : UINT32_MAX;
        slot = std::move(apart);
    }
    std::vector<uint8_t> wanted(slot.size());
    for (size_t bin = 0; bin < slot.size(); ++bin) wanted[bin] = slot[bin] != UINT32_MAX;
    s.hopeful.resize(std::max(s.hopeful.size(), rows));
    const uint32_t* codes = table.codes.whole ? table.codes.whole + feature * table.n : nullptr;
    table.with_bins(feature, count, [&](const auto& bins) {
        const size_t blocks = in_blocks(team, count, [&](size_t a, size_t b, size_t block) {
            s.kept[block].clear();
            in_steps(b - a, cancel, [&](size_t i, size_t j) { pick_rows(bins, wanted, order + a + i, j - i, s.kept[block]); });
        });
        for (size_t block = 0; block < blocks; ++block)
            for (const uint32_t row : s.kept[block]) {
                s.hopeful[fill[slot[bins(row)]]++] = row;
                if (codes) __builtin_prefetch(codes + row, 0, 2);  // for weigh_bin
            }
    });
    const uint32_t* bin = s.hopeful.data();
    for (const Hope* h : opened) {
        if (h->bound >= s.best.floor()) {
            weigh_bin(table, s, static_cast<int>(feature), bin, h->count, {s.hope_bases.data() + h->base, h->left, h->left_d, h->rows});
            open_runs(table, s);
        }
        bin += h->count;
    }
}

// The best split of a large node from its histogram; rows are fetched only for the bins that are opened.
inline void search_histogram(const Table& table, const uint32_t* order, size_t count, const double* histogram, Search& s, Team* team, const Flag& cancel) {
    find_hopes(table, order, count, histogram, s, cancel);
    // One feature after the other, the one with the highest bound first: what it yields may leave the others without hope.
    std::vector<bool> done(table.d, false);
    for (const Hope& lead : s.hopes) {
        if (lead.bound < s.best.floor()) break;
        if (done[lead.feature]) continue;
        done[lead.feature] = true;
        stop_if(cancel);
        open_bins(table, order, count, lead.feature, s, team, cancel);
    }
}

}  // namespace tripletree
