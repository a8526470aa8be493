// What a model keeps of its log's states: each feature in bins, and the bins of the rows as differences, byte after byte.
// tests/reference/track.py defines it.
#pragma once

#include <cmath>
#include <cstring>

#include "common.hpp"

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
        stop_if(cancel);
        sort(column);
        stop_if(cancel);
        PackedColumn packed;
        divide(column.size(), cuts, packed.values);
        stop_if(cancel);
        const size_t size = first_.size() <= 256 ? 1 : first_.size() <= 65536 ? 2 : 4, rows = column.size();
        packed.planes.resize(size * rows);
        uint32_t before = 0;
        for (size_t i = 0; i < rows; ++i) {
            const uint32_t code = code_of(column[i]), away = code - before;
            for (size_t b = 0; b < size; ++b) packed.planes[b * rows + i] = static_cast<uint8_t>(away >> 8 * b);
            before = code;
        }
        return packed;
    }

  private:
    // The last bin that begins at or below a number.
    uint32_t code_of(double number) const {
        size_t at = 0;
        for (size_t length = first_.size(); length > 1;) {
            const size_t half = length / 2;
            at += first_[at + half] <= number ? half : 0;
            length -= half;
        }
        return static_cast<uint32_t>(at);
    }

    // Different values in ascending order, and how many numbers there are up to each. Digit by digit, from the lowest: linear in
    // the rows, and digits that all numbers share cost nothing.
    void sort(const std::vector<double>& column) {
        constexpr int bits = 11, digits = 6;
        constexpr uint64_t sign = uint64_t{1} << 63, mask = (1 << bits) - 1;
        const size_t n = column.size();
        keys_.resize(2 * n);
        uint64_t *from = keys_.data(), *to = from + n;
        std::vector<size_t> count(static_cast<size_t>(digits) << bits, 0);
        for (size_t i = 0; i < n; ++i) {
            const double number = column[i] + 0.0;  // -0 is 0
            uint64_t key;
            std::memcpy(&key, &number, sizeof key);
            from[i] = key = key & sign ? ~key : key | sign;
            for (size_t k = 0; k < digits; ++k) ++count[k << bits | (key >> bits * k & mask)];
        }
        for (size_t k = 0; k < digits; ++k) {
            size_t* place = count.data() + (k << bits);
            if (place[from[0] >> bits * k & mask] == n) continue;
            size_t sum = 0;
            for (size_t digit = 0; digit <= mask; ++digit) sum += place[digit], place[digit] = sum - place[digit];
            for (size_t i = 0; i < n; ++i) to[place[from[i] >> bits * k & mask]++] = from[i];
            std::swap(from, to);
        }
        value_.clear(), until_.clear();
        for (size_t i = 0; i < n; ++i) {
            if (i + 1 < n && from[i + 1] == from[i]) continue;
            const uint64_t key = from[i] & sign ? from[i] & ~sign : ~from[i];
            double number;
            std::memcpy(&number, &key, sizeof key);
            value_.push_back(number), until_.push_back(i + 1);
        }
    }

    // Bins: where cuts part the values, and so that no bin has many of the samples or much of the range.
    void divide(size_t rows, const std::vector<double>& cuts, std::vector<double>& decoded) {
        const size_t n = value_.size();
        std::vector<size_t> begins;
        for (size_t i = 0, c = 0; i < n; ++i) {
            const size_t before = c;
            while (c < cuts.size() && cuts[c] <= value_[i]) ++c;
            if (i == 0 || c != before) begins.push_back(i);
        }
        const size_t most = std::max(bins_, begins.size() + spare_);
        if (n <= most) {
            first_ = decoded = value_;
            return;
        }
        // Half of it by samples, half by distance: where an agent is seldom, its way must not become a staircase.
        const size_t shares = most - begins.size();
        const double all = static_cast<double>(rows), range = value_[n - 1] - value_[0];
        weight_.resize(n);
        double sum = 0;
        for (size_t i = 0; i < n; ++i) {
            const size_t count = until_[i] - (i ? until_[i - 1] : 0);
            const double part = static_cast<double>(count) / all + (value_[i] - value_[i ? i - 1 : 0]) / range;
            weight_[i] = sum = i ? sum + part : part;
        }
        const double share = sum / static_cast<double>(shares + 1);
        size_t previous = n;
        for (size_t k = 1, at = 0; k <= shares; ++k) {
            while (at < n && weight_[at] <= static_cast<double>(k) * share) ++at;
            // A value with several shares, such as a limit that is often reached, has a bin of its own: the next one ends it.
            begins.push_back(std::min(at + (at == previous ? 1 : 0), n - 1));
            previous = at;
        }
        std::sort(begins.begin(), begins.end());
        begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
        first_.clear();
        for (size_t b = 0, at = 0; b < begins.size(); ++b) {
            const size_t begin = begins[b] ? until_[begins[b] - 1] : 0, end = b + 1 < begins.size() ? until_[begins[b + 1] - 1] : rows;
            while (until_[at] <= (begin + end) / 2) ++at;
            first_.push_back(value_[begins[b]]), decoded.push_back(value_[at]);
        }
    }

    size_t bins_, spare_;
    std::vector<uint64_t> keys_;
    std::vector<double> value_, weight_, first_;
    std::vector<size_t> until_;
};

}  // namespace tripletree
