// Keys of states, which encoding sorts.
#pragma once

#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

// Where the values of up to eight features lie in their windows, from 0 to 2^32 - 1; every feature has a column of its own.
static void make_keys(const double* x, size_t n, size_t stride, size_t features, const double* low, const double* half, const double* width, uint32_t* keys,
                      size_t apart) {
    // Converted as signed numbers, which every instruction set can.
    const double steps = 4294967295.0, middle = 2147483648.0;
    if (features < 8) {
        for (size_t k = 0; k < features; ++k) {
            for (size_t i = 0; i < n; ++i) {
                const double y = width[k] > 0 ? (x[i * stride + k] * half[k] - low[k]) / width[k] : 0;
                keys[k * apart + i] = static_cast<uint32_t>(static_cast<int32_t>((y < 0 ? 0 : y > 1 ? 1 : y) * steps - middle)) ^ 0x80000000u;
            }
        }
        return;
    }
    const V8 scale = load(width) > 0 ? load(half) : V8{}, from = load(width) > 0 ? load(low) : V8{}, span = load(width) > 0 ? load(width) : V8{} + 1;
    for (size_t i = 0; i < n; ++i, x += stride) {
        if (i + 16 < n) __builtin_prefetch(x + 16 * stride), __builtin_prefetch(x + 16 * stride + 7);
        V8 y = (load(x) * scale - from) / span;
        y = y < 0 ? V8{} : y;
        y = y > 1 ? V8{} + 1 : y;
        const I8 key = __builtin_convertvector(y * steps - middle, I8);
        for (size_t k = 0; k < 8; ++k) keys[k * apart + i] = static_cast<uint32_t>(key[k]) ^ 0x80000000u;
    }
}

}  // namespace TT_ISA
}  // namespace tripletree
