// Growth on a log in parts: rows are sent down the tree and added to histograms of 64-bit integers, which add up to those of the
// whole log in any order; splits and impurities follow from the sums by the same code as in memory.
#pragma once

#include <cstring>

#include "edges.hpp"
#include "passes.hpp"
#include "search.hpp"
#include "weigher.hpp"

namespace tripletree {

// The sums of a node in the lanes that the search knows, with exact squares.
struct Totals {
    Lanes lanes;
    std::vector<double> sums;
    Wide squares, squares_d;
    double rows;

    Totals(const WideLanes& wide, const int64_t* of) : lanes(search_lanes(wide)), sums(static_cast<size_t>(lanes.width), 0.0) {
        put(wide, of, sums.data());
        rows = static_cast<double>(of[wide.count()]);
        squares = square(wide, of + wide.squares()), squares_d = square(wide, of + wide.squares() + wide.limbs());
    }
    double priority(bool missing) const { return Weigher{lanes, missing, 1.0}.priority(sums, squares, squares_d, rows); }

    static Lanes search_lanes(const WideLanes& wide) {
        const int vectors = (wide.targets + 4 + 7) / 8 * (wide.fine ? 2 : 1);
        return {wide.plain, wide.targets, 8 * vectors, vectors, wide.fine, false};
    }
    // Squares are left out: they bound what hides inside bins, and here nothing does.
    void put(const WideLanes& wide, const int64_t* of, double* into) const {
        for (int k = 0; k < wide.targets; ++k) into[k] = static_cast<double>(of[k]);
        for (int k = 0; k < wide.targets && wide.fine; ++k) into[lanes.second() + k] = static_cast<double>(of[wide.targets + k]);
        into[lanes.with_derivative()] = static_cast<double>(of[wide.known()]);
        into[lanes.count()] = static_cast<double>(of[wide.count()]);
    }

  private:
    static Wide square(const WideLanes& wide, const int64_t* limbs) {
        Wide sum = 0;
        for (int k = wide.limbs(); k-- > 0;) sum = (sum << 32) + static_cast<Wide>(limbs[k]);
        return sum;
    }
};

struct Found {
    int feature = -1, below = 0, above = 0;
    double gain = 0;
    std::vector<int64_t> left;  // sums of what goes left
};

inline Found best_split(const WideLanes& wide, const int64_t* histogram, const int64_t* first_bin, size_t d, bool missing, double min_leaf, double min_gain) {
    const size_t width = wide.width(), all = static_cast<size_t>(first_bin[d]);
    std::vector<int64_t> sums(width, 0);
    for (int64_t b = 0; b < first_bin[1]; ++b)
        for (size_t k = 0; k < width; ++k) sums[k] += histogram[static_cast<size_t>(b) * width + k];
    const Totals totals(wide, sums.data());
    const Lanes& lanes = totals.lanes;
    const double priority = totals.priority(missing);
    Found found;
    if (priority <= 0 || totals.rows < 2 * min_leaf) return found;
    const size_t narrow = static_cast<size_t>(lanes.width);
    Array<double> bins = make_array<double>(all * narrow);
    std::fill(bins.get(), bins.get() + all * narrow, 0.0);
    for (size_t b = 0; b < all; ++b) totals.put(wide, histogram + b * width, bins.get() + b * narrow);
    Table table{nullptr, nullptr, nullptr, nullptr, static_cast<size_t>(totals.rows), d, lanes, missing, 1, {}, {}, 1, nullptr};
    table.first_bin.assign(first_bin, first_bin + d + 1);
    table.one_value.assign(all, 1);
    Search s;
    s.prepare(narrow, min_leaf);
    Weigher{lanes, missing, 1.0}.centre(totals.sums, totals.rows, s.centre);
    s.best.reset(std::max(1.0, 1e-12 * priority), min_gain * totals.rows);
    const Flag never{false};
    find_hopes(table, nullptr, 0, bins.get(), s, never);
    const Candidate* chosen = s.best.choose();
    if (!chosen) return found;
    const auto f = static_cast<size_t>(chosen->feature);
    const int64_t* of = histogram + static_cast<size_t>(first_bin[f]) * width;
    found = {chosen->feature, static_cast<int>(chosen->cut >> offset_bits), 0, chosen->gain, std::vector<int64_t>(width, 0)};
    for (int b = 0; b <= found.below; ++b)
        for (size_t k = 0; k < width; ++k) found.left[k] += of[static_cast<size_t>(b) * width + k];
    found.above = found.below + 1;
    while (of[static_cast<size_t>(found.above) * width + static_cast<size_t>(wide.count())] == 0) ++found.above;
    return found;
}

// Numbers of one of the types that the cache keeps them in: row after row.
struct Numbers {
    enum Type { float64, float32, int32, uint8 } type;
    const void* data;
    size_t width;

