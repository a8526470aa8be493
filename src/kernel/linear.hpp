// Linear leaves: at every node a ridge regression of each target on the state. One pass over the rows of each leaf sums products, by
// fold; a parent's sums are those of its children. The strength of each target's ridge, the plain mean included, is the one whose errors
// on the folds that were left out are least; all of that follows from the sums.
#pragma once

#include <cmath>
#include <limits>

#include "common.hpp"
#include "hot.hpp"
#include "leaf_sums.hpp"

namespace tripletree {

struct LinearInput {
    LeafColumns rows;        // `leaf`: the node of each row's leaf
    const uint8_t* fold;     // of each row that counts
    const int32_t* left;     // nodes
    const double* origin;    // nodes x d: the mean state
    const double* mean;      // nodes x k
    const double* per_span;  // d: 1 / range of each feature
    const double* sigma;     // k: 0 where a target does not vary
    const double* penalty;   // candidates, falling, as shares of the number of rows
    size_t n, d, k, nodes, plain, joint, folds, penalties;
    size_t most;  // features that a model may use, 0 for all
};

struct LinearOutput {
    double *centre, *squares;  // nodes x k; squares: the error on the node's own rows, in units of sigma
    float *slope, *low, *high, *spread;
};

class LinearLeaves {
  public:
    LinearLeaves(const LinearInput& in, const LinearOutput& out, Team& team, const Flag& cancel)
        : in_(in), out_(out), team_(team), cancel_(cancel), left_(in.d + 1), width_(padded(in.d + in.k + 8)), columns_(padded(in.k)), place_(padded(in.d)),
          apart_(place_ + columns_), per_unit_(width_, 0.0) {  // room for eight lanes from any target on
        std::copy_n(in.per_span, in.d, per_unit_.data());
        per_unit_[in.d] = 1.0;
        // As with features, a spread so small that 1 / spread is not a number counts as none.
        for (size_t c = 0; c < in.k; ++c) per_unit_[left_ + c] = in.sigma[c] >= std::numeric_limits<double>::min() ? 1.0 / in.sigma[c] : 0.0;
    }

    void fit() {
        sort_rows();
        std::vector<size_t> small, large;
        share_out(small, large);
        std::vector<Sums> found(small.size());
        team_.run(static_cast<int>(small.size()), [&](int task, int) {
            const auto t = static_cast<size_t>(task);
            found[t] = climb(small[t], [](size_t) { return static_cast<Sums*>(nullptr); });
        });
        if (large.empty()) return;
        std::vector<Sums*> ready(in_.nodes, nullptr);
        for (size_t t = 0; t < small.size(); ++t) ready[small[t]] = &found[t];
        climb(0, [&](size_t node) { return ready[node]; });
    }

  private:
    struct Room;
    static constexpr size_t some = 64;  // rows at a time

    // Of the rows of a node: a block (see hot_linear.inl) for each fold, and a second one for its rows without a derivative where the log has
    // such. A block has the products of (state, 1) with (state, 1, targets), all of them relative to the node's means.
    struct Sums {
        std::vector<double> blocks;
        std::vector<double> low, high;  // of these columns
    };

    const LinearInput& in_;
    const LinearOutput& out_;
    Team& team_;
    const Flag& cancel_;
    size_t left_, width_, columns_;
    size_t place_, apart_;          // of the targets in rows of equations, and of these rows
    std::vector<double> per_unit_;  // of each column
    size_t kinds_ = 1;              // 2 where some rows lack a derivative
    std::vector<bool> last_;        // whether each row ends an episode
    std::vector<uint32_t> order_;   // rows by leaf, fold and kind
    std::vector<size_t> begin_;     // of each leaf's part of it, by node; and of each fold and kind in it
    std::vector<size_t> rows_;      // of each node

