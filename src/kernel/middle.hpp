// The numbers in the middle of columns. Buckets over the range, of which one is looked into again: a fraction of the time of the usual
// selection, which guesses wrongly at every second number.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "hot.hpp"

namespace tripletree {

// The two numbers in the middle, which are the same one if their number is odd; `x` is overwritten.
inline std::pair<double, double> middle(std::vector<double>& x) {
    constexpr size_t buckets = 1024, few = 64;
    std::vector<uint32_t> count(buckets);
    std::vector<uint16_t> bucket(x.size());
    const bool odd = x.size() % 2;
    size_t rank = x.size() / 2;
    double below = -std::numeric_limits<double>::infinity();  // the largest number that has been left out, of the smaller ones
    while (x.size() > few) {
        double low = x[0], high = x[0];
        hot.widen_ranges(x.data(), x.size(), 1, false, &low, &high);
        const double per_number = static_cast<double>(buckets - 1) / (high - low);
        if (!(per_number > 0) || std::isinf(per_number)) break;  // all alike, or too far apart
        std::fill(count.begin(), count.end(), 0);
        for (size_t i = 0; i < x.size(); ++i) ++count[bucket[i] = static_cast<uint16_t>(static_cast<int32_t>((x[i] - low) * per_number))];
        size_t at = 0;
        for (; rank >= count[at]; ++at) rank -= count[at];
        if (rank == 0 && !odd)
            for (size_t i = 0; i < x.size(); ++i) below = bucket[i] < at ? std::max(below, x[i]) : below;
        size_t kept = 0;
        for (size_t i = 0; i < x.size(); ++i) {
            x[kept] = x[i];
            kept += bucket[i] == at;
        }
        x.resize(kept);
    }
    const auto upper = x.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(x.begin(), upper, x.end());
    if (odd) return {*upper, *upper};
    return {rank > 0 ? *std::max_element(x.begin(), upper) : below, *upper};
}

}  // namespace tripletree
