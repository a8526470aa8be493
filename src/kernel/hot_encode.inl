// Keys of states, which encoding sorts.
#pragma once

#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

// Where the values of up to eight features lie in their ranges, from 0 to 2^32 - 1; every feature has a column of its own.
static void make_keys(const double* x, size_t n, size_t stride, size_t features, const double* lo, const double* half, const double* range, uint32_t* keys,
                      size_t apart) {
    // Converted as signed numbers, which every instruction set can.
    const double steps = 4294967295.0, middle = 2147483648.0;
    if (features < 8) {
        for (size_t k = 0; k < features; ++k) {
            const double scale = half[k], low = lo[k] * scale, width = range[k];
            for (size_t i = 0; i < n; ++i)
                keys[k * apart + i] =
                    width > 0 ? static_cast<uint32_t>(static_cast<int32_t>((x[i * stride + k] * scale - low) / width * steps - middle)) ^ 0x80000000u : 0;
        }
        return;
    }
    V8 width = load(range), scale = width > 0 ? load(half) : V8{};
    const V8 low = load(lo) * scale;
    width = width > 0 ? width : V8{} + 1;
    for (size_t i = 0; i < n; ++i, x += stride) {
        if (i + 16 < n) __builtin_prefetch(x + 16 * stride), __builtin_prefetch(x + 16 * stride + 7);
        const I8 key = __builtin_convertvector((load(x) * scale - low) / width * steps - middle, I8);
        for (size_t k = 0; k < 8; ++k) keys[k * apart + i] = static_cast<uint32_t>(key[k]) ^ 0x80000000u;
    }
}

}  // namespace TT_ISA
}  // namespace tripletree
