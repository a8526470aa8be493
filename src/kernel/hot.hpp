// The inner loops as a table of functions: one source (hot.inl, which lists its parts), one binary, one table for each instruction set.
//
// All of them round alike: vector lanes and the order of every reduction are written out, and contraction into fused
// multiply-add is off. So the tree does not depend on the machine. A file compiled for a newer instruction set must not
// instantiate anything shared with the others (the linker may keep its copy for all), so those parts use plain loops over
// pointers only.
#pragma once

#include "layout.hpp"

namespace tripletree {

// One leaf, for attribution (attributing.hpp). At node k of the quadrature a state that lies inside the leaf along the j-th feature of its
// path weighs at + outside there, 1 / per_inside in short, and one that does not weighs outside.
struct PathLeaf {
    size_t path, nodes, d, targets;
    const int32_t* feature;                              // path
    const uint8_t *on_path, *sloping;                    // features; targets
    const double *lower, *upper;                         // path
    const double *at, *weight;                           // nodes
    const double *outside, *per_inside, *more;           // nodes x path; `more`: (1 - share) / inside
    const double* less;                                  // nodes: -share / outside
    const double *origin, *centre, *slope, *low, *high;  // features; targets; targets x features; targets
};

// A few states, and what is true in each, for the errors of one linear model (telling.hpp). Rows of targets may be read beyond their end,
// up to the next multiple of eight.
struct TellTogether {
    static constexpr size_t together = 4;
    const double *state[together], *target[together];
    double weight[together];
    const double* per_unit;  // width
    double *away, *told;     // room for together x features, and together x width
};

struct Hot {
    bool (*widen_ranges)(const double* x, size_t n, size_t stride, bool eight, double* lowest, double* highest);  // whether all are finite
    size_t (*add_sums)(const double* x, size_t n, size_t stride, bool eight, const double* centre, const double* unit, const double* large, double* sums);
    void (*quantise)(const double* x, size_t n, size_t m, int64_t row_stride, int64_t column_stride, const double* centre, const double* unit,
                     const double* mean, const double* scale, int32_t* out, size_t width, size_t second);
    void (*make_keys)(const double* x, size_t n, size_t stride, size_t features, const double* scale, const double* low, const double* per_step, uint32_t* keys,
                      size_t apart);
    void (*lay_bins)(const uint32_t* codes, size_t apart, size_t d, size_t a, size_t b, uint8_t* narrow, uint16_t* wide);  // n x d, one of the two
    size_t (*first_descent)(const uint64_t* words, size_t from, size_t to);
    size_t (*first_near)(const uint64_t* words, size_t from, size_t to, uint64_t limit);
    uint64_t (*hash_rows)(const double* rows, size_t n, size_t d, const uint64_t* keys, uint64_t before);
    void (*apply_block)(const double* states, size_t d, size_t n, const Step* steps, int depth, int32_t* out);
    void (*add_rows)(const Table& table, const uint32_t* order, size_t count, size_t f0, size_t f1, int32_t* part, double sign, double* histogram);
    void (*add_part)(const Lanes& lanes, int32_t* part, size_t bins, double sign, double* histogram);
    void (*subtract)(double* parent, const double* child, size_t size);
    void (*scan_bins)(const double* sums, size_t bins, double square_unit, const Lanes& lanes, const Centre& centre, const Base& base, double* generic,
                      Scan& scan);
    size_t (*mark_bins)(size_t bins, const Centre& centre, double floor, Scan& scan);
    double (*bin_gain)(size_t b, const Centre& centre, double min_leaf, const Scan& scan);
    double (*bin_bound)(size_t b, const Lanes& lanes, const Centre& centre, double min_leaf, double floor, const Scan& scan);
    void (*gather_codes)(const Table& table, size_t feature, const uint32_t* order, size_t count, uint32_t* out);
    Values (*sort_places)(const uint32_t* codes, size_t count, uint32_t* words, uint16_t* list);
    void (*rank_places)(const uint32_t* codes, const uint16_t* list, size_t count, uint16_t* ranks);
    void (*sum_rows_by_run)(const Table& table, const uint32_t* rows, size_t count, double* sums);
    void (*sum_places)(const Table& table, const uint32_t* rows, const uint16_t* list, size_t count, double* sums);
    size_t (*try_cuts)(const Table& table, const Centre& centre, double min_leaf, const uint32_t* rows, const uint32_t* values, size_t count, const Base& base,
                       double floor, double* generic, Cut* cuts);
    void (*sum_rows)(const Table& table, const uint32_t* order, size_t count, double* sums, Squares* squares);
    double (*largest_square)(const Table& table, size_t a, size_t b);  // an upper bound
    void (*complete_rows)(const Table& table, size_t a, size_t b);
    void (*add_wide)(const WideLanes& lanes, const int32_t* records, size_t stride, size_t count, size_t d, const int64_t* first_bin, int64_t* histogram);
    // Of rows of a log in parts, which lie in single or in double precision; last_row marks the last of an episode, which has no change here.
    void (*take_changes)(const void* states, bool single, size_t d, const uint32_t* rows, size_t count, double* changes);
    void (*put_bins)(const void* states, bool single, size_t d, size_t feature, const uint32_t* rows, size_t count, const void* const* levels, size_t height,
                     int32_t* records, size_t stride);
    void (*add_places)(const int32_t* records, size_t stride, size_t count, const WideLanes& lanes, int shift, int64_t* lie, size_t buckets);
    void (*copy_records)(const int32_t* records, size_t stride, size_t count, int32_t* const* to);
    void (*standardise)(double* rows, size_t count, size_t width, size_t known, const double* origin, const double* per_unit, double* low, double* high);
    void (*add_products)(const double* rows, size_t count, size_t left, size_t width, double* sums);
    void (*move_products)(double* sums, size_t left, size_t width, const double* away);
    void (*add_up)(double* to, const double* from, size_t size);
    void (*correlate)(const double* sums, size_t left, size_t width, size_t first, const double* mean, const double* scale, double* out, size_t apart,
                      size_t place, size_t columns);
    void (*solve_ridge)(double* rows, size_t d, size_t apart, size_t place, size_t columns);
    void (*finish_model)(double* model, size_t d, size_t apart, size_t columns, const double* scale, const double* mean);
    void (*add_errors)(const double* sums, size_t left, size_t width, size_t first, const double* model, size_t apart, size_t columns, double* errors);
    void (*tell)(const double* state, const double* origin, const double* centre, const double* slope, const double* low, const double* high, size_t d,
                 size_t width, double* out);
    void (*tell_together)(const TellTogether& some, size_t count, const double* origin, const double* centre, const double* slope, const double* low,
                          const double* high, size_t d, size_t width, double* sums);
    void (*attribute_eight)(const PathLeaf& leaf, const double* states, double* room, double* phi);
};

// The best table for this machine; the environment variable TRIPLETREE_ISA (baseline, avx2, avx512) chooses another.
extern const Hot& hot;

}  // namespace tripletree
