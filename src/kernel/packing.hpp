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

    // The first `n` numbers of the column are recorded states, the others final ones.
    PackedColumn pack(const std::vector<double>& column, size_t n, std::vector<double> cuts, const Flag& cancel) {
        // The smallest and the largest state are exact, and beyond them there are only final states.
        const auto ends = std::minmax_element(column.begin(), column.begin() + static_cast<ptrdiff_t>(n));
        for (const double end : {*ends.first, *ends.second}) cuts.push_back(end), cuts.push_back(std::nextafter(end, HUGE_VAL));
        std::sort(cuts.begin(), cuts.end());
        const size_t rows = column.size();
        sort(column, cancel);
        stop_if(cancel);
        PackedColumn packed;
        const std::vector<size_t> first = divide(rows, cuts, packed.values);  // sample of each bin, closed by the number of them
        stop_if(cancel);
        codes_.resize(rows);
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
    void sort(const std::vector<double>& numbers, const Flag& cancel) {
        const size_t n = numbers.size();
        const auto ends = std::minmax_element(numbers.begin(), numbers.end());
        const Column column = make_column(numbers.data(), n, 1, *ends.first, *ends.second);
        const double per_step = column.per_step();
        codes_.resize(n), words_.resize(2 * n), value_.resize(n), until_.resize(n);
        hot.make_keys(numbers.data(), n, 1, 1, &column.scale, &column.low, &per_step, codes_.data(), n);
        sort_keys(codes_.data(), n, words_.data(), words_.data() + n, cancel);
        for (size_t i = 0; i < n; ++i) value_[i] = column.at(words_[i]) + 0.0;  // -0 is 0
        for (size_t i = 1; i < n; ++i) {
            if (value_[i - 1] <= value_[i]) continue;
            size_t a = i - 1, b = i + 1;  // those with the same key
            while (a > 0 && words_[a - 1] >> 32 == words_[i] >> 32) --a;
            while (b < n && words_[b] >> 32 == words_[i] >> 32) ++b;
            sort_by_value(words_.data() + a, b - a, column, cancel, entries_);
            for (size_t k = a; k < b; ++k) value_[k] = column.at(words_[k]) + 0.0;
            i = b - 1;
        }
        size_t found = 0;
        for (size_t i = 0; i < n; ++i) {
            const bool last = i + 1 == n || value_[i + 1] != value_[i];
            value_[found] = value_[i], until_[found] = i + 1;
            found += last;
        }
        value_.resize(found), until_.resize(found);
    }

    // Bins: where cuts part the values, and so that no bin has many of the samples or much of the range.
    std::vector<size_t> divide(size_t rows, const std::vector<double>& cuts, std::vector<double>& decoded) {
        const size_t n = value_.size();
        std::vector<size_t> begins{0};
        for (const double cut : cuts) {
            const auto at = static_cast<size_t>(std::lower_bound(value_.begin(), value_.end(), cut) - value_.begin());
            if (at < n && at != begins.back()) begins.push_back(at);
        }
        const size_t most = std::max(bins_, begins.size() + spare_);
        if (n <= most) {
            decoded = value_;
            begins.resize(1);
            begins.insert(begins.end(), until_.begin(), until_.end());
            return begins;
        }
        // Half of it by samples, half by distance: where an agent is seldom, its way must not become a staircase.
        const size_t shares = most - begins.size();
        const double all = static_cast<double>(rows), one = 1 / all, range = value_[n - 1] - value_[0];
        weight_.resize(n);
        weight_[0] = 0;
        for (size_t i = 1; i < n; ++i) weight_[i] = (value_[i] - value_[i - 1]) / range;
        double sum = 0;
        for (size_t i = 0; i < n; ++i) {
            const size_t count = until_[i] - (i ? until_[i - 1] : 0);
            weight_[i] = sum = sum + ((count == 1 ? one : static_cast<double>(count) / all) + weight_[i]);
        }
        const double share = sum / static_cast<double>(shares + 1);
        size_t previous = n;
        auto place = weight_.begin();
        for (size_t k = 1; k <= shares; ++k) {
            place = std::upper_bound(place, weight_.end(), static_cast<double>(k) * share);
            const auto at = static_cast<size_t>(place - weight_.begin());
            // A value with several shares, such as a limit that is often reached, has a bin of its own: the next one ends it.
            begins.push_back(std::min(at + (at == previous ? 1 : 0), n - 1));
            previous = at;
        }
        std::sort(begins.begin(), begins.end());
        begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
        std::vector<size_t> first;
        for (const size_t begin : begins) first.push_back(begin ? until_[begin - 1] : 0);
        first.push_back(rows);
        auto middle = until_.begin();
        for (size_t b = 0; b < begins.size(); ++b) {
            middle = std::upper_bound(middle, until_.end(), (first[b] + first[b + 1]) / 2);
            decoded.push_back(value_[static_cast<size_t>(middle - until_.begin())]);
        }
        return first;
    }

    size_t bins_, spare_;
    std::vector<uint32_t> codes_;
    std::vector<uint64_t> words_;
    std::vector<Entry> entries_;
    std::vector<double> value_, weight_;
    std::vector<size_t> until_;
};

}  // namespace tripletree
