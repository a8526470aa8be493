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
        rows = static_cast<double>(of[wide.rows()]);
        squares = square(wide, of + wide.squares()), squares_d = square(wide, of + wide.squares() + wide.limbs());
    }
    double priority(bool missing) const { return Weigher{lanes, missing, 1.0}.priority(sums.data(), squares, squares_d, rows); }

    static Lanes search_lanes(const WideLanes& wide) {
        const int vectors = (wide.targets + 4 + 7) / 8 * (wide.fine ? 2 : 1);
        return {wide.plain, wide.targets, 8 * vectors, vectors, wide.fine, wide.weighted};
    }
    // Squares are left out: they bound what hides inside bins, and here nothing does.
    void put(const WideLanes& wide, const int64_t* of, double* into) const {
        for (int k = 0; k < wide.targets; ++k) into[k] = static_cast<double>(of[k]);
        for (int k = 0; k < wide.targets && wide.fine; ++k) into[lanes.second() + k] = static_cast<double>(of[wide.targets + k]);
        into[lanes.with_derivative()] = static_cast<double>(of[wide.known()]);
        into[lanes.count()] = static_cast<double>(of[wide.count()]);
        into[lanes.rows()] = static_cast<double>(of[wide.rows()]);
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

// `least` is the smallest weight, 1 without weights.
inline Found best_split(const WideLanes& wide, const int64_t* histogram, const int64_t* first_bin, size_t d, bool missing, double least, double min_leaf,
                        double min_gain) {
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
    Table table{nullptr, {}, nullptr, static_cast<size_t>(totals.rows), d, lanes, missing, 1, {}, {}, least, nullptr};
    table.first_bin.assign(first_bin, first_bin + d + 1);
    table.one_value.assign(all, 1);
    Search s;
    s.prepare(narrow, min_leaf);
    const Weigher weigher{lanes, missing, least};
    weigher.centre(totals.sums.data(), totals.rows, s.centre);
    s.best.reset(std::max(least, 1e-12 * priority), min_gain * weigher.weight(totals.sums.data(), totals.rows));
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
    uint16_t* at;            // n: the node of each row, here or above
    const int32_t* weights;  // n: how much each row counts, 0 not at all; nullptr: all the same
};

// How the targets of rows are made, and the bins of their states.
struct Making {
    WideLanes lanes;
    int shift;  // of targets, to where they lie on the grid
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

// The edges of a feature for hot.put_bins: sorted, of which every 32nd is on the next level up, and so on until 32 are enough. In single
// precision an edge is the smallest number that is not below it, so that comparisons with such numbers come out the same.
class EdgeLadder {
  public:
    EdgeLadder(const double* edges, size_t n, bool single) {
        std::vector<double> level(edges, edges + n);
        do {
            level.resize((level.size() / rung + 1) * rung, std::numeric_limits<double>::infinity());
            if (single) singles_.push_back(narrowed(level));
            else doubles_.emplace_back(level.begin(), level.end());
            std::vector<double> above;
            for (size_t k = rung - 1; k + rung < level.size(); k += rung) above.push_back(level[k]);
            level.swap(above);
        } while (!level.empty());
    }
    size_t levels() const { return std::max(singles_.size(), doubles_.size()); }
    const void* level(size_t k) const { return doubles_.empty() ? static_cast<const void*>(singles_[k].data()) : doubles_[k].data(); }

  private:
    static constexpr size_t rung = 32;
    std::vector<std::vector<float, Aligned<float>>> singles_;
    std::vector<Doubles> doubles_;

    static std::vector<float, Aligned<float>> narrowed(const std::vector<double>& numbers) {
        std::vector<float, Aligned<float>> found;
        for (const double x : numbers) {
            const auto near = static_cast<float>(x);
            found.push_back(static_cast<double>(near) < x ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near);
        }
        return found;
    }
};

// Sends rows down the tree and adds those that count to the histogram of their node. Targets and bins are made of a few rows at a time, in
// their order, and wait as records until there are many for each histogram: it then comes into the cache once for all of them.
class RowCounter {
  public:
    RowCounter(const Making& how, const Route& route, int64_t* histograms, int64_t* lie, size_t buckets)
        : how_(how), route_(route), histograms_(histograms), lie_(lie), buckets_(buckets), d_(how.first_bin.size() - 1),
          columns_(static_cast<size_t>(how.lanes.columns())), bins_(static_cast<size_t>(how.lanes.bins())),
          second_(how.lanes.fine && !how.lanes.weighted ? static_cast<size_t>(how.lanes.targets) : 0), record_(bins_ + (d_ + 1) / 2),
          chunks_(std::max(most_words / record_ / chunk, 2 * route.slots)), idle_(route.nodes), change_(block * d_), made_(block * record_),
          begin_(route.slots), used_(route.slots) {
        for (size_t k = 0; k < route.nodes; ++k) idle_[k] = route.left[k] < 0 && route.slot[k] < 0;
    }

    // Rows go on from the node that they were at last. Nodes keep their numbers while a tree grows, so `at` may be of any earlier time; nodes
    // whose number is too large for it are found again.
    void add(const PieceRows& piece) {
        if (!pool_) pool_ = make_array<int32_t>(chunks_ * chunk * record_ + 64);
        const bool single = piece.states.type == Numbers::float32;
        if (ladders_.empty() || single != single_) {
            single_ = single;
            ladders_.clear();
            for (size_t f = 0; f < d_; ++f)
                ladders_.emplace_back(how_.edges + how_.first_edge[f], static_cast<size_t>(how_.first_edge[f + 1] - how_.first_edge[f]), single);
        }
        if (single) send_down(piece, static_cast<const float*>(piece.states.data));
        else send_down(piece, static_cast<const double*>(piece.states.data));
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
    static constexpr size_t stretch = 256;                 // rows that are looked at at a time
    static constexpr size_t chunk = 64;                    // records that wait side by side
    static constexpr size_t most_words = size_t{1} << 23;  // that wait
    const Making how_;
    const Route route_;
    int64_t *histograms_, *lie_;  // lie: targets x buckets, how many lie in each stretch of the grid; nullptr where nobody asks
    const size_t buckets_, d_, columns_, bins_, second_, record_, chunks_;
    std::vector<EdgeLadder> ladders_;
    bool single_ = false;                  // whether they are in single precision, as states are
    std::vector<uint8_t> idle_;            // by node: its rows stay there, and do not count
    std::vector<double> change_, action_;  // of a block
    std::vector<int32_t> made_;            // its records
    Array<int32_t> pool_;                  // chunks of records: targets, whether there is a derivative, with weights that, and bins
    size_t given_out_ = 0;
    std::vector<std::vector<uint32_t>> begin_;  // chunks of each histogram
    std::vector<size_t> used_;                  // records in its last one

    template <class State>
    void send_down(const PieceRows& piece, const State* states) {
        const size_t n = piece.log.n, action_bytes = piece.actions.bytes();
        const char* actions = static_cast<const char*>(piece.actions.data);
        const int64_t* end = piece.log.starts + 1;
        uint32_t open[stretch], rows[block], slots[block];
        size_t count = 0;
        for (size_t begin = 0; begin < n; begin += stretch) {
            size_t some = 0;  // rows that go on; found without a branch, which nobody could guess
            for (size_t i = begin; i < std::min(n, begin + stretch); ++i) {
                open[some] = static_cast<uint32_t>(i);
                some += !idle_[piece.at[i] < route_.nodes ? piece.at[i] : 0] && !(piece.weights && piece.weights[i] == 0);
            }
            for (size_t k = 0; k < some; ++k) __builtin_prefetch(states + open[k] * d_);
            for (size_t k = 0; k < some; ++k) {
                const size_t i = open[k];
                size_t node = piece.at[i] < route_.nodes ? piece.at[i] : 0;
                if (route_.left[node] >= 0) {
                    const State* row = states + i * d_;
                    do {
                        node = static_cast<size_t>(route_.left[node]) + (static_cast<double>(row[route_.feature[node]]) >= route_.threshold[node]);
                        if (node <= UINT16_MAX) piece.at[i] = static_cast<uint16_t>(node);
                    } while (route_.left[node] >= 0);
                }
                if (route_.slot[node] < 0) continue;
                // What its record is made of comes while others are sent down.
                __builtin_prefetch(states + (i + 1) * d_), __builtin_prefetch(actions + i * action_bytes), __builtin_prefetch(piece.given + i * piece.n_given);
                while (*end <= static_cast<int64_t>(i)) ++end;
                slots[count] = static_cast<uint32_t>(route_.slot[node]);
                rows[count++] = static_cast<uint32_t>(i) | (*end == static_cast<int64_t>(i) + 1 ? last_row : 0);
                if (count < block) continue;
                make(piece, rows, slots, count);
                count = 0;
            }
        }
        make(piece, rows, slots, count);
    }

    // A record of the histogram's own.
    int32_t* next_record(size_t slot) {
        if (begin_[slot].empty() || used_[slot] == chunk) {
            begin_[slot].push_back(static_cast<uint32_t>(given_out_++));
            used_[slot] = 0;
        }
        return pool_.get() + (begin_[slot].back() * chunk + used_[slot]++) * record_;
    }

    void make(const PieceRows& piece, const uint32_t* rows, const uint32_t* slots, size_t count) {
        const size_t d = d_;
        hot.take_changes(piece.states.data, single_, d, rows, count, change_.data());
        for (size_t j = 0; j < count; ++j) {
            double* change = change_.data() + j * d;
            bool known = true;
            if (rows[j] & last_row) known = change_at_the_end(piece, rows[j] & ~last_row, change);
            if (known) piece.log.turn(change, 1);
            for (size_t f = 0; piece.log.dt && f < d; ++f) change[f] /= piece.log.dt[rows[j] & ~last_row];
            made_[j * record_ + columns_] = known;
        }
        quantise_rows(how_.derivative, d, change_.data(), count, d, 1, made_.data() + how_.lanes.plain, record_, second_);
        if (how_.action_lanes()) make_actions(piece, rows, count);
        const size_t from = how_.action_lanes(), given = static_cast<size_t>(how_.lanes.plain) - from;
        for (size_t k = 0; k < piece.n_given; ++k) {
            int32_t* to = made_.data() + from + (k < given ? k : second_ + k - given);
            for (size_t j = 0; j < count; ++j) to[j * record_] = piece.given[(rows[j] & ~last_row) * piece.n_given + k];
        }
        if (lie_) hot.add_places(made_.data(), record_, count, how_.lanes, how_.shift, lie_, buckets_);
        if (how_.lanes.weighted) weigh(piece, rows, count);
        for (size_t f = 0; f < d; ++f) {
            const EdgeLadder& of = ladders_[f];
            const void* levels[4];  // 16 bits have no more
            for (size_t k = 0; k < of.levels(); ++k) levels[k] = of.level(k);
            hot.put_bins(piece.states.data, single_, d, f, rows, count, levels, of.levels(), made_.data() + bins_, record_);
        }
        if (given_out_ + count > chunks_) finish();
        int32_t* to[block];
        for (size_t j = 0; j < count; ++j) to[j] = next_record(slots[j]);
        hot.copy_records(made_.data(), record_, count, to);
    }

    // Multiplies targets by the weights of their rows, and divides the products as those of a log in memory are.
    void weigh(const PieceRows& piece, const uint32_t* rows, size_t count) {
        const auto targets = static_cast<size_t>(how_.lanes.targets);
        for (size_t j = 0; j < count; ++j) {
            int32_t* made = made_.data() + j * record_;
            const int32_t weight = piece.weights[rows[j] & ~last_row];
            for (size_t k = 0; k < targets; ++k) {
                const double product = static_cast<double>(made[k]) * weight, high = std::nearbyint(product / limb);
                made[k] = static_cast<int32_t>(high), made[targets + k] = static_cast<int32_t>(product - high * limb);
            }
            made[columns_] *= weight, made[columns_ + 1] = weight;
        }
    }

    // The change from the last row of an episode to its final state; whether there is one.
    bool change_at_the_end(const PieceRows& piece, size_t i, double* change) const {
        const LogRows& log = piece.log;
        const int64_t* end = std::upper_bound(log.starts + 1, log.starts + log.episodes + 1, static_cast<int64_t>(i));
        const double* after = log.final_states + static_cast<size_t>(end - log.starts - 1) * d_;
        const bool known = after[0] == after[0];
        piece.states.as_typed([&](const auto* states) {
            for (size_t f = 0; f < d_; ++f) change[f] = known ? after[f] - static_cast<double>(states[i * d_ + f]) : __builtin_nan("");
        });
        return known;
    }

    void make_actions(const PieceRows& piece, const uint32_t* rows, size_t count) {
        const size_t m = piece.actions.width, lanes = how_.action_lanes();
        action_.resize(block * m);
        piece.actions.as_typed([&](const auto* actions) {
            for (size_t j = 0; j < count; ++j) {
                const auto* from = actions + (rows[j] & ~last_row) * m;
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
};

}  // namespace tripletree
