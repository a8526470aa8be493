// Where to put a threshold in the gap between two neighbouring values.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace tripletree {

// lo + (hi - lo) / 2 without overflow, or hi where that would round to lo.
inline double midpoint(double lo, double hi) {
    double mid = lo / 2 + hi / 2;
    if (std::fabs(lo) < 1e300 && std::fabs(hi) < 1e300) mid = lo + (hi - lo) / 2;
    return mid > lo && mid <= hi ? mid : hi;
}

// The double nearest to k * 10^e: what a person reads in decimals is what the tree uses.
inline double decimal(long double k, int e) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (std::fabs(k) < 9e15L && e >= -22 && e <= 22) {  // both factors are exact, so the one operation rounds correctly
        const auto whole = static_cast<double>(k);
        return e < 0 ? whole / powers[-e] : whole * powers[e];
    }
    char text[64];
    std::snprintf(text, sizeof text, "%.0Lfe%d", k, e);
    return std::strtod(text, nullptr);
}

// A multiple of the coarsest power of ten in (lo, hi], nearest to the middle: a person reads 1.48, not 1.4796132.
inline double short_decimal(double lo, double hi) {
    if (lo < 0 && hi >= 0) return 0.0;
    const double mid = midpoint(lo, hi), largest = std::fmax(std::fabs(lo), std::fabs(hi));
    const int top = static_cast<int>(std::floor(std::log10(largest))) + 1;
    const long double slack = 4e-16L * largest;  // a few roundings of a double
    for (int e = top; e > top - 18 && e >= -330; --e) {
        const long double unit = e >= -22 && e <= 22 ? (e < 0 ? 1 / static_cast<long double>(decimal(1, -e)) : static_cast<long double>(decimal(1, e)))
                                                     : std::pow(10.0L, static_cast<long double>(e));
        const long double last = std::floor(hi / unit);
        if (last * unit < lo - slack && (last + 1) * unit > hi + slack) continue;  // surely none
        // The multiple nearest to the middle, if it lies in the gap, or its neighbours where rounding decides.
        const long double nearest = std::round(mid / unit);
        double best = 0, best_distance = HUGE_VAL;
        for (long double k = nearest - 1; k <= nearest + 1; ++k) {
            const double tau = decimal(k, e), distance = std::fabs(tau - mid);
            if (tau > lo && tau <= hi && distance < best_distance) best = tau, best_distance = distance;
        }
        if (best_distance < HUGE_VAL) return best;
    }
    return hi;
}

}  // namespace tripletree
