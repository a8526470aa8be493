// Histogram mode: edges between the bins of a feature, chosen before growth, and the bins of values.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "encode.hpp"
#include "threshold.hpp"

namespace tripletree {

// Of the edges between two bins the one in the middle: bins `below` and `above` hold samples, those between them do not.
inline size_t middle_edge(size_t below, size_t above) { return below + (above - below - 1) / 2; }

// The values of a feature from small to large.
inline void sort_column(const double* x, size_t n, size_t stride, Words& room, double* out, const Flag& cancel) {
    std::vector<double> values(n);
    double lo = *x, hi = *x;
    bool finite = true;
    for (size_t i = 0; i < n; ++i) {
        const double v = values[i] = x[i * stride];
        finite &= v - v == 0;
        lo = std::min(lo, v), hi = std::max(hi, v);
    }
    if (!finite) throw std::invalid_argument("states must be finite");
    const Column column = make_column(values.data(), n, 1, lo, hi);
    const double per_step = column.per_step();
    std::vector<uint32_t> keys(n);
    hot.make_keys(values.data(), n, 1, 1, &column.scale, &column.low, &per_step, keys.data(), n);
    uint64_t* const words = room.words.get();
    sort_keys(keys.data(), n, words, room.spare, cancel);
    for (size_t i = 0; i < n; ++i) out[i] = values[words[i] & 0xffffffffu];
    for (size_t i = 1; i < n; ++i) {  // values that share a key may be in any order
        if (out[i - 1] <= out[i]) continue;
        size_t a = i - 1, b = i + 1;
        while (a > 0 && words[a - 1] >> 32 == words[i] >> 32) --a;
        while (b < n && words[b] >> 32 == words[i] >> 32) ++b;
        std::sort(out + a, out + b);
        i = b - 1;
    }
}

// The values of a column that are not among the sorted `known`, from small to large.
inline std::vector<double> other_values(const double* x, size_t n, int64_t stride, const double* known, size_t count) {
    std::vector<double> found;
    const auto tidy = [&] {
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
    };
    double last = known[0];  // flags stay as they are for a while
    for (size_t i = 0, full = 4096; i < n; ++i, x += stride) {
        if (*x == last) continue;
        const double* at = std::lower_bound(known, known + count, *x);
        if (at < known + count && *at == *x) {
            last = *x;
            continue;
        }
        found.push_back(*x);
        if (found.size() < full) continue;
        tidy();
        full = std::max<size_t>(4096, 2 * found.size());
    }
    tidy();
    return found;
}

// The edges between at most `bins` bins of about equally many of the sorted values. Near-equal values share a bin, as do codes in exact
// mode, and a value that repeats a lot has one of its own. An edge may move by up to a quarter of the bins beside it, which leaves room
// for short numbers; beside a bin of one value it stays in the gap. A value equal to an edge belongs to the bin above.
inline std::vector<double> choose_edges(const double* sorted, size_t n, size_t bins, bool midpoints) {
    size_t outer = std::min((n + outer_part - 1) / outer_part, (n - 1) / 2);
    while (outer > 0 && sorted[outer] == sorted[n - 1 - outer]) outer /= 2;
    const double equal = sorted[n - 1 - outer] * equal_share - sorted[outer] * equal_share;
    std::vector<uint32_t> starts{0};  // of each cluster of near-equal values
    starts.reserve(n + 1);
    double first = sorted[0], reach = std::max(equal, own_share * std::fabs(first));
    for (size_t i = 1; i < n; ++i) {
        if (!(sorted[i] - first > reach)) continue;
        first = sorted[i], reach = std::max(equal, own_share * std::fabs(first));
        starts.push_back(static_cast<uint32_t>(i));
    }
    const size_t k = starts.size();
    starts.push_back(static_cast<uint32_t>(n));
    const std::vector<size_t> firsts = divide_at_most(starts.data(), k, bins);
    const auto cluster = [&](size_t place) { return static_cast<size_t>(std::upper_bound(starts.begin(), starts.end() - 1, place) - starts.begin()) - 1; };
    std::vector<double> edges;
    for (size_t b = 1; b + 1 < firsts.size(); ++b) {
        const size_t before = starts[firsts[b - 1]], at = starts[firsts[b]], after = starts[firsts[b + 1]];
        const size_t slack = firsts[b] - firsts[b - 1] > 1 && firsts[b + 1] - firsts[b] > 1 ? 4 : SIZE_MAX;
        const double lo = sorted[starts[cluster(at - 1 - (at - before) / slack) + 1] - 1], hi = sorted[starts[cluster(at + (after - at) / slack)]];
        edges.push_back(midpoints ? midpoint(lo, hi) : short_decimal(lo, hi));
    }
    return edges;
}

// Finds the bin of a value: the number of edges that it is not below. A grid over the edges leaves few of them to compare with.
struct Bins {
    static constexpr size_t cells = 8192;
    size_t count;
    double low = 0, per_cell = 0;
    std::vector<double> edges;    // closed by two that nothing reaches
    std::vector<uint16_t> first;  // edges before each cell, closed by their number

    Bins(const double* given, size_t n) : count(n), edges(given, given + n), first(cells + 1) {
        edges.insert(edges.end(), 2, std::numeric_limits<double>::infinity());
        if (!n) return;
        low = edges[0];
        const double width = edges[n - 1] / 2 - low / 2;
        per_cell = width > 0 && std::isfinite(cells / 2 / width) ? cells / 2 / width : 0;
        for (size_t c = 0, k = 0; c <= cells; ++c) {
            while (k < n && (c == cells || cell(edges[k]) < c)) ++k;
            first[c] = static_cast<uint16_t>(k);
        }
    }
    // It never falls as x grows, which is all that counts.
    size_t cell(double x) const {
        const double at = (x - low) * per_cell;
        return static_cast<size_t>(std::max(0.0, std::min(at, static_cast<double>(cells - 1))));
    }
    size_t operator()(double x) const {
        const size_t c = cell(x);
        size_t bin = first[c], rest = first[c + 1] - bin;
        if (rest <= 2) {  // nearly always, and without a branch to guess: edges of later cells are above x
            bin += edges[bin] <= x;
            return bin + (edges[bin] <= x);
        }
        while (rest > 0) {
            const size_t half = (rest + 1) / 2;
            const bool above = edges[bin + half - 1] <= x;
            bin += above ? half : 0;
            rest = above ? rest - half : half - 1;
        }
        return bin;
    }
};

inline std::vector<Bins> make_bins(const double* edges, const int64_t* first, size_t d) {
    std::vector<Bins> found;
    for (size_t f = 0; f < d; ++f) found.emplace_back(edges + first[f], static_cast<size_t>(first[f + 1] - first[f]));
    return found;
}

// Calls put(row, feature, bin) for every state of n rows.
template <class Put>
void find_bins(const std::vector<Bins>& bins, const double* states, size_t n, const Put& put) {
    const size_t d = bins.size();
    for (size_t i = 0; i < n; ++i)
        for (size_t f = 0; f < d; ++f) put(i, f, bins[f](states[i * d + f]));
}

}  // namespace tripletree
