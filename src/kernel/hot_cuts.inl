// Every cut of a range of sorted rows, four at a time.
#pragma once

#include <algorithm>
#include <cmath>

#include "hot_bounds.inl"

namespace tripletree {
namespace TT_ISA {

template <int NV, bool TWO, bool FINE>
TT_INLINE size_t try_cuts_impl(const Table& table, const Centre& centre, double min_leaf, const uint32_t* rows, const uint32_t* values, size_t count,
                               const Base& base, double floor, double* generic, Cut* cuts) {
    const int nv = NV ? NV : table.lanes.vectors, nu = FINE ? nv / 2 : nv;
    const size_t width = static_cast<size_t>(nv) * 8;
    const double *whole = centre.whole.data(), *rest = centre.rest.data(), *plain = centre.plain.data(), *deriv = centre.derivative.data(), n = centre.n;
    V8 local[NV ? NV : 1];
    V8* prefix = NV ? local : reinterpret_cast<V8*>(generic);
    for (int j = 0; j < nv; ++j) prefix[j] = load(base.sums + 8 * j);
    const bool weighted = FINE && table.lanes.weighted;
    const double all = weighted ? centre.rows : n;
    double left = base.left, left_d = base.left_d;
    size_t found = 0, i = 0;
    // One row further, and the exact gain of the cut after it.
    auto step = [&] {
        const int32_t* y = table.rows + rows[i] * width;
        const double has = TWO ? y[table.lanes.with_derivative()] : 0;
        if (weighted) {
            const double one = y[table.lanes.count()];
            for (int j = 0; j < nv; ++j) {
                const V8 p = load(plain + 8 * j), q = load(deriv + 8 * j);
                prefix[j] += widen(y + 8 * j) * (TWO ? p + q : p) - load(whole + 8 * j) * (TWO ? one * p + has * q : one * p);
            }
            left += one;
        } else {
            for (int j = 0; j < nv; ++j)
                prefix[j] += (widen(y + 8 * j) - load(whole + 8 * j)) * (TWO ? load(plain + 8 * j) + has * load(deriv + 8 * j) : load(plain + 8 * j));
            left += 1;
        }
        left_d += has;
        ++i;
        const double before = weighted ? base.rows + static_cast<double>(i) : left;
        // The end of the range is weighed by others.
        if (i == count || before < min_leaf || all - before < min_leaf || values[i - 1] == values[i]) return;
        V8 a = {}, a_d = {};
        for (int j = 0; j < nu; ++j) {
            const V8 sum = FINE ? prefix[j] * limb + prefix[j + nu] : prefix[j];
            if (TWO) {
                const V8 u = sum - (left * load(plain + 8 * j) + left_d * load(deriv + 8 * j)) * load(rest + 8 * j);
                a += u * u * load(plain + 8 * j);
                a_d += u * u * load(deriv + 8 * j);
            } else {
                const V8 u = sum - left * load(rest + 8 * j);
                a += u * u;
            }
        }
        const double uu = horizontal_sum(a);
        const double gain = TWO ? gain_of(uu, left, horizontal_sum(a_d), left_d, n, centre.nd) : gain_of(uu, left, n);
        if (gain < floor) return;
        cuts[found++] = {static_cast<uint32_t>(i), gain};
        floor = std::max(floor, gain * (1 - tie_share));
    };
    if (!TWO && !FINE) {
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
#define TT_CASE(NV, FINE)                                                                                                              \
    return centre.two_groups ? try_cuts_impl<NV, true, FINE>(table, centre, min_leaf, rows, values, count, base, floor, generic, cuts) \
                             : try_cuts_impl<NV, false, FINE>(table, centre, min_leaf, rows, values, count, base, floor, generic, cuts);
    if (table.lanes.fine) {
        TT_CASE(0, true)
    }
    switch (table.lanes.vectors) {
        case 1: TT_CASE(1, false)
        case 2: TT_CASE(2, false)
        case 3: TT_CASE(3, false)
        case 8: TT_CASE(8, false)
        default: TT_CASE(0, false)
    }
#undef TT_CASE
}

}  // namespace TT_ISA
}  // namespace tripletree
