// What the cuts of a bin gain, and what they cannot exceed.
//
// Let u = y - (node mean), U(l) the sum of the first l samples' u along a feature. Cutting there gains
// g = |U|^2 n / (l (n - l)). For a bin that holds samples l0 .. l1 with c = l1 - l0 and within sum of squares s:
//   |U| <= max(|U0|, |U1|) + sqrt(c s) / 2   inside it, and
//   g <= |U0|^2 / l0 + |U1|^2 / (n - l1) + (sum of |u|^2 over the bin),
// since no cut explains more than isolating every sample of the bin would. Derivatives may be missing, so their columns
// form a second group with counts of its own; gains and bounds of the groups add up.
#pragma once

#include <algorithm>
#include <cmath>

#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

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

// Whether a cut inside a bin may gain `floor`. With the share t of the bin on the left, |U| <= |U0 + t D| + sqrt(t (1 - t) c s) for
// D = U1 - U0, of which dd is the square. Above, each part is as large as it can be; here both are at the same t, of which eight stretches
// are looked at. As in mark_bins there is no root, and no division. Not inlined: most bins are not worth it, and the others' code is short.
__attribute__((noinline)) static bool may_reach(double l0, double c, double u0, double u1, double dd, double ss, double first, double last, double n,
                                                double floor) {
    const V8 t0 = {0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875}, t1 = t0 + 0.125, apart = V8{7, 12, 15, 16, 16, 15, 12, 7} / 64;
    const double bend = u1 - u0 - dd, generous = 1 + tie_share, slack = 1e-12 * (u0 + u1 + dd);  // for what rounding took
    const V8 at0 = t0 * (bend + t0 * dd), at1 = t1 * (bend + t1 * dd), A = (at0 > at1 ? at0 : at1) + (u0 + slack), B = apart * (c * ss);
    V8 l = l0 + t0 * c, r = l0 + t1 * c;
    l = l > first ? l : V8{} + first, r = r < last ? r : V8{} + last;
    const V8 below = l * (n - l), above = r * (n - r), short_of = floor / (n * generous) * (below < above ? below : above) - A - B;
    const V8 hope = short_of > 0 ? 4 * generous * A * B - short_of * short_of : V8{};
    const V4 low = __builtin_shufflevector(hope, hope, 0, 1, 2, 3), high = __builtin_shufflevector(hope, hope, 4, 5, 6, 7);
    return any_reaches(low > high ? low : high, V4{});
}

