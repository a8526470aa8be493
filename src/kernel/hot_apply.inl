// States on their way down a tree.
#pragma once

#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

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

}  // namespace TT_ISA
}  // namespace tripletree