    size_t sets() const { return in_.folds * kinds_; }
    size_t block_size() const { return (left_ + 1) * width_; }
    size_t row(size_t i) const { return in_.rows.rows ? static_cast<size_t>(in_.rows.rows[i]) : i; }
    // The state that follows; nullptr where none was recorded.
    const double* after(size_t row) const {
        const double* next = nullptr;
        if (last_[row]) in_.rows.log.following(row, row + 1, &next);
        else next = in_.rows.log.states + (row + 1) * in_.d;
        return next;
    }
    bool lacks(size_t i) const { return in_.plain < in_.k && last_[row(i)] && !after(row(i)); }

    void sort_rows() {
        const LogRows& log = in_.rows.log;
        last_.assign(log.n, false);
        for (size_t e = 0; e < log.episodes; ++e) {
            last_[static_cast<size_t>(log.starts[e + 1]) - 1] = true;
            if (in_.plain < in_.k && std::isnan(log.final_states[e * in_.d])) kinds_ = 2;
        }
        begin_.assign(in_.nodes * sets() + 1, 0);
        auto place = [&](size_t i) { return static_cast<size_t>(in_.rows.leaf[i]) * sets() + in_.fold[i] * kinds_ + (kinds_ == 2 && lacks(i) ? 1 : 0); };
        for (size_t i = 0; i < in_.n; ++i) ++begin_[place(i) + 1];
        for (size_t j = 0; j + 1 < begin_.size(); ++j) begin_[j + 1] += begin_[j];
        order_.resize(in_.n);
        std::vector<size_t> next(begin_.begin(), begin_.end() - 1);
        for (size_t i = 0; i < in_.n; ++i) order_[next[place(i)]++] = static_cast<uint32_t>(i);
        rows_.assign(in_.nodes, 0);
        for (size_t node = in_.nodes; node-- > 0;) {
            if (in_.left[node] < 0) rows_[node] = begin_[(node + 1) * sets()] - begin_[node * sets()];
            else rows_[node] = rows_[static_cast<size_t>(in_.left[node])] + rows_[static_cast<size_t>(in_.left[node]) + 1];
        }
    }

    // Subtrees that one thread does on its own, and the nodes above them. The same for any number of threads.
    void share_out(std::vector<size_t>& small, std::vector<size_t>& large) const {
        std::vector<size_t> open{0};
        while (!open.empty()) {
            const size_t node = open.back();
            open.pop_back();
            if (in_.left[node] < 0 || rows_[node] * 32 <= in_.n) {
                small.push_back(node);
            } else {
                large.push_back(node);
                open.push_back(static_cast<size_t>(in_.left[node]));
                open.push_back(static_cast<size_t>(in_.left[node]) + 1);
            }
        }
    }

    // Fits all nodes from the leaves up to `top` and returns its sums; `known` has the sums of nodes that were done before.
    // The larger child first, so that few sums wait at a time.
    template <class Known>
    Sums climb(size_t top, const Known& known) {
        std::vector<std::pair<size_t, bool>> way{{top, false}};
        std::vector<Sums> waiting;
        Room room(*this);
        while (!way.empty()) {
            auto [node, ready] = way.back();
            way.pop_back();
            stop_if(cancel_);
            if (Sums* done = known(node)) {
                waiting.push_back(std::move(*done));
                continue;
            }
            if (in_.left[node] >= 0 && !ready) {
                const size_t a = static_cast<size_t>(in_.left[node]), b = a + 1;
                way.push_back({node, true});
                way.push_back({rows_[a] >= rows_[b] ? b : a, false});
                way.push_back({rows_[a] >= rows_[b] ? a : b, false});
                continue;
            }
            if (in_.left[node] >= 0) {
                const size_t a = static_cast<size_t>(in_.left[node]), b = a + 1;
                Sums second = std::move(waiting.back());
                waiting.pop_back();
                Sums first = std::move(waiting.back());
                waiting.pop_back();
                const bool swapped = rows_[a] < rows_[b];
                move(first, swapped ? b : a, node, room);
                move(second, swapped ? a : b, node, room);
                hot.add_up(first.blocks.data(), second.blocks.data(), first.blocks.size());
                for (size_t c = 0; c < width_; ++c) {
                    first.low[c] = std::min(first.low[c], second.low[c]);
                    first.high[c] = std::max(first.high[c], second.high[c]);
                }
                waiting.push_back(std::move(first));
            } else {
                waiting.push_back(of_leaf(node, room));
            }
            regress(node, waiting.back(), room);
        }
        return std::move(waiting.back());
    }

