// What the sums of a node say: its impurity, and its mean in whole numbers and a rest.
#pragma once

#include <algorithm>
#include <cmath>

#include "layout.hpp"

namespace tripletree {

// Sums are by lane, exact integers (with weights: each row's times its weight).
struct Weigher {
    const Lanes& lanes;
    bool missing;  // some derivative of the log is missing
    double least;  // smallest weight

    // Samples of a node, or their weight.
    double weight(const double* sums, double rows) const { return lanes.weighted ? sums[static_cast<size_t>(lanes.count())] : rows; }
    double with_derivative(const double* sums, double rows) const { return missing ? sums[static_cast<size_t>(lanes.with_derivative())] : weight(sums, rows); }

    // The mean of a target is limb x first + second + left / n, all of them whole numbers. With weights, whose sum may be larger than
    // any number of rows, `first` is a multiple of 1 / 256: so `second` has 14 bits, and n x second 50.
    struct Mean {
        double first, second, left;
    };
    Mean mean(const double* sums, int k, double n) const {
        const double sum = sums[static_cast<size_t>(k)], parts = lanes.weighted ? 256 : 1, first = std::nearbyint(sum / n * parts) / parts,
                     left = sum - n * first;
        if (!lanes.fine) return {first, 0, left};
        // Of fewer than 2^29 rows, or of weights below 2^36, this is a whole number below 2^53.
        const double fine = left * limb + sums[static_cast<size_t>(k + lanes.second())], second = std::nearbyint(fine / n);
        return {first, second, fine - n * second};
    }

    // Within sum of squares of one group. Whole parts of the means are taken off in integers, so a pure node gives 0 exactly.
    double within(Wide squares, const double* sums, int from, int to, double n) const {
        double rest = 0;
        const auto whole = [](double x) { return static_cast<Wide>(static_cast<int64_t>(x)); };
        for (int k = from; k < to; ++k) {
            const Mean at = mean(sums, k, n);
            Wide m = whole(at.first), s = whole(sums[static_cast<size_t>(k)]);
            if (lanes.fine) m = whole(at.first * limb) + whole(at.second), s = (s << limb_bits) + whole(sums[static_cast<size_t>(k + lanes.second())]);
            squares += whole(n) * m * m - 2 * m * s;  // modulo 2^128; the result itself fits
            rest += at.left * at.left / n;
        }
        return std::max(0.0, static_cast<double>(squares) - rest);
    }

    // Summed impurity; squares are those of the plain targets, and of the derivatives.
    double priority(const double* sums, Wide squares, Wide squares_d, double rows) const {
        const double n = weight(sums, rows);
        if (!missing) return within(squares + squares_d, sums, 0, lanes.targets, n);
        const double nd = with_derivative(sums, rows), plain = within(squares, sums, 0, lanes.plain, n);
        return nd > 0 ? plain + within(squares_d, sums, lanes.plain, lanes.targets, nd) * (n / nd) : plain;
    }

    void centre(const double* sums, double rows, Centre& c) const {
        c.n = weight(sums, rows);
        c.weighted = lanes.weighted, c.rows = rows, c.least = least;
        c.nd = with_derivative(sums, rows);
        c.two_groups = missing && c.nd < c.n;
        double squares = 0;
        for (int k = 0; k < lanes.targets; ++k) {
            const auto i = static_cast<size_t>(k);
            const bool derivative = c.two_groups && k >= lanes.plain;
            const double n = derivative ? c.nd : c.n;
            const Mean at = n > 0 ? mean(sums, k, n) : Mean{0, 0, 0};
            c.whole[i] = at.first;
            c.rest[i] = n > 0 ? at.left / n : 0;
            squares += c.rest[i] * c.rest[i];
            c.plain[i] = !derivative;
            c.derivative[i] = derivative;
            if (!lanes.fine) continue;
            const size_t second = i + static_cast<size_t>(lanes.second());
            c.whole[second] = at.second, c.plain[second] = !derivative, c.derivative[second] = derivative;
        }
        c.rest_length = std::sqrt(squares);
    }
};

}  // namespace tripletree
