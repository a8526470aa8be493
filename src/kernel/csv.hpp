// Rows of a CSV file, split as Python's csv module splits them, and their cells as the numbers that Python's float() reads.
// Only ASCII is decided here: a column with anything else in it goes back as text.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#ifndef __cpp_lib_to_chars
#error "tripletree needs std::from_chars for double: GCC 11 or newer"
#endif

namespace tripletree {

constexpr size_t longest_field = 131072;  // characters, as in Python's csv
constexpr char too_long[] = "field larger than field limit (131072)";

// What was met in a column, as bits.
enum Seen : uint32_t {
    seen_large = 1,      // an integer beyond 64 bits
    seen_fraction = 2,   // anything but an integer: a point, an exponent, infinity, NaN, a missing value
    seen_value = 4,      // a number that is not NaN
    seen_word = 8,       // a word for a missing value
    seen_nan = 16,       // the number NaN
    seen_blank = 32,     // an empty cell
    seen_text = 64,      // no number at all
    seen_padding = 128,  // an integer that begins with a needless zero
};

struct Number {
    double value = std::numeric_limits<double>::quiet_NaN();
    int64_t integer = 0;
    uint32_t seen = seen_text;
};

inline bool is_space(char c) { return c == ' ' || (c >= 9 && c <= 13); }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

// Whether text is the word, in any case; the word is lower case.
inline bool is_word(std::string_view text, std::string_view word) {
    if (text.size() != word.size()) return false;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c) != word[i]) return false;
    }
    return true;
}

// Whether digits, perhaps with a point and an exponent, stand for something beyond the doubles rather than below them. Only
// asked where one of the two is so, which from_chars does not tell apart.
inline bool overflows(std::string_view digits) {
    int64_t scale = 0, exponent = 0;
    bool point = false, found = false;
    size_t i = 0;
    for (; i < digits.size() && (is_digit(digits[i]) || digits[i] == '.'); ++i) {
        if (digits[i] == '.') {
            point = true;
            continue;
        }
        found = found || digits[i] != '0';
        if (found && !point) ++scale;
        if (!found && point) --scale;
    }
    if (i < digits.size()) {
        const bool negative = digits[++i] == '-';
        if (digits[i] == '-' || digits[i] == '+') ++i;
        // Far beyond any length of a field, and far below what could overflow.
        for (; i < digits.size() && exponent < (int64_t{1} << 40); ++i) exponent = exponent * 10 + (digits[i] - '0');
        if (negative) exponent = -exponent;
    }
    return scale + exponent > 0;
}

// Reads digits, without a sign, as a double; false if that is not what they are.
inline bool read_double(std::string_view digits, double& value) {
    if (digits.empty() || !(is_digit(digits[0]) || digits[0] == '.')) return false;
    const char* const end = digits.data() + digits.size();
    const auto [stop, fault] = std::from_chars(digits.data(), end, value);
    if (fault == std::errc::invalid_argument || stop != end) return false;
    if (fault == std::errc::result_out_of_range) value = overflows(digits) ? std::numeric_limits<double>::infinity() : 0.0;
    return true;
}

inline Number read_number(std::string_view cell) {
    Number found;
    std::string_view text = trimmed(cell);
    if (text.empty()) {
        found.seen = seen_blank | seen_fraction;
        return found;
    }
    const bool sign = text[0] == '-' || text[0] == '+', negative = text[0] == '-';
    const std::string_view digits = text.substr(sign ? 1 : 0);
    size_t length = 0;
    uint64_t sum = 0;
    // 19 digits always fit 64 bits without a sign.
    while (length < digits.size() && length < 19 && is_digit(digits[length])) sum = sum * 10 + static_cast<uint64_t>(digits[length++] - '0');
    const uint64_t most = (uint64_t{1} << 63) - (negative ? 0 : 1);
    if (length > 0 && length == digits.size() && sum <= most) {
        found.integer = static_cast<int64_t>(negative ? 0 - sum : sum);
        found.value = static_cast<double>(found.integer);
        found.seen = seen_value;
        if (length > 1 && digits[0] == '0') found.seen |= seen_padding;
        return found;
    }
    if (read_double(digits, found.value)) {
        bool whole = true;
        for (const char c : digits) whole = whole && is_digit(c);
        if (negative) found.value = -found.value;
        found.seen = seen_value | (whole && std::isfinite(found.value) ? seen_large : seen_fraction);
        return found;
    }
    if (is_word(digits, "nan")) {
        found.seen = seen_nan | seen_fraction;
    } else if (is_word(digits, "inf") || is_word(digits, "infinity")) {
        found.value = negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
        found.seen = seen_value | seen_fraction;
    } else {
        for (const char* word : {"na", "n/a", "<na>", "null", "none"})
            if (is_word(text, word)) found.seen = seen_word | seen_fraction;
    }
    return found;
}

