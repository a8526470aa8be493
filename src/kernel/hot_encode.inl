// Keys of states, which encoding sorts, and hashes of them.
#pragma once

#include <algorithm>

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

// The bins of a row side by side, out of the codes of each feature: as many of them at a time as fit 64 bits, of eight rows.
template <class Bin>
TT_INLINE void lay_bins_impl(const uint32_t* codes, size_t apart, size_t d, size_t a, size_t b, Bin* bins) {
    constexpr size_t together = sizeof(uint64_t) / sizeof(Bin), bits = 8 * sizeof(Bin);
    constexpr bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    size_t i = a;
    for (; i + 8 <= b && d >= together; i += 8)
        for (size_t from = 0; from < d; from += together) {
            const size_t f = std::min(from, d - together);  // the last ones overlap those before
            L8 words = {};
            for (size_t k = 0; k < together; ++k) {
                const U8 some = (U8)load(reinterpret_cast<const int32_t*>(codes + (f + k) * apart + i)) >> offset_bits;
                words |= __builtin_convertvector(some, L8) << bits * (little ? k : together - 1 - k);
            }
            for (size_t row = 0; row < 8; ++row) {
                const uint64_t word = words[row];
                std::memcpy(bins + (i + row) * d + f, &word, sizeof word);
            }
        }
    for (size_t f = 0; f < d; ++f)
        for (size_t k = i; k < b; ++k) bins[k * d + f] = static_cast<Bin>(codes[f * apart + k] >> offset_bits);
}
static void lay_bins(const uint32_t* codes, size_t apart, size_t d, size_t a, size_t b, uint8_t* narrow, uint16_t* wide) {
    if (narrow) lay_bins_impl(codes, apart, d, a, b, narrow);
    else lay_bins_impl(codes, apart, d, a, b, wide);
}

// The first of the places from .. to for which found(place) holds, or `to`. Far apart as a rule: many are asked at a time.
template <class Found>
TT_INLINE size_t first_place(size_t from, size_t to, const Found& found) {
    constexpr size_t many = 32;
    for (const size_t end = std::min(to, from + 4); from < end; ++from)
        if (found(from)) return from;
    for (; from + many <= to; from += many) {
        uint32_t any = 0;
        for (size_t i = from; i < from + many; ++i) any |= found(i) ? 1u : 0u;
        if (any) break;
    }
    while (from < to && !found(from)) ++from;
    return from;
}

// Of words of key << 32 | place: the first whose key is below that of the one before it.
static size_t first_descent(const uint64_t* words, size_t from, size_t to) {
    return first_place(from, to, [=](size_t i) { return static_cast<uint32_t>(words[i] >> 32) < static_cast<uint32_t>(words[i - 1] >> 32); });
}

// The same for ascending keys: the first whose key is at most `limit` above that of the one before it.
static size_t first_near(const uint64_t* words, size_t from, size_t to, uint64_t limit) {
    const auto most = static_cast<uint32_t>(std::min<uint64_t>(limit, UINT32_MAX));
    return first_place(from, to, [=](size_t i) { return static_cast<uint32_t>(words[i] >> 32) - static_cast<uint32_t>(words[i - 1] >> 32) <= most; });
}

// A well-mixed image of 64 bits, one to one (the finaliser of splitmix64: Steele, Lea and Flood 2014).
TT_INLINE uint64_t mixed(uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

// The sum of the hashes of numbers, by column and by step, of which `before` came before.
static uint64_t hash_rows(const double* rows, size_t n, size_t d, const uint64_t* keys, uint64_t before) {
    uint64_t sum = 0;
    for (size_t t = 0; t < n; ++t) {
        const double* row = rows + t * d;
        const uint64_t step = 0x9e3779b97f4a7c15u * (before + t);
        for (size_t f = 0; f < d; ++f) {
            const double number = row[f] + 0.0;  // -0 and 0 are the same number
            uint64_t bits;
            std::memcpy(&bits, &number, sizeof bits);
            sum += mixed(mixed(bits ^ keys[f]) + step);
        }
    }
    return sum;
}

}  // namespace TT_ISA
}  // namespace tripletree
