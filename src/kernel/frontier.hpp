// Growth on a log in parts: rows are sent down the tree and added to histograms of 64-bit integers, which add up to those of the
// whole log in any order; splits and impurities follow from the sums by the same code as in memory.
#pragma once

#include <cstring>

#include "edges.hpp"
#include "search.hpp"
#include "weigher.hpp"

namespace tripletree {

// The sums of a node in the lanes that the search knows, with exact squares.
struct Totals {
    Lanes lanes;
    std::vector<double> sums;
    Wide squares, squares_d;
    double rows;

    Totals(const WideLanes& wide, const int64_t* of) : lanes(search_lanes(wide)), sums(static_cast<size_t>(lanes.width), 0.0) {
        put(wide, of, sums.data());
        rows = static_cast<double>(of[wide.count()]);
        squares = square(wide, of + wide.squares()), squares_d = square(wide, of + wide.squares() + wide.limbs());
    }
    double priority(bool missing) const { return Weigher{lanes, missing, 1.0}.priority(sums, squares, squares_d, rows); }

    static Lanes search_lanes(const WideLanes& wide) {
        const int vectors = (wide.targets + 4 + 7) / 8 * (wide.fine ? 2 : 1);
        return {wide.plain, wide.targets, 8 * vectors, vectors, wide.fine, false};
    }
    // Squares are left out: they bound what hides inside bins, and here nothing does.
    void put(const WideLanes& wide, const int64_t* of, double* into) const {
        for (int k = 0; k < wide.targets; ++k) into[k] = static_cast<double>(of[k]);
        for (int k = 0; k < wide.targets && wide.fine; ++k) into[lanes.second() + k] = static_cast<double>(of[wide.targets + k]);
        into[lanes.with_derivative()] = static_cast<double>(of[wide.known()]);
        into[lanes.count()] = static_cast<double>(of[wide.count()]);
    }

  private:
    static Wide square(const WideLanes& wide, const int64_t* limbs) {
        Wide sum = 0;
        for (int k = wide.limbs(); k-- > 0;) sum = (sum << 32) + static_cast<Wide>(limbs[k]);
        return sum;
    }
};

struct Found {
    int feature = -1, below = 0, above = 0;
    double gain = 0;
    std::vector<int64_t> left;  // sums of what goes left
};

inline Found best_split(const WideLanes& wide, const int64_t* histogram, const int64_t* first_bin, size_t d, bool missing, double min_leaf, double min_gain) {
    const size_t width = wide.width(), all = static_cast<size_t>(first_bin[d]);
    std::vector<int64_t> sums(width, 0);
    for (int64_t b = 0; b < first_bin[1]; ++b)
        for (size_t k = 0; k < width; ++k) sums[k] += histogram[static_cast<size_t>(b) * width + k];
    const Totals totals(wide, sums.data());
    const Lanes& lanes = totals.lanes;
    const double priority = totals.priority(missing);
    Found found;
    if (priority <= 0 || totals.rows < 2 * min_leaf) return found;
    const size_t narrow = static_cast<size_t>(lanes.width);
    Array<double> bins = make_array<double>(all * narrow);
    std::fill(bins.get(), bins.get() + all * narrow, 0.0);
    for (size_t b = 0; b < all; ++b) totals.put(wide, histogram + b * width, bins.get() + b * narrow);
    Table table{nullptr, nullptr, nullptr, nullptr, static_cast<size_t>(totals.rows), d, lanes, missing, 1, {}, {}, 1, nullptr};
    table.first_bin.assign(first_bin, first_bin + d + 1);
    table.one_value.assign(all, 1);
    Search s;
    s.prepare(narrow, min_leaf);
    Weigher{lanes, missing, 1.0}.centre(totals.sums, totals.rows, s.centre);
    s.best.reset(std::max(1.0, 1e-12 * priority), min_gain * totals.rows);
    const Flag never{false};
    find_hopes(table, nullptr, 0, bins.get(), s, never);
    const Candidate* chosen = s.best.choose();
    if (!chosen) return found;
    const auto f = static_cast<size_t>(chosen->feature);
    const int64_t* of = histogram + static_cast<size_t>(first_bin[f]) * width;
    found = {chosen->feature, static_cast<int>(chosen->cut >> offset_bits), 0, chosen->gain, std::vector<int64_t>(width, 0)};
    for (int b = 0; b <= found.below; ++b)
        for (size_t k = 0; k < width; ++k) found.left[k] += of[static_cast<size_t>(b) * width + k];
    found.above = found.below + 1;
    while (of[static_cast<size_t>(found.above) * width + static_cast<size_t>(wide.count())] == 0) ++found.above;
    return found;
}

// Rows go on down the tree (bins up to `cut` go left) from the node that they were at last, are brought together by node, and added to its
// histogram. Nodes keep their numbers while a tree grows, so `at` may be of any earlier time. Returns how many rows were added.
inline size_t add_to_histograms(const WideLanes& lanes, const uint16_t* bins, const int32_t* targets, const uint8_t* known, size_t n, size_t d,
                                const int64_t* first_bin, const int32_t* feature, const int32_t* cut, const int32_t* left, const int32_t* slot, size_t nodes,
                                uint32_t* at, size_t slots, int64_t* histograms) {
    std::vector<uint32_t> begin(slots + 1, 0), order, mine;
    for (size_t i = 0; i < n; ++i) {
        size_t node = at[i] < nodes ? at[i] : 0;
        if (left[node] >= 0) {
            const uint16_t* row = bins + i * d;
            do node = static_cast<size_t>(left[node]) + (row[feature[node]] > cut[node]);
            while (left[node] >= 0);
            at[i] = static_cast<uint32_t>(node);
        }
        if (slot[node] < 0) continue;
        ++begin[static_cast<size_t>(slot[node]) + 1];
        order.push_back(static_cast<uint32_t>(i));
        mine.push_back(static_cast<uint32_t>(slot[node]));
    }
    for (size_t k = 1; k <= slots; ++k) begin[k] += begin[k - 1];
    std::vector<uint32_t> next = begin, rows(order.size());
    for (size_t i = 0; i < order.size(); ++i) rows[next[mine[i]]++] = order[i];
    const size_t size = static_cast<size_t>(first_bin[d]) * lanes.width();
    bool right = true;
    for (size_t k = 0; k < slots; ++k)
        right &= hot.add_wide(lanes, bins, targets, known, rows.data() + begin[k], begin[k + 1] - begin[k], d, first_bin, histograms + k * size);
    if (!right) throw std::invalid_argument("there is no such bin");
    return order.size();
}

}  // namespace tripletree
