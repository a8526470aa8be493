// What a model keeps of its log's states: each feature in bins, and the bins of the rows as differences, byte after byte.
// tests/reference/track.py defines it.
#pragma once

#include <cmath>

#include "common.hpp"
#include "encode.hpp"

namespace tripletree {

struct PackedColumn {
    std::vector<double> values;   // what each bin is decoded as
    std::vector<uint8_t> planes;  // differences of codes: the lowest byte of all rows, then the next
};

class Packer {
  public:
    // A feature has at most `bins` bins, or `spare` more than its cuts need.
    Packer(size_t bins, size_t spare) : bins_(bins), spare_(spare) {}

    // The first `n` of these numbers are recorded states, the others final ones.
    PackedColumn pack(const double* numbers, size_t rows, size_t n, std::vector<double> cuts, const Flag& cancel) {
        // The smallest and the largest state are exact, and beyond them there are only final states.
        double low = HUGE_VAL, high = -HUGE_VAL;
        hot.widen_ranges(numbers, n, 1, false, &low, &high);
        for (const double end : {low, high}) cuts.push_back(end), cuts.push_back(std::nextafter(end, HUGE_VAL));
        std::sort(cuts.begin(), cuts.end());
        hot.widen_ranges(numbers + n, rows - n, 1, false, &low, &high);
        if (rows > room_) {
            room_ = rows;
            codes_ = make_array<uint32_t>(rows), words_ = make_array<uint64_t>(2 * rows), until_ = make_array<uint32_t>(rows);
            value_ = make_array<double>(rows), weight_ = make_array<double>(rows);
        }
        sort(make_column(numbers, rows, 1, low, high), rows, cancel);
        stop_if(cancel);
        PackedColumn packed;
        const std::vector<size_t> first = divide(rows, cuts, packed.values);  // sample of each bin, closed by the number of them
        stop_if(cancel);
        for (size_t b = 0; b + 1 < first.size(); ++b)
            for (size_t q = first[b]; q < first[b + 1]; ++q) codes_[words_[q] & 0xffffffffu] = static_cast<uint32_t>(b);
        const size_t bins = first.size() - 1, size = bins <= 256 ? 1 : bins <= 65536 ? 2 : 4;
        packed.planes.resize(size * rows);
        for (size_t b = 0; b < size; ++b) {
            uint8_t* plane = packed.planes.data() + b * rows;
            plane[0] = static_cast<uint8_t>(codes_[0] >> 8 * b);
            for (size_t i = 1; i < rows; ++i) plane[i] = static_cast<uint8_t>((codes_[i] - codes_[i - 1]) >> 8 * b);
        }
        return packed;
    }

  private:
    // Places of the numbers in ascending order; different values, and how many numbers there are up to each.
    void sort(const Column& column, size_t n, const Flag& cancel) {
        const double per_step = column.per_step();
        hot.make_keys(column.x, n, 1, 1, &column.scale, &column.low, &per_step, codes_.get(), n);
        sort_keys(codes_.get(), n, words_.get(), words_.get() + n, cancel);
        const uint64_t* words = words_.get();
        double* value = value_.get();
        for (size_t i = 0; i < n; ++i) value[i] = column.at(words[i]) + 0.0;  // -0 is 0
        for (size_t i = 1; i < n; ++i) {
            if (value[i - 1] <= value[i]) continue;
            size_t a = i - 1, b = i + 1;  // those with the same key
            while (a > 0 && words[a - 1] >> 32 == words[i] >> 32) --a;
            while (b < n && words[b] >> 32 == words[i] >> 32) ++b;
            sort_by_value(words_.get() + a, b - a, column, cancel, entries_);
            for (size_t k = a; k < b; ++k) value[k] = column.at(words[k]) + 0.0;
            i = b - 1;
        }
        values_ = 0;
        for (size_t i = 0; i < n; ++i) {
            const bool last = i + 1 == n || value[i + 1] != value[i];
            value[values_] = value[i], until_[values_] = static_cast<uint32_t>(i + 1);
            values_ += last;
        }
    }

    // Bins: where cuts part the values, and so that no bin has many of the samples or much of the range.
    std::vector<size_t> divide(size_t rows, const std::vector<double>& cuts, std::vector<double>& decoded) {
        const size_t n = values_;
        const double* value = value_.get();
        const uint32_t* until = until_.get();
        std::vector<size_t> begins{0};
        for (const double cut : cuts) {
            const auto at = static_cast<size_t>(std::lower_bound(value, value + n, cut) - value);
            if (at < n && at != begins.back()) begins.push_back(at);
        }
        const size_t most = std::max(bins_, begins.size() + spare_);
        if (n <= most) {
            decoded.assign(value, value + n);
            begins.resize(1);
            begins.insert(begins.end(), until, until + n);
            return begins;
        }
        // Half of it by samples, half by distance: where an agent is seldom, its way must not become a staircase.
        const size_t shares = most - begins.size();
        const double all = static_cast<double>(rows), one = 1 / all, range = value[n - 1] - value[0];
        double* weight = weight_.get();
        weight[0] = 0;
        for (size_t i = 1; i < n; ++i) weight[i] = (value[i] - value[i - 1]) / range;
        double sum = 0;
        for (size_t i = 0; i < n; ++i) {
            const uint32_t count = until[i] - (i ? until[i - 1] : 0);
            weight[i] = sum = sum + ((count == 1 ? one : static_cast<double>(count) / all) + weight[i]);
        }
        const double share = sum / static_cast<double>(shares + 1);
        size_t previous = n;
        const double *place = weight, *end = weight + n;
        for (size_t k = 1; k <= shares; ++k) {
            place = std::upper_bound(place, end, static_cast<double>(k) * share);
            const auto at = static_cast<size_t>(place - weight);
            // A value with several shares, such as a limit that is often reached, has a bin of its own: the next one ends it.
            begins.push_back(std::min(at + (at == previous ? 1 : 0), n - 1));
            previous = at;
        }
        std::sort(begins.begin(), begins.end());
        begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
        std::vector<size_t> first;
        for (const size_t begin : begins) first.push_back(begin ? until[begin - 1] : 0);
        first.push_back(rows);
        const uint32_t* middle = until;
        for (size_t b = 0; b < begins.size(); ++b) {
            middle = std::upper_bound(middle, until + n, (first[b] + first[b + 1]) / 2);
            decoded.push_back(value[middle - until]);
        }
        return first;
    }

    size_t bins_, spare_, room_ = 0, values_ = 0;
    Array<uint32_t> codes_, until_;
    Array<uint64_t> words_;
    std::vector<Entry> entries_;
    Array<double> value_, weight_;
};

}  // namespace tripletree
