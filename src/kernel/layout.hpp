// What the parts of growth pass to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace tripletree {

constexpr double tie_share = 1e-9;  // gains closer than this, relative to the best, are ties

// A code is (bin << offset_bits) | offset. The bins hold about equally many samples each, a value that repeats a lot has
// a bin of its own, and the offset orders the values inside a bin: 0 if the bin holds one value only, else from 1 up,
// spread over the whole width so that codes are nearly uniform over the samples. Where 16 bits are enough for the values of every bin,
// the last bits of all offsets are 0.
constexpr int offset_bits = 20, spare_bits = 4;
constexpr uint32_t offset_mask = (1u << offset_bits) - 1;

// Codes as growth holds them, see codes.hpp: bins are n x d, row after row; codes and offsets d x n, feature after feature.
struct CodeParts {
    const uint8_t* narrow_bins;  // one of these is nullptr
    const uint16_t* wide_bins;
    const uint32_t* whole;    // codes; nullptr: they are the bins, and
    const uint16_t* offsets;  // these, without the spare bits; nullptr: all are 0
    size_t bin(size_t at) const { return narrow_bins ? narrow_bins[at] : wide_bins[at]; }
};

// The bins of a feature by row, out of either part of the codes.
template <class T, int shift>
struct BinColumn {
    const T* data;
    size_t apart;
    size_t operator()(size_t row) const { return data[row * apart] >> shift; }
    void fetch(size_t row) const { __builtin_prefetch(data + row * apart, 0, 2); }  // into the second cache
};

// Targets have at most 24 bits, squares are counted in a unit that leaves them as many: so many rows add up in 32 bits.
constexpr int short_sum = 255;

// So many neighbours are added up at a time.
constexpr size_t run_length = 16;

// Numbers that begin where a cache line does, so that no eight of them lie across two.
template <class T>
struct Aligned {
    using value_type = T;
    static constexpr std::align_val_t line{64};
    Aligned() = default;
    template <class Other>
    Aligned(const Aligned<Other>&) {}
    T* allocate(size_t size) { return static_cast<T*>(::operator new(size * sizeof(T), line)); }
    void deallocate(T* data, size_t) { ::operator delete(data, line); }
    bool operator==(const Aligned&) const { return true; }
    bool operator!=(const Aligned&) const { return false; }
};
using Doubles = std::vector<double, Aligned<double>>;

// Aligned scratch for rows too wide to stay in registers.
struct alignas(64) Block {
    double lane[8];
};

// Lanes of a row of targets and of a record of sums: targets (plain, then derivative), then these. Where 24 bits are not enough, rows
// are twice as long: a target is limb x (its lane) + (the same lane of the second half), and so are squares. Every lane stays as
// short as it is without, so that its sums are exact as before.
// Rows with weights are long: targets, the count and "has a derivative" are those of a sample times its weight, a whole number, and
// the second half has a 1 where the first has the weight. So all sums are weighted, exact, and know the number of rows.
constexpr int limb_bits = 22;
constexpr double limb = 1 << limb_bits;
constexpr int most_weight_bits = 20;
struct Lanes {
    int plain, targets, width, vectors;
    bool fine;                                                  // rows have a second half
    bool weighted;                                              // rows have weights; then they are fine
    int joint() const { return fine ? vectors / 2 : vectors; }  // vectors of the first
    int second() const { return 8 * joint(); }                  // lane where the second begins
    int with_derivative() const { return targets; }
    int count() const { return targets + 1; }
    int rows() const { return weighted ? second() + count() : count(); }
    int squares() const { return targets + 2; }             // sum of |y|^2, plain group
    int derivative_squares() const { return targets + 3; }  // the same, derivative group
};

// Lanes of a record of 64-bit sums, for growth on a log in parts: targets, for fine rows what rounding leaves of each, "has a
// derivative", the count, and the squares of both groups. Those of fine rows do not fit 64 bits: they are added up in limbs of 32.
// With weights, rows are fine, all of these are weighted, and the rows come after the count.
struct WideLanes {
    int plain, targets;
    bool fine, weighted;
    int columns() const { return fine ? 2 * targets : targets; }
    int known() const { return columns(); }
    int count() const { return columns() + 1; }
    int rows() const { return weighted ? count() + 1 : count(); }
    int squares() const { return rows() + 1; }
    // Of the record of a row, which has the first of these numbers, in 32 bits: where its bins begin.
    int bins() const { return rows(); }
    int limbs() const { return fine ? 3 : 1; }
    size_t width() const { return static_cast<size_t>(squares() + 2 * limbs() + 7) / 8 * 8; }
};

constexpr uint32_t last_row = uint32_t{1} << 31;  // marks the last row of an episode

