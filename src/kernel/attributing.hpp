// How much each feature contributed to a prediction: Shapley values on a tree, exact and in polynomial time.
//
// A game says what the tree predicts when it is told some features of a state only. Along each path its features act
// independently, so the Shapley value is the integral from 0 to 1 of a polynomial (Owen's multilinear extension along its diagonal):
// Gauss-Legendre nodes, or Euler's beta function, give it exactly. docs/attribution.md has the games.
#pragma once

#include <cmath>
#include <limits>

#include "common.hpp"
#include "hot.hpp"
#include "telling.hpp"

namespace tripletree {

// What leaves predict: centre + slope (state - origin), but within low .. high. Leaves x targets, or x features.
struct LeafModels {
    size_t leaves, d, targets;
    const double *origin, *centre, *slope, *low, *high;
};

// Features that are not told go to each side of a split as often as the samples did: `cover` has the product of these shares for
// each leaf and feature. Row K - 1 of `at` and `weight` holds K nodes of the quadrature on (0, 1), in rows of `most`.
class PathLeaves {
  public:
    PathLeaves(const LeafModels& models, const double* lower, const double* upper, const double* cover, const double* at, const double* weight, size_t most) {
        const size_t d = models.d, targets = models.targets;
        leaves_.resize(models.leaves);
        for (size_t leaf = 0; leaf < models.leaves; ++leaf) {
            Leaf& made = leaves_[leaf];
            made.on_path.assign(d, 0);
            std::vector<double> share;
            for (size_t f = 0; f < d; ++f) {
                const double low = lower[leaf * d + f], high = upper[leaf * d + f];
                if (std::isinf(low) && std::isinf(high)) continue;
                made.on_path[f] = 1;
                made.feature.push_back(static_cast<int32_t>(f));
                made.lower.push_back(low);
                made.upper.push_back(high);
                share.push_back(cover[leaf * d + f]);
            }
            const double* slope = models.slope + leaf * targets * d;
            made.sloping.assign(targets, 0);
            bool any = false;
            for (size_t c = 0; c < targets; ++c) {
                made.sloping[c] = std::any_of(slope + c * d, slope + (c + 1) * d, [](double one) { return one != 0; });
                any |= made.sloping[c];
            }
            // K nodes are exact up to degree 2 K - 1; the degree is that of a product over the path, one less without slopes.
            const size_t path = share.size(), nodes = std::max<size_t>(any ? path / 2 + 1 : (path + 1) / 2, 1);
            if (nodes > most) throw std::invalid_argument("the quadrature has too few nodes for the longest path");
            const double *t = at + (nodes - 1) * most, *w = weight + (nodes - 1) * most;
            for (size_t k = 0; k < nodes; ++k) {
                made.less.push_back(-1 / (1 - t[k]));
                for (size_t j = 0; j < path; ++j) {
                    const double out = (1 - t[k]) * share[j], in = t[k] + out;
                    made.outside.push_back(out);
                    made.per_inside.push_back(1 / in);
                    made.more.push_back((1 - share[j]) / in);
                }
            }
            made.plain = {path,
                          nodes,
                          d,
                          targets,
                          made.feature.data(),
                          made.on_path.data(),
                          made.sloping.data(),
                          made.lower.data(),
                          made.upper.data(),
                          t,
                          w,
                          made.outside.data(),
                          made.per_inside.data(),
                          made.more.data(),
                          made.less.data(),
                          models.origin + leaf * d,
                          models.centre + leaf * targets,
                          slope,
                          models.low + leaf * targets,
                          models.high + leaf * targets};
            room_ = std::max(room_, 8 * (2 * d + 2 * nodes));
        }
    }

    // Fills out, states x features x targets. Each state is computed by itself, so their number and the threads do not matter.
    void attribute(const double* states, size_t n, size_t d, size_t targets, Team& team, const Flag& cancel, double* out) const {
        constexpr size_t block = 128;
        team.run(static_cast<int>((n + block - 1) / block), [&](int task, int) {
            stop_if(cancel);
            std::vector<double> eight(8 * d), room(room_), phi(8 * d * targets);
            const size_t begin = static_cast<size_t>(task) * block;
            for (size_t a = begin; a < std::min(n, begin + block); a += 8) {
                for (size_t f = 0; f < d; ++f)
                    for (size_t lane = 0; lane < 8; ++lane) eight[8 * f + lane] = states[std::min(a + lane, n - 1) * d + f];
                std::fill(phi.begin(), phi.end(), 0.0);
                for (const Leaf& leaf : leaves_) hot.attribute_eight(leaf.plain, eight.data(), room.data(), phi.data());
                for (size_t lane = 0; lane < std::min<size_t>(8, n - a); ++lane)
                    for (size_t j = 0; j < d * targets; ++j) out[(a + lane) * d * targets + j] = phi[8 * j + lane];
            }
        });
    }

  private:
    struct Leaf {
        std::vector<int32_t> feature;
        std::vector<uint8_t> on_path, sloping;
        std::vector<double> lower, upper, outside, per_inside, more, less;
        PathLeaf plain;
    };
    std::vector<Leaf> leaves_;
    size_t room_ = 0;
};

// Features that are not told are those of another state, of a background; the mean over all of these.
class BackgroundWalk {
  public:
    BackgroundWalk(const LeafModels& models, const uint8_t* sloping, const Branches& branches, const int32_t* leaf_number, const double* states,
                   const double* others)
        : models_(models), sloping_(sloping), branches_(branches), leaf_number_(leaf_number), states_(states), others_(others), side_(models.d),
          width_(models.d + 3), beta_(width_ * width_) {
        // beta(a, b) = (a - 1)! (b - 1)! / (a + b - 1)!, the integral of t^(a - 1) (1 - t)^(b - 1).
        for (size_t a = 1; a < width_; ++a) {
            beta_[a * width_ + 1] = 1.0 / static_cast<double>(a);
            for (size_t b = 1; b + 1 < width_; ++b) beta_[a * width_ + b + 1] = beta_[a * width_ + b] * static_cast<double>(b) / static_cast<double>(a + b);
        }
    }

