// Features become integer codes that keep their order; near-equal values share a code.
#pragma once

#include <algorithm>
#include <cmath>

#include "common.hpp"
#include "hot.hpp"
#include "layout.hpp"

namespace tripletree {

constexpr double equal_share = 1e-9;  // of a feature's range: values closer than this count as equal

// Words of key << 32 | place, sorted by key: two passes over its upper 22 bits, then the few that share those bits.
inline void sort_keys(const uint32_t* keys, size_t n, uint64_t* words, uint64_t* spare, const Flag& cancel) {
    auto word = [=](size_t i) { return static_cast<uint64_t>(keys[i]) << 32 | i; };
    if (n < 512) {
        for (size_t i = 0; i < n; ++i) words[i] = word(i);
        std::sort(words, words + n);
        return;
    }
    constexpr int bits = 11, buckets = 1 << bits, low = 64 - 2 * bits, high = 64 - bits;
    std::vector<uint32_t> count(2 * buckets, 0);
    uint32_t *count_low = count.data(), *count_high = count.data() + buckets;
    in_steps(n, cancel, [=](size_t a, size_t b) {
        for (size_t i = a; i < b; ++i) ++count_low[keys[i] >> (low - 32) & (buckets - 1)], ++count_high[keys[i] >> (high - 32)];
    });
    uint32_t at_low = 0, at_high = 0;
    for (int b = 0; b < buckets; ++b) {
        std::swap(count_low[b], at_low), at_low += count_low[b];
        std::swap(count_high[b], at_high), at_high += count_high[b];
    }
    in_steps(n, cancel, [=](size_t a, size_t b) {
        for (size_t i = a; i < b; ++i) spare[count_low[keys[i] >> (low - 32) & (buckets - 1)]++] = word(i);
    });
    in_steps(n, cancel, [=](size_t a, size_t b) {
        for (size_t i = a; i < b; ++i) words[count_high[spare[i] >> high]++] = spare[i];
    });
    for (size_t i = 1, runs = 0; i < n; ++i) {
        if (words[i - 1] >> 32 <= words[i] >> 32) continue;
        size_t a = i - 1, b = i + 1;
        while (a > 0 && words[a - 1] >> low == words[i] >> low) --a;
        while (b < n && words[b] >> low == words[i] >> low) ++b;
        std::sort(words + a, words + b);
        i = b - 1;
        if (++runs % 4096 == 0) stop_if(cancel);
    }
}

// Samples before each cluster of near-equal values (ascending), closed by n; words are sorted by key. Returns their number.
inline size_t clusters(const uint64_t* words, size_t n, const double* x, size_t stride, double half, double range, const Flag& cancel, uint32_t* starts) {
    const double tolerance = equal_share * range;
    // Values whose keys differ by 1 to 8: the largest that shares the lower key against the smallest that shares the higher.
    auto apart = [&](size_t i) {
        double below = x[(words[i - 1] & 0xffffffffu) * stride], above = x[(words[i] & 0xffffffffu) * stride];
        for (size_t j = i - 1; j > 0 && words[j - 1] >> 32 == words[i - 1] >> 32; --j) below = std::max(below, x[(words[j - 1] & 0xffffffffu) * stride]);
        for (size_t j = i + 1; j < n && words[j] >> 32 == words[i] >> 32; ++j) above = std::min(above, x[(words[j] & 0xffffffffu) * stride]);
        return above * half - below * half > tolerance;
    };
    size_t found = 1;
    starts[0] = 0;
    in_steps(n, cancel, [&](size_t a, size_t b) {
        for (size_t i = std::max<size_t>(a, 1); i < b; ++i) {
            // Keys are 2^-32 of the range apart: with equal ones values are closer than the tolerance, eight steps are surely more.
            const uint64_t step = (words[i] >> 32) - (words[i - 1] >> 32);
            starts[found] = static_cast<uint32_t>(i);
            found += step > 8 || (step > 0 && apart(i));
        }
    });
    starts[found] = static_cast<uint32_t>(n);
    return found;
}

// The first cluster of each of about `bins` bins, closed by the number of clusters: bins of equally many samples, and one of its
// own for each of the `heavy` clusters that fill one.
inline std::vector<size_t> divide_clusters(const uint32_t* starts, size_t k, const std::vector<size_t>& heavy, size_t bins) {
    const uint64_t n = starts[k];
    std::vector<size_t> firsts;
    if (k <= bins) {
        for (size_t i = 0; i <= k; ++i) firsts.push_back(i);
        return firsts;
    }
    size_t i = 0;
    auto next_heavy = heavy.begin();
    for (uint64_t full = 0; i < k;) {  // samples x bins before the end of the bin under way
        firsts.push_back(i);
        if (starts[i] * bins >= full) full = (starts[i] * bins / n + 1) * n;
        next_heavy = std::lower_bound(next_heavy, heavy.end(), i);
        if (next_heavy != heavy.end() && *next_heavy == i) {
            ++i;
            continue;
        }
        const auto end = static_cast<size_t>(std::lower_bound(starts + i + 1, starts + k, (full + bins - 1) / bins) - starts);
        i = next_heavy == heavy.end() ? end : std::min(end, *next_heavy);
    }
    firsts.push_back(k);
    return firsts;
}

// The clusters of at least n / bins samples.
inline std::vector<size_t> heavy_clusters(const uint32_t* starts, size_t k, size_t bins) {
    std::vector<size_t> heavy;
    const uint64_t least = (starts[k] + bins - 1) / bins;
    for (size_t i = 0; i < k; ++i)
        if (starts[i + 1] - starts[i] >= least) heavy.push_back(i);
    return heavy;
}

// What a thread needs to sort n values. The thread that calls takes it, see Room in grow.hpp.
struct Words {
    Array<uint64_t> words;
    bool fresh = true;
    explicit Words(size_t n) : words(make_array<uint64_t>(2 * n + 1)) {}
};

// Codes of one feature from its keys, in place. exact: one code per cluster; else one per bin, at most `bins`.
inline void encode_feature(uint32_t* column, const double* x, size_t n, size_t stride, double half, double range, size_t bins, bool exact, const Flag& cancel,
                           Words& room) {
    bool two_values = true;
    for (size_t a = 0; a < n && two_values; a += 4096)
        for (size_t i = a; i < std::min(n, a + 4096); ++i) two_values &= column[i] + 1 < 2;  // the lowest key, or the highest
    if (two_values)
        return in_steps(n, cancel, [=](size_t a, size_t b) {
            for (size_t i = a; i < b; ++i) column[i] = column[i] ? 1u << offset_bits : 0;
        });
    uint64_t *const words = room.words.get(), *const spare = words + n;
    // Memory is given when first touched, which may take long: a step of the sort would touch all of it.
    if (room.fresh)
        in_steps(2 * n, cancel, [=](size_t a, size_t b) {
            for (size_t i = a; i < b; i += 512) words[i] = 0;
        });
    room.fresh = false;
    sort_keys(column, n, words, spare, cancel);
    auto* const starts = reinterpret_cast<uint32_t*>(spare);  // not needed any more
    const size_t k = clusters(words, n, x, stride, half, range, cancel, starts);
    size_t want = bins;
    std::vector<size_t> firsts = divide_clusters(starts, k, heavy_clusters(starts, k, want), want);
    // Bins for repeated values come on top: ask for fewer until all fit.
    while (!exact && firsts.size() - 1 > bins) {
        const size_t excess = firsts.size() - 1 - bins;
        want = want > excess ? want - excess : 1;
        firsts = divide_clusters(starts, k, heavy_clusters(starts, k, want), want);
        stop_if(cancel);
    }
    for (size_t bin = 0; bin + 1 < firsts.size(); ++bin) {
        const size_t first = firsts[bin], size = firsts[bin + 1] - first;
        const uint32_t spread = size == 1 || !exact ? 0 : offset_mask / static_cast<uint32_t>(size),
                       lowest = static_cast<uint32_t>(bin) << offset_bits | (spread > 0);
        const size_t from = starts[first], to = starts[first + size];
        if (to - from == size) {  // as a rule
            for (size_t q = from; q < to; ++q) column[words[q] & 0xffffffffu] = lowest + static_cast<uint32_t>(q - from) * spread;
        } else {
            for (size_t c = 0; c < size; ++c)
                for (size_t q = starts[first + c]; q < starts[first + c + 1]; ++q) column[words[q] & 0xffffffffu] = lowest + static_cast<uint32_t>(c) * spread;
        }
        stop_if(cancel);
    }
}

// Codes of all features, feature after feature. Eight of them (a cache line of the states) are read at a time.
inline void encode(const double* states, size_t n, size_t d, size_t bins, bool exact, std::vector<Words>& room, Team& team, const Flag& cancel,
                   uint32_t* codes) {
    constexpr size_t side = 8, block = 1 << 13;
    const size_t blocks = (n + block - 1) / block;
    for (size_t f0 = 0; f0 < d; f0 += side) {
        const size_t width = std::min(side, d - f0);
        std::vector<double> lo(blocks * side), hi(blocks * side);
        double half[side], range[side];
        team.run(static_cast<int>(blocks), [&](int task, int) {
            stop_if(cancel);
            const size_t t = static_cast<size_t>(task), a = t * block, b = std::min(n, a + block);
            double l[side], h[side];
            for (size_t k = 0; k < width; ++k) l[k] = h[k] = states[a * d + f0 + k];
            bool finite = true;
            for (size_t i = a; i < b; ++i)
                for (size_t k = 0; k < width; ++k) {
                    const double x = states[i * d + f0 + k];
                    finite &= x - x == 0;
                    l[k] = std::min(l[k], x), h[k] = std::max(h[k], x);
                }
            if (!finite) throw std::invalid_argument("states must be finite");
            for (size_t k = 0; k < width; ++k) lo[t * side + k] = l[k], hi[t * side + k] = h[k];
        });
        for (size_t k = 0; k < width; ++k) {
            for (size_t t = 1; t < blocks; ++t) lo[k] = std::min(lo[k], lo[t * side + k]), hi[k] = std::max(hi[k], hi[t * side + k]);
            // Halves avoid overflow of the range; they are exact but for denormal numbers, which have no such range.
            half[k] = std::isinf(hi[k] - lo[k]) ? 0.5 : 1.0;
            range[k] = hi[k] * half[k] - lo[k] * half[k];
        }
        team.run(static_cast<int>(blocks), [&](int task, int) {
            stop_if(cancel);
            const size_t a = static_cast<size_t>(task) * block, b = std::min(n, a + block);
            hot.make_keys(states + a * d + f0, b - a, d, width, lo.data(), half, range, codes + f0 * n + a, n);
        });
        team.run(static_cast<int>(width), [&](int task, int thread) {
            const auto k = static_cast<size_t>(task), t = static_cast<size_t>(thread);
            if (range[k] > 0) encode_feature(codes + (f0 + k) * n, states + f0 + k, n, d, half[k], range[k], bins, exact, cancel, room[t]);
        });
    }
}

}  // namespace tripletree