// One node seen by the search. Targets are integers, so `mean` is split into a whole part, which keeps sums exact, and a
// rest of at most one half (0 in the second half of a row).
struct Centre {
    double n = 0, nd = 0;  // samples, or their weight
    bool weighted = false;
    double rows = 0, least = 1;              // with weights: samples, and the smallest weight of any
    bool two_groups = false;                 // some sample of the node lacks a derivative
    Doubles whole, rest, plain, derivative;  // by lane; the last two are 0/1 masks (one group: all plain)
    double rest_length = 0;
};

// The sum of squares of some rows' targets. They are limb x first + second; without a second half that is all of it.
__extension__ typedef unsigned __int128 Wide;
struct Squares {
    uint64_t first = 0;  // of the first halves
    Wide rest = 0;       // what the second halves add, modulo 2^128; with weights all of it
};

// Neighbouring bins of a feature in groups, which serve as its bins in a search; none: they are as they are.
struct Groups {
    std::vector<uint16_t> of;    // the group of each bin
    std::vector<uint16_t> last;  // the last bin of each group
    std::vector<uint8_t> kind;   // of each group: 1 where a single bin of it has samples, else 2
};

// The log as the search sees it.
struct Table {
    const double* states;
    CodeParts codes;
    int32_t* rows;  // n x lanes.width; growth fills in the count and the squares
    size_t n, d;
    Lanes lanes;
    bool missing;                     // some derivative is missing: two groups
    double square_unit;               // of the squares in `rows`, which are rounded up
    std::vector<uint32_t> first_bin;  // of each feature in a histogram, closed by the number of bins
    std::vector<uint8_t> one_value;   // by bin: holds a single code, so there is nothing to open
    double least;                     // smallest weight, 1 without
    const Wide* weighted_squares;     // with weights: of each row, plain and derivative; else nullptr
    std::vector<Groups> groups{};     // of each feature; none: no feature has any
    const uint16_t* row_groups{};     // n x d: of each row's bins, if there are groups
    size_t all_bins() const { return first_bin.back(); }
    uint32_t code(size_t feature, size_t row) const {
        if (codes.whole) return codes.whole[feature * n + row];
        const uint32_t offset = codes.offsets ? static_cast<uint32_t>(codes.offsets[feature * n + row]) << spare_bits : 0;
        return static_cast<uint32_t>(codes.bin(row * d + feature)) << offset_bits | offset;
    }
    // Calls work(column) with a feature's bins of `count` rows. Those of many rows are denser in the codes; those of few are in the cache, as
    // neighbours of other features' bins.
    template <class Work>
    void with_bins(size_t feature, size_t count, const Work& work) const {
        if (codes.whole && count * 8 >= n) work(BinColumn<uint32_t, offset_bits>{codes.whole + feature * n, 1});
        else if (codes.narrow_bins) work(BinColumn<uint8_t, 0>{codes.narrow_bins + feature, d});
        else work(BinColumn<uint16_t, 0>{codes.wide_bins + feature, d});
    }
    const Groups* grouped(size_t feature) const { return groups.empty() || groups[feature].of.empty() ? nullptr : &groups[feature]; }
    // The last code that may be in a bin of the histogram.
    uint32_t last_code(size_t feature, size_t bin) const {
        const Groups* some = grouped(feature);
        return static_cast<uint32_t>(some ? some->last[bin] : bin) << offset_bits | offset_mask;
    }
};

// Scratch for one scan over the bins of a feature.
struct Scan {
    Doubles prefix;                         // record width for each bin: centred sums before it
    Doubles before, count, uu, ss;          // plain group: samples before, in it; |U|^2 before (one more than bins); s
    Doubles before_d, count_d, uu_d, ss_d;  // derivative group
    Doubles rows;                           // with weights: rows before each bin, and after the last
    Doubles hope;                           // not 0 where a cut at the end of the bin (1) or inside it (2) may be good enough
    std::vector<uint32_t> marked;           // the bins where it is not
    void reserve(size_t bins, size_t width) {
        if (hope.size() > bins && prefix.size() >= (bins + 1) * width) return;
        prefix.resize((bins + 1) * width);
        marked.resize(bins + 1);
        for (auto* v : {&before, &count, &uu, &ss, &before_d, &count_d, &uu_d, &ss_d, &rows, &hope}) v->resize(bins + 1);
    }
};

// A place along one feature: centred sums, samples (or their weight), those with derivative before it; and rows.
struct Base {
    const double* sums;
    double left, left_d, rows;
};

// The values of some rows along a feature.
enum class Values { one, with_ties, all_different };

// A cut inside a range of sorted rows: after `at` of them.
struct Cut {
    uint32_t at;
    double gain;
};

// One step down a tree. Where to look and where to go are counted in bytes, which saves the walk a multiplication each.
struct Step {
    double threshold;  // NaN at a leaf, so that the comparison adds nothing
    int32_t feature;   // 8 x feature; 0 at a leaf, so that the load is always valid
    int32_t left;      // 16 x the left child; the node itself at a leaf
};
static_assert(sizeof(Step) == 16, "apply counts in steps of 16 bytes");

}  // namespace tripletree