    // The means of a node, column by column.
    void put_means(size_t node, double* into) const {
        std::fill_n(into, width_, 0.0);
        std::copy_n(in_.origin + node * in_.d, in_.d, into);
        std::copy_n(in_.mean + node * in_.k, in_.k, into + left_);
    }

    // The columns of a row, as they are in the log; what it lacks is the mean.
    void put_row(size_t i, const double* means, double* into) const {
        const LeafColumns& from = in_.rows;
        const double* state = from.log.states + i * in_.d;
        for (size_t f = 0; f < in_.d; ++f) into[f] = state[f];  // so few that a call would take longer
        into[in_.d] = 1.0;
        double* target = into + left_;
        if (from.labels) {
            std::fill_n(target, from.n_labels, 0.0);
            target[from.labels[i]] = 1.0;
        } else {
            for (size_t c = 0; c < from.n_actions; ++c) target[c] = from.actions[i * from.n_actions + c];
        }
        target[in_.plain - 1] = from.values[i];
        if (in_.plain == in_.k) return;
        if (const double* next = after(i)) from.log.derivative(i, next, target + in_.plain, 1);
        else std::copy_n(means + left_ + in_.plain, in_.d, target + in_.plain);
    }

    Sums of_leaf(size_t node, Room& room) const {
        Sums sums;
        sums.blocks.assign(sets() * block_size(), 0.0);
        sums.low.assign(width_, std::numeric_limits<double>::infinity());
        sums.high.assign(width_, -std::numeric_limits<double>::infinity());
        std::vector<double>&rows = room.batch, &means = room.by;
        put_means(node, means.data());
        for (size_t set = 0; set < sets(); ++set) {
            const size_t known = left_ + (kinds_ == 2 && set % 2 == 1 ? in_.plain : in_.k);
            size_t begin = begin_[node * sets() + set];
            const size_t end = begin_[node * sets() + set + 1];
            for (; begin < end; begin += std::min(some, end - begin)) {
                const size_t count = std::min(some, end - begin);
                for (size_t r = 0; r < count; ++r) put_row(row(order_[begin + r]), means.data(), rows.data() + r * width_);
                hot.standardise(rows.data(), count, width_, known, means.data(), per_unit_.data(), sums.low.data(), sums.high.data());
                // Products of two such numbers are weighted, and the sum of the squared ones is the sum of the weights.
                for (size_t r = 0; in_.rows.weights && r < count; ++r) {
                    const double root = std::sqrt(static_cast<double>(in_.rows.weights[order_[begin + r]]));
                    for (size_t j = 0; j < left_ + in_.k; ++j) rows[r * width_ + j] *= root;
                }
                hot.add_products(rows.data(), count, left_, width_, sums.blocks.data() + set * block_size());
            }
        }
        return sums;
    }

    // Makes the sums of a child relative to the means of its parent.
    void move(Sums& sums, size_t child, size_t parent, Room& room) const {
        std::vector<double>&by = room.by, &plain_only = room.plain_only;
        put_means(child, by.data());
        put_means(parent, plain_only.data());
        for (size_t j = 0; j < width_; ++j) by[j] = (by[j] - plain_only[j]) * per_unit_[j];
        for (size_t j = 0; j < width_; ++j) plain_only[j] = j < left_ + in_.plain ? by[j] : 0.0;
        for (size_t set = 0; set < sets(); ++set) {
            if (count(sums, set) == 0) continue;
            const double* away = kinds_ == 2 && set % 2 == 1 ? plain_only.data() : by.data();
            hot.move_products(sums.blocks.data() + set * block_size(), left_, width_, away);
        }
    }

