// Sums of target rows over the bins of every feature: for large nodes, where a sibling's follow by subtraction.
#pragma once

#include <memory>

#include "common.hpp"
#include "hot.hpp"

namespace tripletree {

using Histogram = std::unique_ptr<double[]>;

// Histogram of a set of rows. Features are taken in groups whose bins fit the second cache; `team` shares the groups.
inline Histogram build_histogram(const Table& table, const uint32_t* order, size_t count, Team* team, const Flag& cancel) {
    const size_t width = static_cast<size_t>(table.lanes.width), total = table.bins() * width;
    Histogram histogram(new double[total]());
    const size_t budget = 384 * 1024 / (sizeof(int32_t) * width);
    const size_t parts = team ? static_cast<size_t>(team->size()) : 1;
    std::vector<size_t> groups{0};
    for (size_t f = 1; f <= table.d; ++f) {
        const size_t from = groups.back();
        const bool full = f < table.d && (table.first_bin[f + 1] - table.first_bin[from] > budget ||
                                          (table.first_bin[f] - table.first_bin[from]) * parts >= table.bins());
        if (f == table.d || full) groups.push_back(f);
    }
    auto work = [&](int g, int) {
        const size_t f0 = groups[static_cast<size_t>(g)], f1 = groups[static_cast<size_t>(g) + 1], from = table.first_bin[f0], bins = table.first_bin[f1] - from;
        std::vector<int32_t> part(bins * width, 0);
        constexpr size_t block = 1 << 16;
        for (size_t a = 0; a < count; a += block) {
            stop_if(cancel);
            hot.add_rows(table, order + a, std::min(block, count - a), f0, f1, part.data(), histogram.get());
        }
        hot.add_part(table.lanes, part.data(), bins, histogram.get() + from * width);
    };
    const int tasks = static_cast<int>(groups.size()) - 1;
    if (team) team->run(tasks, work);
    else
        for (int g = 0; g < tasks; ++g) work(g, 0);
    return histogram;
}

}  // namespace tripletree
