// Sums of a log's columns by leaf, exact: the same bits for every order of the rows, every division into blocks, any number of threads.
//
// A number x of a column whose largest is below 2^e in size becomes the integer x 2^(61 - e), cut off. That keeps all 53 bits of whatever is
// not a five-hundredth of the largest or less, and of that all but 2^-61 of the largest. Sums of these integers have 128 bits, those of
// their squares 192, so that up to 2^36 rows (or weights) cannot overflow.
#pragma once

#include <algorithm>
#include <limits>

#include "common.hpp"
#include "layout.hpp"
#include "log_rows.hpp"

namespace tripletree {

__extension__ typedef __int128 Long;

constexpr size_t sum_words = 5;  // of a column in a leaf: two for the sum, three for that of the squares, least significant first

// Adds to a number of 192 bits; all of these numbers wrap around.
inline void add_words(uint64_t* to, uint64_t low, uint64_t middle, uint64_t high) {
    Wide sum = static_cast<Wide>(to[0]) + low;
    to[0] = static_cast<uint64_t>(sum);
    sum = (sum >> 64) + to[1] + middle;
    to[1] = static_cast<uint64_t>(sum);
    to[2] += high + static_cast<uint64_t>(sum >> 64);
}

inline Long read_long(const uint64_t* from) { return static_cast<Long>(static_cast<Wide>(from[1]) << 64 | from[0]); }

inline void add_long(uint64_t* to, Long number) {
    const Wide sum = static_cast<Wide>(read_long(to)) + static_cast<Wide>(number);
    to[0] = static_cast<uint64_t>(sum), to[1] = static_cast<uint64_t>(sum >> 64);
}

// Adds a x b to 192 bits, or subtracts it.
inline void add_product(uint64_t* to, Long a, int64_t b, bool subtract) {
    const bool negative = (a < 0) != (b < 0) ? !subtract : subtract;
    const Wide size = a < 0 ? -static_cast<Wide>(a) : static_cast<Wide>(a);
    const uint64_t times = b < 0 ? -static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
    const Wide low = static_cast<Wide>(static_cast<uint64_t>(size)) * times, high = static_cast<Wide>(static_cast<uint64_t>(size >> 64)) * times + (low >> 64);
    uint64_t words[3] = {static_cast<uint64_t>(low), static_cast<uint64_t>(high), static_cast<uint64_t>(high >> 64)};
    if (negative) {  // the complement, and 1
        for (uint64_t& word : words) word = ~word;
        add_words(to, 1, 0, 0);
    }
    add_words(to, words[0], words[1], words[2]);
}

// The columns of a log in the order of their sums: actions (unless they have labels), value, derivative of each feature, and the state itself.
struct LeafColumns {
    LogRows log;
    const double* actions;  // n x n_actions
    size_t n_actions;
    const int32_t* labels;  // n; nullptr unless actions have labels
    size_t n_labels;
    const double* values;    // n
    const int64_t* rows;     // those that count, ascending; nullptr: all
    const int64_t* weights;  // of these rows; nullptr: 1
    const int32_t* leaf;     // of these rows
    size_t count;            // of these rows
    const double* factors;   // two for each column, whose product is 2^(61 - e)

    size_t columns() const { return n_actions + 1 + 2 * log.d; }
    size_t with_squares() const { return n_actions + 1 + log.d; }
};

// What is known of each leaf. Counts: rows, rows with a derivative, and the same by weight.
struct LeafTotals {
    uint64_t* words;  // leaves x columns x sum_words
    double* ranges;   // leaves x columns x 2: smallest and largest
    int64_t* counts;  // leaves x 4
    int64_t* labels;  // leaves x labels x 2: rows and weight
};

// Totals of a thread's own.
struct OwnTotals {
    std::vector<uint64_t> words;
    std::vector<double> ranges;
    std::vector<int64_t> counts, labels;
    OwnTotals(size_t leaves, size_t columns, size_t n_labels)
        : words(leaves * columns * sum_words), ranges(leaves * columns * 2), counts(leaves * 4), labels(leaves * n_labels * 2) {
        for (size_t k = 0; k < ranges.size(); k += 2) ranges[k] = std::numeric_limits<double>::infinity(), ranges[k + 1] = -ranges[k];
    }
    LeafTotals view() { return {words.data(), ranges.data(), counts.data(), labels.data()}; }
};

inline void merge_columns(uint64_t* words, double* ranges, const uint64_t* other_words, const double* other_ranges, size_t columns) {
    for (size_t k = 0; k < columns; ++k, words += sum_words, other_words += sum_words, ranges += 2, other_ranges += 2) {
        add_long(words, read_long(other_words));
        add_words(words + 2, other_words[2], other_words[3], other_words[4]);
        ranges[0] = std::min(ranges[0], other_ranges[0]);
        ranges[1] = std::max(ranges[1], other_ranges[1]);
    }
}

inline void merge_totals(const LeafTotals& to, const LeafTotals& from, size_t leaves, size_t columns, size_t n_labels) {
    merge_columns(to.words, to.ranges, from.words, from.ranges, leaves * columns);
    for (size_t k = 0; k < leaves * 4; ++k) to.counts[k] += from.counts[k];
    for (size_t k = 0; k < leaves * n_labels * 2; ++k) to.labels[k] += from.labels[k];
}

constexpr size_t leaf_batch = 32;  // numbers below 2^61 whose squares add up in 128 bits

// Adds some numbers of one column. Weights go with them, unless all are 1.
template <bool SQUARES>
inline void add_numbers(const double* x, const int64_t* weights, size_t count, const double* factors, uint64_t* words, double* ranges) {
    Long sum = 0;
    Wide squares = 0;
    double low = ranges[0], high = ranges[1];
    for (size_t i = 0; i < count; ++i) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
        const int64_t whole = static_cast<int64_t>(x[i] * factors[0] * factors[1]);
        if (!weights) {
            sum += whole;
            if (SQUARES) squares += static_cast<Wide>(static_cast<Long>(whole) * whole);
        } else {
            const Long weighted = static_cast<Long>(whole) * weights[i];
            sum += weighted;
            if (SQUARES) add_product(words + 2, weighted, whole, false);
        }
    }
    ranges[0] = low, ranges[1] = high;
    add_long(words, sum);
    if (SQUARES && !weights) add_words(words + 2, static_cast<uint64_t>(squares), static_cast<uint64_t>(squares >> 64), 0);
}

