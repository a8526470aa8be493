// The best cuts found so far, and the rule for ties.
#pragma once

#include <algorithm>
#include <vector>

#include "layout.hpp"

namespace tripletree {

struct Candidate {
    double gain;
    int feature;
    double left;   // rows on the left: orders the cuts of one feature
    uint32_t cut;  // left if code <= cut
};

// The best cuts so far: all that tie with the best.
class Best {
  public:
    void reset(double above, double at_least) {
        above_ = above;
        floor_ = std::max(above, at_least);
        at_least_ = at_least;
        top_ = 0;
        list_.clear();
        full_ = 256;
    }
    double floor() const { return floor_; }  // a cut that gains less cannot be chosen
    void offer(double gain, int feature, double left, uint32_t cut) {
        if (gain < floor_ || !(gain > above_)) return;
        if (gain > top_) {
            top_ = gain;
            floor_ = std::max({above_, at_least_, top_ * (1 - tie_share)});
        }
        if (list_.size() >= full_) {
            prune();
            full_ = std::max<size_t>(256, 2 * list_.size());  // all of them may tie: looking through them again and again would take long
        }
        list_.push_back({gain, feature, left, cut});
    }
    // Lower feature, then lower cut, among the ties; nullptr when nothing was good enough.
    const Candidate* choose() {
        prune();
        const Candidate* chosen = nullptr;
        for (const Candidate& c : list_)
            if (!chosen || c.feature < chosen->feature || (c.feature == chosen->feature && c.left < chosen->left)) chosen = &c;
        return chosen;
    }

  private:
    void prune() {
        list_.erase(std::remove_if(list_.begin(), list_.end(), [&](const Candidate& c) { return c.gain < floor_; }), list_.end());
    }
    double above_ = 0, at_least_ = 0, floor_ = 0, top_ = 0;
    std::vector<Candidate> list_;
    size_t full_ = 256;  // how long the list may become before it is looked through
};

}  // namespace tripletree
