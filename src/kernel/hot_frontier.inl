// Rows of a log in parts, added to histograms of 64-bit integers.
#pragma once

#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

typedef int64_t W8 __attribute__((vector_size(64)));

// A record of a row: its targets, whether it has a derivative, and its bins, 16 bits each. As a record of sums (see WideLanes):
TT_INLINE void widen_record(const WideLanes& lanes, const int32_t* y, int64_t* row) {
    for (int k = 0; k <= lanes.columns(); ++k) row[k] = y[k];
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

TT_INLINE int64_t horizontal_sum(W8 v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

// Rows that are not fine, in NV vectors: nothing goes through memory.
template <int NV>
TT_INLINE void add_short(const WideLanes& lanes, const int32_t* records, size_t stride, size_t count, size_t d, const int64_t* first_bin, int64_t* histogram) {
    const W8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
    W8 kept[NV], plain[NV], targets[NV], one[NV], squares[NV], squares_d[NV];
    for (int j = 0; j < NV; ++j) {
        const W8 at = lane + 8 * j;
        kept[j] = at <= lanes.known(), plain[j] = at < lanes.plain, targets[j] = at < lanes.targets;
        one[j] = (at == lanes.count()) & 1, squares[j] = at == lanes.squares(), squares_d[j] = at == lanes.squares() + 1;
    }
    for (size_t i = 0; i < count; ++i, records += stride) {
        W8 v[NV], sum = {}, sum_d = {};
        for (int j = 0; j < NV; ++j) {
            v[j] = __builtin_convertvector(load(records + 8 * j), W8) & kept[j];
            const W8 square = v[j] * v[j] & targets[j];
            sum += square & plain[j], sum_d += square & ~plain[j];
            v[j] += one[j];
        }
        const int64_t total = horizontal_sum(sum), total_d = horizontal_sum(sum_d);
        for (int j = 0; j < NV; ++j) v[j] += ((W8{} + total) & squares[j]) + ((W8{} + total_d) & squares_d[j]);
        const int32_t* bins = records + lanes.columns() + 1;
        for (size_t f = 0; f < d; ++f) {
            uint16_t bin;
            std::memcpy(&bin, reinterpret_cast<const char*>(bins) + 2 * f, sizeof bin);
            int64_t* record = histogram + (static_cast<size_t>(first_bin[f]) + bin) * (8 * NV);
            for (int j = 0; j < NV; ++j) {
                W8 added;
                std::memcpy(&added, record + 8 * j, sizeof added);
                added += v[j];
                std::memcpy(record + 8 * j, &added, sizeof added);
            }
        }
    }
}

// Adds records to one histogram. They may be read to the end of the last vector, beyond the last record.
static void add_wide(const WideLanes& lanes, const int32_t* records, size_t stride, size_t count, size_t d, const int64_t* first_bin, int64_t* histogram) {
    const size_t width = lanes.width();
    if (!lanes.fine && width == 8) return add_short<1>(lanes, records, stride, count, d, first_bin, histogram);
    if (!lanes.fine && width == 16) return add_short<2>(lanes, records, stride, count, d, first_bin, histogram);
    if (!lanes.fine && width == 24) return add_short<3>(lanes, records, stride, count, d, first_bin, histogram);
    int64_t* const row = new int64_t[width]();
    for (size_t i = 0; i < count; ++i, records += stride) {
        widen_record(lanes, records, row);
        for (size_t f = 0; f < d; ++f) {
            uint16_t bin;
            std::memcpy(&bin, reinterpret_cast<const char*>(records + lanes.columns() + 1) + 2 * f, sizeof bin);
            int64_t* record = histogram + (static_cast<size_t>(first_bin[f]) + bin) * width;
            for (size_t k = 0; k < width; ++k) record[k] += row[k];
        }
    }
    delete[] row;
}

}  // namespace TT_ISA
}  // namespace tripletree