// Adds up one block after the other: the rows of each leaf together, so that its sums stay in registers.
class LeafAdder {
  public:
    LeafAdder(const LeafColumns& in, size_t leaves, const LeafTotals& out)
        : in_(in), out_(out), first_(leaves + 1), numbers_(leaf_batch * in.columns()), without_(leaf_batch * in.n_actions + leaf_batch) {}

    // Rows a .. b of those that count.
    void add(size_t a, size_t b) {
        const size_t n = b - a, from = row(a), to = row(b - 1) + 1;
        after_.resize(to - from);
        in_.log.following(from, to, after_.data());
        order_.resize(n);
        std::fill(first_.begin(), first_.end(), 0);
        for (size_t i = a; i < b; ++i) ++first_[static_cast<size_t>(in_.leaf[i]) + 1];
        seen_.clear();
        for (size_t l = 0; l + 1 < first_.size(); ++l) {
            if (first_[l + 1]) seen_.push_back(static_cast<uint32_t>(l));
            first_[l + 1] += first_[l];
        }
        // Afterwards first_[l] is where leaf l ends.
        for (size_t i = a; i < b; ++i) order_[first_[static_cast<size_t>(in_.leaf[i])]++] = static_cast<uint32_t>(i - a);
        size_t begin = 0;
        for (const uint32_t leaf : seen_) {
            for (size_t end = first_[leaf]; begin < end; begin += std::min(leaf_batch, end - begin))
                add_batch(leaf, a, from, order_.data() + begin, std::min(leaf_batch, end - begin));
        }
    }

  private:
    const LeafColumns& in_;
    LeafTotals out_;
    std::vector<uint32_t> first_, order_, seen_;
    std::vector<const double*> after_;
    std::vector<double> numbers_, without_;

    size_t row(size_t i) const { return in_.rows ? static_cast<size_t>(in_.rows[i]) : i; }

    void add_batch(size_t leaf, size_t a, size_t from, const uint32_t* order, size_t count) {
        const size_t columns = in_.columns(), d = in_.log.d, m = in_.n_actions;
        int64_t weights[leaf_batch], known_weights[leaf_batch], *counts = out_.counts + 4 * leaf;
        double *derivative = numbers_.data() + (m + 1) * leaf_batch, *state = derivative + d * leaf_batch;
        size_t known = 0;
        for (size_t j = 0; j < count; ++j) {
            const size_t place = a + order[j], i = row(place);
            const int64_t weight = weights[j] = in_.weights ? in_.weights[place] : 1;
            for (size_t k = 0; k < m; ++k) numbers_[k * leaf_batch + j] = in_.actions[i * m + k];
            numbers_[m * leaf_batch + j] = in_.values[i];
            for (size_t f = 0; f < d; ++f) state[f * leaf_batch + j] = in_.log.states[i * d + f];
            counts[2] += weight;
            if (in_.labels) {
                int64_t* label = out_.labels + 2 * (leaf * in_.n_labels + static_cast<size_t>(in_.labels[i]));
                label[0] += 1, label[1] += weight;
            }
            if (const double* after = after_[i - from]) {
                in_.log.derivative(i, after, derivative + known, leaf_batch);
                known_weights[known++] = weight;
                counts[3] += weight;
            }
        }
        counts[0] += static_cast<int64_t>(count), counts[1] += static_cast<int64_t>(known);
        uint64_t* words = out_.words + leaf * columns * sum_words;
        double* ranges = out_.ranges + leaf * columns * 2;
        for (size_t k = 0; k < columns; ++k, words += sum_words, ranges += 2) {
            const double* x = numbers_.data() + k * leaf_batch;
            const bool change = k > m && k <= m + d;
            const size_t n = change ? known : count;
            const int64_t* given = in_.weights ? (change ? known_weights : weights) : nullptr;
            if (k <= m + d) add_numbers<true>(x, given, n, in_.factors + 2 * k, words, ranges);
            else add_numbers<false>(x, given, n, in_.factors + 2 * k, words, ranges);
        }
    }
};