    // Adds to phi, features x targets, the contributions of one state against another.
    void add(size_t state, size_t other, double* phi) {
        x_ = states_ + state * models_.d;
        b_ = others_ + other * models_.d;
        phi_ = phi;
        mine_ = theirs_ = 0;
        std::fill(side_.begin(), side_.end(), Side::either);
        walk(0);
    }

  private:
    enum class Side : uint8_t { either, state, other };
    const LeafModels& models_;
    const uint8_t* sloping_;  // leaves x targets
    const Branches branches_;
    const int32_t* leaf_number_;
    const double *states_, *others_, *x_ = nullptr, *b_ = nullptr;
    double* phi_ = nullptr;
    std::vector<Side> side_;  // whose value of each feature leads to this node: of either, or of one of them only
    size_t mine_ = 0, theirs_ = 0, width_;
    std::vector<double> beta_;

    double beta(size_t a, size_t b) const { return beta_[a * width_ + b]; }

    void walk(size_t node) {
        while (branches_.left[node] >= 0) {
            const auto f = static_cast<size_t>(branches_.feature[node]);
            const size_t own = branches_.below(node, x_), its = branches_.below(node, b_);
            if (side_[f] == Side::other || own == its) {
                node = its;
            } else if (side_[f] == Side::state) {
                node = own;
            } else {
                side_[f] = Side::state, ++mine_;
                walk(own);
                --mine_, side_[f] = Side::other, ++theirs_;
                walk(its);
                --theirs_, side_[f] = Side::either;
                return;
            }
        }
        settle(static_cast<size_t>(leaf_number_[node]));
    }

    void settle(size_t leaf) {
        const size_t d = models_.d, targets = models_.targets, u = mine_, v = theirs_;
        const double* origin = models_.origin + leaf * d;
        for (size_t c = 0; c < targets; ++c) {
            const double *slope = models_.slope + (leaf * targets + c) * d, low = models_.low[leaf * targets + c], high = models_.high[leaf * targets + c];
            if (!sloping_[leaf * targets + c]) {
                const double centre = models_.centre[leaf * targets + c], mine = u ? centre * beta(u, v + 1) : 0, theirs = v ? centre * beta(u + 1, v) : 0;
                for (size_t f = 0; f < d; ++f)
                    if (side_[f] != Side::either) phi_[f * targets + c] += side_[f] == Side::state ? mine : -theirs;
                continue;
            }
            // From the mixture that has as little of the state as this leaf allows to the one that has most.
            double least = models_.centre[leaf * targets + c], way = 0;
            for (size_t f = 0; f < d; ++f) {
                least += slope[f] * ((side_[f] == Side::state ? x_[f] : b_[f]) - origin[f]);
                if (side_[f] == Side::either) way += slope[f] * (x_[f] - b_[f]);
            }
            const double begin = held(least, low, high), end = held(least + way, low, high);
            const double shrink = begin == least && end == least + way ? 1.0 : way != 0 ? (end - begin) / way : 0.0;
            const double gone = begin == least && end == least + way ? way : end - begin;
            const double mine = u ? begin * beta(u, v + 1) + gone * beta(u + 1, v + 1) : 0, theirs = v ? begin * beta(u + 1, v) + gone * beta(u + 2, v) : 0;
            const double free = shrink * beta(u + 1, v + 1);
            for (size_t f = 0; f < d; ++f) {
                double& out = phi_[f * targets + c];
                if (side_[f] == Side::state) out += mine;
                else if (side_[f] == Side::other) out -= theirs;
                else out += free * slope[f] * (x_[f] - b_[f]);
            }
        }
    }

    static double held(double number, double low, double high) { return std::min(std::max(number, low), high); }
};

inline void attribute_against(const LeafModels& models, const Branches& branches, const int32_t* leaf_number, const double* states, size_t n,
                              const double* others, size_t m, Team& team, const Flag& cancel, double* out) {
    constexpr size_t block = 8;
    const size_t width = models.d * models.targets;
    std::vector<uint8_t> sloping(models.leaves * models.targets);
    for (size_t row = 0; row < sloping.size(); ++row)
        sloping[row] = std::any_of(models.slope + row * models.d, models.slope + (row + 1) * models.d, [](double slope) { return slope != 0; });
    team.run(static_cast<int>((n + block - 1) / block), [&](int task, int) {
        BackgroundWalk walk(models, sloping.data(), branches, leaf_number, states, others);
        const size_t a = static_cast<size_t>(task) * block;
        for (size_t i = a; i < std::min(n, a + block); ++i) {
            stop_if(cancel);
            double* phi = out + i * width;
            std::fill_n(phi, width, 0.0);
            for (size_t b = 0; b < m; ++b) walk.add(i, b, phi);
            for (size_t j = 0; j < width; ++j) phi[j] /= static_cast<double>(m);
        }
    });
}

}  // namespace tripletree