    // Scratch of one thread.
    struct Room {
        explicit Room(const LinearLeaves& of)
            : total(of.block_size()), train(of.block_size()), ready(of.left_ * of.apart_), rows(ready.size()), told(of.columns_),
              errors((of.in_.penalties + 1) * of.columns_), deviation(of.in_.d), mean(of.in_.d), scale(of.in_.d), usable(of.in_.d), choice(of.in_.k),
              some(of.in_.k), batch(LinearLeaves::some * of.width_), by(of.width_), plain_only(of.width_) {}
        std::vector<double> total, train;
        std::vector<double> ready, rows;  // equations (see hot_linear.inl), and below them what is told at the mean state; to be solved, and solved
        std::vector<double> told, errors, deviation, mean, scale;
        std::vector<uint8_t> usable;
        std::vector<size_t> choice, some;
        std::vector<double> batch, by, plain_only;  // rows, and means of columns
    };

    void regress(size_t node, const Sums& sums, Room& room) const {
        for (size_t c = 0; c < in_.k; ++c) {
            const double least = sums.low[left_ + c], most = sums.high[left_ + c], mean = in_.mean[node * in_.k + c];
            const double low = least <= most ? least : mean, high = least <= most ? most : mean;
            const bool fits = std::max(std::abs(low), std::abs(high)) < largest;
            out_.low[node * in_.k + c] = fits ? rounded_down(low) : -std::numeric_limits<float>::infinity();
            out_.high[node * in_.k + c] = fits ? -rounded_down(-high) : std::numeric_limits<float>::infinity();
            out_.centre[node * in_.k + c] = in_.mean[node * in_.k + c];
            out_.spread[node * in_.k + c] = 0.0f;
            out_.squares[node * in_.k + c] = 0.0;
        }
        std::fill_n(out_.slope + node * in_.k * in_.d, in_.k * in_.d, 0.0f);
        bool lacking = false;
        for (size_t set = 1; kinds_ == 2 && set < sets(); set += 2) lacking |= count(sums, set) > 0;
        if (lacking) {
            regress(node, sums, room, 0, in_.plain, false);
            regress(node, sums, room, in_.plain, in_.k, true);
        } else {
            regress(node, sums, room, 0, in_.k, true);
        }
    }

    double count(const Sums& sums, size_t set) const { return sums.blocks[set * block_size() + in_.d * width_ + in_.d]; }

    // The sums of all folds but one (`without` = folds: of all); of rows with a derivative only, or of all.
    void gather(const Sums& sums, bool with_derivative, size_t without, bool only, std::vector<double>& into) const {
        bool any = false;
        for (size_t set = 0; set < sets(); ++set) {
            if (kinds_ == 2 && set % 2 == 1 && with_derivative) continue;
            if (only ? set / kinds_ != without : set / kinds_ == without) continue;
            if (count(sums, set) == 0) continue;
            const double* block = sums.blocks.data() + set * block_size();
            if (any) hot.add_up(into.data(), block, into.size());
            else std::copy_n(block, into.size(), into.data());
            any = true;
        }
        if (!any) std::fill(into.begin(), into.end(), 0.0);
    }

