// Choosing a split from sums over bins: exact gains at the edges, and upper bounds for the cuts inside each bin.
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

#include "common.hpp"

namespace tripletree {

constexpr double tie_share = 1e-9;  // gains closer than this, relative to the best, are ties

// Lanes of a row of targets and of a record of sums: targets (plain, then derivative), then these.
struct Lanes {
    int plain, targets, width, vectors;
    int with_derivative() const { return targets; }
    int count() const { return targets + 1; }
    int squares() const { return targets + 2; }             // sum of |y|^2, plain group
    int derivative_squares() const { return targets + 3; }  // the same, derivative group
};

// One node seen by the search. Targets are integers, so `mean` is split into a whole part, which keeps sums exact, and a
// rest of at most one half.
struct Centre {
    double n = 0, nd = 0;
    bool two_groups = false;                 // some sample of the node lacks a derivative
    std::vector<double> whole, rest, plain, derivative;  // by lane; the last two are 0/1 masks (one group: all plain)
};

struct Candidate {
    double gain;
    int feature;
    double left;   // samples on the left: orders the cuts of one feature
    uint32_t cut;  // left if code <= cut
};

// The best cuts so far: all that tie with the best.
class Best {
  public:
    void reset(double above, double at_least) {
        above_ = above;
        floor_ = std::max(above, at_least);
        at_least_ = at_least;
        top_ = 0;
        list_.clear();
    }
    double floor() const { return floor_; }  // a cut that gains less cannot be chosen
    void offer(double gain, int feature, double left, uint32_t cut) {
        if (gain < floor_ || !(gain > above_)) return;
        if (gain > top_) {
            top_ = gain;
            floor_ = std::max({above_, at_least_, top_ * (1 - tie_share)});
        }
        if (list_.size() >= 256) prune();
        list_.push_back({gain, feature, left, cut});
    }
    // Lower feature, then lower cut, among the ties; nullptr when nothing was good enough.
    const Candidate* choose() {
        prune();
        const Candidate* chosen = nullptr;
        for (const Candidate& c : list_)
            if (!chosen || c.feature < chosen->feature || (c.feature == chosen->feature && c.left < chosen->left)) chosen = &c;
        return chosen;
    }

