// What the parts of growth pass to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tripletree {

constexpr double tie_share = 1e-9;  // gains closer than this, relative to the best, are ties

// A code is (bin << offset_bits) | offset. The bins hold about equally many samples each, a value that repeats a lot has
// a bin of its own, and the offset orders the values inside a bin: 0 if the bin holds one value only, else from 1 up,
// spread over the whole width so that codes are nearly uniform over the samples.
constexpr int offset_bits = 20;
constexpr uint32_t offset_mask = (1u << offset_bits) - 1;

// Squares are counted in units of 512 and rounded up, so that their sums stay exact in a double.
constexpr int square_shift = 9;
constexpr double histogram_square_unit = 1 << square_shift;

// Aligned scratch for rows too wide to stay in registers.
struct alignas(64) Block {
    double lane[8];
};

// Lanes of a row of targets and of a record of sums: targets (plain, then derivative), then these.
struct Lanes {
    int plain, targets, width, vectors;
    int with_derivative() const { return targets; }
    int count() const { return targets + 1; }
    int squares() const { return targets + 2; }             // sum of |y|^2, plain group
    int derivative_squares() const { return targets + 3; }  // the same, derivative group
};

// One node seen by the search. Targets are integers, so `mean` is split into a whole part, which keeps sums exact, and a
// rest of at most one half.
struct Centre {
    double n = 0, nd = 0;
    bool two_groups = false;                 // some sample of the node lacks a derivative
    std::vector<double> whole, rest, plain, derivative;  // by lane; the last two are 0/1 masks (one group: all plain)
};

// The log as the search sees it.
struct Table {
    const double* states;
    const uint32_t* codes;  // one column after the other
    const int32_t* rows;    // n x lanes.width
    size_t n, d;
    Lanes lanes;
    bool missing;                               // some derivative is missing: two groups
    const uint16_t* row_bins;                   // the bins by rows, for histograms; null for a small log
    const uint64_t *squares, *squares_d;        // |y|^2 of each row and group (one group: all in `squares`)
    std::vector<uint32_t> first_bin;            // of each feature in a histogram, closed by the number of bins
    std::vector<uint8_t> one_value;             // by bin: holds a single code, so there is nothing to open
    size_t bins() const { return first_bin.back(); }
};

// Rows copied together, so that every feature's pass finds them in the cache. Local numbers 0 .. size-1.
struct Pool {
    std::vector<int32_t> y;       // size x width: targets less the whole part of the node's mean; count; squares in square_unit
    std::vector<uint32_t> codes;  // feature after feature, `size` each
    double square_unit = 1;       // squares are rounded up to it, and the node's sum fits an int32
};

// Scratch for one scan over the bins of a feature.
struct Scan {
    std::vector<double> prefix;  // record width for each bin: centred sums before it
    std::vector<double> before, count, uu, spread, ss;            // plain group: samples before, in it; |U|^2 before (one more than bins); sum of |u|^2; s
    std::vector<double> before_d, count_d, uu_d, spread_d, ss_d;  // derivative group
    std::vector<double> hope;             // not 0 where a cut at the end of the bin (1) or inside it (2) may be good enough
    std::vector<uint32_t> marked;         // the bins where it is not
    void reserve(size_t bins, size_t width) {
        if (hope.size() > bins && prefix.size() >= (bins + 1) * width) return;
        prefix.resize((bins + 1) * width);
        marked.resize(bins + 1);
        for (auto* v : {&before, &count, &uu, &spread, &ss, &before_d, &count_d, &uu_d, &spread_d, &ss_d, &hope}) v->resize(bins + 1);
    }
};

// A place along one feature: centred sums, samples, samples with derivative before it.
struct Base {
    const double* sums;
    double left, left_d;
};

struct CodeRange {
    uint32_t lo, hi, offsets;
};

// One step down a tree. Where to look and where to go are counted in bytes, which saves the walk a multiplication each.
struct Step {
    double threshold;  // NaN at a leaf, so that the comparison adds nothing
    int32_t feature;   // 8 x feature; 0 at a leaf, so that the load is always valid
    int32_t left;      // 16 x the left child; the node itself at a leaf
};
static_assert(sizeof(Step) == 16, "apply counts in steps of 16 bytes");

}  // namespace tripletree
