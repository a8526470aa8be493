// Sums of target rows over the bins of every feature: for large nodes, where a sibling's follow by subtraction.
#pragma once

#include <memory>

#include "encode.hpp"
#include "split.hpp"

namespace tripletree {

// Squares are counted in units of 512 and rounded up, so that their sums stay exact in a double.
constexpr int square_shift = 9;
constexpr double histogram_square_unit = 1 << square_shift;

// The log as the search sees it.
struct Table {
    const double* states;
    const uint32_t* codes;  // n x d
    const int32_t* rows;    // n x lanes.width
    size_t n, d;
    Lanes lanes;
    bool missing;                               // some derivative is missing: two groups
    std::vector<uint64_t> squares, squares_d;   // |y|^2 of each row and group (one group: all in `squares`)
    std::vector<uint32_t> first_bin;            // of each feature in a histogram, closed by the number of bins
    std::vector<uint8_t> one_value;             // by bin: holds a single code, so there is nothing to open
    size_t bins() const { return first_bin.back(); }
};

using Histogram = std::unique_ptr<double[]>;

template <int NV>
TT_INLINE void add_rows_impl(const Table& table, const uint32_t* order, size_t count, size_t f0, size_t f1, double* histogram) {
    const Lanes& lanes = table.lanes;
    const int nv = NV ? NV : lanes.vectors;
    const size_t width = static_cast<size_t>(nv) * 8, d = table.d;
    // Count and squares go into the spare lanes, which lie in the last two vectors.
    alignas(64) double unit[3][16] = {};
    const int tail = nv > 1 ? nv - 2 : 0;
    unit[0][lanes.count() - tail * 8] = unit[1][lanes.squares() - tail * 8] = unit[2][lanes.derivative_squares() - tail * 8] = 1;
    V8 local[NV ? NV : 1];
    std::vector<double> generic(NV ? 0 : width);
    for (size_t i = 0; i < count; ++i) {
        const size_t row = order[i];
        if (i + 16 < count) {
            const size_t ahead = order[i + 16];
            __builtin_prefetch(table.rows + ahead * width);
            __builtin_prefetch(table.codes + ahead * d + f0);
            __builtin_prefetch(table.squares.data() + ahead);
        }
        const int32_t* y = table.rows + row * width;
        V8* v = NV ? local : reinterpret_cast<V8*>(generic.data());
        const double q = static_cast<double>((table.squares[row] >> square_shift) + 1);
        const double q_d = table.missing ? static_cast<double>((table.squares_d[row] >> square_shift) + 1) : 0;
        for (int j = 0; j < nv; ++j) {
            v[j] = __builtin_convertvector(reinterpret_cast<const I8*>(y)[j], V8);
            if (j >= nv - 2) {
                const int t = (j - tail) * 8;
                v[j] += *reinterpret_cast<const V8*>(unit[0] + t) + q * *reinterpret_cast<const V8*>(unit[1] + t) + q_d * *reinterpret_cast<const V8*>(unit[2] + t);
            }
        }
        const uint32_t* code = table.codes + row * d;
        for (size_t f = f0; f < f1; ++f) {
            auto* bin = reinterpret_cast<V8*>(histogram + (table.first_bin[f] + (code[f] >> offset_bits)) * width);
            for (int j = 0; j < nv; ++j) bin[j] += v[j];
        }
    }
}

// Adds the rows order[0 .. count) to the bins of features f0 .. f1.
TT_CLONES void add_rows(const Table& table, const uint32_t* order, size_t count, size_t f0, size_t f1, double* histogram) {
    switch (table.lanes.vectors) {
        case 1: return add_rows_impl<1>(table, order, count, f0, f1, histogram);
        case 2: return add_rows_impl<2>(table, order, count, f0, f1, histogram);
        case 3: return add_rows_impl<3>(table, order, count, f0, f1, histogram);
        case 4: return add_rows_impl<4>(table, order, count, f0, f1, histogram);
        case 8: return add_rows_impl<8>(table, order, count, f0, f1, histogram);
        default: return add_rows_impl<0>(table, order, count, f0, f1, histogram);
    }
}

// Histogram of a set of rows. Features are taken in groups whose bins fit the second cache; `team` shares the groups.
inline Histogram build_histogram(const Table& table, const uint32_t* order, size_t count, Team* team, const Flag& cancel) {
    const size_t width = static_cast<size_t>(table.lanes.width), total = table.bins() * width;
    Histogram histogram(new double[total]());
    const size_t budget = 384 * 1024 / (sizeof(double) * width);
    const size_t parts = team ? static_cast<size_t>(team->size()) : 1;
    std::vector<size_t> groups{0};
    for (size_t f = 1; f <= table.d; ++f) {
        const size_t from = groups.back();
        const bool full = f < table.d && (table.first_bin[f + 1] - table.first_bin[from] > budget ||
                                          (table.first_bin[f] - table.first_bin[from]) * parts >= table.bins());
        if (f == table.d || full) groups.push_back(f);
    }
    auto work = [&](int g, int) {
        constexpr size_t block = 1 << 16;
        for (size_t a = 0; a < count; a += block) {
            stop_if(cancel);
            add_rows(table, order + a, std::min(block, count - a), groups[static_cast<size_t>(g)], groups[static_cast<size_t>(g) + 1], histogram.get());
        }
    };
    const int tasks = static_cast<int>(groups.size()) - 1;
    if (team) team->run(tasks, work);
    else
        for (int g = 0; g < tasks; ++g) work(g, 0);
    return histogram;
}

// The sibling: parent becomes parent - child, exactly.
TT_CLONES void subtract(double* parent, const double* child, size_t size) {
    for (size_t i = 0; i < size; ++i) parent[i] -= child[i];
}

}  // namespace tripletree
