// The inner loops, written once and compiled for each instruction set (see hot.hpp).
//
// Let u = y - (node mean), U(l) the sum of the first l samples' u along a feature. Cutting there gains
// g = |U|^2 n / (l (n - l)). For a bin that holds samples l0 .. l1 with c = l1 - l0 and within sum of squares s:
//   |U| <= max(|U0|, |U1|) + sqrt(c s) / 2   inside it, and
//   g <= |U0|^2 / l0 + |U1|^2 / (n - l1) + (sum of |u|^2 over the bin),
// since no cut explains more than isolating every sample of the bin would. Derivatives may be missing, so their columns
// form a second group with counts of its own; gains and bounds of the groups add up.

#include <algorithm>
#include <cmath>
#include <cstring>
#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "hot.hpp"

#define TT_INLINE inline __attribute__((always_inline))
// For loops that load from all over: GCC would use the gather instructions, which are slower than plain loads.
#if defined(__GNUC__) && !defined(__clang__)
#define TT_SCALAR __attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize")))
#else
#define TT_SCALAR
#endif

namespace tripletree {
namespace TT_ISA {

typedef double V8 __attribute__((vector_size(64)));
typedef double V4 __attribute__((vector_size(32)));
typedef double V2 __attribute__((vector_size(16)));
typedef int32_t I8 __attribute__((vector_size(32)));
typedef uint64_t L8 __attribute__((vector_size(64)));

TT_INLINE V8 load(const double* p) {
    V8 v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
TT_INLINE I8 load(const int32_t* p) {
    I8 v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
TT_INLINE void store(double* p, V8 v) { std::memcpy(p, &v, sizeof v); }
TT_INLINE void store(int32_t* p, I8 v) { std::memcpy(p, &v, sizeof v); }

// Eight integers to doubles and back.
TT_INLINE V8 widen(I8 v) {
#if defined(__AVX512F__)
    return (V8)_mm512_cvtepi32_pd((__m256i)v);  // GCC makes two halves of the generic form
#else
    return __builtin_convertvector(v, V8);
#endif
}
TT_INLINE V8 widen(const int32_t* p) { return widen(load(p)); }
TT_INLINE void narrow(V8 v, int32_t* p) {
    const I8 whole = __builtin_convertvector(v, I8);
    std::memcpy(p, &whole, sizeof whole);
}

TT_INLINE double horizontal_sum(V8 v) {
    V4 a = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
    V2 b = __builtin_shufflevector(a, a, 0, 1) + __builtin_shufflevector(a, a, 2, 3);
    return b[0] + b[1];
}

// The range of a column, or of eight side by side, together with the one so far; NaN does not count.
static void widen_ranges(const double* x, size_t n, size_t stride, bool eight, double* lowest, double* highest) {
    V8 lo = eight ? load(lowest) : V8{} + *lowest, hi = eight ? load(highest) : V8{} + *highest;
    auto add = [&](V8 v) { lo = v < lo ? v : lo, hi = v > hi ? v : hi; };
    if (eight) {
        for (size_t i = 0; i < n; ++i, x += stride) add(load(x));
        store(lowest, lo), store(highest, hi);
        return;
    }
    size_t i = 0;
    for (; i + 8 <= n && stride == 1; i += 8) add(load(x + i));
    for (; i < n; ++i) add(V8{} + x[i * stride]);
    for (int k = 0; k < 8; ++k) *lowest = std::min(*lowest, lo[k]), *highest = std::max(*highest, hi[k]);
}

// Adds up u = (x - centre) * unit, and u^2, where x is not NaN, of a column, or of eight side by side; returns how often the first
// is not. Adding and subtracting a large number rounds to a grid; on two grids, one for what the other leaves, no sum is rounded.
// sums[4 * column] is for the high part of u, the next for the low part, then those of u^2.
static size_t add_sums(const double* x, size_t n, size_t stride, bool eight, const double* centre, const double* unit, const double* large, double* sums) {
    const V8 middle = eight ? load(centre) : V8{} + *centre, scale = eight ? load(unit) : V8{} + *unit;
    V8 total[4] = {}, count = {};
    auto add = [&](V8 v) {
        const auto known = v == v;
        V8 u = known ? (v - middle) * scale : V8{};
        count += known ? V8{} + 1 : V8{};
        for (int power = 0; power < 2; ++power, u = u * u) {
            const V8 high = (u + large[0]) - large[0];
            total[2 * power] += high;
            total[2 * power + 1] += ((u - high) + large[1]) - large[1];
        }
    };
    if (eight) {
        for (size_t i = 0; i < n; ++i, x += stride) add(load(x));
        for (int k = 0; k < 8; ++k)
            for (int j = 0; j < 4; ++j) sums[4 * k + j] += total[j][k];
        return static_cast<size_t>(count[0]);
    }
    size_t i = 0;
    for (; i + 8 <= n && stride == 1; i += 8) add(load(x + i));
    for (; i < n; i += 8) {
        V8 some = V8{} + __builtin_nan("");
        for (size_t k = 0; k < 8 && i + k < n; ++k) some[k] = x[(i + k) * stride];
        add(some);
    }
    for (int j = 0; j < 4; ++j) sums[j] += horizontal_sum(total[j]);
    return static_cast<size_t>(horizontal_sum(count));
}

// out[i][k] = ((x[i][k] - centre[k]) * unit[k] - mean[k]) * scale[k], rounded half to even; 0 for NaN. |result| must stay below 2^31.
static void quantise(const double* x, size_t n, size_t m, int64_t row_stride, int64_t column_stride, const double* centre, const double* unit,
                     const double* mean, const double* scale, int32_t* out, size_t width) {
    const double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    if (m >= 8 && column_stride == 1) {
        for (size_t i = 0; i < n; ++i, x += row_stride, out += width)
            for (size_t from = 0; from < m; from += 8) {
                const size_t k = std::min(from, m - 8);  // the last eight overlap those before
                const V8 y = ((load(x + k) - load(centre + k)) * load(unit + k) - load(mean + k)) * load(scale + k);
                narrow(y == y ? (y + magic) - magic : V8{}, out + k);
            }
        return;
    }
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < m; ++k) {
            const double v = x[static_cast<int64_t>(i) * row_stride + static_cast<int64_t>(k) * column_stride];
            const double y = ((v - centre[k]) * unit[k] - mean[k]) * scale[k], rounded = (y + magic) - magic;
            out[i * width + k] = y == y ? static_cast<int32_t>(rounded) : 0;
        }
}

// Where the values of up to eight features lie in their ranges, from 0 to 2^32 - 1; every feature has a column of its own.
static void make_keys(const double* x, size_t n, size_t stride, size_t features, const double* lo, const double* half, const double* range, uint32_t* keys,
                      size_t apart) {
    // Converted as signed numbers, which every instruction set can.
    const double steps = 4294967295.0, middle = 2147483648.0;
    if (features < 8) {
        for (size_t k = 0; k < features; ++k) {
            const double scale = half[k], low = lo[k] * scale, width = range[k];
            for (size_t i = 0; i < n; ++i)
                keys[k * apart + i] =
                    width > 0 ? static_cast<uint32_t>(static_cast<int32_t>((x[i * stride + k] * scale - low) / width * steps - middle)) ^ 0x80000000u : 0;
        }
        return;
    }
    V8 width = load(range), scale = width > 0 ? load(half) : V8{};
    const V8 low = load(lo) * scale;
    width = width > 0 ? width : V8{} + 1;
    for (size_t i = 0; i < n; ++i, x += stride) {
        if (i + 16 < n) __builtin_prefetch(x + 16 * stride), __builtin_prefetch(x + 16 * stride + 7);
        const I8 key = __builtin_convertvector((load(x) * scale - low) / width * steps - middle, I8);
        for (size_t k = 0; k < 8; ++k) keys[k * apart + i] = static_cast<uint32_t>(key[k]) ^ 0x80000000u;
    }
}

// Several states walk down side by side, so that their loads overlap; the last ones overlap those before them.
TT_SCALAR static void apply_block(const double* states, size_t d, size_t n, const Step* steps, int depth, int32_t* out) {
    constexpr size_t side = 16;
    const char* base = reinterpret_cast<const char*>(steps);
    for (size_t i = 0; i < n; i += side) {
        if (i + side > n) {
            if (n < side) break;
            i = n - side;
        }
        uint32_t at[side] = {};
        for (int level = 0; level < depth; ++level) {
            uint32_t moved = 0;
            const char* row = reinterpret_cast<const char*>(states + i * d);
#pragma GCC unroll 16
            for (size_t j = 0; j < side; ++j) {
                const auto* s = reinterpret_cast<const Step*>(base + at[j]);
                const double x = *reinterpret_cast<const double*>(row + static_cast<uint32_t>(s->feature));
                const uint32_t to = static_cast<uint32_t>(s->left) + (static_cast<uint32_t>(x >= s->threshold) << 4);
                moved |= to ^ at[j];
                at[j] = to;
                row += d * 8;
            }
            if (!moved) break;  // all are in their leaves
        }
        for (size_t j = 0; j < side; ++j) out[i + j] = static_cast<int32_t>(at[j] >> 4);
    }
    for (size_t i = 0; n < side && i < n; ++i) {
        uint32_t at = 0;
        for (int level = 0; level < depth; ++level) {
            const auto* s = reinterpret_cast<const Step*>(base + at);
            at = static_cast<uint32_t>(s->left) + (static_cast<uint32_t>(states[i * d + static_cast<uint32_t>(s->feature) / 8] >= s->threshold) << 4);
        }
        out[i] = static_cast<int32_t>(at >> 4);
    }
}

// Adds a record of short sums to the long ones, and clears it.
static void add_record(int vectors, int32_t* part, double* record) {
    for (int j = 0; j < vectors; ++j) store(record + 8 * j, load(record + 8 * j) + widen(part + 8 * j));
    std::memset(part, 0, static_cast<size_t>(vectors) * 8 * sizeof(int32_t));
}

template <int NV>
TT_INLINE void add_rows_impl(const Table& table, const uint32_t* order, size_t count, size_t f0, size_t f1, int32_t* part, double* histogram) {
    const int nv = NV ? NV : table.lanes.vectors, lane_count = table.lanes.count();
    const size_t width = static_cast<size_t>(nv) * 8, d = table.d;
    const uint32_t *first = table.first_bin.data(), from = first[f0];
    const uint16_t* bins = table.bins;
    const int32_t* rows = table.rows;
    for (size_t i = 0; i < count; ++i) {
        const size_t row = order[i];
        if (i + 16 < count) {
            const size_t ahead = order[i + 16];
            for (size_t k = 0; k < width; k += 16) __builtin_prefetch(rows + ahead * width + k);
            __builtin_prefetch(bins + ahead * d + f0);
        }
        const int32_t* y = rows + row * width;
        I8 v[NV ? NV : 1];
        for (int j = 0; j < NV; ++j) v[j] = load(y + 8 * j);
        for (size_t f = f0; f < f1; ++f) {
            const size_t bin = first[f] - from + bins[row * d + f];
            int32_t* sums = part + bin * width;
            if (__builtin_expect(sums[lane_count] == short_sum, 0)) add_record(nv, sums, histogram + bin * width);
            for (int j = 0; j < nv; ++j) store(sums + 8 * j, load(sums + 8 * j) + (NV ? v[NV ? j : 0] : load(y + 8 * j)));
        }
    }
}

// Adds the rows order[0 .. count) to the bins of features f0 .. f1: to short sums first, `part`, which move half the memory, and
// to the histogram whenever those are full. Both begin at the first of these bins.
static void add_rows(const Table& table, const uint32_t* order, size_t count, size_t f0, size_t f1, int32_t* part, double* histogram) {
    switch (table.lanes.vectors) {
        case 1: return add_rows_impl<1>(table, order, count, f0, f1, part, histogram);
        case 2: return add_rows_impl<2>(table, order, count, f0, f1, part, histogram);
        case 3: return add_rows_impl<3>(table, order, count, f0, f1, part, histogram);
        case 4: return add_rows_impl<4>(table, order, count, f0, f1, part, histogram);
        case 8: return add_rows_impl<8>(table, order, count, f0, f1, part, histogram);
        default: return add_rows_impl<0>(table, order, count, f0, f1, part, histogram);
    }
}

// Adds what is left in the short sums of some bins.
static void add_part(const Lanes& lanes, int32_t* part, size_t bins, double* histogram) {
    const size_t width = static_cast<size_t>(lanes.width);
    for (size_t b = 0; b < bins; ++b)
        if (part[b * width + static_cast<size_t>(lanes.count())]) add_record(lanes.vectors, part + b * width, histogram + b * width);
}

// The sibling: parent becomes parent - child, exactly.
static void subtract(double* parent, const double* child, size_t size) {
    for (size_t i = 0; i < size; ++i) parent[i] -= child[i];
}

template <int NV, bool TWO>
TT_INLINE void scan_impl(const double* sums, size_t bins, double square_unit, const Lanes& lanes, const Centre& centre, const Base& base,
                         double* generic_prefix, Scan& scan) {
    const int nv = NV ? NV : lanes.vectors;
    const size_t width = static_cast<size_t>(nv) * 8;
    const double *whole = centre.whole.data(), *rest = centre.rest.data(), *plain = centre.plain.data(), *deriv = centre.derivative.data();
    double *before = scan.before.data(), *count = scan.count.data(), *out_uu = scan.uu.data(), *ss = scan.ss.data();
    double *before_d = scan.before_d.data(), *count_d = scan.count_d.data(), *out_uu_d = scan.uu_d.data(), *ss_d = scan.ss_d.data();
    double* out_prefix = scan.prefix.data();
    const int lane_count = lanes.count(), lane_d = lanes.with_derivative(), lane_q = lanes.squares(), lane_qd = lanes.derivative_squares();
    V8 local[NV ? NV : 1];
    V8* prefix = NV ? local : reinterpret_cast<V8*>(generic_prefix);
    double left = base.left, left_d = base.left_d, uu = 0, uu_d = 0;
    {
        V8 a = {}, a_d = {};
        for (int j = 0; j < nv; ++j) {
            prefix[j] = load(base.sums + 8 * j);
            const V8 u = prefix[j] - (TWO ? left * load(plain + 8 * j) + left_d * load(deriv + 8 * j) : left * load(plain + 8 * j)) * load(rest + 8 * j);
            a += u * u * load(plain + 8 * j);
            if (TWO) a_d += u * u * load(deriv + 8 * j);
        }
        out_uu[0] = uu = horizontal_sum(a);
        if (TWO) out_uu_d[0] = uu_d = horizontal_sum(a_d);
    }
    for (size_t b = 0; b < bins; ++b) {
        const double* record = sums + b * width;
        const double c = record[lane_count], c_d = TWO ? record[lane_d] : 0;
        before[b] = left;
        count[b] = c;
        if (TWO) before_d[b] = left_d, count_d[b] = c_d;
        for (int j = 0; j < nv; ++j) store(out_prefix + b * width + 8 * j, prefix[j]);
        if (c == 0) {  // nothing to add; never opened, never a cut of its own
            out_uu[b + 1] = uu, ss[b] = 0;
            if (TWO) out_uu_d[b + 1] = uu_d, ss_d[b] = 0;
            continue;
        }
        left += c;
        left_d += c_d;
        V8 a_u = {}, a_v = {}, d_u = {}, d_v = {};
        for (int j = 0; j < nv; ++j) {
            // `whole` and `rest` are 0 in the lanes beyond the targets.
            const V8 v = load(record + 8 * j) * (TWO ? load(plain + 8 * j) + load(deriv + 8 * j) : load(plain + 8 * j));
            const V8 here = TWO ? c * load(plain + 8 * j) + c_d * load(deriv + 8 * j) : V8{} + c,
                     all = TWO ? left * load(plain + 8 * j) + left_d * load(deriv + 8 * j) : V8{} + left;
            prefix[j] += v - here * load(whole + 8 * j);
            const V8 u = prefix[j] - all * load(rest + 8 * j);
            a_u += TWO ? u * u * load(plain + 8 * j) : u * u, a_v += TWO ? v * v * load(plain + 8 * j) : v * v;
            if (TWO) d_u += u * u * load(deriv + 8 * j), d_v += v * v * load(deriv + 8 * j);
        }
        out_uu[b + 1] = uu = horizontal_sum(a_u);
        // Rows keep the squares of the groups apart, also for a node that needs one group only. Sums of squares may have
        // lost their last digits; what is missing is added so that the bound stays one.
        const double q = (TWO ? record[lane_q] : record[lane_q] + record[lane_qd]) * square_unit;
        ss[b] = std::max(0.0, q - horizontal_sum(a_v) / c) + 1e-12 * q;
        if (TWO) {
            const double q_d = record[lane_qd] * square_unit;
            out_uu_d[b + 1] = uu_d = horizontal_sum(d_u);
            ss_d[b] = c_d > 0 ? std::max(0.0, q_d - horizontal_sum(d_v) / c_d) + 1e-12 * q_d : 0;
        }
    }
    for (int j = 0; j < nv; ++j) store(out_prefix + bins * width + 8 * j, prefix[j]);
}

// Runs along the bins of one feature: fills everything in `scan` but `hope`.
static void scan_bins(const double* sums, size_t bins, double square_unit, const Lanes& lanes, const Centre& centre, const Base& base, double* generic_prefix,
                      Scan& scan) {
#define TT_CASE(NV)                                                                                                 \
    if (centre.two_groups) scan_impl<NV, true>(sums, bins, square_unit, lanes, centre, base, generic_prefix, scan); \
    else scan_impl<NV, false>(sums, bins, square_unit, lanes, centre, base, generic_prefix, scan);                  \
    return;
    switch (lanes.vectors) {
        case 1: TT_CASE(1)
        case 2: TT_CASE(2)
        case 3: TT_CASE(3)
        default: TT_CASE(0)
    }
#undef TT_CASE
}

// Gain of a cut, from |U|^2 and counts. Every place that evaluates a cut uses this one formula, so equal cuts tie exactly.
TT_INLINE double gain_of(double uu, double left, double n) { return uu * (n / (left * (n - left))); }
TT_INLINE double gain_of(double uu, double left, double uu_d, double left_d, double n, double nd) {
    const double inner = left_d * (nd - left_d);
    return gain_of(uu, left, n) + (inner > 0 ? uu_d * (n / inner) : 0.0);
}

// Upper bound on the gain of a group's cuts that leave between `first` and `last` of its n samples on the left, inside a
// bin of c samples that begins after l0.
TT_INLINE double bound_of(double l0, double c, double u0, double u1, double spread, double ss, double first, double last, double n) {
    const double l1 = l0 + c, inner = std::min(first * (n - first), last * (n - last));
    const double reach = std::sqrt(std::max(u0, u1)) + std::sqrt(c * ss) / 2;
    const double by_isolation = (l0 > 0 ? u0 / l0 : 0.0) + (n > l1 ? u1 / (n - l1) : 0.0) + spread;
    const double by_reach = inner > 0 ? reach * reach * n / inner : by_isolation;
    return (by_reach < by_isolation ? by_reach : by_isolation) * (1 + tie_share);
}

// Bound for the cuts strictly inside bin b; -1 where there is none.
static double bin_bound(size_t b, const Lanes& lanes, const Centre& centre, double min_leaf, const Scan& scan) {
    const double n = centre.n, nd = centre.nd, l0 = scan.before[b], c = scan.count[b], c_d = centre.two_groups ? scan.count_d[b] : 0;
    const double first = std::max(l0 + 1, min_leaf), last = std::min(l0 + c - 1, n - min_leaf);
    if (first > last) return -1;
    // Sum of |u|^2 over the bin: s, and the distance of the bin's mean from the node's.
    const double *p0 = scan.prefix.data() + b * static_cast<size_t>(lanes.width), *p1 = p0 + lanes.width, *rest = centre.rest.data();
    V8 apart = {}, apart_d = {};
    for (int k = 0; k < lanes.width; k += 8) {
        const V8 sum = load(p1 + k) - load(p0 + k), x = sum - c * load(rest + k), x_d = sum - c_d * load(rest + k);
        apart += x * x * load(centre.plain.data() + k);
        if (centre.two_groups) apart_d += x_d * x_d * load(centre.derivative.data() + k);
    }
    const double xx = horizontal_sum(apart), xx_d = horizontal_sum(apart_d);
    double bound = bound_of(l0, c, scan.uu[b], scan.uu[b + 1], scan.ss[b] + xx / c, scan.ss[b], first, last, n);
    if (centre.two_groups && nd > 0) {
        const double d0 = scan.before_d[b], spread = c_d > 0 ? scan.ss_d[b] + xx_d / c_d : 0;
        bound += bound_of(d0, c_d, scan.uu_d[b], scan.uu_d[b + 1], spread, scan.ss_d[b], d0, d0 + c_d, nd) * (n / nd);
    }
    return bound;
}

// Gain of the cut at the end of bin b; 0 where none is allowed.
static double bin_gain(size_t b, const Centre& centre, double min_leaf, const Scan& scan) {
    const double n = centre.n, left = scan.before[b] + scan.count[b];
    if (scan.count[b] == 0 || left < min_leaf || n - left < min_leaf || left >= n) return 0;
    return centre.two_groups ? gain_of(scan.uu[b + 1], left, scan.uu_d[b + 1], scan.before_d[b] + scan.count_d[b], n, centre.nd)
                             : gain_of(scan.uu[b + 1], left, n);
}

// Marks the bins worth a closer look, without a root or a division: with A = max |U|^2, B = c s / 4 and T = what would be
// enough, (sqrt(A) + sqrt(B))^2 >= T if T <= A + B or (T - A - B)^2 <= 4 A B. Returns their number; `marked` lists them.
static size_t mark_bins(size_t bins, const Centre& centre, double floor, Scan& scan) {
    const double n = centre.n, generous = 1 + tie_share, enough = floor / (n * generous);
    const double *before = scan.before.data(), *count = scan.count.data(), *uu = scan.uu.data(), *ss = scan.ss.data();
    double* hope = scan.hope.data();
    if (centre.two_groups) {
        for (size_t b = 0; b < bins; ++b) hope[b] = count[b] > 0 ? 3 : 0;
    } else {
        for (size_t b = 0; b < bins; ++b) {
            const double l0 = before[b], c = count[b], l1 = l0 + c, first = l0 + 1, last = l1 - 1;
            const double inner = std::min(first * (n - first), last * (n - last));
            const double A = std::max(uu[b], uu[b + 1]), B = c * ss[b] / 4, short_of = enough * inner - A - B;
            const double edge = uu[b + 1] >= enough * (l1 * (n - l1)) ? 1.0 : 0.0;
            const double inside = short_of <= 0 ? 2.0 : (short_of * short_of <= 4 * A * B * generous ? 2.0 : 0.0);
            hope[b] = (c > 0 ? edge : 0.0) + (c > 1 ? inside : 0.0);
        }
    }
    size_t found = 0;
    uint32_t* marked = scan.marked.data();
    for (size_t b = 0; b < bins; ++b) {
        marked[found] = static_cast<uint32_t>(b);
        found += hope[b] > 0;
    }
    return found;
}

// A feature's codes of some rows.
TT_SCALAR static void gather_codes(const Table& table, size_t feature, const uint32_t* order, size_t count, uint32_t* out) {
    const uint32_t* codes = table.codes + feature * table.n;
    for (size_t i = 0; i < count; ++i) {
        if (i + 32 < count) __builtin_prefetch(codes + order[i + 32]);
        out[i] = codes[order[i]];
    }
}

// The codes next to a cut: the largest that is <= cut, the smallest that is greater.
static CodeRange codes_at(const uint32_t* codes, size_t count, uint32_t cut) {
    uint32_t below = 0, above = UINT32_MAX;
    for (size_t i = 0; i < count; ++i) {
        below = std::max(below, codes[i] <= cut ? codes[i] : 0u);
        above = std::min(above, codes[i] <= cut ? UINT32_MAX : codes[i]);
    }
    return {below, above};
}

// Sorts words by their codes, equal ones by place: merges of runs, for what a map did not tell apart.
static void sort_run(const uint32_t* codes, uint32_t* words, size_t count, uint32_t* spare) {
    uint32_t *from = words, *to = spare;
    for (size_t length = 1; length < count; length *= 2) {
        for (size_t a = 0; a < count; a += 2 * length) {
            size_t i = a, j = std::min(count, a + length), k = a;
            const size_t middle = j, end = std::min(count, a + 2 * length);
            while (i < middle && j < end) to[k++] = codes[from[j] & 0xffffu] < codes[from[i] & 0xffffu] ? from[j++] : from[i++];
            while (i < middle) to[k++] = from[i++];
            while (j < end) to[k++] = from[j++];
        }
        uint32_t* swap = from;
        from = to;
        to = swap;
    }
    if (from != words) std::memcpy(words, from, count * sizeof(uint32_t));
}

// Sorts the places 0 .. count (<= 2^16) by their codes; equal codes keep their order. `words` has room for 2 count.
static Values sort_places(const uint32_t* codes, size_t count, uint32_t* words, uint16_t* list) {
    uint32_t lo = UINT32_MAX, hi = 0, offsets = 0;
    for (size_t i = 0; i < count; ++i) lo = std::min(lo, codes[i]), hi = std::max(hi, codes[i]), offsets |= codes[i];
    if (lo == hi) return Values::one;
    // A word is (what grows with the code) << 16 | place. Any monotone map will do, so single precision is enough; codes stay
    // below 2^31, and signed numbers convert faster. A few repeated values are told apart by 8 bits.
    const bool few = !(offsets & offset_mask) && hi - lo < 256u << offset_bits;
    const float factor = few ? 1.0f / (1u << offset_bits) : static_cast<float>(65536 / (static_cast<double>(hi - lo) + 1) * (1 - 1e-6));
    for (size_t i = 0; i < count; ++i) {
        const auto away = static_cast<float>(static_cast<int32_t>(codes[i] - lo));
        words[i] = static_cast<uint32_t>(static_cast<int32_t>(away * factor)) << 16 | static_cast<uint32_t>(i);
    }
    uint32_t *from = words, *to = words + count, start[2][256] = {};
    if (few)
        for (size_t i = 0; i < count; ++i) ++start[0][words[i] >> 16];
    else
        for (size_t i = 0; i < count; ++i) ++start[0][words[i] >> 16 & 255], ++start[1][words[i] >> 24];
    for (int pass = 0; pass < (few ? 1 : 2); ++pass) {
        const int shift = 16 + 8 * pass;
        uint32_t at = 0, *next = start[pass];
        for (int k = 0; k < 256; ++k) {
            const uint32_t here = next[k];
            next[k] = at;
            at += here;
        }
        for (size_t i = 0; i < count; ++i) to[next[from[i] >> shift & 255]++] = from[i];
        uint32_t* swap = from;
        from = to;
        to = swap;
    }
    bool ties = false;
    list[0] = static_cast<uint16_t>(from[0] & 0xffffu);
    for (size_t i = 1; i < count; ++i) {
        uint32_t place = from[i] & 0xffffu, before = list[i - 1];
        if (codes[place] < codes[before]) {  // the map made different codes equal: sort those, and do them again
            size_t a = i, b = i + 1;
            while (a > 0 && from[a - 1] >> 16 == from[i] >> 16) --a;
            while (b < count && from[b] >> 16 == from[i] >> 16) ++b;
            sort_run(codes, from + a, b - a, to);
            i = a;
            place = from[i] & 0xffffu, before = i > 0 ? list[i - 1] : place;
        }
        ties |= i > 0 && codes[place] == codes[before];
        list[i] = static_cast<uint16_t>(place);
    }
    return ties ? Values::with_ties : Values::all_different;
}

// ranks[place] becomes the number of values below its own, of the sorted places in list.
static void rank_places(const uint32_t* codes, const uint16_t* list, size_t count, uint16_t* ranks) {
    uint32_t rank = 0, last = codes[list[0]];
    for (size_t i = 0; i < count; ++i) {
        const uint32_t code = codes[list[i]];
        rank += code != last;
        last = code;
        ranks[list[i]] = static_cast<uint16_t>(rank);
    }
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

// The sums of four vectors, side by side.
TT_INLINE V4 sum_four(V8 a, V8 b, V8 c, V8 d) {
    const V4 x = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
    const V4 y = __builtin_shufflevector(b, b, 0, 1, 2, 3) + __builtin_shufflevector(b, b, 4, 5, 6, 7);
    const V4 z = __builtin_shufflevector(c, c, 0, 1, 2, 3) + __builtin_shufflevector(c, c, 4, 5, 6, 7);
    const V4 w = __builtin_shufflevector(d, d, 0, 1, 2, 3) + __builtin_shufflevector(d, d, 4, 5, 6, 7);
    const V4 xy = __builtin_shufflevector(x, y, 0, 4, 2, 6) + __builtin_shufflevector(x, y, 1, 5, 3, 7);
    const V4 zw = __builtin_shufflevector(z, w, 0, 4, 2, 6) + __builtin_shufflevector(z, w, 1, 5, 3, 7);
    return __builtin_shufflevector(xy, zw, 0, 1, 4, 5) + __builtin_shufflevector(xy, zw, 2, 3, 6, 7);
}

TT_INLINE bool any_reaches(V4 a, V4 b) {
#if defined(__AVX__)
    return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_GE_OQ)) != 0;
#else
    return (a[0] >= b[0]) | (a[1] >= b[1]) | (a[2] >= b[2]) | (a[3] >= b[3]);
#endif
}

template <int NV, bool TWO>
TT_INLINE size_t try_cuts_impl(const Table& table, const Centre& centre, double min_leaf, const uint32_t* rows, const uint32_t* values, size_t count,
                               const Base& base, double floor, double* generic, Cut* cuts) {
    const int nv = NV ? NV : table.lanes.vectors;
    const size_t width = static_cast<size_t>(nv) * 8;
    const double *whole = centre.whole.data(), *rest = centre.rest.data(), *plain = centre.plain.data(), *deriv = centre.derivative.data(), n = centre.n;
    V8 local[NV ? NV : 1];
    V8* prefix = NV ? local : reinterpret_cast<V8*>(generic);
    for (int j = 0; j < nv; ++j) prefix[j] = load(base.sums + 8 * j);
    double left = base.left, left_d = base.left_d;
    size_t found = 0, i = 0;
    // One row further, and the exact gain of the cut after it.
    auto step = [&] {
        const int32_t* y = table.rows + rows[i] * width;
        const double has = TWO ? y[table.lanes.with_derivative()] : 0;
        for (int j = 0; j < nv; ++j)
            prefix[j] += (widen(y + 8 * j) - load(whole + 8 * j)) * (TWO ? load(plain + 8 * j) + has * load(deriv + 8 * j) : load(plain + 8 * j));
        left += 1;
        left_d += has;
        ++i;
        // The end of the range is weighed by others.
        if (i == count || left < min_leaf || n - left < min_leaf || values[i - 1] == values[i]) return;
        V8 a = {}, a_d = {};
        for (int j = 0; j < nv; ++j) {
            if (TWO) {
                const V8 u = prefix[j] - (left * load(plain + 8 * j) + left_d * load(deriv + 8 * j)) * load(rest + 8 * j);
                a += u * u * load(plain + 8 * j);
                a_d += u * u * load(deriv + 8 * j);
            } else {
                const V8 u = prefix[j] - left * load(rest + 8 * j);
                a += u * u;
            }
        }
        const double uu = horizontal_sum(a);
        const double gain = TWO ? gain_of(uu, left, horizontal_sum(a_d), left_d, n, centre.nd) : gain_of(uu, left, n);
        if (gain < floor) return;
        cuts[found++] = {static_cast<uint32_t>(i), gain};
        floor = std::max(floor, gain * (1 - tie_share));
    };
    if (!TWO) {
        // Four cuts at a time, without a division, and without the rests of the means: |U| is at most (their length) x n away.
        const double slack = 2 * centre.rest_length * n;
        auto enough = [&] { return floor / n * std::max(0.0, 1 - slack / std::sqrt(floor)) * (1 - tie_share); };
        double share = enough();
        V4 at = {left + 1, left + 2, left + 3, left + 4};
        const I8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
        for (; i + 4 <= count; at += 4) {
            V8 squares[4] = {};
            V8 next[NV ? NV : 1];
            for (int j = 0; j < nv; ++j) {
                V8 y[4];
                const I8 used = (lane + 8 * j < table.lanes.targets);
                for (int k = 0; k < 4; ++k) y[k] = widen(load(table.rows + rows[i + static_cast<size_t>(k)] * width + 8 * j) & used) - load(whole + 8 * j);
                const V8 y01 = y[0] + y[1], y23 = y[2] + y[3], p0 = prefix[j] + y[0], p1 = prefix[j] + y01, p2 = p1 + y[2], p3 = prefix[j] + (y01 + y23);
                squares[0] += p0 * p0, squares[1] += p1 * p1, squares[2] += p2 * p2, squares[3] += p3 * p3;
                if (NV) next[NV ? j : 0] = p3;
                else store(generic + width + 8 * static_cast<size_t>(j), p3);
            }
            if (__builtin_expect(any_reaches(sum_four(squares[0], squares[1], squares[2], squares[3]), share * (at * (n - at))), 0)) {
                for (int k = 0; k < 4; ++k) step();
                share = enough();
                continue;
            }
            for (int j = 0; j < nv; ++j) prefix[j] = NV ? next[NV ? j : 0] : load(generic + width + 8 * static_cast<size_t>(j));
            i += 4;
            left += 4;
        }
    }
    while (i < count) step();
    return found;
}

// The cuts strictly inside a range of sorted rows that gain at least `floor`, which rises with them.
static size_t try_cuts(const Table& table, const Centre& centre, double min_leaf, const uint32_t* rows, const uint32_t* values, size_t count, const Base& base,
                       double floor, double* generic, Cut* cuts) {
#define TT_CASE(NV)                                                                                                              \
    return centre.two_groups ? try_cuts_impl<NV, true>(table, centre, min_leaf, rows, values, count, base, floor, generic, cuts) \
                             : try_cuts_impl<NV, false>(table, centre, min_leaf, rows, values, count, base, floor, generic, cuts);
    switch (table.lanes.vectors) {
        case 1: TT_CASE(1)
        case 2: TT_CASE(2)
        case 3: TT_CASE(3)
        case 8: TT_CASE(8)
        default: TT_CASE(0)
    }
#undef TT_CASE
}

template <int NV>
TT_INLINE void sum_rows_impl(const Table& table, const uint32_t* order, size_t count, double* sums, uint64_t* squares) {
    const int nv = NV ? NV : table.lanes.vectors, plain = table.lanes.plain, targets = table.lanes.targets;
    const size_t width = static_cast<size_t>(nv) * 8;
    V8 local[NV ? NV : 1] = {};
    L8 square[NV ? NV : 1] = {};
    for (size_t i = 0; i < count; ++i) {
        if (i + 16 < count)
            for (size_t k = 0; k < width; k += 16) __builtin_prefetch(table.rows + order[i + 16] * width + k);
        const int32_t* y = table.rows + order[i] * width;
        for (int j = 0; j < NV; ++j) {
            local[j] += widen(y + 8 * j);
            const L8 v = __builtin_convertvector(load(y + 8 * j), L8);
            square[j] += v * v;
        }
        for (int j = NV; j < nv; ++j) store(sums + 8 * j, load(sums + 8 * j) + widen(y + 8 * j));
        for (int k = NV * 8; k < targets; ++k) squares[k < plain ? 0 : 1] += static_cast<uint64_t>(int64_t{y[k]} * y[k]);
    }
    for (int j = 0; j < NV; ++j) store(sums + 8 * j, local[j]);
    for (int k = 0; k < targets && k < NV * 8; ++k) squares[k < plain ? 0 : 1] += square[NV ? k / 8 : 0][k % 8];
}

// Sums of some rows by lane, and their squares, plain and derivative; all must be zero before.
static void sum_rows(const Table& table, const uint32_t* order, size_t count, double* sums, uint64_t* squares) {
    switch (table.lanes.vectors) {
        case 1: return sum_rows_impl<1>(table, order, count, sums, squares);
        case 2: return sum_rows_impl<2>(table, order, count, sums, squares);
        case 3: return sum_rows_impl<3>(table, order, count, sums, squares);
        case 4: return sum_rows_impl<4>(table, order, count, sums, squares);
        case 8: return sum_rows_impl<8>(table, order, count, sums, squares);
        default: return sum_rows_impl<0>(table, order, count, sums, squares);
    }
}

// What no |y|^2 of rows a .. b exceeds: the sum of every target's largest square.
static double largest_square(const Table& table, size_t a, size_t b) {
    const size_t width = static_cast<size_t>(table.lanes.width);
    double sum = 0;
    for (int j = 0; j < table.lanes.vectors; ++j) {
        I8 lo = {}, hi = {};
        for (size_t i = a; i < b; ++i) {
            const I8 y = load(table.rows + i * width + 8 * j);
            lo = y < lo ? y : lo, hi = y > hi ? y : hi;
        }
        for (int k = 8 * j; k < 8 * j + 8 && k < table.lanes.targets; ++k) {
            const double most = std::max(hi[k % 8], -lo[k % 8]);
            sum += most * most;
        }
    }
    return sum;
}

template <int NV>
TT_INLINE void complete_impl(const Table& table, size_t a, size_t b) {
    const Lanes& lanes = table.lanes;
    const int nv = NV ? NV : lanes.vectors, plain = table.missing ? lanes.plain : lanes.targets;
    const double per_unit = 1 / table.square_unit;
    const I8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
    for (size_t i = a; i < b; ++i) {
        int32_t* y = table.rows + i * static_cast<size_t>(nv) * 8;
        V8 sum = {}, sum_d = {};
        for (int j = 0; j < nv; ++j) {
            const I8 v = load(y + 8 * j), at = lane + 8 * j;
            const V8 p = widen(at < plain ? v : I8{}), q = widen((at >= plain) & (at < lanes.targets) ? v : I8{});
            sum += p * p, sum_d += q * q;
        }
        y[lanes.count()] = 1;
        y[lanes.squares()] = static_cast<int32_t>(horizontal_sum(sum) * per_unit) + 1;
        y[lanes.derivative_squares()] = table.missing ? static_cast<int32_t>(horizontal_sum(sum_d) * per_unit) + 1 : 0;
    }
}

// Fills in count and squares of rows a .. b.
static void complete_rows(const Table& table, size_t a, size_t b) {
    switch (table.lanes.vectors) {
        case 1: return complete_impl<1>(table, a, b);
        case 2: return complete_impl<2>(table, a, b);
        case 3: return complete_impl<3>(table, a, b);
        default: return complete_impl<0>(table, a, b);
    }
}

extern const Hot table = {widen_ranges,    add_sums,   quantise, make_keys, apply_block,    add_rows,     add_part,    subtract,
                          scan_bins,       mark_bins,  bin_gain, bin_bound, gather_codes,   codes_at,     sort_places, rank_places,
                          sum_rows_by_run, sum_places, try_cuts, sum_rows,  largest_square, complete_rows};

}  // namespace TT_ISA
}  // namespace tripletree
