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
#if defined(__AVX512F__)
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

// out[i][lane + k] = (x[i][k] - centre[k]) * scale[k], rounded half to even; 0 for NaN. |result| must stay below 2^31.
static void quantise(const double* x, size_t n, size_t m, int64_t row_stride, int64_t column_stride,
                        const double* centre, const double* scale, int32_t* out, size_t width) {
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < m; ++k) {
            double y = (x[static_cast<int64_t>(i) * row_stride + static_cast<int64_t>(k) * column_stride] - centre[k]) * scale[k];
            const double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
            double rounded = (y + magic) - magic;
            out[i * width + k] = y == y ? static_cast<int32_t>(rounded) : 0;
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

template <int NV>
TT_INLINE void add_rows_impl(const Table& table, const uint32_t* order, size_t count, size_t f0, size_t f1, double* generic, double* histogram) {
    const Lanes& lanes = table.lanes;
    const int nv = NV ? NV : lanes.vectors;
    const size_t width = static_cast<size_t>(nv) * 8, d = table.d;
    // Count and squares go into the spare lanes, which lie in the last two vectors.
    alignas(64) double unit[3][16] = {};
    const int tail = nv > 1 ? nv - 2 : 0;
    unit[0][lanes.count() - tail * 8] = unit[1][lanes.squares() - tail * 8] = unit[2][lanes.derivative_squares() - tail * 8] = 1;
    V8 local[NV ? NV : 1];
    V8* v = NV ? local : reinterpret_cast<V8*>(generic);
    const uint32_t* first = table.first_bin.data();
    const uint16_t* bins = table.row_bins;
    const int32_t* rows = table.rows;
    const uint64_t *squares = table.squares, *squares_d = table.squares_d;
    for (size_t i = 0; i < count; ++i) {
        const size_t row = order[i];
        if (i + 16 < count) {
            const size_t ahead = order[i + 16];
            __builtin_prefetch(rows + ahead * width);
            __builtin_prefetch(bins + ahead * d + f0);
            __builtin_prefetch(squares + ahead);
        }
        const int32_t* y = rows + row * width;
        const double q = static_cast<double>((squares[row] >> square_shift) + 1);
        const double q_d = squares_d ? static_cast<double>((squares_d[row] >> square_shift) + 1) : 0;
        for (int j = 0; j < nv; ++j) {
            v[j] = widen(y + 8 * j);
            if (j >= nv - 2) {
                const int t = (j - tail) * 8;
                v[j] += load(unit[0] + t) + q * load(unit[1] + t) + q_d * load(unit[2] + t);
            }
        }
        const uint16_t* at = bins + row * d;
        for (size_t f = f0; f < f1; ++f) {
            double* bin = histogram + (first[f] + at[f]) * width;
            for (int j = 0; j < nv; ++j) store(bin + 8 * j, load(bin + 8 * j) + v[j]);
        }
    }
}

// Adds the rows order[0 .. count) to the bins of features f0 .. f1.
static void add_rows(const Table& table, const uint32_t* order, size_t count, size_t f0, size_t f1, double* generic, double* histogram) {
    switch (table.lanes.vectors) {
        case 1: return add_rows_impl<1>(table, order, count, f0, f1, generic, histogram);
        case 2: return add_rows_impl<2>(table, order, count, f0, f1, generic, histogram);
        case 3: return add_rows_impl<3>(table, order, count, f0, f1, generic, histogram);
        case 4: return add_rows_impl<4>(table, order, count, f0, f1, generic, histogram);
        case 8: return add_rows_impl<8>(table, order, count, f0, f1, generic, histogram);
        default: return add_rows_impl<0>(table, order, count, f0, f1, generic, histogram);
    }
}

// The sibling: parent becomes parent - child, exactly.
static void subtract(double* parent, const double* child, size_t size) {
    for (size_t i = 0; i < size; ++i) parent[i] -= child[i];
}

// CENTRED: records hold sums of y - whole, and squares of y - mean: sum of |u|^2 comes for free, s is left at that upper
// bound. Else records are raw, as in a histogram, and s is computed.
template <int NV, bool TWO, bool CENTRED>
TT_INLINE void scan_impl(const double* sums, size_t bins, double square_unit, const Lanes& lanes, const Centre& centre,
                         const Base& base, double* generic_prefix, Scan& scan) {
    const int nv = NV ? NV : lanes.vectors;
    const size_t width = static_cast<size_t>(nv) * 8;
    const double *whole = centre.whole.data(), *rest = centre.rest.data(), *plain = centre.plain.data(), *deriv = centre.derivative.data();
    double *before = scan.before.data(), *count = scan.count.data(), *out_uu = scan.uu.data(), *spread = scan.spread.data(), *ss = scan.ss.data();
    double *before_d = scan.before_d.data(), *count_d = scan.count_d.data(), *out_uu_d = scan.uu_d.data(), *spread_d = scan.spread_d.data(), *ss_d = scan.ss_d.data();
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
            out_uu[b + 1] = uu, spread[b] = ss[b] = 0;
            if (TWO) out_uu_d[b + 1] = uu_d, spread_d[b] = ss_d[b] = 0;
            continue;
        }
        left += c;
        left_d += c_d;
        V8 a_u = {}, a_v = {}, a_x = {}, d_u = {}, d_v = {}, d_x = {};
        for (int j = 0; j < nv; ++j) {
            const V8 v = load(record + 8 * j) * (TWO ? load(plain + 8 * j) + load(deriv + 8 * j) : load(plain + 8 * j));
            const V8 here = TWO ? c * load(plain + 8 * j) + c_d * load(deriv + 8 * j) : c * load(plain + 8 * j), all = TWO ? left * load(plain + 8 * j) + left_d * load(deriv + 8 * j) : left * load(plain + 8 * j);
            V8 x = CENTRED ? v : v - here * load(whole + 8 * j);
            prefix[j] += x;
            const V8 u = prefix[j] - all * load(rest + 8 * j);
            x -= here * load(rest + 8 * j);
            a_u += TWO ? u * u * load(plain + 8 * j) : u * u;
            if (TWO) d_u += u * u * load(deriv + 8 * j);
            if (!CENTRED) {
                a_v += TWO ? v * v * load(plain + 8 * j) : v * v, a_x += TWO ? x * x * load(plain + 8 * j) : x * x;
                if (TWO) d_v += v * v * load(deriv + 8 * j), d_x += x * x * load(deriv + 8 * j);
            }
        }
        out_uu[b + 1] = uu = horizontal_sum(a_u);
        if (TWO) out_uu_d[b + 1] = uu_d = horizontal_sum(d_u);
        // A histogram keeps the squares of the groups apart, also for a node that needs one group only.
        const double q = (TWO || CENTRED ? record[lane_q] : record[lane_q] + record[lane_qd]) * square_unit, q_d = TWO ? record[lane_qd] * square_unit : 0;
        if (CENTRED) {
            spread[b] = ss[b] = q;
            if (TWO) spread_d[b] = ss_d[b] = q_d;
        } else {
            // Sums of squares may have lost their last digits; what is missing is added so that the bound stays one.
            ss[b] = std::max(0.0, q - horizontal_sum(a_v) / c) + 1e-12 * q;
            spread[b] = ss[b] + horizontal_sum(a_x) / c;
            if (TWO) {
                ss_d[b] = c_d > 0 ? std::max(0.0, q_d - horizontal_sum(d_v) / c_d) + 1e-12 * q_d : 0;
                spread_d[b] = c_d > 0 ? ss_d[b] + horizontal_sum(d_x) / c_d : 0;
            }
        }
    }
    for (int j = 0; j < nv; ++j) store(out_prefix + bins * width + 8 * j, prefix[j]);
}

