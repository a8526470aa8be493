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

// Features in groups whose bins fit the second cache, and at least as many groups as there are threads: the first of each, closed by d.
inline std::vector<size_t> feature_groups(const Table& table, size_t threads) {
    const size_t budget = 384 * 1024 / (sizeof(int32_t) * static_cast<size_t>(table.lanes.width));
    std::vector<size_t> groups{0};
    for (size_t f = 1; f <= table.d; ++f) {
        const size_t from = groups.back();
        const bool full = f < table.d && (table.first_bin[f + 1] - table.first_bin[from] > budget ||
                                          (table.first_bin[f] - table.first_bin[from]) * threads >= table.all_bins());
        if (f == table.d || full) groups.push_back(f);
    }
    return groups;
}

// The histogram of a set of rows over features f0 .. f1, which begins at the first bin of f0.
inline void build_group(const Table& table, const uint32_t* order, size_t count, size_t f0, size_t f1, double* histogram, const Flag& cancel) {
    const size_t width = static_cast<size_t>(table.lanes.width), bins = table.first_bin[f1] - table.first_bin[f0];
    std::vector<int32_t> part(bins * width, 0);
    std::fill(histogram, histogram + bins * width, 0.0);
    constexpr size_t block = 1 << 16;
    for (size_t a = 0; a < count; a += block) {
        stop_if(cancel);
        hot.add_rows(table, order + a, std::min(block, count - a), f0, f1, part.data(), histogram);
    }
    hot.add_part(table.lanes, part.data(), bins, histogram);
}

// The histogram of a set of rows over all features; `team` shares the groups.
inline void build_histogram(const Table& table, const uint32_t* order, size_t count, Team* team, const Flag& cancel, double* histogram) {
    const std::vector<size_t> groups = feature_groups(table, team ? static_cast<size_t>(team->size()) : 1);
    auto work = [&](int task, int) {
        const size_t f0 = groups[static_cast<size_t>(task)], f1 = groups[static_cast<size_t>(task) + 1];
        build_group(table, order, count, f0, f1, histogram + table.first_bin[f0] * static_cast<size_t>(table.lanes.width), cancel);
    };
    const int tasks = static_cast<int>(groups.size()) - 1;
    if (team) team->run(tasks, work);
    else
        for (int task = 0; task < tasks; ++task) work(task, 0);
}

}  // namespace tripletree
