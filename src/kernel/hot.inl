// The inner loops, written once and compiled for each instruction set (see hot.hpp).

// clang-format off: in the order of the work; GCC allocates registers differently in another, and this one is measured
#include "hot_targets.inl"
#include "hot_encode.inl"
#include "hot_apply.inl"
#include "hot_sums.inl"
#include "hot_bounds.inl"
#include "hot_sort.inl"
#include "hot_cuts.inl"
#include "hot_linear.inl"
#include "hot_frontier.inl"
#include "hot_attributing.inl"
// clang-format on

namespace tripletree {
namespace TT_ISA {

extern const Hot table = {widen_ranges, add_sums,        quantise,     make_keys,     lay_bins,       first_descent,  first_near,    hash_rows,    apply_block,
                          add_rows,     add_part,        subtract,     scan_bins,     mark_bins,      bin_gain,       bin_bound,     gather_codes, sort_places,
                          rank_places,  sum_rows_by_run, sum_places,   try_cuts,      sum_rows,       largest_square, complete_rows, add_wide,     take_changes,
                          put_bins,     add_places,      copy_records, standardise,   add_products,   move_products,  add_up,        correlate,    solve_ridge,
                          finish_model, add_errors,      tell,         tell_together, attribute_eight};

}  // namespace TT_ISA
}  // namespace tripletree