  private:
    void prune() {
        list_.erase(std::remove_if(list_.begin(), list_.end(), [&](const Candidate& c) { return c.gain < floor_; }), list_.end());
    }
    double above_ = 0, at_least_ = 0, floor_ = 0, top_ = 0;
    std::vector<Candidate> list_;
};

// Scratch for one scan over the bins of a feature.
struct Scan {
    std::vector<double> prefix;  // record width for each bin: centred sums before it (only target lanes are used)
    std::vector<double> before, count, uu, ss, dd;            // plain group: samples before, in it; |U|^2 after; s; |sum of u|^2
    std::vector<double> before_d, count_d, uu_d, ss_d, dd_d;  // derivative group
    std::vector<double> gain, bound;
    double uu_start = 0, uu_start_d = 0;  // |U|^2 before the first bin
    void reserve(size_t bins, size_t width) {
        if (gain.size() >= bins && prefix.size() >= bins * width) return;
        prefix.resize(bins * width);
        for (auto* v : {&before, &count, &uu, &ss, &dd, &before_d, &count_d, &uu_d, &ss_d, &dd_d, &gain, &bound}) v->resize(bins);
    }
};

// A place along one feature: centred sums, samples, samples with derivative before it.
struct Base {
    const double* sums;
    double left, left_d;
};

template <int NV, bool TWO>
TT_INLINE void scan_impl(const double* sums, size_t bins, double square_unit, const Lanes& lanes, const Centre& centre,
                         const Base& base, double* generic_prefix, Scan& scan) {
    const int nv = NV ? NV : lanes.vectors;
    const size_t width = static_cast<size_t>(nv) * 8;
    const auto *whole = reinterpret_cast<const V8*>(centre.whole.data()), *rest = reinterpret_cast<const V8*>(centre.rest.data()),
               *plain = reinterpret_cast<const V8*>(centre.plain.data()), *deriv = reinterpret_cast<const V8*>(centre.derivative.data());
    V8 local[NV ? NV : 1];
    V8* prefix = NV ? local : reinterpret_cast<V8*>(generic_prefix);
    double left = base.left, left_d = base.left_d, uu = 0, uu_d = 0;
    {
        V8 a = {}, a_d = {};
        for (int j = 0; j < nv; ++j) {
            prefix[j] = reinterpret_cast<const V8*>(base.sums)[j];
            V8 u = prefix[j] - left * plain[j] * rest[j];
            if (TWO) {
                u -= left_d * deriv[j] * rest[j];
                a_d += u * u * deriv[j];
            }
            a += u * u * plain[j];
        }
        scan.uu_start = uu = horizontal_sum(a);
        if (TWO) scan.uu_start_d = uu_d = horizontal_sum(a_d);
    }
    for (size_t b = 0; b < bins; ++b) {
        const double* record = sums + b * width;
        const double c = record[lanes.count()], c_d = TWO ? record[lanes.with_derivative()] : 0;
        scan.before[b] = left;
        scan.count[b] = c;
        if (TWO) scan.before_d[b] = left_d, scan.count_d[b] = c_d;
        auto* before = reinterpret_cast<V8*>(scan.prefix.data() + b * width);
        if (c == 0) {  // nothing to add; never opened, never a cut of its own
            scan.uu[b] = uu;
            scan.ss[b] = scan.dd[b] = 0;
            if (TWO) scan.uu_d[b] = uu_d, scan.ss_d[b] = scan.dd_d[b] = 0;
            continue;
        }
        left += c;
        left_d += c_d;
        V8 a_u = {}, a_v = {}, a_x = {}, d_u = {}, d_v = {}, d_x = {};
        for (int j = 0; j < nv; ++j) {
            before[j] = prefix[j];
            if (TWO) {
                const V8 v = reinterpret_cast<const V8*>(record)[j] * (plain[j] + deriv[j]);
                const V8 here = c * plain[j] + c_d * deriv[j], all = left * plain[j] + left_d * deriv[j];
                V8 x = v - here * whole[j];
                prefix[j] += x;
                const V8 u = prefix[j] - all * rest[j];
                x -= here * rest[j];
                a_u += u * u * plain[j], a_v += v * v * plain[j], a_x += x * x * plain[j];
                d_u += u * u * deriv[j], d_v += v * v * deriv[j], d_x += x * x * deriv[j];
            } else {
                const V8 v = reinterpret_cast<const V8*>(record)[j] * plain[j];
                V8 x = v - c * whole[j];
                prefix[j] += x;
                const V8 u = prefix[j] - left * rest[j];
                x -= c * rest[j];
                a_u += u * u, a_v += v * v, a_x += x * x;
            }
        }
        scan.uu[b] = uu = horizontal_sum(a_u);
        const double q_plain = record[lanes.squares()] * square_unit, q_deriv = record[lanes.derivative_squares()] * square_unit;
        const double q = TWO ? q_plain : q_plain + q_deriv;
        // Sums of squares may have lost their last digits; what is missing is added so that the bound stays one.
        scan.ss[b] = std::max(0.0, q - horizontal_sum(a_v) / c) + 1e-12 * q;
        scan.dd[b] = horizontal_sum(a_x);
        if (TWO) {
            scan.uu_d[b] = uu_d = horizontal_sum(d_u);
            scan.ss_d[b] = c_d > 0 ? std::max(0.0, q_deriv - horizontal_sum(d_v) / c_d) + 1e-12 * q_deriv : 0;
            scan.dd_d[b] = horizontal_sum(d_x);
        }
    }
}

// Runs along the bins of one feature: fills everything in `scan` but gain and bound.
TT_CLONES void scan_bins(const double* sums, size_t bins, double square_unit, const Lanes& lanes, const Centre& centre,
                         const Base& base, double* generic_prefix, Scan& scan) {
#define TT_CASE(NV)                                                                                              \
    case NV:                                                                                                     \
        if (centre.two_groups) scan_impl<NV, true>(sums, bins, square_unit, lanes, centre, base, generic_prefix, scan); \
        else scan_impl<NV, false>(sums, bins, square_unit, lanes, centre, base, generic_prefix, scan);            \
        return;
    switch (lanes.vectors) {
        TT_CASE(1)
        TT_CASE(2)
        TT_CASE(3)
        TT_CASE(4)
        default:
            if (centre.two_groups) scan_impl<0, true>(sums, bins, square_unit, lanes, centre, base, generic_prefix, scan);
            else scan_impl<0, false>(sums, bins, square_unit, lanes, centre, base, generic_prefix, scan);
    }
#undef TT_CASE
}

// Gain of a cut, from |U|^2 and counts. Every place that evaluates a cut uses this one formula, so equal cuts tie exactly.
TT_INLINE double gain_of(double uu, double left, double n) { return uu * (n / (left * (n - left))); }
TT_INLINE double gain_of(double uu, double left, double uu_d, double left_d, double n, double nd) {
    const double inner = left_d * (nd - left_d);
    return gain_of(uu, left, n) + (inner > 0 ? uu_d * (n / inner) : 0.0);
}

// Gains at the end of each bin (0 where no cut is allowed), bounds for the cuts strictly inside (-1 where there is none).
TT_CLONES void weigh_bins(size_t bins, const Centre& centre, double min_leaf, Scan& scan) {
    const double n = centre.n, nd = centre.nd;
    const double *before = scan.before.data(), *count = scan.count.data(), *uu = scan.uu.data(), *ss = scan.ss.data(), *dd = scan.dd.data();
    double *gain = scan.gain.data(), *bound = scan.bound.data();
    for (size_t b = 0; b < bins; ++b) {
        const double l0 = before[b], c = count[b], l1 = l0 + c, u0 = b ? uu[b - 1] : scan.uu_start, u1 = uu[b];
        const bool cut = c > 0 && l1 >= min_leaf && n - l1 >= min_leaf && l1 < n;
        gain[b] = cut ? gain_of(u1, l1, n) : 0.0;
        const double first = std::max(l0 + 1, min_leaf), last = std::min(l1 - 1, n - min_leaf);
        const double reach = std::sqrt(std::max(u0, u1)) + std::sqrt(c * ss[b]) / 2;
        const double by_reach = reach * reach * n / std::min(first * (n - first), last * (n - last));
        const double by_isolation = (l0 > 0 ? u0 / l0 : 0.0) + (n > l1 ? u1 / (n - l1) : 0.0) + ss[b] + (c > 0 ? dd[b] / c : 0.0);
        bound[b] = first <= last ? std::min(by_reach, by_isolation) * (1 + tie_share) : -1.0;
    }
    if (!centre.two_groups || nd == 0) return;
    for (size_t b = 0; b < bins; ++b) {
        const double l0 = scan.before_d[b], c = scan.count_d[b], l1 = l0 + c;
        const double u0 = b ? scan.uu_d[b - 1] : scan.uu_start_d, u1 = scan.uu_d[b], left = before[b] + count[b];
        if (count[b] > 0 && left >= min_leaf && n - left >= min_leaf && left < n) gain[b] = gain_of(uu[b], left, u1, l1, n, nd);
        if (bound[b] < 0) continue;
        const double inner = std::min(l0 * (nd - l0), l1 * (nd - l1));
        const double reach = std::sqrt(std::max(u0, u1)) + std::sqrt(c * scan.ss_d[b]) / 2;
        const double by_isolation = (l0 > 0 ? u0 / l0 : 0.0) + (nd > l1 ? u1 / (nd - l1) : 0.0) + scan.ss_d[b] + (c > 0 ? scan.dd_d[b] / c : 0.0);
        const double group = inner > 0 ? std::min(reach * reach * nd / inner, by_isolation) : by_isolation;
        bound[b] += group * (n / nd) * (1 + tie_share);
    }
}

}  // namespace tripletree
