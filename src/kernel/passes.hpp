// Passes over columns of a log on all threads: ranges, exact sums, and rounding to integers.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "common.hpp"
#include "hot.hpp"
#include "log_rows.hpp"

namespace tripletree {

// Columns that lie in memory, or the changes of a log's states, which are made as they are needed.
struct PassColumns {
    const double* data;  // nullptr: changes
    size_t n, m;         // rows, columns
    size_t row_stride, column_stride;
    LogRows log;
};

constexpr size_t pass_block = size_t{1} << 13;  // rows of a task
constexpr size_t pass_numbers = 4096;           // made at a time: they stay in the first cache

// Calls work(thread, first row, rows, numbers, row stride, column stride) for blocks that together cover all rows.
template <class Work>
void pass_over(const PassColumns& in, Team& team, const Flag& cancel, const Work& work) {
    const size_t step = in.data ? pass_block : std::max<size_t>(pass_numbers / std::max<size_t>(in.m, 1), 8);
    team.run(static_cast<int>((in.n + pass_block - 1) / pass_block), [&](int task, int thread) {
        stop_if(cancel);
        const size_t begin = static_cast<size_t>(task) * pass_block, end = std::min(in.n, begin + pass_block);
        std::vector<double> change(in.data ? 0 : step * in.m);
        std::vector<const double*> after(in.data ? 0 : step);
        for (size_t a = begin; a < end; a += step) {
            const size_t b = std::min(end, a + step);
            if (in.data) {
                work(thread, a, b - a, in.data + a * in.row_stride, in.row_stride, in.column_stride);
                continue;
            }
            in.log.following(a, b, after.data());
            for (size_t i = a; i < b; ++i) {
                double* row = change.data() + (i - a) * in.m;
                if (after[i - a]) in.log.derivative(i, after[i - a], row, 1);
                else std::fill_n(row, in.m, __builtin_nan(""));
            }
            work(thread, a, b - a, change.data(), in.m, 1);
        }
    });
}

// Where columns lie side by side, calls work(k, from, true) for eight of them, beginning at k, of which those before `from` were done
// already; else work(k, k, false) for each.
template <class Work>
void by_eight(size_t columns, size_t column_stride, const Work& work) {
    if (columns >= 8 && column_stride == 1)
        for (size_t from = 0; from < columns; from += 8) work(std::min(from, columns - 8), from, true);
    else
        for (size_t k = 0; k < columns; ++k) work(k, k, false);
}

inline void widen_all(const PassColumns& in, double* lowest, double* highest, Team& team, const Flag& cancel) {
    std::vector<std::vector<double>> own(static_cast<size_t>(team.size()) * 2);
    for (size_t t = 0; t < own.size(); ++t) {
        const double* given = t % 2 ? highest : lowest;
        own[t].assign(given, given + in.m);
    }
    pass_over(in, team, cancel, [&](int thread, size_t, size_t n, const double* x, size_t row_stride, size_t column_stride) {
        double *lo = own[2 * static_cast<size_t>(thread)].data(), *hi = own[2 * static_cast<size_t>(thread) + 1].data();
        by_eight(in.m, column_stride, [&](size_t k, size_t, bool eight) { hot.widen_ranges(x + k * column_stride, n, row_stride, eight, lo + k, hi + k); });
    });
    for (size_t t = 0; t < own.size(); ++t)
        for (size_t k = 0; k < in.m; ++k) {
            if (t % 2) highest[k] = std::max(highest[k], own[t][k]);
            else lowest[k] = std::min(lowest[k], own[t][k]);
        }
}

// Adds to counts[key >> (48 - done) & 0xffff] for each number of a column whose key begins with the `done` bits of `prefix`. Keys are
// 64 bits that order numbers as they are; NaN has none.
inline void count_all(const PassColumns& in, size_t column, uint64_t prefix, int done, int64_t* counts, Team& team, const Flag& cancel) {
    std::vector<std::vector<int64_t>> own(static_cast<size_t>(team.size()), std::vector<int64_t>(size_t{1} << 16));
    pass_over(in, team, cancel, [&](int thread, size_t, size_t n, const double* x, size_t row_stride, size_t column_stride) {
        int64_t* to = own[static_cast<size_t>(thread)].data();
        for (size_t i = 0; i < n; ++i) {
            const double number = x[i * row_stride + column * column_stride];
            uint64_t key;
            std::memcpy(&key, &number, sizeof key);
            key ^= key >> 63 ? ~uint64_t{0} : uint64_t{1} << 63;
            if (number == number && (done == 0 || key >> (64 - done) == prefix)) ++to[key >> (48 - done) & 0xffff];
        }
    });
    for (const auto& some : own)
        for (size_t k = 0; k < some.size(); ++k) counts[k] += some[k];
}

// sums: four for each column, see hot.add_sums. They are exact, so threads may add up apart.
inline size_t sum_all(const PassColumns& in, const double* centre, const double* unit, const double* grids, double* sums, Team& team, const Flag& cancel) {
    std::vector<std::vector<double>> own(static_cast<size_t>(team.size()), std::vector<double>(4 * in.m));
    std::vector<size_t> counts(own.size());
    pass_over(in, team, cancel, [&](int thread, size_t, size_t n, const double* x, size_t row_stride, size_t column_stride) {
        double* to = own[static_cast<size_t>(thread)].data();
        size_t count = 0;
        by_eight(in.m, column_stride, [&](size_t k, size_t from, bool eight) {
            double some[32] = {};
            count = hot.add_sums(x + k * column_stride, n, row_stride, eight, centre + k, unit + k, grids, some);
            for (size_t j = 4 * (from - k); j < (eight ? 32u : 4u); ++j) to[4 * k + j] += some[j];
        });
        counts[static_cast<size_t>(thread)] += count;
    });
    size_t count = 0;
    for (size_t t = 0; t < own.size(); ++t) {
        count += counts[t];
        for (size_t j = 0; j < 4 * in.m; ++j) sums[j] += own[t][j];
    }
    return count;
}

// What columns are rounded by: `kept` are those that are, in ascending order; the others are as long as it.
struct Rounding {
    const int64_t* kept;
    size_t count;
    const double *centre, *unit, *mean, *scale;
};

// Rounds n rows of m columns.
inline void quantise_rows(const Rounding& how, size_t m, const double* x, size_t n, size_t row_stride, size_t column_stride, int32_t* to, size_t width,
                          size_t second) {
    if (how.count == m) {
        hot.quantise(x, n, m, static_cast<int64_t>(row_stride), static_cast<int64_t>(column_stride), how.centre, how.unit, how.mean, how.scale, to, width,
                     second);
        return;
    }
    for (size_t k = 0; k < how.count; ++k)
        hot.quantise(x + static_cast<size_t>(how.kept[k]) * column_stride, n, 1, static_cast<int64_t>(row_stride), 1, how.centre + k, how.unit + k,
                     how.mean + k, how.scale + k, to + k, width, second);
}

inline void quantise_all(const PassColumns& in, const Rounding& how, int32_t* out, size_t width, size_t second, Team& team, const Flag& cancel) {
    pass_over(in, team, cancel, [&](int, size_t a, size_t n, const double* x, size_t row_stride, size_t column_stride) {
        quantise_rows(how, in.m, x, n, row_stride, column_stride, out + a * width, width, second);
    });
}

// The values of a column and how often each is there, in the order in which they come; nothing where there are more than `most` of them.
// What is missing (NaN) does not count, and 0 and -0 are the same.
inline std::vector<std::pair<double, int64_t>> tally(const double* x, size_t n, size_t most) {
    std::vector<std::pair<double, int64_t>> found;
    size_t last = 0;
    for (size_t i = 0; i < n; ++i) {
        const double value = x[i];
        if (last < found.size() && found[last].first == value) {
            ++found[last].second;
            continue;
        }
        if (std::isnan(value)) continue;
        for (last = 0; last < found.size() && found[last].first != value; ++last) {
        }
        if (last == found.size()) {
            if (last == most) return {};
            found.emplace_back(value, 0);
        }
        ++found[last].second;
    }
    return found;
}

}  // namespace tripletree
