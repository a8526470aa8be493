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

// The double nearest to k * 10^e, through its decimal text so that what is printed is what is used.
inline double decimal(long double k, int e) {
    char text[64];
    std::snprintf(text, sizeof text, "%.0Lfe%d", k, e);
    return std::strtod(text, nullptr);
}

// A multiple of the coarsest power of ten in (lo, hi], nearest to the middle: a person reads 1.48, not 1.4796132.
inline double short_decimal(double lo, double hi) {
    if (lo < 0 && hi >= 0) return 0.0;
    double mid = midpoint(lo, hi), largest = std::fmax(std::fabs(lo), std::fabs(hi));
    int top = static_cast<int>(std::floor(std::log10(largest))) + 1;
    for (int e = top; e > top - 18 && e >= -330; --e) {
        // Multiples are counted in units of 10^e; below 10^17 of them a long double holds each exactly.
        long double unit = std::pow(10.0L, static_cast<long double>(e));
        long double first = std::floor(static_cast<long double>(lo) / unit) - 1, last = std::ceil(static_cast<long double>(hi) / unit) + 1;
        if (last - first > 40) {  // more multiples than the search below needs: only those around the middle matter
            long double centre = std::round(static_cast<long double>(mid) / unit);
            first = std::fmax(first, centre - 20);
            last = std::fmin(last, centre + 20);
        }
        double best = 0, best_distance = HUGE_VAL;
        bool found = false;
        for (long double k = first; k <= last; ++k) {
            double tau = decimal(k, e);
            if (!(tau > lo && tau <= hi)) continue;
            double distance = std::fabs(tau - mid);
            if (!found || distance < best_distance) best = tau, best_distance = distance, found = true;
        }
        if (found) return best;
    }
    return hi;
}

}  // namespace tripletree
