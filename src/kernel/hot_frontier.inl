// Rows of a log in parts, added to histograms of 64-bit integers.
#pragma once

#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

typedef int64_t W8 __attribute__((vector_size(64)));

// A row as a record of sums (see WideLanes).
TT_INLINE void widen_row(const WideLanes& lanes, const int32_t* y, uint8_t known, int64_t* row) {
    for (int k = 0; k < lanes.columns(); ++k) row[k] = y[k];
    row[lanes.known()] = known;
    row[lanes.count()] = 1;
    int64_t* squares = row + lanes.squares();
    if (!lanes.fine) {
        int64_t plain = 0, derivative = 0;
        for (int k = 0; k < lanes.plain; ++k) plain += row[k] * row[k];
        for (int k = lanes.plain; k < lanes.targets; ++k) derivative += row[k] * row[k];
        squares[0] = plain, squares[1] = derivative;
        return;
    }
    Wide sums[2] = {};
    for (int k = 0; k < lanes.targets; ++k) {
        const int64_t whole = row[k] * (int64_t{1} << limb_bits) + row[lanes.targets + k];
        const Wide size = static_cast<Wide>(whole < 0 ? -whole : whole);
        sums[k >= lanes.plain] += size * size;
    }
    for (int group = 0; group < 2; ++group)
        for (int k = 0; k < 3; ++k) squares[3 * group + k] = static_cast<int64_t>(sums[group] >> 32 * k & (k < 2 ? 0xffffffffu : ~Wide{0}));
}

template <int NV>
TT_INLINE bool add_wide_impl(const WideLanes& lanes, const uint16_t* bins, const int32_t* targets, const uint8_t* known, const uint32_t* rows, size_t count,
                             size_t d, const int64_t* first_bin, int64_t* histogram) {
    const size_t width = lanes.width(), columns = static_cast<size_t>(lanes.columns()), nv = NV ? NV : width / 8;
    alignas(64) int64_t local[NV ? 8 * NV : 8];
    int64_t* const row = NV ? local : new int64_t[width];
    for (size_t k = 0; k < width; ++k) row[k] = 0;
    bool right = true;
    for (size_t i = 0; i < count; ++i) {
        const size_t at = rows[i];
        if (i + 8 < count) {
            __builtin_prefetch(targets + rows[i + 8] * columns);
            __builtin_prefetch(bins + rows[i + 8] * d);
        }
        widen_row(lanes, targets + at * columns, known[at], row);
        W8 v[NV ? NV : 1];
        for (size_t j = 0; j < (NV ? nv : 0); ++j) std::memcpy(&v[j], row + 8 * j, sizeof v[j]);
        for (size_t f = 0; f < d; ++f) {
            const size_t bin = static_cast<size_t>(first_bin[f]) + bins[at * d + f];
            if (bin >= static_cast<size_t>(first_bin[f + 1])) {
                right = false;
                continue;
            }
            int64_t* record = histogram + bin * width;
            for (size_t j = 0; j < nv; ++j) {
                W8 sum, more;
                std::memcpy(&sum, record + 8 * j, sizeof sum);
                if (!NV) std::memcpy(&more, row + 8 * j, sizeof more);
                sum += NV ? v[NV ? j : 0] : more;
                std::memcpy(record + 8 * j, &sum, sizeof sum);
            }
        }
    }
    if (!NV) delete[] row;
    return right;
}

// Adds some rows to one histogram; false: a bin is none of its feature's, and the row was left out there.
static bool add_wide(const WideLanes& lanes, const uint16_t* bins, const int32_t* targets, const uint8_t* known, const uint32_t* rows, size_t count, size_t d,
                     const int64_t* first_bin, int64_t* histogram) {
    switch (lanes.width() / 8) {
        case 1: return add_wide_impl<1>(lanes, bins, targets, known, rows, count, d, first_bin, histogram);
        case 2: return add_wide_impl<2>(lanes, bins, targets, known, rows, count, d, first_bin, histogram);
        case 3: return add_wide_impl<3>(lanes, bins, targets, known, rows, count, d, first_bin, histogram);
        default: return add_wide_impl<0>(lanes, bins, targets, known, rows, count, d, first_bin, histogram);
    }
}

}  // namespace TT_ISA
}  // namespace tripletree
