// Whether the integers that targets were rounded to tell the usual samples apart, or an outlier has set their scale.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common.hpp"

namespace tripletree {

// narrow[k - from] = whether the middle seven eighths of lane k may span fewer than 2^12 steps, for lanes from .. to of rows of 24-bit
// numbers; of the rows where lane `has` is not 0, if there is such a lane (>= 0). Counting is enough: what is surely wide needs no
// closer look.
inline void find_narrow(const int32_t* rows, size_t n, size_t width, size_t from, size_t to, int has, Team& team, uint8_t* narrow) {
    constexpr size_t side = 16, buckets = (1 << 12) + 1, block = size_t{1} << 16;  // lanes at a time: one or two cache lines of a row
    constexpr uint32_t middle = 1 << 23, shift = 12;
    std::vector<std::vector<uint32_t>> counts(static_cast<size_t>(team.size()));
    std::vector<size_t> found(counts.size());
    for (size_t first = from; first < to; first += side) {
        const size_t lanes = std::min(side, to - first);
        for (size_t t = 0; t < counts.size(); ++t) counts[t].assign(side * buckets, 0), found[t] = 0;
        team.run(static_cast<int>((n + block - 1) / block), [&](int task, int thread) {
            uint32_t* count = counts[static_cast<size_t>(thread)].data();
            const size_t begin = static_cast<size_t>(task) * block, end = std::min(n, begin + block);
            size_t known = 0;
            for (size_t i = begin; i < end; ++i) {
                const int32_t* row = rows + i * width;
                if (has >= 0 && !row[has]) continue;
                ++known;
                for (size_t k = 0; k < lanes; ++k)
                    ++count[k * buckets + std::min<size_t>((static_cast<uint32_t>(row[first + k]) + middle) >> shift, buckets - 1)];
            }
            found[static_cast<size_t>(thread)] += known;
        });
        size_t known = found[0];
        for (size_t t = 1; t < counts.size(); ++t) {
            known += found[t];
            for (size_t k = 0; k < side * buckets; ++k) counts[0][k] += counts[t][k];
        }
        const size_t outer = known ? std::min((known + 15) / 16, (known - 1) / 2) : 0;
        for (size_t k = 0; k < lanes; ++k) {
            const uint32_t* of = counts[0].data() + k * buckets;
            size_t low = 0, high = buckets - 1;
            for (size_t below = of[0]; low < high && below <= outer;) below += of[++low];
            for (size_t above = of[high]; high > low && above <= outer;) above += of[--high];
            narrow[first - from + k] = high - low < 2;
        }
    }
}

}  // namespace tripletree
