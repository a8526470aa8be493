// Small nodes. When a node becomes small its rows are sorted along every feature, once: it is a pool. Its descendants inherit the
// order, because a sorted list that is parted in two keeps the order of each part.
#pragma once

#include "search.hpp"

namespace tripletree {

// What a node knows of the pool that it belongs to.
struct Member {
    struct Feature {
        int feature;
        bool ties;  // some rows of the pool share a value
    };
    size_t first = 0, size = 0;   // the pool's first place in the order of rows, and how many there are
    size_t room = 0;              // rows of the pools before it in the room for lists
    Feature* features = nullptr;  // along which the node has, or may have, several values
    size_t several = 0;           // of them
    const Feature* begin() const { return features; }
    const Feature* end() const { return features + several; }
    bool weigh_all = false;  // most runs had to be opened so far: not worth the trouble any more
    explicit operator bool() const { return size > 0; }
};

class Pools {
  public:
    // A pool has a list for each feature, of places in the order of rows, counted from its first; and the rank of each place's
    // value. A node's rows are side by side in each.
    Pools(const Table& table, const uint32_t* order, uint16_t* lists, uint16_t* ranks, const Flag& cancel)
        : table_(table), order_(order), lists_(lists), ranks_(ranks), cancel_(cancel) {}

    // The rows of the node that begins at `begin`, sorted along a feature.
    Places<uint16_t> along(const Member& member, int feature, size_t begin) const {
        bool ties = true;
        for (const Member::Feature& f : member)
            if (f.feature == feature) ties = f.ties;
        return along(member, Member::Feature{feature, ties}, begin);
    }

    void make(Member& member, size_t begin, size_t end, Search& s) {
        const size_t count = end - begin;
        member.first = begin, member.size = count, member.room = used_.fetch_add(count);
        if (s.codes.size() < count) s.codes.resize(count);
        s.make_room(count);
        member.features = s.make<Member::Feature>(table_.d);
        for (int f = 0; f < static_cast<int>(table_.d); ++f) {
            stop_if(cancel_);
            hot.gather_codes(table_, static_cast<size_t>(f), order_ + begin, count, s.codes.data());
            uint16_t* list = lists_ + start(member, f);
            const Values values = hot.sort_places(s.codes.data(), count, s.words.data(), list);
            if (values == Values::one) continue;
            if (values == Values::with_ties) hot.rank_places(s.codes.data(), list, count, ranks_ + start(member, f));
            member.features[member.several++] = {f, values == Values::with_ties};
        }
        const size_t width = static_cast<size_t>(table_.lanes.width);  // the search begins with sums of rows from all over memory
        for (size_t i = begin; i < end; ++i)
            for (size_t k = 0; k < width; k += 16) __builtin_prefetch(table_.rows + order_[i] * width + k, 0, 2);
    }

    // The best split of a node whose lists are parted from its sibling's.
    void search(Member& member, size_t begin, size_t end, Search& s) const {
        const size_t count = end - begin, usual = s.all_at_once;
        if (member.weigh_all) s.all_at_once = count;
        s.opened = 0;
        Member::Feature* features = s.make<Member::Feature>(member.several);  // the others are the parent's
        size_t several = 0;
        for (const Member::Feature& f : member) {
            stop_if(cancel_);
            const Places<uint16_t> line = along(member, f, begin);
            if (line.value(0) == line.value(count - 1)) continue;
            features[several++] = f;
            weigh_sorted(table_, s, f.feature, line, count, {s.zero.data(), 0, 0, 0});
        }
        member.features = features, member.several = several;
        open_runs(table_, s);
        member.weigh_all |= 5 * s.opened > 2 * count * several;
        s.all_at_once = usual;
    }

    // Parts the lists of a node that is split on a feature into those of its children; the second begins at `middle`.
    void part(const Member& member, int feature, size_t begin, size_t middle, size_t end, Search& s) {
        s.make_room(member.size);
        uint8_t* side = s.side.data();
        uint16_t* right = s.places.data();
        const uint16_t* by = along(member, feature, begin).list;
        for (size_t i = 0; i < middle - begin; ++i) side[by[i]] = 0;
        for (size_t i = middle - begin; i < end - begin; ++i) side[by[i]] = 1;
        for (const Member::Feature& f : member) {
            if (f.feature == feature) continue;
            stop_if(cancel_);
            uint16_t* list = lists_ + start(member, f.feature) + (begin - member.first);
            size_t l = 0, r = 0;
            for (size_t i = 0; i < end - begin; ++i) {  // no branch: a place is written to both sides, and kept on one
                const uint16_t place = list[i];
                const size_t goes_right = side[place];
                list[l] = place;
                right[r] = place;
                l += 1 - goes_right;
                r += goes_right;
            }
            std::memcpy(list + l, right, r * sizeof(uint16_t));
        }
    }

  private:
    size_t start(const Member& member, int feature) const { return member.room * table_.d + static_cast<size_t>(feature) * member.size; }
    Places<uint16_t> along(const Member& member, const Member::Feature& f, size_t begin) const {
        const size_t at = start(member, f.feature);
        return {order_ + member.first, lists_ + at + (begin - member.first), f.ties ? ranks_ + at : nullptr};
    }

    const Table& table_;
    const uint32_t* order_;
    uint16_t *lists_, *ranks_;     // memory that no pool uses is never touched
    std::atomic<size_t> used_{0};  // rows of all pools so far
    const Flag& cancel_;
};

}  // namespace tripletree
