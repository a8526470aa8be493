// Sums of target rows over the bins of every feature: for large nodes, where a sibling's follow by subtraction.
#pragma once

#include <memory>

#include "common.hpp"
#include "hot.hpp"

namespace tripletree {

// A fixed number of histograms, lent to the nodes that want one.
class Histograms {
  public:
    struct Return {
        Histograms* owner;
        void operator()(double* histogram) const {
            std::lock_guard<std::mutex> lock(owner->mutex_);
            owner->idle_.push_back(histogram);
        }
    };
    using Loan = std::unique_ptr<double[], Return>;

    void make(size_t count, size_t size) {
        room_ = make_array<double>(count * size);
        for (size_t k = count; k-- > 0;) idle_.push_back(room_.get() + k * size);
    }
    Loan lend() {  // nullptr when all are out
        std::lock_guard<std::mutex> lock(mutex_);
        if (idle_.empty()) return Loan(nullptr, Return{this});
        double* histogram = idle_.back();
        idle_.pop_back();
        return Loan(histogram, Return{this});
    }

  private:
    std::mutex mutex_;
    Array<double> room_;
    std::vector<double*> idle_;
};

// Sums of 32 bits that a thread adds to first, all 0 between uses.
class ShortSums {
  public:
    int32_t* get(size_t size) {
        if (size > size_) {
            room_ = make_array<int32_t>(size);
            std::fill_n(room_.get(), size, 0);
            size_ = size;
        }
        return room_.get();
    }

  private:
    Array<int32_t> room_;
    size_t size_ = 0;
};

// Sums over a set of rows, by lane, and of their squares.
struct Total {
    double* sums;
    Squares* squares;
};

// Features in groups whose bins fit the second cache: the first of each, closed by d.
inline std::vector<size_t> feature_groups(const Table& table) {
    const size_t budget = 384 * 1024 / (sizeof(int32_t) * static_cast<size_t>(table.lanes.width));
    std::vector<size_t> groups{0};
    for (size_t f = 1; f <= table.d; ++f)
        if (f == table.d || table.first_bin[f + 1] - table.first_bin[groups.back()] > budget) groups.push_back(f);
    return groups;
}

// The histogram of a set of rows over features f0 .. f1, which begins at the first bin of f0; if `sign` is -1, the rows are taken out of
// the one that is there. They are added to `total`, too, if there is one: a few at a time, while they are in the first cache.
inline void build_group(const Table& table, const uint32_t* order, size_t count, size_t f0, size_t f1, ShortSums& shorts, double sign, double* histogram,
                        const Total* total, const Flag& cancel) {
    const size_t width = static_cast<size_t>(table.lanes.width), bins = table.first_bin[f1] - table.first_bin[f0];
    int32_t* part = shorts.get(bins * width);
    if (sign > 0) std::fill(histogram, histogram + bins * width, 0.0);
    const size_t block = total ? 1024 : size_t{1} << 16;
    for (size_t a = 0; a < count; a += block) {
        if (a % (size_t{1} << 16) == 0) stop_if(cancel);
        const size_t rows = std::min(block, count - a);
        if (total) hot.sum_rows(table, order + a, rows, total->sums, total->squares);
        hot.add_rows(table, order + a, rows, f0, f1, part, sign, histogram);
    }
    hot.add_part(table.lanes, part, bins, sign, histogram);
}

// The same over all features.
inline void build_histogram(const Table& table, const uint32_t* order, size_t count, ShortSums& shorts, double sign, double* histogram, const Total* total,
                            const Flag& cancel) {
    const std::vector<size_t> groups = feature_groups(table);
    for (size_t g = 0; g + 1 < groups.size(); ++g)
        build_group(table, order, count, groups[g], groups[g + 1], shorts, sign,
                    histogram + table.first_bin[groups[g]] * static_cast<size_t>(table.lanes.width), g == 0 ? total : nullptr, cancel);
}

// The same by a team, which shares the groups. Where there is one only, each thread takes other rows, so that none are read twice, and has
// a histogram of them first. shorts(thread) are a thread's own.
template <class Shorts>
void build_histogram(const Table& table, const uint32_t* order, size_t count, const Shorts& shorts, Team& team, double sign, double* histogram,
                     const Flag& cancel) {
    const std::vector<size_t> groups = feature_groups(table);
    const size_t width = static_cast<size_t>(table.lanes.width), bins = table.all_bins();
    if (groups.size() > 2)
        return team.run(static_cast<int>(groups.size()) - 1, [&](int task, int thread) {
            const size_t f0 = groups[static_cast<size_t>(task)], f1 = groups[static_cast<size_t>(task) + 1];
            build_group(table, order, count, f0, f1, shorts(thread), sign, histogram + table.first_bin[f0] * width, nullptr, cancel);
        });
    constexpr size_t block = size_t{1} << 13;
    std::vector<Array<double>> own(static_cast<size_t>(team.size()));
    team.run(static_cast<int>((count + block - 1) / block), [&](int task, int thread) {
        stop_if(cancel);
        Array<double>& mine = own[static_cast<size_t>(thread)];
        if (!mine) mine = make_array<double>(bins * width), std::fill_n(mine.get(), bins * width, 0.0);
        const size_t a = static_cast<size_t>(task) * block;
        hot.add_rows(table, order + a, std::min(block, count - a), 0, table.d, shorts(thread).get(bins * width), 1, mine.get());
    });
    if (sign > 0) std::fill_n(histogram, bins * width, 0.0);
    for (int thread = 0; thread < team.size(); ++thread) {
        double* mine = own[static_cast<size_t>(thread)].get();
        if (!mine) continue;
        hot.add_part(table.lanes, shorts(thread).get(bins * width), bins, 1, mine);
        (sign > 0 ? hot.add_up : hot.subtract)(histogram, mine, bins * width);
    }
}

}  // namespace tripletree