// The cells of a piece of a file, record after record.
class CsvRows {
  public:
    CsvRows(std::string_view data, char separator, bool last) : data_(data), separator_(separator), last_(last) {
        if (data.size() > (size_t{1} << 31)) throw std::length_error("a piece of a file has more than 2^31 bytes");
        for (const char c : {separator, '\r', '\n'}) ends_[static_cast<unsigned char>(c)] = true;
        cells_.reserve(data.size() / 8);
    }

    // Adds the cells of the next record, none for an empty line. False, and nothing added, if the data ends before it does.
    bool next() {
        const size_t begin = at_, before = cells_.size();
        if (at_ == data_.size()) return false;
        if (line_end(data_[at_])) {
            skip_line_end();
            return true;
        }
        while (field()) {
            if (at_ < data_.size() && data_[at_] == separator_) {
                ++at_;
                continue;
            }
            if (at_ < data_.size()) skip_line_end();
            return true;
        }
        at_ = begin;
        cells_.resize(before);
        return false;
    }

    size_t position() const { return at_; }
    size_t size() const { return cells_.size(); }
    void drop(size_t size) { cells_.resize(size); }
    std::string_view operator[](size_t cell) const {
        const Cell& c = cells_[cell];
        return c.quoted ? std::string_view(quoted_).substr(c.begin, c.size) : data_.substr(c.begin, c.size);
    }

  private:
    struct Cell {
        uint32_t begin;
        uint32_t size : 31;
        uint32_t quoted : 1;
    };

    static bool line_end(char c) { return c == '\n' || c == '\r'; }

    void skip_line_end() {
        const char c = data_[at_++];
        if (c == '\r' && at_ < data_.size() && data_[at_] == '\n') ++at_;
    }

    // Adds the field that begins here, and stops at what ends it. False if the data ends before the field is sure to.
    bool field() {
        if (at_ < data_.size() && data_[at_] == '"') return quoted_field();
        const size_t begin = at_;
        while (at_ < data_.size() && !ends_[static_cast<unsigned char>(data_[at_])]) ++at_;
        refuse_long(data_.substr(begin, at_ - begin));
        if (at_ == data_.size() && !last_) return false;
        cells_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(at_ - begin), 0});
        return true;
    }

    bool quoted_field() {
        const size_t begin = quoted_.size();
        bool inside = true;
        for (++at_; at_ < data_.size(); ++at_) {
            const char c = data_[at_];
            if (inside && c == '"') {
                // Two quotes are one; a single one ends the quoted part, which plain characters may follow.
                if (at_ + 1 < data_.size() && data_[at_ + 1] == '"') {
                    quoted_.push_back('"');
                    ++at_;
                } else {
                    inside = false;
                }
            } else if (!inside && ends_[static_cast<unsigned char>(c)]) {
                break;
            } else {
                quoted_.push_back(c);
                // At once, and not at the end of the data: a quote that nobody closed would take all of it.
                if (quoted_.size() - begin > 4 * longest_field) throw std::length_error(too_long);
            }
        }
        refuse_long(std::string_view(quoted_).substr(begin));
        if (at_ >= data_.size() && !last_) return false;
        at_ = std::min(at_, data_.size());
        cells_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(quoted_.size() - begin), 1});
        return true;
    }

    static void refuse_long(std::string_view text) {
        if (text.size() <= longest_field) return;
        size_t characters = 0;
        for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
        if (characters > longest_field) throw std::length_error(too_long);
    }

    std::string_view data_;
    char separator_;
    bool last_;
    bool ends_[256] = {};
    size_t at_ = 0;
    std::vector<Cell> cells_;
    std::string quoted_;  // what quoted fields hold, without their quotes
};

}  // namespace tripletree
