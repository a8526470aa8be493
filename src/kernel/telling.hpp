// What linear leaves say of states: one or many, and how far off they are at every node on a state's way down the tree.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

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

struct ErrorsInput {
    const double *states, *targets;  // n x d, n x k
    size_t n;
    const double *per_unit, *weight;  // k; n, or nullptr
    size_t scores;
};

// Of the rows of one part: node by node, so that a model stays in the cache, and in the order of the rows within each.
class PartErrors {
  public:
    PartErrors(const Models& models, const Branches& branches, const ErrorsInput& in)
        : models_(models), branches_(branches), in_(in), tail_((std::min(in.n, spare) + 1) * std::max<size_t>(models.k, 8)), per_unit_(models.width, 0.0),
          away_(TellTogether::together * models.d), told_(TellTogether::together * models.width), sums_(models.width) {
        std::copy(in.targets + (in.n - std::min(in.n, spare)) * models.k, in.targets + in.n * models.k, tail_.begin());
        std::copy_n(in.per_unit, models.k, per_unit_.begin());
    }

    Errors of(size_t begin, size_t end, const Flag& cancel) {
        Errors found{std::vector<double>(models_.nodes * models_.k), std::vector<double>(models_.nodes)};
        struct Part {
            size_t node, begin, end;
        };
        std::vector<size_t> order(end - begin), above(end - begin);
        std::iota(order.begin(), order.end(), begin);
        std::vector<Part> open{{0, 0, end - begin}};
        while (!open.empty()) {
            stop_if(cancel);
            const Part part = open.back();
            open.pop_back();
            if (part.begin == part.end) continue;
            add(part.node, order.data() + part.begin, part.end - part.begin, found);
            if (branches_.left[part.node] < 0) continue;
            const auto left = static_cast<size_t>(branches_.left[part.node]);
            size_t below = part.begin, over = 0;
            for (size_t i = part.begin; i < part.end; ++i) {  // no branch: a row is written to both sides, and kept on one
                const size_t row = order[i];
                const bool goes_right = branches_.below(part.node, in_.states + row * models_.d) != left;
                order[below] = above[over] = row;
                below += !goes_right;
                over += goes_right;
            }
            std::copy_n(above.begin(), over, order.begin() + static_cast<std::ptrdiff_t>(below));
            open.push_back({left + 1, below, part.end});
            open.push_back({left, part.begin, below});
        }
        return found;
    }

  private:
    static constexpr size_t spare = 8;  // rows at the end that are copied, so that what lies behind the last may be read

    void add(size_t node, const size_t* rows, size_t count, Errors& found) {
        const size_t d = models_.d, k = models_.k, width = models_.width, copied = in_.n - std::min(in_.n, spare);
        std::fill(sums_.begin(), sums_.end(), 0.0);
        TellTogether some;
        some.per_unit = per_unit_.data(), some.away = away_.data(), some.told = told_.data();
        for (size_t a = 0; a < count; a += TellTogether::together) {
            const size_t here = std::min(TellTogether::together, count - a);
            for (size_t r = 0; r < here; ++r) {
                const size_t row = rows[a + r];
                some.state[r] = in_.states + row * d;
                some.target[r] = row < copied ? in_.targets + row * k : tail_.data() + (row - copied) * k;
                some.weight[r] = in_.weight ? in_.weight[row] : 1.0;
            }
            hot.tell_together(some, here, models_.origin.data() + node * d, models_.centre.data() + node * width, models_.slope.data() + node * d * width,
                              models_.low.data() + node * width, models_.high.data() + node * width, d, width, sums_.data());
            for (size_t r = 0; r < here && in_.scores > 0; ++r)
                found.wrong[node] += some.target[r][models_.best(told_.data() + r * width, in_.scores)] == 0.0 ? some.weight[r] : 0.0;
        }
        std::copy(sums_.begin() + static_cast<std::ptrdiff_t>(in_.scores), sums_.begin() + static_cast<std::ptrdiff_t>(k),
                  found.squares.begin() + static_cast<std::ptrdiff_t>(node * k + in_.scores));
    }

    const Models& models_;
    const Branches& branches_;
    const ErrorsInput& in_;
    std::vector<double> tail_, per_unit_, away_, told_, sums_;
};

inline Errors errors_of(const Models& models, const Branches& branches, const ErrorsInput& in, Team& team, const Flag& cancel) {
    constexpr size_t parts = 16;  // always as many, so that sums do not depend on the number of threads
    std::vector<Errors> found(parts);
    team.run(static_cast<int>(parts), [&](int task, int) {
        const auto part = static_cast<size_t>(task);
        found[part] = PartErrors(models, branches, in).of(part * in.n / parts, (part + 1) * in.n / parts, cancel);
    });
    Errors all = std::move(found[0]);
    for (size_t part = 1; part < parts; ++part) {
        for (size_t j = 0; j < all.squares.size(); ++j) all.squares[j] += found[part].squares[j];
        for (size_t j = 0; j < all.wrong.size(); ++j) all.wrong[j] += found[part].wrong[j];
    }
    return all;
}

}  // namespace tripletree