    size_t bytes() const { return width * (type == float64 ? 8 : type == uint8 ? 1 : 4); }  // of a row
    // Calls work(pointer) with the type that it has.
    template <class Work>
    void as_typed(const Work& work) const {
        switch (type) {
            case float64: return work(static_cast<const double*>(data));
            case float32: return work(static_cast<const float*>(data));
            case int32: return work(static_cast<const int32_t*>(data));
            case uint8: return work(static_cast<const uint8_t*>(data));
        }
    }
};

// A piece of a log, as it lies in the cache.
struct PieceRows {
    Numbers states, actions;  // actions: numbers, or a label
    LogRows log;              // the same without its states
    const int32_t* given;     // n x n_given: targets that are known, after those of the action
    size_t n_given;
    uint16_t* at;  // n: the node of each row, here or above
};

// How the targets of rows are made, and the bins of their states.
struct Making {
    WideLanes lanes;
    Rounding action, derivative;
    const int32_t* labels;  // n_labels x the action's lanes, and what rounding leaves of them; nullptr: actions are numbers
    size_t n_labels, label_lanes;
    const double* edges;
    const int64_t* first_edge;
    std::vector<int64_t> first_bin;
    size_t action_lanes() const { return labels ? label_lanes : action.count; }
};

// The tree that rows go down: bins up to that of the threshold go left.
struct Route {
    const int32_t *feature, *left, *slot;
    std::vector<double> threshold;
    size_t nodes, slots;
};

// Puts the bins of a column, 16 bits each and `apart` bytes from one to the next; as `Bins` does it, for many.
inline void put_bins(const Bins& of, const double* x, size_t stride, size_t count, char* to, size_t apart) {
    const double low = of.low, per_cell = of.per_cell, most = Bins::cells - 1, *edges = of.edges.data();
    const uint16_t* first = of.first.data();
    for (size_t j = 0; j < count; ++j, x += stride, to += apart) {
        const double v = *x, at = (v - low) * per_cell;
        const auto cell = static_cast<uint32_t>(static_cast<int32_t>(std::max(0.0, std::min(at, most))));
        uint16_t bin = first[cell];
        if (first[cell + 1] - bin <= 2) {
            bin = static_cast<uint16_t>(bin + (edges[bin] <= v));
            bin = static_cast<uint16_t>(bin + (edges[bin] <= v));
        } else {
            bin = static_cast<uint16_t>(of(v));
        }
        std::memcpy(to, &bin, sizeof bin);
    }
}

// Sends rows down the tree and adds those that count to the histogram of their node. Targets and bins are made of a few rows at a time, in
// their order, and wait as records until there are many for each histogram: it then comes into the cache once for all of them.
class RowCounter {
  public:
    RowCounter(const Making& how, const Route& route, int64_t* histograms, int64_t* lie, size_t buckets)
        : how_(how), route_(route), histograms_(histograms), lie_(lie), buckets_(buckets), d_(how.first_bin.size() - 1),
          columns_(static_cast<size_t>(how.lanes.columns())), second_(how.lanes.fine ? static_cast<size_t>(how.lanes.targets) : 0),
          record_(columns_ + 1 + (d_ + 1) / 2), chunks_(std::max(most_words / record_ / chunk, 2 * route.slots)),
          bins_(make_bins(how.edges, how.first_edge, d_)), idle_(route.nodes), both_(block * 2 * d_), change_(block * d_), made_(block * record_),
          begin_(route.slots), used_(route.slots) {
        for (size_t k = 0; k < route.nodes; ++k) idle_[k] = route.left[k] < 0 && route.slot[k] < 0;
    }

