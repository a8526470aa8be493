// Sums of rows of targets: over a node, over the bins of a histogram, over runs of neighbours.
#pragma once

#include <algorithm>

#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

template <int NV>
TT_INLINE void sum_rows_impl(const Table& table, const uint32_t* order, size_t count, double* sums, Squares* squares) {
    const int nv = NV ? NV : table.lanes.vectors, plain = table.lanes.plain, targets = table.lanes.targets;
    const size_t width = static_cast<size_t>(nv) * 8;
    V8 local[NV ? NV : 1];
    L8 square[NV ? NV : 1] = {};
    for (int j = 0; j < NV; ++j) local[j] = load(sums + 8 * j);
    for (size_t i = 0; i < count; ++i) {
        if (i + ahead < count)
            for (size_t k = 0; k < width; k += 16) fetch(table.rows + order[i + ahead] * width + k);
        const int32_t* y = table.rows + order[i] * width;
        for (int j = 0; j < NV; ++j) {
            local[j] += widen(y + 8 * j);
            const L8 v = __builtin_convertvector(load(y + 8 * j), L8);
            square[j] += v * v;
        }
        for (int j = NV; j < nv; ++j) store(sums + 8 * j, load(sums + 8 * j) + widen(y + 8 * j));
        for (int k = NV * 8; k < targets; ++k) squares[k < plain ? 0 : 1].first += static_cast<uint64_t>(int64_t{y[k]} * y[k]);
    }
    for (int j = 0; j < NV; ++j) store(sums + 8 * j, local[j]);
    for (int k = 0; k < targets && k < NV * 8; ++k) squares[k < plain ? 0 : 1].first += square[NV ? k / 8 : 0][k % 8];
}

// What long rows have besides.
static void square_second(const Table& table, const uint32_t* order, size_t count, Squares* squares) {
    const Lanes& lanes = table.lanes;
    for (size_t i = 0; i < count; ++i) {
        const int32_t *y = table.rows + order[i] * static_cast<size_t>(lanes.width), *z = y + lanes.second();
        int64_t both[2] = {}, second[2] = {};
        for (int k = 0; k < lanes.targets; ++k) {
            both[k >= lanes.plain] += int64_t{y[k]} * z[k];
            second[k >= lanes.plain] += int64_t{z[k]} * z[k];
        }
        for (int group = 0; group < 2; ++group) squares[group].rest += (static_cast<Wide>(both[group]) << (limb_bits + 1)) + static_cast<Wide>(second[group]);
    }
}

// With weights, the squares of each row are known.
static void sum_weighted(const Table& table, const uint32_t* order, size_t count, double* sums, Squares* squares) {
    for (size_t i = 0; i < count; ++i) {
        const int32_t* y = table.rows + order[i] * static_cast<size_t>(table.lanes.width);
        for (int j = 0; j < table.lanes.vectors; ++j) store(sums + 8 * j, load(sums + 8 * j) + widen(y + 8 * j));
        for (size_t group = 0; group < 2; ++group) squares[group].rest += table.weighted_squares[2 * size_t{order[i]} + group];
    }
}

// Adds up some rows by lane, and their squares, plain and derivative.
static void sum_rows(const Table& table, const uint32_t* order, size_t count, double* sums, Squares* squares) {
    if (table.lanes.weighted) return sum_weighted(table, order, count, sums, squares);
    if (table.lanes.fine) square_second(table, order, count, squares);
    switch (table.lanes.vectors) {
        case 1: return sum_rows_impl<1>(table, order, count, sums, squares);
        case 2: return sum_rows_impl<2>(table, order, count, sums, squares);
        case 3: return sum_rows_impl<3>(table, order, count, sums, squares);
        case 4: return sum_rows_impl<4>(table, order, count, sums, squares);
        case 8: return sum_rows_impl<8>(table, order, count, sums, squares);
        default: return sum_rows_impl<0>(table, order, count, sums, squares);
    }
}

// Adds a record of short sums, times 1 or -1, to the long ones, and clears it.
static void add_record(int vectors, int32_t* part, double sign, double* record) {
    for (int j = 0; j < vectors; ++j) store(record + 8 * j, load(record + 8 * j) + widen(part + 8 * j) * sign);
    std::memset(part, 0, static_cast<size_t>(vectors) * 8 * sizeof(int32_t));
}

template <int NV, class Bin>
TT_INLINE void add_rows_impl(const Table& table, const Bin* bins, const uint32_t* order, size_t count, size_t f0, size_t f1, int32_t* part, double sign,
                             double* histogram) {
    using Vector = typename Ints<NV && NV % 2 == 0>::Vector;
    constexpr int size = sizeof(Vector) / sizeof(int32_t);
    const int nv = NV ? NV : table.lanes.vectors, nw = nv * 8 / size, lane_rows = table.lanes.rows();
    const size_t width = static_cast<size_t>(nv) * 8, d = table.d;
    const uint32_t *first = table.first_bin.data(), from = first[f0];
    const int32_t* rows = table.rows;
    for (size_t i = 0; i < count; ++i) {
        const size_t row = order[i];
        if (i + ahead < count) {
            const size_t later = order[i + ahead];
            for (size_t k = 0; k < width; k += 16) fetch(rows + later * width + k);
            fetch(bins + later * d + f0);
        }
        const int32_t* y = rows + row * width;
        Vector v[NV ? NV : 1];
        for (int j = 0; j < nw && NV; ++j) v[NV ? j : 0] = load_ints<Vector>(y + size * j);
        for (size_t f = f0; f < f1; ++f) {
            const size_t bin = first[f] - from + bins[row * d + f];
            int32_t* sums = part + bin * width;
            if (__builtin_expect(sums[lane_rows] == short_sum, 0)) add_record(nv, sums, sign, histogram + bin * width);
            for (int j = 0; j < nw; ++j) store(sums + size * j, load_ints<Vector>(sums + size * j) + (NV ? v[NV ? j : 0] : load_ints<Vector>(y + size * j)));
        }
    }
}