    // Fits the targets from column `from` to `to`.
    void regress(size_t node, const Sums& sums, Room& room, size_t from, size_t to, bool with_derivative) const {
        const size_t d = in_.d, m = to - from;
        gather(sums, with_derivative, in_.folds, false, room.total);
        const double n = room.total[d * width_ + d];
        if (n == 0) return;
        const double* ones = room.total.data() + d * width_;
        const double* squares = ones + width_;
        for (size_t f = 0; f < d; ++f) {
            const double mean = ones[f] / n, variance = squares[f] / n - mean * mean;
            room.deviation[f] = variance > 0 ? std::sqrt(variance) : 0.0;
            // Rows that lack a derivative may lie elsewhere, and the mean of all of them then leaves rounding errors of its own.
            room.usable[f] = room.deviation[f] > 1e-12 && variance > 1e-12 * squares[f] / n;
        }
        // The spread of the samples themselves, where nothing better can be said.
        for (size_t c = 0; c < m; ++c) {
            const double mean = ones[left_ + from + c] / n, variance = squares[left_ + from + c] / n - mean * mean;
            out_.spread[node * in_.k + from + c] = narrowed(in_.sigma[from + c] * std::sqrt(variance > 0 ? variance : 0.0));
            out_.squares[node * in_.k + from + c] = variance > 0 ? n * variance : 0.0;
        }
        if (in_.most > 0) return regress_few(node, sums, room, from, to, with_derivative);
        std::fill(room.errors.begin(), room.errors.end(), 0.0);
        double judged = 0;
        for (size_t fold = 0; fold < in_.folds; ++fold) {
            gather(sums, with_derivative, fold, false, room.train);
            const double rest = room.train[d * width_ + d], out = n - rest;
            if (rest == 0 || out == 0) continue;
            judged += out;
            prepare(room, room.train, from, m);
            for (size_t p = 0; p <= in_.penalties; ++p) {
                if (p > 0) {
                    solve(room, in_.penalty[p - 1], m, nullptr);
                    finish(room, m);
                }
                double* errors = room.errors.data() + p * columns_;
                for (size_t kind = 0; kind < kinds_; ++kind) {
                    if (kind == 1 && with_derivative) continue;
                    const double* block = sums.blocks.data() + (fold * kinds_ + kind) * block_size();
                    if (block[d * width_ + d] == 0) continue;
                    if (p > 0) {
                        hot.add_errors(block, left_, width_, left_ + from, room.rows.data() + place_, apart_, padded(m), errors);
                        continue;
                    }
                    const double *totals = block + d * width_ + left_ + from, *square = totals + width_, rows = block[d * width_ + d];
                    const double* average = room.ready.data() + d * apart_ + place_;
                    for (size_t c = 0; c < m; ++c) errors[c] += square[c] + average[c] * (rows * average[c] - 2 * totals[c]);
                }
            }
        }
        if (judged == 0) return;
        choose(room, from, m);
        for (size_t c = 0; c < m; ++c) {
            const double error = std::max(room.errors[room.choice[c] * columns_ + c], 0.0);
            out_.spread[node * in_.k + from + c] = narrowed(in_.sigma[from + c] * std::sqrt(error / judged));
        }
        prepare(room, room.total, from, m);
        for (size_t p = 1; p <= in_.penalties; ++p) {
            size_t chosen = 0;
            for (size_t c = 0; c < m; ++c)
                if (room.choice[c] == p) room.some[chosen++] = c;
            if (chosen == 0) continue;
            solve(room, in_.penalty[p - 1], chosen, room.some.data());
            tell(room, in_.penalty[p - 1], chosen);
            finish(room, chosen);
            const double* model = room.rows.data() + place_;
            for (size_t q = 0; q < chosen; ++q) {
                const size_t column = from + room.some[q];
                if (!fits(node, column, model + q, apart_, nullptr, d)) continue;
                double& squares = out_.squares[node * in_.k + column];  // those about the mean, so far
                squares = std::max(squares - n * room.told[q], 0.0);
                for (size_t f = 0; f < d; ++f) put_slope(node, column, f, model[f * apart_ + q]);
                out_.centre[node * in_.k + column] = in_.mean[node * in_.k + column] + in_.sigma[column] * model[d * apart_ + q];
            }
        }
    }