    // Rows go on from the node that they were at last. Nodes keep their numbers while a tree grows, so `at` may be of any earlier time; nodes
    // whose number is too large for it are found again.
    void add(const PieceRows& piece) {
        if (!pool_) pool_ = make_array<int32_t>(chunks_ * chunk * record_ + 64);
        piece.states.as_typed([&](const auto* states) { send_down(piece, states); });
    }
    // Adds what waits.
    void finish() {
        const size_t size = static_cast<size_t>(how_.first_bin.back()) * how_.lanes.width();
        for (size_t k = 0; k < route_.slots; ++k) {
            for (size_t c = 0; c < begin_[k].size(); ++c) {
                const size_t count = c + 1 < begin_[k].size() ? chunk : used_[k];
                hot.add_wide(how_.lanes, pool_.get() + begin_[k][c] * chunk * record_, record_, count, d_, how_.first_bin.data(), histograms_ + k * size);
            }
            begin_[k].clear(), used_[k] = 0;
        }
        given_out_ = 0;
    }

  private:
    static constexpr size_t block = 64;                    // rows that are made at a time: they stay in the first cache
    static constexpr size_t chunk = 64;                    // records that wait side by side
    static constexpr size_t most_words = size_t{1} << 23;  // that wait
    static constexpr uint32_t last = uint32_t{1} << 31;    // marks the last row of an episode
    const Making how_;
    const Route route_;
    int64_t *histograms_, *lie_;  // lie: targets x buckets, how many lie in each stretch of the grid; nullptr where nobody asks
    const size_t buckets_, d_, columns_, second_, record_, chunks_;
    const std::vector<Bins> bins_;
    std::vector<uint8_t> idle_;                   // by node: its rows stay there, and do not count
    std::vector<double> both_, change_, action_;  // both: the state of each row, and what follows it
    std::vector<int32_t> made_;                   // records of a block
    Array<int32_t> pool_;                         // chunks of records: targets, whether there is a derivative, and bins
    size_t given_out_ = 0;
    std::vector<std::vector<uint32_t>> begin_;  // chunks of each histogram
    std::vector<size_t> used_;                  // records in its last one

    template <class State>
    void send_down(const PieceRows& piece, const State* states) {
        const size_t n = piece.log.n;
        const int64_t* end = piece.log.starts + 1;
        uint32_t rows[block], slots[block];
        size_t count = 0;
        for (size_t i = 0; i < n; ++i) {
            size_t node = piece.at[i] < route_.nodes ? piece.at[i] : 0;
            if (idle_[node]) continue;
            if (route_.left[node] >= 0) {
                const State* row = states + i * d_;
                do {
                    node = static_cast<size_t>(route_.left[node]) + (static_cast<double>(row[route_.feature[node]]) >= route_.threshold[node]);
                    if (node <= UINT16_MAX) piece.at[i] = static_cast<uint16_t>(node);
                } while (route_.left[node] >= 0);
            }
            if (route_.slot[node] < 0) continue;
            while (*end <= static_cast<int64_t>(i)) ++end;
            slots[count] = static_cast<uint32_t>(route_.slot[node]);
            rows[count++] = static_cast<uint32_t>(i) | (*end == static_cast<int64_t>(i) + 1 ? last : 0);
            if (count < block) continue;
            make(piece, states, rows, slots, count);
            count = 0;
        }
        make(piece, states, rows, slots, count);
    }

