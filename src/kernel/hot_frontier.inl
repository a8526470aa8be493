// Rows of a log in parts, added to histograms of 64-bit integers.
#pragma once

#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

typedef int64_t W8 __attribute__((vector_size(64)));

// A record of a row: its targets, whether it has a derivative, with weights its weight (which the others are multiplied by), and its bins,
// 16 bits each. As a record of sums (see WideLanes):
TT_INLINE void widen_record(const WideLanes& lanes, const int32_t* y, int64_t* row) {
    for (int k = 0; k < lanes.bins(); ++k) row[k] = y[k];
    row[lanes.rows()] = 1;
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
        const auto size = static_cast<uint64_t>(whole < 0 ? -whole : whole);
        sums[k >= lanes.plain] += Wide{size} * (lanes.weighted ? size / static_cast<uint64_t>(row[lanes.count()]) : size);
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
        const int32_t* bins = records + lanes.bins();
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
            std::memcpy(&bin, reinterpret_cast<const char*>(records + lanes.bins()) + 2 * f, sizeof bin);
            int64_t* record = histogram + (static_cast<size_t>(first_bin[f]) + bin) * width;
            for (size_t k = 0; k < width; ++k) record[k] += row[k];
        }
    }
    delete[] row;
}

typedef float F8 __attribute__((vector_size(32)));

TT_INLINE V8 widen(const float* p) {
    F8 v;
    std::memcpy(&v, p, sizeof v);
#if defined(__AVX512F__)
    return (V8)_mm512_cvtps_pd((__m256)v);
#else
    return __builtin_convertvector(v, V8);
#endif
}
TT_INLINE V8 widen(const double* p) { return load(p); }

// How states change from some rows to the next; 0 for the last row of an episode.
template <class State>
TT_INLINE void take_changes_of(const State* states, size_t d, const uint32_t* rows, size_t count, double* changes) {
    for (size_t j = 0; j < count; ++j, changes += d) {
        const State *here = states + (rows[j] & ~last_row) * d, *after = rows[j] & last_row ? here : here + d;
        size_t f = 0;
        for (; f + 8 <= d; f += 8) store(changes + f, widen(after + f) - widen(here + f));
        for (; f < d; ++f) changes[f] = static_cast<double>(after[f]) - static_cast<double>(here[f]);
    }
}
static void take_changes(const void* states, bool single, size_t d, const uint32_t* rows, size_t count, double* changes) {
    if (single) take_changes_of(static_cast<const float*>(states), d, rows, count, changes);
    else take_changes_of(static_cast<const double*>(states), d, rows, count, changes);
}

// How many of 32 sorted numbers x is not below.
template <class Number>
TT_INLINE size_t passed(const Number* p, Number x) {
#if defined(__AVX512F__)
    if constexpr (sizeof x == 4) {
        const __m512 v = _mm512_set1_ps(x);
        const uint32_t low = _mm512_cmp_ps_mask(_mm512_load_ps(p), v, _CMP_LE_OQ), high = _mm512_cmp_ps_mask(_mm512_load_ps(p + 16), v, _CMP_LE_OQ);
        return static_cast<size_t>(__builtin_popcount(low | high << 16));
    } else {
        const __m512d v = _mm512_set1_pd(x);
        uint32_t found = 0;
        for (int k = 0; k < 4; ++k) found |= static_cast<uint32_t>(_mm512_cmp_pd_mask(_mm512_load_pd(p + 8 * k), v, _CMP_LE_OQ)) << 8 * k;
        return static_cast<size_t>(__builtin_popcount(found));
    }
#elif defined(__AVX2__)
    uint32_t found = 0;
    if constexpr (sizeof x == 4) {
        const __m256 v = _mm256_set1_ps(x);
        for (int k = 0; k < 4; ++k) found |= static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(_mm256_load_ps(p + 8 * k), v, _CMP_LE_OQ))) << 8 * k;
    } else {
        const __m256d v = _mm256_set1_pd(x);
        for (int k = 0; k < 8; ++k) found |= static_cast<uint32_t>(_mm256_movemask_pd(_mm256_cmp_pd(_mm256_load_pd(p + 4 * k), v, _CMP_LE_OQ))) << 4 * k;
    }
    return static_cast<size_t>(__builtin_popcount(found));
#else
    size_t found = 0;
    for (size_t half = 16; half > 0; half /= 2) found += p[found + half - 1] <= x ? half : 0;
    return found + (p[found] <= x);
#endif
}

template <size_t HEIGHT, class State>
TT_INLINE void put_bins_of(const State* states, size_t d, const uint32_t* rows, size_t count, const void* const* levels, size_t height, int32_t* records,
                           size_t stride, size_t feature) {
    char* to = reinterpret_cast<char*>(records) + 2 * feature;
    for (size_t j = 0; j < count; ++j, to += stride * sizeof(int32_t)) {
        const State x = states[(rows[j] & ~last_row) * d + feature];
        size_t bin = 0;
        for (size_t k = HEIGHT ? HEIGHT : height; k-- > 0;) bin = 32 * bin + passed(static_cast<const State*>(levels[k]) + 32 * bin, x);
        const auto short_bin = static_cast<uint16_t>(bin);
        std::memcpy(to, &short_bin, sizeof short_bin);
    }
}
// The bins of a feature, 16 bits each. Its edges stand on a ladder: levels[0] has all of them, and every level the last of each 32 below.
static void put_bins(const void* states, bool single, size_t d, size_t feature, const uint32_t* rows, size_t count, const void* const* levels, size_t height,
                     int32_t* records, size_t stride) {
    const auto* singles = static_cast<const float*>(states);
    const auto* doubles = static_cast<const double*>(states);
    if (single && height == 1) put_bins_of<1>(singles, d, rows, count, levels, height, records, stride, feature);
    else if (single && height == 2) put_bins_of<2>(singles, d, rows, count, levels, height, records, stride, feature);
    else if (single) put_bins_of<0>(singles, d, rows, count, levels, height, records, stride, feature);
    else put_bins_of<0>(doubles, d, rows, count, levels, height, records, stride, feature);
}

// Counts in which stretch of the grid, 2^12 steps each, the targets of some records lie.
static void add_places(const int32_t* records, size_t stride, size_t count, const WideLanes& lanes, int shift, int64_t* lie, size_t buckets) {
    const auto most = static_cast<int32_t>(buckets) - 1;
    for (size_t j = 0; j < count; ++j, records += stride) {
        const auto targets = static_cast<size_t>(records[lanes.known()] ? lanes.targets : lanes.plain);
        for (size_t k = 0; k < targets; ++k) {
            int32_t place = (records[k] >> shift) + (most >> 1);
            place = place < 0 ? 0 : place > most ? most : place;
            ++lie[k * buckets + static_cast<size_t>(place)];
        }
    }
}

static void copy_records(const int32_t* records, size_t stride, size_t count, int32_t* const* to) {
    for (size_t j = 0; j < count; ++j, records += stride) {
        size_t k = 0;
        for (; k + 8 <= stride; k += 8) store(to[j] + k, load(records + k));
        for (; k < stride; ++k) to[j][k] = records[k];
    }
}

}  // namespace TT_ISA
}  // namespace tripletree