    // Slopes, ranges and errors are kept in single precision. Where a range or a slope does not fit, the mean stands, without limits.
    static constexpr double largest = 1e38;
    // Never inwards: a node's own mean lies within its range.
    static float rounded_down(double x) {
        const float near = static_cast<float>(x);
        return near > x ? std::nextafterf(near, -std::numeric_limits<float>::infinity()) : near;
    }
    static float narrowed(double x) { return static_cast<float>(std::min(x, largest)); }
    bool fits(size_t node, size_t column, const double* slopes, size_t apart, const size_t* features, size_t count) const {
        if (std::isinf(out_.high[node * in_.k + column])) return false;
        for (size_t i = 0; i < count; ++i)
            if (!(std::abs(slopes[i * apart] * in_.sigma[column] * in_.per_span[features ? features[i] : i]) < largest)) return false;
        return true;
    }

    static size_t padded(size_t m) { return (m + 7) / 8 * 8; }

    void put_slope(size_t node, size_t column, size_t f, double standard) const {
        out_.slope[(node * in_.k + column) * in_.d + f] = static_cast<float>(standard * in_.sigma[column] * in_.per_span[f]);
    }

    // Errors that differ by less of their size are equal: where a fold has a single row, say, all models tell the same.
    static constexpr double rounding = 1e-10;
    // The least error wins; of equals the plainest. Scores of labels choose together, so that they still sum to one.
    void choose(Room& room, size_t from, size_t m) const {
        const size_t joint = from < in_.joint ? std::min(in_.joint - from, m) : 0;
        for (size_t c = 0; c < m; ++c) {
            size_t best = 0;
            double least = 0;
            for (size_t p = 0; p <= in_.penalties; ++p) {
                double error = 0;
                for (size_t k = c < joint ? 0 : c; k < (c < joint ? joint : c + 1); ++k)
                    error += std::max(room.errors[p * columns_ + k], 0.0) * weight(from + k, joint > 0 && c < joint);
                if (p == 0 || error < least * (1 - rounding)) best = p, least = error;
            }
            room.choice[c] = best;
        }
    }
    double weight(size_t column, bool joint) const { return joint ? in_.sigma[column] * in_.sigma[column] : 1.0; }

    // Readies some sums for solving: correlations of the features, and of each with the `m` targets from `from` on.
    void prepare(Room& room, const std::vector<double>& sums, size_t from, size_t m) const {
        const size_t d = in_.d;
        const double *ones = sums.data() + d * width_, per_row = 1.0 / ones[d], *totals = ones + left_ + from;
        for (size_t i = 0; i < d; ++i) {
            room.mean[i] = ones[i] * per_row;
            room.scale[i] = room.usable[i] ? 1.0 / room.deviation[i] : 0.0;
        }
        hot.correlate(sums.data(), left_, width_, left_ + from, room.mean.data(), room.scale.data(), room.ready.data(), apart_, place_, padded(m));
        for (size_t c = 0; c < padded(m); ++c) room.ready[d * apart_ + place_ + c] = totals[c] * per_row;
    }

    // Solves what was readied with a penalty, for `m` targets, or `m` of them: slopes per deviation, and below them what is told at the mean
    // state.
    void solve(Room& room, double penalty, size_t m, const size_t* some) const {
        const size_t d = in_.d;
        if (some) {
            for (size_t i = 0; i <= d; ++i) {
                const double* from = room.ready.data() + i * apart_;
                double* to = room.rows.data() + i * apart_;
                std::copy_n(from, place_, to);
                for (size_t q = 0; q < padded(m); ++q) to[place_ + q] = q < m ? from[place_ + some[q]] : 0.0;
            }
        } else {
            std::copy(room.ready.begin(), room.ready.end(), room.rows.begin());
        }
        for (size_t i = 0; i < d; ++i) room.rows[i * apart_ + i] = room.usable[i] ? room.rows[i * apart_ + i] + penalty : 1.0;
        hot.solve_ridge(room.rows.data(), d, apart_, place_, padded(m));
    }

