// Codes as growth holds them: the bins of a row side by side, for histograms, and the codes of a feature, for everything else. Beside the
// targets they are the largest that growth needs, so of the latter only the offsets may be kept, in 16 bits: it takes a little longer
// to put a code together than to read it.
#pragma once

#include "common.hpp"
#include "hot.hpp"

namespace tripletree {

class PackedCodes {
  public:
    // Codes are n x d, feature after feature. If `needs_whole` then, they must stay where they are.
    PackedCodes(const uint32_t* codes, size_t n, size_t d, bool compact, Team& team, const Flag& cancel) : n_(n), d_(d) {
        constexpr size_t block = 1 << 12;
        const size_t blocks = (n + block - 1) / block;
        auto each = [&](int task, const auto& work) {
            stop_if(cancel);
            const size_t a = static_cast<size_t>(task) * block, b = std::min(n, a + block);
            for (size_t f = 0; f < d; ++f) work(f, a, b, codes + f * n);
        };
        constexpr size_t most_bins = size_t{1} << (32 - offset_bits);
        std::vector<uint32_t> bits(blocks, 0);
        std::vector<std::vector<uint8_t>> seen(static_cast<size_t>(team.size()), std::vector<uint8_t>(d * most_bins, 0));
        team.run(static_cast<int>(blocks), [&](int task, int thread) {
            uint32_t any = 0;
            each(task, [&](size_t f, size_t a, size_t b, const uint32_t* column) {
                any |= note_kinds(column, a, b, seen[static_cast<size_t>(thread)].data() + f * most_bins);
            });
            bits[static_cast<size_t>(task)] = any;
        });
        uint32_t any = 0;
        for (const uint32_t some : bits) any |= some;
        const size_t enough = (any >> offset_bits) + 1;
        size_t bins = 0;
        kinds_.assign(d, std::vector<uint8_t>(enough, 0));
        for (size_t f = 0; f < d; ++f) {
            for (const auto& part : seen)
                for (size_t bin = 0; bin < enough; ++bin) kinds_[f][bin] = std::max(kinds_[f][bin], part[f * most_bins + bin]);
            while (!kinds_[f].empty() && !kinds_[f].back()) kinds_[f].pop_back();
            bins = std::max(bins, kinds_[f].size());
        }
        if (bins <= 256) narrow_ = make_array<uint8_t>(n * d);
        else wide_ = make_array<uint16_t>(n * d);
        const bool offsets = any & offset_mask, short_ones = !(any & ((1u << spare_bits) - 1));
        if (offsets && compact && short_ones) offsets_ = make_array<uint16_t>(n * d);
        else if (offsets) whole_ = codes;
        team.run(static_cast<int>(blocks), [&](int task, int) {
            each(task, [&](size_t f, size_t a, size_t b, const uint32_t* column) {
                if (f == 0) hot.lay_bins(codes, n, d, a, b, narrow_.get(), wide_.get());
                for (size_t i = a; i < b && offsets_; ++i) offsets_[f * n + i] = static_cast<uint16_t>((column[i] & offset_mask) >> spare_bits);
            });
        });
    }

    size_t rows() const { return n_; }
    size_t features() const { return d_; }
    // Bins of a feature up to the last that has samples, and whether each holds no code (0), one (1) or several (2).
    const std::vector<uint8_t>& kinds(size_t feature) const { return kinds_[feature]; }
    bool needs_whole() const { return whole_ != nullptr && !own_; }
    CodeParts parts() const { return {narrow_.get(), wide_.get(), whole_, offsets_.get()}; }

    // The codes of some rows.
    PackedCodes take(const int64_t* rows, size_t count) const {
        PackedCodes some(count, d_);
        const auto copy_bins = [&](const auto* from, auto* to) {
            for (size_t i = 0; i < count; ++i) std::copy_n(from + static_cast<size_t>(rows[i]) * d_, d_, to + i * d_);
        };
        const auto copy_columns = [&](const auto* from, auto* to) {
            for (size_t f = 0; f < d_; ++f)
                for (size_t i = 0; i < count; ++i) to[f * count + i] = from[f * n_ + static_cast<size_t>(rows[i])];
        };
        if (narrow_) some.narrow_ = make_array<uint8_t>(count * d_), copy_bins(narrow_.get(), some.narrow_.get());
        if (wide_) some.wide_ = make_array<uint16_t>(count * d_), copy_bins(wide_.get(), some.wide_.get());
        if (offsets_) some.offsets_ = make_array<uint16_t>(count * d_), copy_columns(offsets_.get(), some.offsets_.get());
        if (whole_) some.own_ = make_array<uint32_t>(count * d_), copy_columns(whole_, some.own_.get()), some.whole_ = some.own_.get();
        some.kinds_ = kinds_;  // some bins may have fewer codes now, which costs a look in vain
        return some;
    }

  private:
    PackedCodes(size_t n, size_t d) : n_(n), d_(d) {}
    // Which bits any code has. Offsets are 0 for all samples of a bin, or for none: what the last sample says of its bin, all say.
    static uint32_t note_kinds(const uint32_t* codes, size_t a, size_t b, uint8_t* kinds) {
        uint32_t any = 0;
        for (size_t i = a; i < b; ++i) kinds[codes[i] >> offset_bits] = codes[i] & offset_mask ? 2 : 1, any |= codes[i];
        return any;
    }

    size_t n_, d_;
    Array<uint8_t> narrow_;  // bins, where there are few
    Array<uint16_t> wide_;   // else
    Array<uint16_t> offsets_;
    const uint32_t* whole_ = nullptr;
    Array<uint32_t> own_;  // the same, where they are nobody else's
    std::vector<std::vector<uint8_t>> kinds_;
};

}  // namespace tripletree
