// Which leaf does each state fall into?
#pragma once

#include "common.hpp"

namespace tripletree {

struct Step {
    double threshold;
    int32_t feature;  // 0 at a leaf, so that the load is always valid
    int32_t left;     // the node itself at a leaf, where the comparison below adds nothing
};

// Sixteen states walk down side by side, so that their loads overlap.
TT_CLONES void apply_block(const double* states, size_t d, size_t n, const Step* steps, int depth, int32_t* out) {
    constexpr size_t side = 16;
    size_t i = 0;
    for (; i + side <= n; i += side) {
        int32_t at[side] = {};
        for (int level = 0; level < depth; ++level)
            for (size_t j = 0; j < side; ++j) {
                const Step& s = steps[at[j]];
                at[j] = s.left + (states[(i + j) * d + static_cast<size_t>(s.feature)] >= s.threshold);
            }
        for (size_t j = 0; j < side; ++j) out[i + j] = at[j];
    }
    for (; i < n; ++i) {
        int32_t at = 0;
        for (int level = 0; level < depth; ++level) {
            const Step& s = steps[at];
            at = s.left + (states[i * d + static_cast<size_t>(s.feature)] >= s.threshold);
        }
        out[i] = at;
    }
}

inline void apply(const double* states, size_t n, size_t d, const int32_t* feature, const double* threshold,
                  const int32_t* left, const int32_t* leaf_number, size_t nodes, int threads, int32_t* out) {
    std::vector<Step> steps(nodes);
    std::vector<int> depth(nodes, 0);
    int deepest = 0;
    for (size_t k = 0; k < nodes; ++k) {
        bool leaf = left[k] < 0;
        // A leaf sends every state back to itself: no finite number is >= infinity.
        steps[k] = {leaf ? __builtin_inf() : threshold[k], leaf ? 0 : feature[k], leaf ? static_cast<int32_t>(k) : left[k]};
        if (!leaf) {
            depth[static_cast<size_t>(left[k])] = depth[static_cast<size_t>(left[k]) + 1] = depth[k] + 1;
            if (depth[k] + 1 > deepest) deepest = depth[k] + 1;
        }
    }
    constexpr size_t block = 4096;
    int tasks = static_cast<int>((n + block - 1) / block);
    Team team(n > 4 * block ? threads : 1);
    team.run(tasks, [&](int task, int) {
        size_t a = static_cast<size_t>(task) * block, b = a + block < n ? a + block : n;
        apply_block(states + a * d, d, b - a, steps.data(), deepest, out + a);
        for (size_t i = a; i < b; ++i) out[i] = leaf_number[out[i]];
    });
}

}  // namespace tripletree