    // The share of each target's variance, per row, that the models explain, of some targets and before they are finished.
    void tell(Room& room, double penalty, size_t m) const {
        std::fill_n(room.told.data(), m, 0.0);
        for (size_t i = 0; i < in_.d; ++i) {
            const double *own = room.rows.data() + i * apart_ + place_, *with = room.ready.data() + i * apart_ + place_;
            for (size_t q = 0; q < m; ++q) room.told[q] += own[q] * (with[room.some[q]] + penalty * own[q]);
        }
    }

    // Slopes per unit, and the constant.
    void finish(Room& room, size_t m) const { hot.finish_model(room.rows.data() + place_, in_.d, apart_, padded(m), room.scale.data(), room.mean.data()); }

    // The same with few features for each target, chosen greedily on the whole node.
    void regress_few(size_t node, const Sums& sums, Room& room, size_t from, size_t to, bool with_derivative) const {
        const size_t d = in_.d, m = to - from;
        std::vector<std::vector<size_t>> chosen(m);
        for (size_t c = 0; c < m; ++c) chosen[c] = few(room, from + c);
        // Scores of labels share their features, as they share their strength: those of the label that is told best by them.
        const size_t joint = from < in_.joint ? std::min(in_.joint - from, m) : 0;
        if (joint > 0) {
            const auto best = few_of_labels(room, joint);
            for (size_t c = 0; c < joint; ++c) chosen[c] = best;
        }
        std::fill(room.errors.begin(), room.errors.end(), 0.0);
        double judged = 0;
        const double n = room.total[d * width_ + d];
        for (size_t fold = 0; fold < in_.folds; ++fold) {
            gather(sums, with_derivative, fold, false, room.train);
            const double rest = room.train[d * width_ + d];
            if (rest == 0 || n == rest) continue;
            judged += n - rest;
            std::vector<double> left_out(block_size());
            gather(sums, with_derivative, fold, true, left_out);
            for (size_t c = 0; c < m; ++c)
                for (size_t p = 0; p <= in_.penalties; ++p)
                    room.errors[p * columns_ + c] += error_of(left_out, from + c, chosen[c], solve_few(room, room.train, p, from + c, chosen[c]));
        }
        if (judged == 0) return;
        choose(room, from, m);
        for (size_t c = 0; c < m; ++c) {
            const size_t p = room.choice[c], column = from + c;
            out_.spread[node * in_.k + column] = narrowed(in_.sigma[column] * std::sqrt(std::max(room.errors[p * columns_ + c], 0.0) / judged));
            if (p == 0) continue;
            const auto model = solve_few(room, room.total, p, column, chosen[c]);
            if (!fits(node, column, model.data(), 1, chosen[c].data(), chosen[c].size())) continue;
            for (size_t i = 0; i < chosen[c].size(); ++i) put_slope(node, column, chosen[c][i], model[i]);
            out_.centre[node * in_.k + column] = in_.mean[node * in_.k + column] + in_.sigma[column] * model.back();
            out_.squares[node * in_.k + column] = std::max(error_of(room.total, column, chosen[c], model), 0.0);
        }
    }

    // The sum of products of two leading columns.
    double product(const std::vector<double>& sums, size_t i, size_t j) const { return sums[std::min(i, j) * width_ + std::max(i, j)]; }

    // The correlations of the usable features of a node, and of each with some targets.
    void correlations(const Room& room, size_t first, size_t m, std::vector<double>& between, std::vector<double>& with) const {
        const size_t d = in_.d;
        const double *ones = room.total.data() + d * width_, n = ones[d];
        for (size_t i = 0; i < d; ++i) {
            const double* row = room.total.data() + i * width_;
            const double over = room.usable[i] ? 1.0 / room.deviation[i] : 0.0;
            for (size_t j = 0; j < d; ++j)
                between[i * d + j] = room.usable[j] ? (product(room.total, i, j) / n - ones[i] / n * (ones[j] / n)) * over / room.deviation[j] : 0.0;
            for (size_t c = 0; c < m; ++c) with[i * m + c] = (row[left_ + first + c] / n - ones[i] / n * (ones[left_ + first + c] / n)) * over;
        }
    }