template <class Bin>
static void add_rows_to(const Table& table, const Bin* bins, const uint32_t* order, size_t count, size_t f0, size_t f1, int32_t* part, double sign,
                        double* histogram) {
    switch (table.lanes.vectors) {
        case 1: return add_rows_impl<1>(table, bins, order, count, f0, f1, part, sign, histogram);
        case 2: return add_rows_impl<2>(table, bins, order, count, f0, f1, part, sign, histogram);
        case 3: return add_rows_impl<3>(table, bins, order, count, f0, f1, part, sign, histogram);
        case 4: return add_rows_impl<4>(table, bins, order, count, f0, f1, part, sign, histogram);
        case 8: return add_rows_impl<8>(table, bins, order, count, f0, f1, part, sign, histogram);
        default: return add_rows_impl<0>(table, bins, order, count, f0, f1, part, sign, histogram);
    }
}
// Adds the rows order[0 .. count) to the bins of features f0 .. f1: to short sums first, `part`, which move half the memory, and
// to the histogram whenever those are full. Both begin at the first of these bins. If `sign` is -1 they are taken out of it.
static void add_rows(const Table& table, const uint32_t* order, size_t count, size_t f0, size_t f1, int32_t* part, double sign, double* histogram) {
    const uint16_t* wide = table.row_groups ? table.row_groups : table.codes.wide_bins;
    if (wide) add_rows_to(table, wide, order, count, f0, f1, part, sign, histogram);
    else add_rows_to(table, table.codes.narrow_bins, order, count, f0, f1, part, sign, histogram);
}

// Adds what is left in the short sums of some bins.
static void add_part(const Lanes& lanes, int32_t* part, size_t bins, double sign, double* histogram) {
    const size_t width = static_cast<size_t>(lanes.width);
    for (size_t b = 0; b < bins; ++b)
        if (part[b * width + static_cast<size_t>(lanes.count())]) add_record(lanes.vectors, part + b * width, sign, histogram + b * width);
}

// The sibling: parent becomes parent - child, exactly.
static void subtract(double* parent, const double* child, size_t size) {
    for (size_t i = 0; i < size; ++i) parent[i] -= child[i];
}

// row(i) is the row at place i.
template <int NV, class Row>
TT_INLINE void sum_runs_impl(const Table& table, const Row& row, size_t count, double* sums) {
    const int nv = NV ? NV : table.lanes.vectors;
    const size_t width = static_cast<size_t>(nv) * 8;
    static_assert(run_length <= short_sum, "sums of runs must fit 32 bits");
    for (size_t a = 0; a < count; a += run_length, sums += width) {
        const size_t end = std::min(count, a + run_length);
        if (NV) {
            I8 part[NV ? NV : 1] = {};
            for (size_t i = a; i < end; ++i) {
                const int32_t* y = table.rows + row(i) * width;
                for (int j = 0; j < nv; ++j) part[j] += load(y + 8 * j);
            }
            for (int j = 0; j < nv; ++j) store(sums + 8 * j, widen(part[j]));
        } else {
            for (int j = 0; j < nv; ++j) {
                I8 part = {};
                for (size_t i = a; i < end; ++i) part += load(table.rows + row(i) * width + 8 * j);
                store(sums + 8 * j, widen(part));
            }
        }
    }
}

template <class Row>
TT_INLINE void sum_runs_by(const Table& table, const Row& row, size_t count, double* sums) {
    switch (table.lanes.vectors) {
        case 1: return sum_runs_impl<1>(table, row, count, sums);
        case 2: return sum_runs_impl<2>(table, row, count, sums);
        case 3: return sum_runs_impl<3>(table, row, count, sums);
        case 4: return sum_runs_impl<4>(table, row, count, sums);
        case 8: return sum_runs_impl<8>(table, row, count, sums);
        default: return sum_runs_impl<0>(table, row, count, sums);
    }
}

// Sums over each run of neighbours, of rows or of places in a list of rows.
static void sum_rows_by_run(const Table& table, const uint32_t* rows, size_t count, double* sums) {
    sum_runs_by(table, [=](size_t i) -> size_t { return rows[i]; }, count, sums);
}
static void sum_places(const Table& table, const uint32_t* rows, const uint16_t* list, size_t count, double* sums) {
    sum_runs_by(table, [=](size_t i) -> size_t { return rows[list[i]]; }, count, sums);
}

}  // namespace TT_ISA
}  // namespace tripletree
