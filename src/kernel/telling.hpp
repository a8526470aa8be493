// What linear leaves say of states: one or many, and how far off they are at every node on a state's way down the tree.
#pragma once

#include <cmath>

#include "common.hpp"
#include "hot.hpp"

namespace tripletree {

// The models of all nodes in double precision, targets side by side and padded to whole vectors.
struct Models {
    size_t nodes, d, k, width;
    std::vector<double> origin, centre, slope, low, high;

    Models(size_t nodes, size_t d, size_t k, const double* origins, const double* centres, const float* slopes, const float* lows, const float* highs)
        : nodes(nodes), d(d), k(k), width((k + 7) / 8 * 8), origin(origins, origins + nodes * d), centre(nodes * width), slope(nodes * d * width),
          low(nodes * width), high(nodes * width) {
        for (size_t node = 0; node < nodes; ++node)
            for (size_t c = 0; c < k; ++c) {
                centre[node * width + c] = centres[node * k + c];
                low[node * width + c] = lows[node * k + c];
                high[node * width + c] = highs[node * k + c];
                for (size_t f = 0; f < d; ++f) slope[(node * d + f) * width + c] = slopes[(node * k + c) * d + f];
            }
    }

    void tell(size_t node, const double* state, double* out) const {
        hot.tell(state, origin.data() + node * d, centre.data() + node * width, slope.data() + node * d * width, low.data() + node * width,
                 high.data() + node * width, d, width, out);
    }

    size_t best(const double* told, size_t scores) const {
        size_t first = 0;
        for (size_t c = 1; c < scores; ++c)
            if (told[c] > told[first]) first = c;
        return first;
    }
};

struct Branches {
    const int32_t* feature;
    const double* threshold;
    const int32_t* left;
    size_t below(size_t node, const double* state) const { return static_cast<size_t>(left[node]) + (state[feature[node]] < threshold[node] ? 0 : 1); }
};

// Squared errors in units and wrong labels, at every node: of all rows that pass through it. The sum over the leaves of any
// smaller tree is that tree's. `targets` holds NaN where a derivative is missing; the first `scores` columns are 0/1 labels.
struct Errors {
    std::vector<double> squares;  // nodes x k
    std::vector<double> wrong;    // nodes; with weights, what they weigh
};

inline Errors errors_of(const Models& models, const Branches& branches, const double* states, const double* targets, size_t n, const double* per_unit,
                        const double* weight, size_t scores, Team& team, const Flag& cancel) {
    constexpr size_t parts = 16;  // always as many, so that sums do not depend on the number of threads
    std::vector<Errors> found(parts);
    team.run(static_cast<int>(parts), [&](int task, int) {
        const auto part = static_cast<size_t>(task);
        Errors& mine = found[part];
        mine.squares.assign(models.nodes * models.k, 0.0);
        mine.wrong.assign(models.nodes, 0.0);
        std::vector<double> told(models.width);
        for (size_t i = part * n / parts; i < (part + 1) * n / parts; ++i) {
            if (i % 4096 == 0) stop_if(cancel);
            const double *state = states + i * models.d, *target = targets + i * models.k, one = weight ? weight[i] : 1.0;
            for (size_t node = 0;; node = branches.below(node, state)) {
                models.tell(node, state, told.data());
                double* sums = mine.squares.data() + node * models.k;
                for (size_t c = scores; c < models.k; ++c) {
                    const double off = (target[c] - told[c]) * per_unit[c];
                    if (!std::isnan(off)) sums[c] += one * (off * off);
                }
                if (scores > 0) mine.wrong[node] += target[models.best(told.data(), scores)] == 0.0 ? one : 0.0;
                if (branches.left[node] < 0) break;
            }
        }
    });
    Errors all = std::move(found[0]);
    for (size_t part = 1; part < parts; ++part) {
        for (size_t j = 0; j < all.squares.size(); ++j) all.squares[j] += found[part].squares[j];
        for (size_t j = 0; j < all.wrong.size(); ++j) all.wrong[j] += found[part].wrong[j];
    }
    return all;
}

}  // namespace tripletree