    std::vector<size_t> few(const Room& room, size_t column) const { return forward(room, column, 1, nullptr); }
    std::vector<size_t> few_of_labels(const Room& room, size_t joint) const { return forward(room, 0, joint, in_.sigma); }

    // Forward selection: at each step the feature that removes most of what is left of the targets' variance.
    std::vector<size_t> forward(const Room& room, size_t first, size_t m, const double* sigma) const {
        const size_t d = in_.d;
        std::vector<double> between(d * d), with(d * m);
        correlations(room, first, m, between, with);
        std::vector<size_t> chosen;
        while (chosen.size() < std::min(in_.most, d)) {
            size_t best = d;
            double most = 1e-12;
            for (size_t i = 0; i < d; ++i) {
                if (between[i * d + i] < 1e-9) continue;  // all of it is known from those chosen before
                double removed = 0;
                for (size_t c = 0; c < m; ++c) removed += with[i * m + c] * with[i * m + c] * (sigma ? sigma[first + c] * sigma[first + c] : 1.0);
                removed /= between[i * d + i];
                if (removed > most) best = i, most = removed;
            }
            if (best == d) break;
            chosen.push_back(best);
            const double pivot = between[best * d + best];
            std::vector<double> row(between.begin() + static_cast<std::ptrdiff_t>(best * d), between.begin() + static_cast<std::ptrdiff_t>(best * d + d));
            std::vector<double> told(with.begin() + static_cast<std::ptrdiff_t>(best * m), with.begin() + static_cast<std::ptrdiff_t>(best * m + m));
            for (size_t i = 0; i < d; ++i) {
                const double share = row[i] / pivot;
                for (size_t j = 0; j < d; ++j) between[i * d + j] -= share * row[j];
                for (size_t c = 0; c < m; ++c) with[i * m + c] -= share * told[c];
            }
        }
        return chosen;
    }

    // Slopes per unit of some features, then the constant.
    std::vector<double> solve_few(const Room& room, const std::vector<double>& sums, size_t p, size_t column, const std::vector<size_t>& features) const {
        const size_t d = in_.d, q = features.size();
        const double *ones = sums.data() + d * width_, n = ones[d], mean = ones[left_ + column] / n;
        std::vector<double> model(q + 1, 0.0);
        model[q] = mean;
        if (p == 0 || q == 0) return model;
        const size_t place = padded(q), apart = place + 8;
        std::vector<double> rows(q * apart, 0.0);
        for (size_t a = 0; a < q; ++a) {
            const size_t i = features[a];
            const double* row = sums.data() + i * width_;
            for (size_t b = a; b < q; ++b) {
                const size_t j = features[b];
                rows[a * apart + b] = (product(sums, i, j) / n - ones[i] / n * (ones[j] / n)) / (room.deviation[i] * room.deviation[j]);
            }
            rows[a * apart + a] += in_.penalty[p - 1];
            rows[a * apart + place] = (row[left_ + column] / n - ones[i] / n * mean) / room.deviation[i];
        }
        hot.solve_ridge(rows.data(), q, apart, place, 8);
        for (size_t a = 0; a < q; ++a) {
            model[a] = rows[a * apart + place] / room.deviation[features[a]];
            model[q] -= model[a] * ones[features[a]] / n;
        }
        return model;
    }

    // The squared error of such a model over the rows of some sums.
    double error_of(const std::vector<double>& sums, size_t column, const std::vector<size_t>& features, const std::vector<double>& model) const {
        const size_t d = in_.d, q = features.size();
        double error = sums[(d + 1) * width_ + left_ + column];
        for (size_t a = 0; a <= q; ++a) {
            const size_t i = a < q ? features[a] : d;
            double told = model[q] * product(sums, i, d);
            for (size_t b = 0; b < q; ++b) told += model[b] * product(sums, i, features[b]);
            error += model[a] * (told - 2 * sums[i * width_ + left_ + column]);
        }
        return error;
    }
};

}  // namespace tripletree