    // A record of the histogram's own.
    int32_t* next_record(size_t slot) {
        if (begin_[slot].empty() || used_[slot] == chunk) {
            begin_[slot].push_back(static_cast<uint32_t>(given_out_++));
            used_[slot] = 0;
        }
        return pool_.get() + (begin_[slot].back() * chunk + used_[slot]++) * record_;
    }

    template <class State>
    void make(const PieceRows& piece, const State* states, const uint32_t* rows, const uint32_t* slots, size_t count) {
        const size_t d = d_, columns = columns_;
        LogRows log = piece.log;
        for (size_t j = 0; j < count; ++j) {
            const size_t i = rows[j] & ~last, here = rows[j] & last ? d : 2 * d;
            double* both = both_.data() + j * 2 * d;
            for (size_t f = 0; f < here; ++f) both[f] = static_cast<double>(states[i * d + f]);
            const double* after = both + d;
            if (rows[j] & last) {
                const int64_t* end = std::upper_bound(log.starts + 1, log.starts + log.episodes + 1, static_cast<int64_t>(i));
                after = log.final_states + static_cast<size_t>(end - log.starts - 1) * d;
            }
            log.states = both;
            const bool known = after[0] == after[0];
            made_[j * record_ + columns] = known;
            if (known) log.derivative(0, after, change_.data() + j * d, 1);
            else std::fill_n(change_.data() + j * d, d, __builtin_nan(""));
        }
        quantise_rows(how_.derivative, d, change_.data(), count, d, 1, made_.data() + how_.lanes.plain, record_, second_);
        if (how_.action_lanes()) make_actions(piece, rows, count);
        const size_t from = how_.action_lanes(), given = static_cast<size_t>(how_.lanes.plain) - from;
        for (size_t k = 0; k < piece.n_given; ++k) {
            int32_t* to = made_.data() + from + (k < given ? k : second_ + k - given);
            for (size_t j = 0; j < count; ++j) to[j * record_] = piece.given[(rows[j] & ~last) * piece.n_given + k];
        }
        for (size_t f = 0; f < d; ++f)
            put_bins(bins_[f], both_.data() + f, 2 * d, count, reinterpret_cast<char*>(made_.data() + columns + 1) + 2 * f, record_ * sizeof(int32_t));
        for (size_t j = 0; lie_ && j < count; ++j) look(made_.data() + j * record_);
        if (given_out_ + count > chunks_) finish();
        for (size_t j = 0; j < count; ++j) {
            int32_t* to = next_record(slots[j]);
            for (size_t k = 0; k < record_; ++k) to[k] = made_[j * record_ + k];
        }
    }

    void make_actions(const PieceRows& piece, const uint32_t* rows, size_t count) {
        const size_t m = piece.actions.width, lanes = how_.action_lanes();
        action_.resize(block * m);
        piece.actions.as_typed([&](const auto* actions) {
            for (size_t j = 0; j < count; ++j) {
                const auto* from = actions + (rows[j] & ~last) * m;
                if (!how_.labels) {
                    for (size_t k = 0; k < m; ++k) action_[j * m + k] = static_cast<double>(from[k]);
                    continue;
                }
                const auto label = static_cast<size_t>(*from);
                if (label >= how_.n_labels) throw std::invalid_argument("there is no such label");
                const int32_t* made = how_.labels + label * lanes * (second_ ? 2 : 1);
                std::copy_n(made, lanes, made_.data() + j * record_);
                if (second_) std::copy_n(made + lanes, lanes, made_.data() + j * record_ + second_);
            }
        });
        if (!how_.labels) quantise_rows(how_.action, m, action_.data(), count, m, 1, made_.data(), record_, second_);
    }

    void look(const int32_t* record) {
        const auto most = static_cast<int64_t>(buckets_) - 1;
        for (size_t k = 0; k < static_cast<size_t>(record[columns_] ? how_.lanes.targets : how_.lanes.plain); ++k) {
            const int64_t place = (int64_t{record[k]} + (1 << 23)) >> 12;
            ++lie_[k * buckets_ + static_cast<size_t>(std::min(std::max(place, int64_t{0}), most))];
        }
    }
};

}  // namespace tripletree
