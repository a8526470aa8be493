// Keys of states, which encoding sorts.
#pragma once

#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

// Where the values of up to eight features lie in their windows, from 0 to 2^32 - 1: (x * scale - low) * per_step, cut off at either
// end. Every feature has a column of its own.
static void make_keys(const double* x, size_t n, size_t stride, size_t features, const double* scale, const double* low, const double* per_step, uint32_t* keys,
                      size_t apart) {
    // Converted as signed numbers, which every instruction set can.
    const double last = 4294967295.0, middle = 2147483648.0;
    if (features < 8) {
        for (size_t k = 0; k < features; ++k)
            for (size_t i = 0; i < n; ++i) {
                const double y = (x[i * stride + k] * scale[k] - low[k]) * per_step[k];
                keys[k * apart + i] = static_cast<uint32_t>(static_cast<int32_t>((y > 0 ? y < last ? y : last : 0) - middle)) ^ 0x80000000u;
            }
        return;
    }
    const V8 by = load(scale), from = load(low), steps = load(per_step);
    for (size_t i = 0; i < n; ++i, x += stride) {
        if (i + 16 < n) __builtin_prefetch(x + 16 * stride), __builtin_prefetch(x + 16 * stride + 7);
        V8 y = (load(x) * by - from) * steps;
        y = y > 0 ? y : V8{};
        y = y < last ? y : V8{} + last;
        const I8 key = __builtin_convertvector(y - middle, I8);
        for (size_t k = 0; k < 8; ++k) keys[k * apart + i] = static_cast<uint32_t>(key[k]) ^ 0x80000000u;
    }
}

}  // namespace TT_ISA
}  // namespace tripletree
