// Targets: measured, rounded to integers, and laid out as rows.
#pragma once

#include <algorithm>

#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

// Eight numbers of a column.
TT_INLINE V8 load_column(const double* x, size_t stride) {
    if (stride == 1) return load(x);
    V8 some;
    for (size_t k = 0; k < 8; ++k) some[k] = x[k * stride];
    return some;
}

// The range of a column, or of eight side by side, together with the one so far; NaN does not count. Whether all numbers are finite.
static bool widen_ranges(const double* x, size_t n, size_t stride, bool eight, double* lowest, double* highest) {
    V8 lo = eight ? load(lowest) : V8{} + *lowest, hi = eight ? load(highest) : V8{} + *highest, none = {};
    auto add = [&](V8 v) { lo = v < lo ? v : lo, hi = v > hi ? v : hi, none += v - v; };  // 0, but for what is not finite
    if (eight) {
        for (size_t i = 0; i < n; ++i, x += stride) add(load(x));
        store(lowest, lo), store(highest, hi);
        return horizontal_sum(none) == 0;
    }
    size_t i = 0;
    for (; i + 8 <= n; i += 8) add(load_column(x + i * stride, stride));
    for (; i < n; ++i) add(V8{} + x[i * stride]);
    for (int k = 0; k < 8; ++k) *lowest = std::min(*lowest, lo[k]), *highest = std::max(*highest, hi[k]);
    return horizontal_sum(none) == 0;
}

// Adds up u = (x - centre) * unit, and u^2, where x is not NaN, of a column, or of eight side by side; returns how often the first
// is not. Adding and subtracting a large number rounds to a grid; on two grids, one for what the other leaves, no sum is rounded.
// sums[4 * column] is for the high part of u, the next for the low part, then those of u^2.
static size_t add_sums(const double* x, size_t n, size_t stride, bool eight, const double* centre, const double* unit, const double* large, double* sums) {
    const V8 middle = eight ? load(centre) : V8{} + *centre, scale = eight ? load(unit) : V8{} + *unit;
    V8 total[4] = {}, count = {};
    auto add = [&](V8 v) {
        const auto known = v == v;
        V8 u = known ? (v - middle) * scale : V8{};
        count += known ? V8{} + 1 : V8{};
        for (int power = 0; power < 2; ++power, u = u * u) {
            const V8 high = (u + large[0]) - large[0];
            total[2 * power] += high;
            total[2 * power + 1] += ((u - high) + large[1]) - large[1];
        }
    };
    if (eight) {
        for (size_t i = 0; i < n; ++i, x += stride) add(load(x));
        for (int k = 0; k < 8; ++k)
            for (int j = 0; j < 4; ++j) sums[4 * k + j] += total[j][k];
        return static_cast<size_t>(count[0]);
    }
    size_t i = 0;
    for (; i + 8 <= n; i += 8) add(load_column(x + i * stride, stride));
    if (i < n) {
        V8 some = V8{} + __builtin_nan("");
        for (size_t k = 0; i + k < n; ++k) some[k] = x[(i + k) * stride];
        add(some);
    }
    for (int j = 0; j < 4; ++j) sums[j] += horizontal_sum(total[j]);
    return static_cast<size_t>(horizontal_sum(count));
}

// out[i][k] = ((x[i][k] - centre[k]) * unit[k] - mean[k]) * scale[k], rounded half to even; 0 for NaN. |result| must stay below 2^31.
// What rounding leaves goes to out[i][k + second], in units of 1 / limb, unless `second` is 0.
static void quantise(const double* x, size_t n, size_t m, int64_t row_stride, int64_t column_stride, const double* centre, const double* unit,
                     const double* mean, const double* scale, int32_t* out, size_t width, size_t second) {
    const double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    if (m >= 8 && column_stride == 1) {
        for (size_t i = 0; i < n; ++i, x += row_stride, out += width)
            for (size_t from = 0; from < m; from += 8) {
                const size_t k = std::min(from, m - 8);  // the last eight overlap those before
                const V8 y = ((load(x + k) - load(centre + k)) * load(unit + k) - load(mean + k)) * load(scale + k);
                const V8 rounded = y == y ? (y + magic) - magic : V8{};
                narrow(rounded, out + k);
                if (second) narrow(y == y ? ((y - rounded) * limb + magic) - magic : V8{}, out + k + second);
            }
        return;
    }
    constexpr size_t together = 64;  // rows, whose lanes stay in the first cache
    for (size_t a = 0; a < n; a += together)
        for (size_t k = 0; k < m; ++k) {
            const size_t b = std::min(n, a + together);
            const double middle = centre[k], per_unit = unit[k], from = mean[k], steps = scale[k];
            const double* v = x + static_cast<int64_t>(a) * row_stride + static_cast<int64_t>(k) * column_stride;
            int32_t* to = out + a * width + k;
            for (size_t i = a; i < b; ++i, v += row_stride, to += width) {
                const double y = ((*v - middle) * per_unit - from) * steps, rounded = (y + magic) - magic;
                *to = y == y ? static_cast<int32_t>(rounded) : 0;
                if (second) to[second] = y == y ? static_cast<int32_t>(((y - rounded) * limb + magic) - magic) : 0;
            }
        }
}

