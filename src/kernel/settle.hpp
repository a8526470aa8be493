// Regions without brief visits: the way through an episode that tells the fewest steps wrong, where every change of region
// costs as much as some steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tripletree {

class Settler {
  public:
    explicit Settler(double cost) : cost_(cost) {}

    // One episode: `n` regions, and those that are told instead. Of ways that are as good, the one through smaller numbers.
    void settle(const int64_t* region, size_t n, int64_t* told) {
        runs_.clear();
        for (size_t i = 0; i < n; ++i) {
            if (i == 0 || region[i] != region[i - 1]) runs_.push_back({region[i], 0, 0});
            ++runs_.back().steps;
        }
        present_.clear();
        for (const Run& run : runs_) present_.push_back(run.region);
        std::sort(present_.begin(), present_.end());
        present_.erase(std::unique(present_.begin(), present_.end()), present_.end());
        const size_t k = present_.size();
        for (Run& run : runs_) run.place = static_cast<size_t>(std::lower_bound(present_.begin(), present_.end(), run.region) - present_.begin());
        wrong_.assign(k, 0.0);
        came_from_.resize(runs_.size() * k);
        for (size_t i = 0; i < runs_.size(); ++i) {
            const size_t best = least();
            const double moved = wrong_[best] + cost_;
            for (size_t r = 0; r < k; ++r) {
                came_from_[i * k + r] = wrong_[r] > moved ? best : r;
                wrong_[r] = std::min(wrong_[r], moved) + (r == runs_[i].place ? 0.0 : static_cast<double>(runs_[i].steps));
            }
        }
        size_t here = k ? least() : 0, end = n;
        for (size_t i = runs_.size(); i-- > 0;) {
            std::fill(told + end - runs_[i].steps, told + end, present_[here]);
            end -= runs_[i].steps;
            here = came_from_[i * k + here];
        }
    }

  private:
    struct Run {
        int64_t region;
        size_t steps, place;
    };
    size_t least() const { return static_cast<size_t>(std::min_element(wrong_.begin(), wrong_.end()) - wrong_.begin()); }

    double cost_;
    std::vector<Run> runs_;
    std::vector<int64_t> present_;
    std::vector<double> wrong_;
    std::vector<size_t> came_from_;
};

}  // namespace tripletree
