// Which leaf does each state fall into?
#pragma once

#include "common.hpp"
#include "hot.hpp"

namespace tripletree {

inline void apply(const double* states, size_t n, size_t d, const int32_t* feature, const double* threshold, const int32_t* left, const int32_t* leaf_number,
                  size_t nodes, int threads, int32_t* out) {
    std::vector<Step> steps(nodes);
    std::vector<int> depth(nodes, 0);
    int deepest = 0;
    for (size_t k = 0; k < nodes; ++k) {
        bool leaf = left[k] < 0;
        // A leaf sends every state back to itself: nothing is >= NaN.
        steps[k] = {leaf ? __builtin_nan("") : threshold[k], leaf ? 0 : feature[k] * 8, (leaf ? static_cast<int32_t>(k) : left[k]) * 16};
        if (!leaf) {
            depth[static_cast<size_t>(left[k])] = depth[static_cast<size_t>(left[k]) + 1] = depth[k] + 1;
            if (depth[k] + 1 > deepest) deepest = depth[k] + 1;
        }
    }
    constexpr size_t block = 4096;
    int tasks = static_cast<int>((n + block - 1) / block);
    Team team(n > 4 * block ? useful_threads(threads) : 1);
    team.run(tasks, [&](int task, int) {
        size_t a = static_cast<size_t>(task) * block, b = a + block < n ? a + block : n;
        hot.apply_block(states + a * d, d, b - a, steps.data(), deepest, out + a);
        for (size_t i = a; i < b; ++i) out[i] = leaf_number[out[i]];
    });
}

}  // namespace tripletree