// What no |y|^2 of rows a .. b exceeds: the sum of every target's largest square.
static double largest_square(const Table& table, size_t a, size_t b) {
    const size_t width = static_cast<size_t>(table.lanes.width);
    double sum = 0;
    for (int j = 0; j < table.lanes.joint(); ++j) {
        I8 lo = {}, hi = {};
        for (size_t i = a; i < b; ++i) {
            const I8 y = load(table.rows + i * width + 8 * j);
            lo = y < lo ? y : lo, hi = y > hi ? y : hi;
        }
        for (int k = 8 * j; k < 8 * j + 8 && k < table.lanes.targets; ++k) {
            const double most = table.lanes.fine ? (std::max(hi[k % 8], -lo[k % 8]) + 1) * limb : std::max(hi[k % 8], -lo[k % 8]);
            sum += most * most;
        }
    }
    return sum;
}

// Squares of one group of a row: in one lane, or in two.
TT_INLINE void store_square(const Lanes& lanes, double square, int32_t* y) {
    if (!lanes.fine) {
        *y = static_cast<int32_t>(square) + 1;
        return;
    }
    const int64_t whole = static_cast<int64_t>(square) + 1;
    *y = static_cast<int32_t>(whole >> limb_bits);
    y[lanes.second()] = static_cast<int32_t>(whole & ((1 << limb_bits) - 1));
}

// With weights the count is there already, and so are the squares, as they are.
static void complete_weighted(const Table& table, size_t a, size_t b) {
    const Lanes& lanes = table.lanes;
    for (size_t i = a; i < b; ++i) {
        int32_t* y = table.rows + i * static_cast<size_t>(lanes.width);
        const Wide plain = table.weighted_squares[2 * i], derivative = table.weighted_squares[2 * i + 1];
        store_square(lanes, static_cast<double>(table.missing ? plain : plain + derivative) / table.square_unit, y + lanes.squares());
        if (table.missing) store_square(lanes, static_cast<double>(derivative) / table.square_unit, y + lanes.derivative_squares());
    }
}

template <int NV, bool FINE>
TT_INLINE void complete_impl(const Table& table, size_t a, size_t b) {
    const Lanes& lanes = table.lanes;
    const int nv = NV ? NV : lanes.vectors, nu = FINE ? nv / 2 : nv, plain = table.missing ? lanes.plain : lanes.targets;
    const double per_unit = 1 / table.square_unit;
    const I8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
    for (size_t i = a; i < b; ++i) {
        int32_t* y = table.rows + i * static_cast<size_t>(nv) * 8;
        V8 sum = {}, sum_d = {};
        for (int j = 0; j < nu; ++j) {
            const I8 at = lane + 8 * j, p = at < plain, q = (at >= plain) & (at < lanes.targets), v = load(y + 8 * j);
            V8 a = widen(v & p), b = widen(v & q);
            if (FINE) a = a * limb + widen(load(y + 8 * (j + nu)) & p), b = b * limb + widen(load(y + 8 * (j + nu)) & q);
            sum += a * a, sum_d += b * b;
        }
        y[lanes.count()] = 1;
        store_square(lanes, horizontal_sum(sum) * per_unit, y + lanes.squares());
        if (table.missing) store_square(lanes, horizontal_sum(sum_d) * per_unit, y + lanes.derivative_squares());
        else y[lanes.derivative_squares()] = 0;
    }
}

// Fills in count and squares of rows a .. b.
static void complete_rows(const Table& table, size_t a, size_t b) {
    if (table.lanes.weighted) return complete_weighted(table, a, b);
    if (table.lanes.fine) return complete_impl<0, true>(table, a, b);
    switch (table.lanes.vectors) {
        case 1: return complete_impl<1, false>(table, a, b);
        case 2: return complete_impl<2, false>(table, a, b);
        case 3: return complete_impl<3, false>(table, a, b);
        default: return complete_impl<0, false>(table, a, b);
    }
}

}  // namespace TT_ISA
}  // namespace tripletree