// Adds all rows that count to the totals.
inline void add_to_leaves(const LeafColumns& in, size_t leaves, const LeafTotals& out, Team& team, const Flag& cancel) {
    constexpr size_t block = size_t{1} << 15;
    const size_t blocks = (in.count + block - 1) / block, columns = in.columns();
    std::vector<std::unique_ptr<OwnTotals>> own(static_cast<size_t>(team.size()));
    std::vector<std::unique_ptr<LeafAdder>> adders(own.size());
    team.run(static_cast<int>(blocks), [&](int task, int thread) {
        stop_if(cancel);
        const auto t = static_cast<size_t>(thread);
        if (!adders[t]) {
            if (t) own[t] = std::make_unique<OwnTotals>(leaves, columns, in.n_labels);
            adders[t] = std::make_unique<LeafAdder>(in, leaves, t ? own[t]->view() : out);
        }
        const size_t a = static_cast<size_t>(task) * block;
        adders[t]->add(a, std::min(in.count, a + block));
    });
    for (auto& totals : own)
        if (totals) merge_totals(out, totals->view(), leaves, columns, in.n_labels);
}

// The leaves' totals, for every node of a tree: counts and labels as they are, mean and standard deviation of every column.
struct LeafShape {
    const int32_t* left;       // nodes
    const int64_t* leaf_node;  // leaves
    size_t nodes, leaves, columns, with_squares, n_labels;
    size_t change, change_end;  // columns that only rows with a derivative have
    const int64_t* exponents;   // columns: e
};

inline double as_double(const uint64_t* words) {
    return static_cast<double>(words[2]) * 0x1p128 + static_cast<double>(static_cast<Wide>(words[1]) << 64 | words[0]);
}

inline void finish_leaves(const LeafShape& shape, const LeafTotals& in, int64_t* counts, int64_t* labels, double* mean, double* deviation) {
    const size_t columns = shape.columns, row = columns * sum_words;
    OwnTotals all(shape.nodes, columns, 0);
    std::fill_n(counts, shape.nodes * 4, 0);
    std::fill_n(labels, shape.nodes * shape.n_labels * 2, 0);
    for (size_t l = 0; l < shape.leaves; ++l) {
        const auto node = static_cast<size_t>(shape.leaf_node[l]);
        std::copy_n(in.words + l * row, row, all.words.data() + node * row);
        std::copy_n(in.ranges + l * columns * 2, columns * 2, all.ranges.data() + node * columns * 2);
        std::copy_n(in.counts + 4 * l, 4, counts + 4 * node);
        std::copy_n(in.labels + 2 * l * shape.n_labels, 2 * shape.n_labels, labels + 2 * node * shape.n_labels);
    }
    for (size_t node = shape.nodes; node-- > 0;) {  // children come after their parents
        if (shape.left[node] >= 0)
            for (size_t child = static_cast<size_t>(shape.left[node]), last = child + 1; child <= last; ++child) {
                merge_columns(all.words.data() + node * row, all.ranges.data() + node * columns * 2, all.words.data() + child * row,
                              all.ranges.data() + child * columns * 2, columns);
                for (size_t k = 0; k < 4; ++k) counts[4 * node + k] += counts[4 * child + k];
                for (size_t k = 0; k < 2 * shape.n_labels; ++k) labels[2 * node * shape.n_labels + k] += labels[2 * child * shape.n_labels + k];
            }
        for (size_t k = 0; k < columns; ++k) {
            const int64_t mass = counts[4 * node + (k >= shape.change && k < shape.change_end ? 3 : 2)];
            double& told = mean[node * columns + k];
            told = 0;
            if (k < shape.with_squares) deviation[node * shape.with_squares + k] = 0;
            if (!mass) continue;
            // The whole part of the mean is subtracted in integers, so that nothing is lost of a small spread about a large mean.
            const uint64_t* words = all.words.data() + node * row + k * sum_words;
            const double* range = all.ranges.data() + (node * columns + k) * 2;
            const Long sum = read_long(words);
            const auto whole = static_cast<int64_t>(sum / mass);
            const double rest = static_cast<double>(static_cast<int64_t>(sum % mass)) / static_cast<double>(mass);
            const int exponent = static_cast<int>(shape.exponents[k]) - 61;
            told = std::min(std::max(std::ldexp(static_cast<double>(whole) + rest, exponent), range[0]), range[1]);
            if (k >= shape.with_squares) continue;
            uint64_t squares[3] = {words[2], words[3], words[4]};
            add_product(squares, 2 * sum, whole, true);
            add_product(squares, static_cast<Long>(whole) * whole, mass, false);
            deviation[node * shape.with_squares + k] =
                std::ldexp(std::sqrt(std::max(as_double(squares) / static_cast<double>(mass) - rest * rest, 0.0)), exponent);
        }
    }
}

}  // namespace tripletree
