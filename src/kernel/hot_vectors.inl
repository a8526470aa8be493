// Vectors of eight lanes for every instruction set: loads, conversions, and sums over lanes in a fixed order.
#pragma once

#include <cstring>
#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "hot.hpp"

#define TT_INLINE inline __attribute__((always_inline))
// For loops that load from all over: GCC would use the gather instructions, which are slower than plain loads.
#if defined(__GNUC__) && !defined(__clang__)
#define TT_SCALAR __attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize")))
#else
#define TT_SCALAR
#endif

namespace tripletree {
namespace TT_ISA {

typedef double V8 __attribute__((vector_size(64)));
typedef double V4 __attribute__((vector_size(32)));
typedef double V2 __attribute__((vector_size(16)));
typedef int32_t I8 __attribute__((vector_size(32)));
typedef uint32_t U8 __attribute__((vector_size(32)));
typedef int32_t I16 __attribute__((vector_size(64)));
typedef uint64_t L8 __attribute__((vector_size(64)));

TT_INLINE V8 load(const double* p) {
    V8 v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
TT_INLINE I8 load(const int32_t* p) {
    I8 v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
// Asks for what will be needed so many steps later. Into the second cache: it can wait for several times as many lines as the first.
constexpr size_t ahead = 64;
TT_INLINE void fetch(const void* p) { __builtin_prefetch(p, 0, 2); }

// The largest vectors that rows of NV times eight integers consist of.
template <bool EVEN>
struct Ints {
    using Vector = I8;
};
template <>
struct Ints<true> {
    using Vector = I16;
};
template <class Vector>
TT_INLINE Vector load_ints(const int32_t* p) {
    Vector v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
TT_INLINE void store(int32_t* p, I16 v) { std::memcpy(p, &v, sizeof v); }
TT_INLINE void store(double* p, V8 v) { std::memcpy(p, &v, sizeof v); }
TT_INLINE void store(int32_t* p, I8 v) { std::memcpy(p, &v, sizeof v); }

// Eight integers to doubles and back.
TT_INLINE V8 widen(I8 v) {
#if defined(__AVX512F__)
    return (V8)_mm512_cvtepi32_pd((__m256i)v);  // GCC makes two halves of the generic form
#else
    return __builtin_convertvector(v, V8);
#endif
}
TT_INLINE V8 widen(const int32_t* p) { return widen(load(p)); }
TT_INLINE void narrow(V8 v, int32_t* p) {
    const I8 whole = __builtin_convertvector(v, I8);
    std::memcpy(p, &whole, sizeof whole);
}

TT_INLINE double horizontal_sum(V8 v) {
    V4 a = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
    V2 b = __builtin_shufflevector(a, a, 0, 1) + __builtin_shufflevector(a, a, 2, 3);
    return b[0] + b[1];
}

// The sums of four vectors, side by side.
TT_INLINE V4 sum_four(V8 a, V8 b, V8 c, V8 d) {
    const V4 x = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
    const V4 y = __builtin_shufflevector(b, b, 0, 1, 2, 3) + __builtin_shufflevector(b, b, 4, 5, 6, 7);
    const V4 z = __builtin_shufflevector(c, c, 0, 1, 2, 3) + __builtin_shufflevector(c, c, 4, 5, 6, 7);
    const V4 w = __builtin_shufflevector(d, d, 0, 1, 2, 3) + __builtin_shufflevector(d, d, 4, 5, 6, 7);
    const V4 xy = __builtin_shufflevector(x, y, 0, 4, 2, 6) + __builtin_shufflevector(x, y, 1, 5, 3, 7);
    const V4 zw = __builtin_shufflevector(z, w, 0, 4, 2, 6) + __builtin_shufflevector(z, w, 1, 5, 3, 7);
    return __builtin_shufflevector(xy, zw, 0, 1, 4, 5) + __builtin_shufflevector(xy, zw, 2, 3, 6, 7);
}

TT_INLINE bool any_reaches(V4 a, V4 b) {
#if defined(__AVX__)
    return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_GE_OQ)) != 0;
#else
    return (a[0] >= b[0]) | (a[1] >= b[1]) | (a[2] >= b[2]) | (a[3] >= b[3]);
#endif
}

}  // namespace TT_ISA
}  // namespace tripletree