template <int NV, bool TWO, bool FINE>
TT_INLINE void scan_impl(const double* sums, size_t bins, double square_unit, const Lanes& lanes, const Centre& centre, const Base& base,
                         double* generic_prefix, Scan& scan) {
    const int nv = NV ? NV : lanes.vectors, nu = FINE ? nv / 2 : nv;
    const size_t width = static_cast<size_t>(nv) * 8;
    const double *whole = centre.whole.data(), *rest = centre.rest.data(), *plain = centre.plain.data(), *deriv = centre.derivative.data();
    double *before = scan.before.data(), *count = scan.count.data(), *out_uu = scan.uu.data(), *ss = scan.ss.data();
    double *before_d = scan.before_d.data(), *count_d = scan.count_d.data(), *out_uu_d = scan.uu_d.data(), *ss_d = scan.ss_d.data();
    double* out_prefix = scan.prefix.data();
    const int lane_count = lanes.count(), lane_d = lanes.with_derivative(), lane_q = lanes.squares(), lane_qd = lanes.derivative_squares();
    const bool weighted = FINE && lanes.weighted;
    const int lane_rows = lanes.rows();
    double rows = base.rows, *out_rows = scan.rows.data();
    V8 local[NV ? NV : 1];
    V8* prefix = NV ? local : reinterpret_cast<V8*>(generic_prefix);
    double left = base.left, left_d = base.left_d, uu = 0, uu_d = 0;
    auto joint = [&](int j) { return FINE ? prefix[j] * limb + prefix[j + nu] : prefix[j]; };
    {
        V8 a = {}, a_d = {};
        for (int j = 0; j < nv; ++j) prefix[j] = load(base.sums + 8 * j);
        for (int j = 0; j < nu; ++j) {
            const V8 u = joint(j) - (TWO ? left * load(plain + 8 * j) + left_d * load(deriv + 8 * j) : left * load(plain + 8 * j)) * load(rest + 8 * j);
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
        if (weighted) out_rows[b] = rows, rows += record[lane_rows];
        for (int j = 0; j < nv; ++j) store(out_prefix + b * width + 8 * j, prefix[j]);
        if (c == 0) {  // nothing to add; never opened, never a cut of its own
            out_uu[b + 1] = uu, ss[b] = 0;
            if (TWO) out_uu_d[b + 1] = uu_d, ss_d[b] = 0;
            continue;
        }
        left += c;
        left_d += c_d;
        V8 a_u = {}, a_v = {}, d_u = {}, d_v = {};
        for (int j = 0; j < nu; ++j) {
            // `whole` and `rest` are 0 in the lanes beyond the targets.
            const V8 used = TWO ? load(plain + 8 * j) + load(deriv + 8 * j) : load(plain + 8 * j);
            V8 v = load(record + 8 * j) * used;
            const V8 here = TWO ? c * load(plain + 8 * j) + c_d * load(deriv + 8 * j) : V8{} + c,
                     all = TWO ? left * load(plain + 8 * j) + left_d * load(deriv + 8 * j) : V8{} + left;
            prefix[j] += v - here * load(whole + 8 * j);
            if (FINE) {
                const V8 second = load(record + 8 * (j + nu)) * used;
                prefix[j + nu] += second - here * load(whole + 8 * (j + nu));
                v = v * limb + second;
            }
            const V8 u = joint(j) - all * load(rest + 8 * j);
            a_u += TWO ? u * u * load(plain + 8 * j) : u * u, a_v += TWO ? v * v * load(plain + 8 * j) : v * v;
            if (TWO) d_u += u * u * load(deriv + 8 * j), d_v += v * v * load(deriv + 8 * j);
        }
        out_uu[b + 1] = uu = horizontal_sum(a_u);
        // Rows keep the squares of the groups apart, also for a node that needs one group only. Sums of squares may have
        // lost their last digits; what is missing is added so that the bound stays one.
        auto squares = [&](int lane) { return FINE ? record[lane] * limb + record[lane + 8 * nu] : record[lane]; };
        const double q = (TWO ? squares(lane_q) : squares(lane_q) + squares(lane_qd)) * square_unit;
        ss[b] = std::max(0.0, q - horizontal_sum(a_v) / c) + 1e-12 * q;
        if (TWO) {
            const double q_d = squares(lane_qd) * square_unit;
            out_uu_d[b + 1] = uu_d = horizontal_sum(d_u);
            ss_d[b] = c_d > 0 ? std::max(0.0, q_d - horizontal_sum(d_v) / c_d) + 1e-12 * q_d : 0;
        }
    }
    for (int j = 0; j < nv; ++j) store(out_prefix + bins * width + 8 * j, prefix[j]);
    if (weighted) out_rows[bins] = rows;
}

// Runs along the bins of one feature: fills everything in `scan` but `hope`.
static void scan_bins(const double* sums, size_t bins, double square_unit, const Lanes& lanes, const Centre& centre, const Base& base, double* generic_prefix,
                      Scan& scan) {
#define TT_CASE(NV, FINE)                                                                                                 \
    if (centre.two_groups) scan_impl<NV, true, FINE>(sums, bins, square_unit, lanes, centre, base, generic_prefix, scan); \
    else scan_impl<NV, false, FINE>(sums, bins, square_unit, lanes, centre, base, generic_prefix, scan);                  \
    return;
    if (lanes.fine) {
        TT_CASE(0, true)
    }
    switch (lanes.vectors) {
        case 1: TT_CASE(1, false)
        case 2: TT_CASE(2, false)
        case 3: TT_CASE(3, false)
        default: TT_CASE(0, false)
    }
#undef TT_CASE
}

// Bound for the cuts strictly inside bin b; -1 where there is none, or surely none that gains `floor` (0: not looked at).
static double bin_bound(size_t b, const Lanes& lanes, const Centre& centre, double min_leaf, double floor, const Scan& scan) {
    const double n = centre.n, nd = centre.nd, l0 = scan.before[b], c = scan.count[b], c_d = centre.two_groups ? scan.count_d[b] : 0;
    const double least = centre.least, first = std::max(l0 + least, min_leaf * least), last = std::min(l0 + c - least, n - min_leaf * least);
    if (first > last) return -1;
    // Sum of |u|^2 over the bin: s, and the distance of the bin's mean from the node's.
    const double *p0 = scan.prefix.data() + b * static_cast<size_t>(lanes.width), *p1 = p0 + lanes.width, *rest = centre.rest.data();
    V8 apart = {}, apart_d = {};
    for (int k = 0; k < 8 * lanes.joint(); k += 8) {
        V8 sum = load(p1 + k) - load(p0 + k);
        if (lanes.fine) sum = sum * limb + (load(p1 + k + lanes.second()) - load(p0 + k + lanes.second()));
        const V8 x = sum - c * load(rest + k), x_d = sum - c_d * load(rest + k);
        apart += x * x * load(centre.plain.data() + k);
        if (centre.two_groups) apart_d += x_d * x_d * load(centre.derivative.data() + k);
    }
    const double xx = horizontal_sum(apart), xx_d = horizontal_sum(apart_d);
    if (floor > 0 && !centre.two_groups && !may_reach(l0, c, scan.uu[b], scan.uu[b + 1], xx, scan.ss[b], first, last, n, floor)) return -1;
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
    const double rows = centre.weighted ? scan.rows[b + 1] : left, all = centre.weighted ? centre.rows : n;
    if (scan.count[b] == 0 || rows < min_leaf || all - rows < min_leaf || rows >= all) return 0;
    return centre.two_groups ? gain_of(scan.uu[b + 1], left, scan.uu_d[b + 1], scan.before_d[b] + scan.count_d[b], n, centre.nd)
                             : gain_of(scan.uu[b + 1], left, n);
}

// Marks the bins worth a closer look, without a root or a division: with A = max |U|^2, B = c s / 4 and T = what would be
// enough, (sqrt(A) + sqrt(B))^2 >= T if T <= A + B or (T - A - B)^2 <= 4 A B. Returns their number; `marked` lists them.
static size_t mark_bins(size_t bins, const Centre& centre, double floor, Scan& scan) {
    const double n = centre.n, least = centre.least, generous = 1 + tie_share, enough = floor / (n * generous);
    const double *before = scan.before.data(), *count = scan.count.data(), *uu = scan.uu.data(), *ss = scan.ss.data();
    double* hope = scan.hope.data();
    if (centre.two_groups) {
        for (size_t b = 0; b < bins; ++b) hope[b] = count[b] > 0 ? 3 : 0;
    } else {
        for (size_t b = 0; b < bins; ++b) {
            const double l0 = before[b], c = count[b], l1 = l0 + c, first = l0 + least, last = l1 - least;
            const double inner = std::min(first * (n - first), last * (n - last));
            const double A = std::max(uu[b], uu[b + 1]), B = c * ss[b] / 4, short_of = enough * inner - A - B;
            const double edge = uu[b + 1] >= enough * (l1 * (n - l1)) ? 1.0 : 0.0;
            const double inside = short_of <= 0 ? 2.0 : (short_of * short_of <= 4 * A * B * generous ? 2.0 : 0.0);
            hope[b] = (c > 0 ? edge : 0.0) + (c > least ? inside : 0.0);
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

}  // namespace TT_ISA
}  // namespace tripletree
