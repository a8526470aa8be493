// Sums of target rows over the bins of every feature: for large nodes, where a sibling's follow by subtraction.
#pragma once

#include <memory>

#include "common.hpp"
#include "hot.hpp"

namespace tripletree {

using Histogram = std::unique_ptr<double[]>;

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

// Adds a set of rows to the histogram of features f0 .. f1, which begins at the first bin of f0.
inline void add_group(const Table& table, const uint32_t* order, size_t count, size_t f0, size_t f1, double* histogram, const Flag& cancel) {
    const size_t width = static_cast<size_t>(table.lanes.width), bins = table.first_bin[f1] - table.first_bin[f0];
    std::vector<int32_t> part(bins * width, 0);
    constexpr size_t block = 1 << 16;
    for (size_t a = 0; a < count; a += block) {
        stop_if(cancel);
        hot.add_rows(table, order + a, std::min(block, count - a), f0, f1, part.data(), histogram);
    }
    hot.add_part(table.lanes, part.data(), bins, histogram);
}

// Histogram of a set of rows over all features; `team` shares the groups.
inline Histogram build_histogram(const Table& table, const uint32_t* order, size_t count, Team* team, const Flag& cancel) {
    const size_t width = static_cast<size_t>(table.lanes.width);
    Histogram histogram(new double[table.all_bins() * width]());
    const std::vector<size_t> groups = feature_groups(table, team ? static_cast<size_t>(team->size()) : 1);
    auto work = [&](int task, int) {
        const size_t f0 = groups[static_cast<size_t>(task)], f1 = groups[static_cast<size_t>(task) + 1];
        add_group(table, order, count, f0, f1, histogram.get() + table.first_bin[f0] * width, cancel);
    };
    const int tasks = static_cast<int>(groups.size()) - 1;
    if (team) team->run(tasks, work);
    else
        for (int task = 0; task < tasks; ++task) work(task, 0);
    return histogram;
}

}  // namespace tripletree