// Runs along the bins of one feature: fills everything in `scan` but gain and bound.
static void scan_bins(const double* sums, size_t bins, double square_unit, bool centred, const Lanes& lanes, const Centre& centre,
                         const Base& base, double* generic_prefix, Scan& scan) {
#define TT_SCAN(NV, TWO, CENTRED) scan_impl<NV, TWO, CENTRED>(sums, bins, square_unit, lanes, centre, base, generic_prefix, scan)
#define TT_CASE(NV)                                                                        \
    if (centre.two_groups) centred ? TT_SCAN(NV, true, true) : TT_SCAN(NV, true, false);   \
    else centred ? TT_SCAN(NV, false, true) : TT_SCAN(NV, false, false);                   \
    return;
    switch (lanes.vectors) {
        case 1: TT_CASE(1)
        case 2: TT_CASE(2)
        case 3: TT_CASE(3)
        default: TT_CASE(0)
    }
#undef TT_CASE
#undef TT_SCAN
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
static double bin_bound(size_t b, const Centre& centre, double min_leaf, const Scan& scan) {
    const double n = centre.n, nd = centre.nd, l0 = scan.before[b], c = scan.count[b];
    const double first = std::max(l0 + 1, min_leaf), last = std::min(l0 + c - 1, n - min_leaf);
    if (first > last) return -1;
    double bound = bound_of(l0, c, scan.uu[b], scan.uu[b + 1], scan.spread[b], scan.ss[b], first, last, n);
    if (centre.two_groups && nd > 0) {
        const double d0 = scan.before_d[b], c_d = scan.count_d[b];
        bound += bound_of(d0, c_d, scan.uu_d[b], scan.uu_d[b + 1], scan.spread_d[b], scan.ss_d[b], d0, d0 + c_d, nd) * (n / nd);
    }
    return bound;
}

// Gain of the cut at the end of bin b; 0 where none is allowed.
static double bin_gain(size_t b, const Centre& centre, double min_leaf, const Scan& scan) {
    const double n = centre.n, left = scan.before[b] + scan.count[b];
    if (scan.count[b] == 0 || left < min_leaf || n - left < min_leaf || left >= n) return 0;
    return centre.two_groups ? gain_of(scan.uu[b + 1], left, scan.uu_d[b + 1], scan.before_d[b] + scan.count_d[b], n, centre.nd) : gain_of(scan.uu[b + 1], left, n);
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

// A tighter bound for one bin of a centred scan: s without the distance of the bin's mean from the node's.
static double tighten(size_t b, const Lanes& lanes, const Centre& centre, double min_leaf, Scan& scan) {
    const auto width = static_cast<size_t>(lanes.width);
    const double *p0 = scan.prefix.data() + b * width, *p1 = p0 + width;
    double dd = 0, dd_d = 0;
    const double c = scan.count[b], c_d = centre.two_groups ? scan.count_d[b] : 0;
    for (size_t k = 0; k < static_cast<size_t>(lanes.targets); ++k) {
        const double x = p1[k] - p0[k];
        const double xp = x - c * centre.rest[k], xd = x - c_d * centre.rest[k];
        dd += xp * xp * centre.plain[k];
        dd_d += xd * xd * centre.derivative[k];
    }
    scan.ss[b] = std::max(0.0, scan.spread[b] - dd / c * (1 - 1e-12));
    if (c_d > 0) scan.ss_d[b] = std::max(0.0, scan.spread_d[b] - dd_d / c_d * (1 - 1e-12));
    return bin_bound(b, centre, min_leaf, scan);
}

template <int NV, bool TWO>
TT_INLINE void centre_rows_impl(const Table& table, const Centre& centre, const uint32_t* order, size_t count, Pool& pool) {
    const Lanes& lanes = table.lanes;
    const int nv = NV ? NV : lanes.vectors;
    const size_t width = static_cast<size_t>(nv) * 8;
    const double *whole = centre.whole.data(), *rest = centre.rest.data(), *plain = centre.plain.data(), *deriv = centre.derivative.data();
    const double per_unit = 1 / pool.square_unit;
    const int32_t* rows = table.rows;
    const int lane_d = lanes.with_derivative(), lane_count = lanes.count(), lane_q = lanes.squares(), lane_qd = lanes.derivative_squares();
    for (size_t i = 0; i < count; ++i) {
        if (i + 16 < count) {
            const size_t ahead = order[i + 16];
            for (size_t k = 0; k < width; k += 16) __builtin_prefetch(rows + ahead * width + k);
        }
        const int32_t* y = rows + order[i] * width;
        int32_t* out = pool.y.data() + i * width;
        const double has = TWO ? y[lane_d] : 0;
        V8 a = {}, a_d = {};
        for (int j = 0; j < nv; ++j) {
            const V8 mask = TWO ? load(plain + 8 * j) + has * load(deriv + 8 * j) : load(plain + 8 * j);
            V8 v = (widen(y + 8 * j) - load(whole + 8 * j)) * mask;
            narrow(v, out + 8 * j);
            v -= load(rest + 8 * j) * mask;
            a += TWO ? v * v * load(plain + 8 * j) : v * v;
            if (TWO) a_d += v * v * load(deriv + 8 * j);
        }
        out[lane_count] = 1;
        out[lane_q] = static_cast<int32_t>(horizontal_sum(a) * per_unit) + 1;
        if (TWO) out[lane_d] = y[lane_d], out[lane_qd] = static_cast<int32_t>(horizontal_sum(a_d) * per_unit) + 1;
    }
}

// Copies rows into the pool, centred on the node's mean.
static void centre_rows(const Table& table, const Centre& centre, const uint32_t* order, size_t count, Pool& pool) {
#define TT_CASE(NV)                                                                          \
    if (centre.two_groups) centre_rows_impl<NV, true>(table, centre, order, count, pool);    \
    else centre_rows_impl<NV, false>(table, centre, order, count, pool);                     \
    return;
    switch (table.lanes.vectors) {
        case 1: TT_CASE(1)
        case 2: TT_CASE(2)
        case 3: TT_CASE(3)
        default: TT_CASE(0)
    }
#undef TT_CASE
}

// Some rows of a column, without the gather instructions, which are slower than plain loads.
TT_SCALAR static void gather_column(const uint32_t* column, const uint32_t* order, size_t count, uint32_t* out) {
    for (size_t i = 0; i < count; ++i) out[i] = column[order[i]];
}

// Smallest and largest code of some local numbers (all of 0 .. count-1 without `ids`), and the bits set in any offset.
static CodeRange code_range(const uint32_t* codes, const uint32_t* ids, size_t count) {
    uint32_t lo = UINT32_MAX, hi = 0, offsets = 0;
    if (ids)
        for (size_t i = 0; i < count; ++i) {
            const uint32_t c = codes[ids[i]];
            lo = std::min(lo, c), hi = std::max(hi, c), offsets |= c & offset_mask;
        }
    else
        for (size_t i = 0; i < count; ++i) lo = std::min(lo, codes[i]), hi = std::max(hi, codes[i]), offsets |= codes[i] & offset_mask;
    return {lo, hi, offsets};
}

// Counting sort of local numbers into bins: bin = (code - lo) * factor, rounded down; any monotone map will do, so single
// precision is enough. Both halves of the numbers are counted and placed side by side: neighbours in time tend to share
// a bin, and one counter alone would wait for itself. `start` has room for 3 bins + 1; afterwards bin b is
// sorted[start[b] .. start[b + 1]).
static void sort_into_bins(const uint32_t* codes, const uint32_t* ids, size_t count, uint32_t lo, float factor, size_t bins,
                           uint32_t* bucket, uint32_t* start, uint32_t* sorted) {
    // Codes stay below 2^31, so the differences may be taken as signed, which converts faster.
    if (ids)
        for (size_t i = 0; i < count; ++i) bucket[i] = static_cast<uint32_t>(static_cast<int32_t>(static_cast<float>(static_cast<int32_t>(codes[ids[i]] - lo)) * factor));
    else
        for (size_t i = 0; i < count; ++i) bucket[i] = static_cast<uint32_t>(static_cast<int32_t>(static_cast<float>(static_cast<int32_t>(codes[i] - lo)) * factor));
    uint32_t *first = start + bins + 1, *second = first + bins;
    std::memset(first, 0, 2 * bins * sizeof(uint32_t));
    const size_t half = count / 2;
    for (size_t i = 0; i < half; ++i) ++first[bucket[i]], ++second[bucket[half + i]];
    if (count & 1) ++second[bucket[count - 1]];
    uint32_t at = 0;
    for (size_t b = 0; b < bins; ++b) {
        const uint32_t in_first = first[b], in_second = second[b];
        start[b] = first[b] = at;
        second[b] = at + in_first;
        at += in_first + in_second;
    }
    start[bins] = at;
    auto number = [&](size_t i) { return ids ? ids[i] : static_cast<uint32_t>(i); };
    for (size_t i = 0; i < half; ++i) sorted[first[bucket[i]]++] = number(i), sorted[second[bucket[half + i]]++] = number(half + i);
    if (count & 1) sorted[second[bucket[count - 1]]++] = number(count - 1);
}

// The codes next to a cut: the largest that is <= cut, the smallest that is greater.
static CodeRange codes_at(const uint32_t* codes, size_t count, uint32_t cut) {
    uint32_t below = 0, above = UINT32_MAX;
    for (size_t i = 0; i < count; ++i) {
        below = std::max(below, codes[i] <= cut ? codes[i] : 0u);
        above = std::min(above, codes[i] <= cut ? UINT32_MAX : codes[i]);
    }
    return {below, above, 0};
}

template <int NV>
TT_INLINE void bin_sums_impl(const Lanes& lanes, const Pool& pool, const uint32_t* sorted, const uint32_t* start, size_t bins, double* sums) {
    const int nv = NV ? NV : lanes.vectors;
    const size_t width = static_cast<size_t>(nv) * 8;
    const int32_t* rows = pool.y.data();
    const int lane_count = lanes.count();
    for (size_t b = 0; b < bins; ++b) {
        double* record = sums + b * width;
        const uint32_t begin = start[b], end = start[b + 1];
        if (begin == end) {
            record[lane_count] = 0;
            continue;
        }
        if (NV) {
            V8 total[NV ? NV : 1] = {};
            // Centred targets have 25 bits, so 63 of them fit an int32 lane.
            for (uint32_t a = begin; a < end; a += 63) {
                I8 part[NV ? NV : 1] = {};
                const uint32_t z = std::min(end, a + 63);
                for (uint32_t i = a; i < z; ++i) {
                    const int32_t* y = rows + sorted[i] * width;
                    for (int j = 0; j < nv; ++j) part[j] += load(y + 8 * j);
                }
                for (int j = 0; j < nv; ++j) total[j] += widen(part[j]);
            }
            for (int j = 0; j < nv; ++j) store(record + 8 * j, total[j]);
        } else {
            std::memset(record, 0, width * sizeof(double));
            for (uint32_t i = begin; i < end; ++i) {
                const int32_t* y = rows + sorted[i] * width;
                for (int j = 0; j < nv; ++j) store(record + 8 * j, load(record + 8 * j) + widen(y + 8 * j));
            }
        }
    }
}

// Sums of the pool's rows over bins of neighbours.
static void bin_sums(const Lanes& lanes, const Pool& pool, const uint32_t* sorted, const uint32_t* start, size_t bins, double* sums) {
    switch (lanes.vectors) {
        case 1: return bin_sums_impl<1>(lanes, pool, sorted, start, bins, sums);
        case 2: return bin_sums_impl<2>(lanes, pool, sorted, start, bins, sums);
        case 3: return bin_sums_impl<3>(lanes, pool, sorted, start, bins, sums);
        case 4: return bin_sums_impl<4>(lanes, pool, sorted, start, bins, sums);
        case 8: return bin_sums_impl<8>(lanes, pool, sorted, start, bins, sums);
        default: return bin_sums_impl<0>(lanes, pool, sorted, start, bins, sums);
    }
}

template <int NV, bool TWO>
TT_INLINE void try_all_impl(const Lanes& lanes, const Centre& centre, double min_leaf, const Pool& pool, const uint64_t* keys, size_t count,
                            const Base& base, double* generic, double* gain) {
    const int nv = NV ? NV : lanes.vectors;
    const size_t width = static_cast<size_t>(nv) * 8;
    const double *rest = centre.rest.data(), *plain = centre.plain.data(), *deriv = centre.derivative.data();
    V8 local[NV ? NV : 1];
    V8* prefix = NV ? local : reinterpret_cast<V8*>(generic);
    for (int j = 0; j < nv; ++j) prefix[j] = load(base.sums + 8 * j);
    double left = base.left, left_d = base.left_d;
    for (size_t i = 0; i < count; ++i) {
        const int32_t* y = pool.y.data() + (keys[i] & 0xffffffffu) * width;
        const double has = TWO ? y[lanes.with_derivative()] : 0;
        for (int j = 0; j < nv; ++j) {
            const V8 v = widen(y + 8 * j);
            prefix[j] += v * (TWO ? load(plain + 8 * j) + load(deriv + 8 * j) : load(plain + 8 * j));
        }
        left += 1;
        left_d += has;
        gain[i] = 0;
        // The end of the range was weighed as an edge already.
        if (i + 1 == count || keys[i] >> 32 == keys[i + 1] >> 32 || left < min_leaf || centre.n - left < min_leaf) continue;
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
        gain[i] = TWO ? gain_of(uu, left, horizontal_sum(a_d), left_d, centre.n, centre.nd) : gain_of(uu, left, centre.n);
    }
}

// Gain of the cut after each sample of a short range sorted by key (code << 32 | local number); 0 where none is allowed.
static void try_all(const Lanes& lanes, const Centre& centre, double min_leaf, const Pool& pool, const uint64_t* keys, size_t count, const Base& base,
                    double* generic, double* gain) {
#define TT_CASE(NV)                                                                                                  \
    if (centre.two_groups) try_all_impl<NV, true>(lanes, centre, min_leaf, pool, keys, count, base, generic, gain);   \
    else try_all_impl<NV, false>(lanes, centre, min_leaf, pool, keys, count, base, generic, gain);                    \
    return;
    switch (lanes.vectors) {
        case 1: TT_CASE(1)
        case 2: TT_CASE(2)
        case 3: TT_CASE(3)
        default: TT_CASE(0)
    }
#undef TT_CASE
}

template <int NV>
TT_INLINE void sum_rows_impl(const Table& table, const uint32_t* order, size_t count, double* sums) {
    const int nv = NV ? NV : table.lanes.vectors;
    const size_t width = static_cast<size_t>(nv) * 8;
    V8 local[NV ? NV : 1] = {};
    for (size_t i = 0; i < count; ++i) {
        if (i + 16 < count) __builtin_prefetch(table.rows + order[i + 16] * width);
        const int32_t* y = table.rows + order[i] * width;
        for (int j = 0; j < nv; ++j)
            if (NV) local[NV ? j : 0] += widen(y + 8 * j);
            else store(sums + 8 * j, load(sums + 8 * j) + widen(y + 8 * j));
    }
    for (int j = 0; j < NV; ++j) store(sums + 8 * j, local[j]);
}

// Sums of some rows, by lane; `sums` must be zero before.
static void sum_rows(const Table& table, const uint32_t* order, size_t count, double* sums) {
    switch (table.lanes.vectors) {
        case 1: return sum_rows_impl<1>(table, order, count, sums);
        case 2: return sum_rows_impl<2>(table, order, count, sums);
        case 3: return sum_rows_impl<3>(table, order, count, sums);
        case 4: return sum_rows_impl<4>(table, order, count, sums);
        default: return sum_rows_impl<0>(table, order, count, sums);
    }
}

TT_SCALAR static uint64_t sum_squares(const uint64_t* squares, const uint32_t* order, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; ++i) sum += squares[order[i]];
    return sum;
}

// |y|^2 of rows a .. b, in integers.
static void square_rows(const Table& table, size_t a, size_t b, uint64_t* squares, uint64_t* squares_d) {
    const auto width = static_cast<size_t>(table.lanes.width);
    const int plain = table.missing ? table.lanes.plain : table.lanes.targets;
    for (size_t i = a; i < b; ++i) {
        const int32_t* y = table.rows + i * width;
        int64_t q = 0, q_d = 0;
        for (int k = 0; k < plain; ++k) q += static_cast<int64_t>(y[k]) * y[k];
        for (int k = plain; k < table.lanes.targets; ++k) q_d += static_cast<int64_t>(y[k]) * y[k];
        squares[i] = static_cast<uint64_t>(q);
        if (table.missing) squares_d[i] = static_cast<uint64_t>(q_d);
    }
}

extern const Hot table = {quantise, apply_block, add_rows, subtract, scan_bins, mark_bins, bin_gain, bin_bound, tighten, centre_rows, gather_column, code_range, codes_at,
                          sort_into_bins, bin_sums, try_all, sum_rows, sum_squares, square_rows};

}  // namespace TT_ISA
}  // namespace tripletree
