// Codes of the rows of a node or a bin, and the order of their values.
#pragma once

#include <algorithm>

#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

// A feature's codes of some rows.
template <class Bin>
TT_SCALAR static void join_codes(const Bin* bins, size_t d, const uint16_t* offsets, const uint32_t* order, size_t count, uint32_t* out) {
    for (size_t i = 0; i < count; ++i) {
        if (i + ahead < count) {
            fetch(bins + order[i + ahead] * d);
            if (offsets) fetch(offsets + order[i + ahead]);
        }
        const uint32_t offset = offsets ? static_cast<uint32_t>(offsets[order[i]]) << spare_bits : 0;
        out[i] = static_cast<uint32_t>(bins[order[i] * d]) << offset_bits | offset;
    }
}
TT_SCALAR static void gather_codes(const Table& table, size_t feature, const uint32_t* order, size_t count, uint32_t* out) {
    const CodeParts& parts = table.codes;
    const uint16_t* offsets = parts.offsets ? parts.offsets + feature * table.n : nullptr;
    if (!parts.whole && parts.narrow_bins) return join_codes(parts.narrow_bins + feature, table.d, offsets, order, count, out);
    if (!parts.whole) return join_codes(parts.wide_bins + feature, table.d, offsets, order, count, out);
    const uint32_t* codes = parts.whole + feature * table.n;
    for (size_t i = 0; i < count; ++i) {
        if (i + ahead < count) fetch(codes + order[i + ahead]);
        out[i] = codes[order[i]];
    }
}

// Sorts words by their codes, equal ones by place: merges of runs, for what a map did not tell apart.
static void sort_run(const uint32_t* codes, uint32_t* words, size_t count, uint32_t* spare) {
    uint32_t *from = words, *to = spare;
    for (size_t length = 1; length < count; length *= 2) {
        for (size_t a = 0; a < count; a += 2 * length) {
            size_t i = a, j = std::min(count, a + length), k = a;
            const size_t middle = j, end = std::min(count, a + 2 * length);
            while (i < middle && j < end) to[k++] = codes[from[j] & 0xffffu] < codes[from[i] & 0xffffu] ? from[j++] : from[i++];
            while (i < middle) to[k++] = from[i++];
            while (j < end) to[k++] = from[j++];
        }
        uint32_t* swap = from;
        from = to;
        to = swap;
    }
    if (from != words) std::memcpy(words, from, count * sizeof(uint32_t));
}

// Sorts the places 0 .. count (<= 2^16) by their codes; equal codes keep their order. `words` has room for 2 count.
static Values sort_places(const uint32_t* codes, size_t count, uint32_t* words, uint16_t* list) {
    uint32_t lo = UINT32_MAX, hi = 0, offsets = 0;
    for (size_t i = 0; i < count; ++i) lo = std::min(lo, codes[i]), hi = std::max(hi, codes[i]), offsets |= codes[i];
    if (lo == hi) return Values::one;
    // A word is (what grows with the code) << 16 | place. Any monotone map will do, so single precision is enough; codes stay
    // below 2^31, and signed numbers convert faster. A few repeated values are told apart by 8 bits.
    const bool few = !(offsets & offset_mask) && hi - lo < 256u << offset_bits;
    const float factor = few ? 1.0f / (1u << offset_bits) : static_cast<float>(65536 / (static_cast<double>(hi - lo) + 1) * (1 - 1e-6));
    for (size_t i = 0; i < count; ++i) {
        const auto away = static_cast<float>(static_cast<int32_t>(codes[i] - lo));
        words[i] = static_cast<uint32_t>(static_cast<int32_t>(away * factor)) << 16 | static_cast<uint32_t>(i);
    }
    uint32_t *from = words, *to = words + count, start[2][256] = {};
    if (few)
        for (size_t i = 0; i < count; ++i) ++start[0][words[i] >> 16];
    else
        for (size_t i = 0; i < count; ++i) ++start[0][words[i] >> 16 & 255], ++start[1][words[i] >> 24];
    for (int pass = 0; pass < (few ? 1 : 2); ++pass) {
        const int shift = 16 + 8 * pass;
        uint32_t at = 0, *next = start[pass];
        for (int k = 0; k < 256; ++k) {
            const uint32_t here = next[k];
            next[k] = at;
            at += here;
        }
        for (size_t i = 0; i < count; ++i) to[next[from[i] >> shift & 255]++] = from[i];
        uint32_t* swap = from;
        from = to;
        to = swap;
    }
    bool ties = false;
    list[0] = static_cast<uint16_t>(from[0] & 0xffffu);
    for (size_t i = 1; i < count; ++i) {
        uint32_t place = from[i] & 0xffffu, before = list[i - 1];
        if (codes[place] < codes[before]) {  // the map made different codes equal: sort those, and do them again
            size_t a = i, b = i + 1;
            while (a > 0 && from[a - 1] >> 16 == from[i] >> 16) --a;
            while (b < count && from[b] >> 16 == from[i] >> 16) ++b;
            sort_run(codes, from + a, b - a, to);
            i = a;
            place = from[i] & 0xffffu, before = i > 0 ? list[i - 1] : place;
        }
        ties |= i > 0 && codes[place] == codes[before];
        list[i] = static_cast<uint16_t>(place);
    }
    return ties ? Values::with_ties : Values::all_different;
}

// ranks[place] becomes the number of values below its own, of the sorted places in list.
static void rank_places(const uint32_t* codes, const uint16_t* list, size_t count, uint16_t* ranks) {
    uint32_t rank = 0, last = codes[list[0]];
    for (size_t i = 0; i < count; ++i) {
        const uint32_t code = codes[list[i]];
        rank += code != last;
        last = code;
        ranks[list[i]] = static_cast<uint16_t>(rank);
    }
}

}  // namespace TT_ISA
}  // namespace tripletree
