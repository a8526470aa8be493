// Best-first growth. A node's split does not depend on the order of growth, so nodes near the top of the queue are
// searched ahead of time, several at once, and committed strictly in order: the tree is the same for any number of threads.
#pragma once

#include <array>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <queue>

#include "codes.hpp"
#include "edges.hpp"
#include "pool.hpp"
#include "weigher.hpp"

namespace tripletree {

struct Options {
    int64_t max_leaves, max_depth, min_samples_leaf;
    double min_gain;  // a split must gain at least this much per sample
    bool by_gain, midpoint;
    size_t pool;                          // nodes of at most so many rows are sorted; 0: the kernel's choice. Changes the speed, not the tree
    const double* edges = nullptr;        // histogram mode: between the bins of each feature, one feature after the other,
    const int64_t* first_edge = nullptr;  // and where each begins; nullptr: thresholds are put between the values
};

struct Grown {
    std::vector<int32_t> feature, left;
    std::vector<double> threshold, gain;
};

constexpr size_t no_leaf = SIZE_MAX;
struct Node {
    size_t id = no_leaf;  // in the tree, as soon as it is there
    size_t begin = 0, end = 0;
    int depth = 0;
    double* sums = nullptr;           // by lane, exact integers (with weights: each row's times its weight)
    Wide squares = 0, squares_d = 0;  // of the plain targets, of the derivatives
    double priority = 0;
    Histograms::Loan histogram;
    Node* parent = nullptr;
    Member member;          // of a pool, if the node is small
    std::once_flag parted;  // the pool's lists are parted for the children
    // What the search found.
    bool searched = false, splits = false;
    int feature = -1;
    double gain = 0, threshold = 0;
    size_t child_begin = 0;  // of the right child
    Node* child[2] = {};
    size_t size() const { return end - begin; }
};

// The large arrays of growth. The thread that calls takes them: it can use again what it gave back before, others cannot.
struct Room {
    Array<uint32_t> order;         // rows of each node side by side
    Array<uint16_t> groups;        // Table::row_groups
    Array<uint16_t> lists, ranks;  // of the pools
    Room(size_t n, size_t d, bool grouped)
        : order(make_array<uint32_t>(n)), groups(make_array<uint16_t>(grouped ? n * d : 0)), lists(make_array<uint16_t>(n * d)),
          ranks(make_array<uint16_t>(n * d)) {}
};

// Histogram mode has more bins than histograms of large nodes should have, unless the log is long and to open a bin costs as much.
inline bool wants_groups(size_t n, size_t d, const double* edges) { return edges && (n < 1'000'000 || d >= 32); }

class Grower {
  public:
    Grower(Table& table, const PackedCodes& codes, const Room& room, const Options& options, Team& team, const Flag& cancel, std::atomic<int64_t>& leaves)
        : table_(table), codes_(codes), options_(options), team_(team), cancel_(cancel), leaves_(leaves), order_(room.order.get()), groups_(room.groups.get()),
          pools_(table, room.order.get(), room.lists.get(), room.ranks.get(), cancel), searches_(static_cast<size_t>(team.size())),
          squares_(make_array<Wide>(table.lanes.weighted ? 2 * table.n : 0)) {
        table_.weighted_squares = squares_.get();
        const auto width = static_cast<size_t>(table.lanes.width);
        for (Search& s : searches_) {
            s.prepare(width, static_cast<double>(options.min_samples_leaf));
        }
    }

    // Grows the tree; afterwards node_of[i] is the leaf of row i.
    Grown grow(int32_t* node_of) {
        spare_ = reinterpret_cast<uint32_t*>(node_of);  // not needed before the end
        start();
        // While there are fewer nodes than threads, all of them share one.
        while (!finished() && wanted_.size() < static_cast<size_t>(team_.size())) {
            Node& node = *next(searches_[0]);
            search(node, searches_[0], node.size() * table_.d >= inline_work ? &team_ : nullptr);
            note(node);
        }
        team_.run(team_.size(), [&](int, int thread) { work(searches_[static_cast<size_t>(thread)]); });
        std::vector<const Node*> leaves;
        for (const Node* node : nodes_)
            if (tree_.left[node->id] < 0) leaves.push_back(node);
        constexpr size_t together = 16;
        team_.run(static_cast<int>((leaves.size() + together - 1) / together), [&](int task, int) {
            const size_t from = static_cast<size_t>(task) * together;
            for (size_t k = from; k < std::min(leaves.size(), from + together); ++k) put_leaf(*leaves[k], node_of);
        });
        return std::move(tree_);
    }

  private:
    static constexpr size_t short_log = 1 << 14, usual_pool = 1 << 12;
    static constexpr size_t ahead = 64;             // rows that are fetched before they are needed
    static constexpr size_t inline_work = 1 << 14;  // below this many codes a round of the team costs more than it saves

    // A leaf in the order of splits. Keys are compared in single precision: what is equal but for rounding must tie, and then the
    // older leaf comes first.
    struct Entry {
        float key;
        size_t id;
        bool operator<(const Entry& other) const { return key != other.key ? key < other.key : id > other.id; }
    };
    // A node to search. The order changes the speed, not the tree: those that will surely be split come first, the smallest of them
    // before the others, so that few histograms are needed at a time and rows are still in the cache; then as leaves are split.
    struct Wish {
        bool sure;
        double key;
        Node* node;
        bool operator<(const Wish& other) const { return sure != other.sure ? other.sure : key < other.key; }
    };

    // One thread's part: it searches whatever is wanted most, and nobody waits for the others' nodes.
    void work(Search& s) {
        std::unique_lock<std::mutex> lock(mutex_);
        while (!failed_ && !finished()) {
            Node* node = next(s);
            if (!node) {
                found_.wait(lock);
                continue;
            }
            lock.unlock();
            try {
                search(*node, s, nullptr);
                lock.lock();
                note(*node);
            } catch (...) {
                if (!lock.owns_lock()) lock.lock();
                failed_ = true;
                found_.notify_all();
                throw;
            }
            found_.notify_all();
        }
    }

    size_t leaves() const { return (nodes_.size() + 1) / 2; }
    bool finished() const { return leaves() >= static_cast<size_t>(options_.max_leaves) || (queue_.empty() && !awaited_); }

    // The next node to search; nullptr where those under way may be all that the tree needs.
    Node* next(Search& s) {
        if (wanted_.empty() || (busy_ && leaves() + ahead_ + busy_ >= static_cast<size_t>(options_.max_leaves))) return nullptr;
        Node* node = wanted_.top().node;
        wanted_.pop();
        s.sure_above = sure_above();
        ++busy_;
        return node;
    }

    // A node has been searched: leaves are split, strictly in order, as far as all that matters is known.
    void note(Node& searched) {
        searched.searched = true;
        --busy_;
        if (searched.splits) {
            ++ahead_;
            impurity_ -= searched.priority - searched.child[0]->priority - searched.child[1]->priority;
            for (Node* child : searched.child) want(*child, searched.gain);
        }
        if (options_.by_gain && searched.id != no_leaf) --awaited_, enqueue(searched);
        while (!finished() && !awaited_) {
            const size_t id = queue_.top().id;
            Node& node = *nodes_[id];
            if (!node.searched) break;
            queue_.pop();
            if (!node.splits) continue;
            --ahead_;
            tree_.feature[id] = node.feature, tree_.threshold[id] = node.threshold, tree_.gain[id] = node.gain;
            tree_.left[id] = static_cast<int32_t>(nodes_.size());
            for (Node* child : node.child) add(child);
            leaves_.store(static_cast<int64_t>(leaves()), std::memory_order_relaxed);
        }
    }

    // Nodes of a higher priority are as good as sure to be split.
    double sure_above() const { return options_.by_gain ? 0 : 2 * impurity_ / static_cast<double>(options_.max_leaves); }

    // In the end priorities of leaves spread about evenly from 0 up to that of the next to be split: twice their mean, then, or what it
    // is so far, which is more.
    void want(Node& node, double parent_gain) {
        const bool sure = !options_.by_gain && table_.n > pool_limit_ && node.priority > sure_above();
        if (!options_.by_gain && !sure) node.histogram.reset();  // others need it more
        wanted_.push({sure, sure ? -static_cast<double>(node.size()) : options_.by_gain ? parent_gain : node.priority, &node});
    }

    void add(Node* node) {
        node->id = nodes_.size();
        tree_.feature.push_back(-1), tree_.left.push_back(-1), tree_.threshold.push_back(0), tree_.gain.push_back(0);
        nodes_.push_back(node);
        if (options_.by_gain && !node->searched) ++awaited_;
        else enqueue(*node);
    }
    void enqueue(const Node& leaf) {
        if (leaf.priority > 0 && (leaf.splits || !leaf.searched)) queue_.push({static_cast<float>(options_.by_gain ? leaf.gain : leaf.priority), leaf.id});
    }

    void put_leaf(const Node& leaf, int32_t* node_of) const {
        const auto id = static_cast<int32_t>(leaf.id);
        if (leaf.parent && leaf.parent->member) {
            const auto line = pools_.along(leaf.parent->member, leaf.parent->feature, leaf.begin);
            for (size_t i = 0; i < leaf.size(); ++i) node_of[line.row(i)] = id;
        } else {
            for (size_t i = leaf.begin; i < leaf.end; ++i) node_of[order_[i]] = id;
        }
    }

    void start() {
        const size_t n = table_.n, d = table_.d;
        const auto width = static_cast<size_t>(table_.lanes.width);
        Node* root = searches_[0].make<Node>(1);
        root->end = n;
        root->sums = searches_[0].make<double>(width);
        struct Part {
            std::vector<double> sums;
            Squares squares[2];
            double largest = 0, least = HUGE_VAL;
        };
        constexpr size_t block = 1 << 12;
        const size_t blocks = (n + block - 1) / block;
        std::vector<Part> parts(blocks);
        team_.run(static_cast<int>(blocks), [&](int task, int) {
            stop_if(cancel_);
            const size_t a = static_cast<size_t>(task) * block, b = std::min(n, a + block);
            for (size_t i = a; i < b; ++i) order_[i] = static_cast<uint32_t>(i);
            Part& part = parts[static_cast<size_t>(task)];
            part.sums.assign(width, 0.0);
            if (table_.lanes.weighted) square_weighted(a, b, part.largest, part.least);
            hot.sum_rows(table_, order_ + a, b - a, part.sums.data(), part.squares);
            if (!table_.lanes.weighted) part.largest = hot.largest_square(table_, a, b);
        });
        double largest = 0, least = HUGE_VAL;
        for (const Part& part : parts) {
            for (size_t k = 0; k < width; ++k) root->sums[k] += part.sums[k];
            root->squares += total(part.squares[0]), root->squares_d += total(part.squares[1]);
            largest = std::max(largest, part.largest);
            least = std::min(least, part.least);
        }
        table_.least = table_.lanes.weighted ? least : 1.0;
        table_.missing = table_.lanes.plain < table_.lanes.targets && root->sums[static_cast<size_t>(table_.lanes.with_derivative())] < weight(*root);
        table_.square_unit = std::max(1.0, largest / (1 << 23) / (table_.lanes.fine ? limb : 1.0));
        weigh(*root);
        pool_limit_ = std::min(short_list, options_.pool ? options_.pool : n <= short_log ? n : width > 32 ? usual_pool / 2 : usual_pool);
        const bool binned = n > pool_limit_;
        if (binned && wants_groups(n, d, options_.edges)) group_bins();
        team_.run(static_cast<int>(blocks), [&](int task, int) {
            stop_if(cancel_);
            const size_t a = static_cast<size_t>(task) * block, b = std::min(n, a + block);
            hot.complete_rows(table_, a, b);
            if (!table_.groups.empty()) note_groups(a, b);
        });
        if (binned) {
            table_.first_bin.assign(1, 0);
            for (size_t f = 0; f < d; ++f) {
                for (const uint8_t kind : table_.grouped(f) ? table_.grouped(f)->kind : codes_.kinds(f)) table_.one_value.push_back(kind < 2);
                table_.first_bin.push_back(static_cast<uint32_t>(table_.one_value.size()));
            }
            // As many histograms as fit a fraction of the rows' own memory, and a few where one does; a node without one builds it anew.
            // Where not even one fits, pools are as large as they can be.
            const size_t size = table_.all_bins() * width * sizeof(double), room = std::max<size_t>(n * width / 2, size_t{3} << 19) / size;
            if (room) histograms_.make(std::max<size_t>(4, room / 2), table_.all_bins() * width);
            else if (!options_.pool) pool_limit_ = short_list;
        }
        impurity_ = root->priority;
        want(*root, 0);
        add(root);
    }

    // Neighbours share a bin, as values do in exact mode, and are told apart where a better cut may hide: the tree is the same.
    void group_bins() {
        const size_t n = table_.n, d = table_.d, enough = d >= 32 ? 128 : 256;
        table_.groups.assign(d, {}), table_.row_groups = groups_;
        std::vector<size_t> first(d + 1, 0);  // bin of each feature
        for (size_t f = 0; f < d; ++f) first[f + 1] = first[f] + codes_.kinds(f).size();
        std::vector<std::vector<uint32_t>> counts(most_blocks);  // samples of each bin
        const size_t blocks = in_blocks(&team_, n, [&](size_t from, size_t to, size_t block) {
            counts[block].assign(first[d], 0);
            in_steps(to - from, cancel_, [&](size_t a, size_t b) {
                for (size_t i = from + a; i < from + b; ++i)
                    for (size_t f = 0; f < d; ++f) ++counts[block][first[f] + table_.codes.bin(i * d + f)];
            });
        });
        team_.run(static_cast<int>(d), [&](int task, int) {
            const auto f = static_cast<size_t>(task);
            const size_t bins = codes_.kinds(f).size();
            if (bins <= enough) return;
            std::vector<uint32_t> starts(bins + 1, 0);  // samples before each bin
            for (size_t bin = 0; bin < bins; ++bin) {
                starts[bin + 1] = starts[bin];
                for (size_t block = 0; block < blocks; ++block) starts[bin + 1] += counts[block][first[f] + bin];
            }
            const std::vector<size_t> firsts = divide_clusters(starts.data(), bins, heavy_clusters(starts.data(), bins, enough), enough);
            Groups& groups = table_.groups[f];
            for (size_t g = 0; g + 1 < firsts.size(); ++g) {
                groups.of.resize(firsts[g + 1], static_cast<uint16_t>(g));
                groups.last.push_back(static_cast<uint16_t>(firsts[g + 1] - 1));
                size_t used = 0;
                for (size_t bin = firsts[g]; bin < firsts[g + 1]; ++bin) used += starts[bin] < starts[bin + 1];
                groups.kind.push_back(used > 1 ? 2 : 1);
            }
        });
    }

    // The groups of rows a .. b.
    void note_groups(size_t a, size_t b) {
        const size_t d = table_.d;
        for (size_t i = a; i < b; ++i)
            for (size_t f = 0; f < d; ++f) {
                const size_t bin = table_.codes.bin(i * d + f);
                const Groups* groups = table_.grouped(f);
                groups_[i * d + f] = groups ? groups->of[bin] : static_cast<uint16_t>(bin);
            }
    }

    // The squares of rows a .. b: a row holds (weight x target), so that times the target itself. Also the largest, and the least weight.
    void square_weighted(size_t a, size_t b, double& largest, double& least) {
        const Lanes& lanes = table_.lanes;
        for (size_t i = a; i < b; ++i) {
            const int32_t *y = table_.rows + i * static_cast<size_t>(lanes.width), *z = y + lanes.second();
            const int64_t weight = y[lanes.count()];
            Wide sums[2] = {};
            for (int k = 0; k < lanes.targets; ++k) {
                const int64_t whole = int64_t{y[k]} * (1 << limb_bits) + z[k];
                sums[k >= lanes.plain] += static_cast<Wide>(std::abs(whole)) * static_cast<Wide>(std::abs(whole / weight));
            }
            squares_[2 * i] = sums[0], squares_[2 * i + 1] = sums[1];
            largest = std::max(largest, static_cast<double>(sums[0] + sums[1]));
            least = std::min(least, static_cast<double>(weight));
        }
    }

    Weigher weigher() const { return {table_.lanes, table_.missing, table_.least}; }
    double weight(const Node& node) const { return weigher().weight(node.sums, static_cast<double>(node.size())); }
    Wide total(const Squares& s) const { return table_.lanes.fine ? (Wide{s.first} << 2 * limb_bits) + s.rest : s.first; }
    void weigh(Node& node) const { node.priority = weigher().priority(node.sums, node.squares, node.squares_d, static_cast<double>(node.size())); }

    // The histogram of some rows, see build_group; a team does not note their total.
    void build(const uint32_t* rows, size_t count, Search& s, Team* team, double sign, double* histogram, const Total* total = nullptr) {
        if (!team) return build_histogram(table_, rows, count, s.shorts, sign, histogram, total, cancel_);
        auto shorts = [&](int thread) -> ShortSums& { return searches_[static_cast<size_t>(thread)].shorts; };
        build_histogram(table_, rows, count, shorts, *team, sign, histogram, cancel_);
    }

    void search(Node& node, Search& s, Team* team) {
        stop_if(cancel_);
        const size_t count = node.size(), least = static_cast<size_t>(options_.min_samples_leaf);
        if (node.priority <= 0 || count < 2 * least || node.depth >= options_.max_depth) return node.histogram.reset();
        weigher().centre(node.sums, static_cast<double>(count), s.centre);
        s.best.reset(std::max(table_.least, 1e-12 * node.priority), options_.min_gain * weight(node));
        const uint32_t* order = order_ + node.begin;
        if (count > pool_limit_) {
            if (!node.histogram) {
                node.histogram = histograms_.lend();
                if (node.histogram) build(order, count, s, team, 1, node.histogram.get());
            }
            search_histogram(table_, order, count, node.histogram.get(), s, team, cancel_);
        } else {
            // The first to be searched of a node's children parts the lists for both.
            if (node.member)
                std::call_once(node.parent->parted, [&] {
                    pools_.part(node.parent->member, node.parent->feature, node.parent->begin, node.parent->child_begin, node.parent->end, s);
                });
            else pools_.make(node.member, node.begin, node.end, s);
            pools_.search(node.member, node.begin, node.end, s);
        }
        const Candidate* chosen = s.best.choose();
        if (!chosen) return node.histogram.reset();
        node.splits = true;
        node.feature = chosen->feature;
        node.gain = chosen->gain;
        divide(node, *chosen, s, team);
    }

    // The threshold of a cut in a pool, and the rows on its smaller side.
    const uint32_t* divide_pool(Node& node, size_t lefts, Search& s) {
        const size_t count = node.size(), d = table_.d, f = static_cast<size_t>(node.feature);
        const auto line = pools_.along(node.member, node.feature, node.begin);
        auto state = [&](size_t i) { return table_.states[line.row(i) * d + f]; };
        if (options_.edges) {
            node.threshold = edge_between(f, table_.codes.bin(line.row(lefts - 1) * d + f), table_.codes.bin(line.row(lefts) * d + f));
        } else {
            double lo = state(lefts - 1), hi = state(lefts);
            for (size_t i = lefts - 1; i > 0 && line.value(i - 1) == line.value(lefts - 1); --i) lo = std::max(lo, state(i - 1));
            for (size_t i = lefts + 1; i < count && line.value(i) == line.value(lefts); ++i) hi = std::min(hi, state(i));
            node.threshold = options_.midpoint ? midpoint(lo, hi) : short_decimal(lo, hi);
        }
        const size_t from = count - lefts < lefts ? lefts : 0, to = from ? count : lefts;
        if (s.rows.size() < to - from) s.rows.resize(to - from);
        for (size_t i = from; i < to; ++i) s.rows[i - from] = line.row(i);
        return s.rows.data();
    }

    struct Part {
        size_t begin = 0, lefts = 0, rights = 0;
        size_t bin_below = 0, bin_above = SIZE_MAX;  // the bins next to the cut
        double below = -HUGE_VAL, above = HUGE_VAL;  // the values next to it
    };

    // Moves the rows a .. b of a node to the front if they go left, else to the front of `right`.
    template <class Bins>
    Part divide_block(const Bins& bins, size_t f, uint32_t cut, uint32_t* order, uint32_t* right, size_t a, size_t b) const {
        const size_t d = table_.d, cut_bin = cut >> offset_bits;
        Part part;
        size_t below = part.bin_below, above = part.bin_above;
        std::array<uint32_t, 1024> near;  // rows next to the cut, as far as is known
        size_t found = 0;
        auto note = [&] {  // codes ascend with values: of rows in bins further away, none matters
            for (size_t k = 0; k < found; ++k) {
                const double value = table_.states[near[k] * d + f];
                if (table_.code(f, near[k]) <= cut) part.below = std::max(part.below, value);
                else part.above = std::min(part.above, value);
            }
            found = 0;
        };
        uint32_t *l = order + a, *r = right + a;
        for (size_t i = a; i < b;) {
            stop_if(cancel_);
            for (const size_t end = std::min(b, i + step); i < end; ++i) {
                const uint32_t row = order[i];
                if (i + ahead < b) bins.fetch(order[i + ahead]);
                const size_t bin = bins(row);
                bool goes_left = bin <= cut_bin;
                if (__builtin_expect(bin >= below && bin <= above, 0)) {
                    if (bin == cut_bin) goes_left = table_.code(f, row) <= cut;
                    if (goes_left) below = bin;
                    else above = bin;
                    near[found++] = row;
                    if (found == near.size()) note();
                }
                *l = *r = row;  // no branch: a row is written to both sides, and kept on one
                l += goes_left;
                r += !goes_left;
            }
        }
        part.begin = a, part.lefts = static_cast<size_t>(l - order) - a, part.rights = static_cast<size_t>(r - right) - a;
        part.bin_below = below, part.bin_above = above;
        note();
        return part;
    }

    // Rows with code <= cut go left; the threshold is put between the values that end up next to it.
    size_t divide_rows(Node& node, uint32_t cut, Team* team) {
        const size_t count = node.size(), f = static_cast<size_t>(node.feature);
        uint32_t *order = order_ + node.begin, *right = spare_ + node.begin;
        Part parts[most_blocks];
        size_t blocks = 0;
        table_.with_bins(f, count, [&](const auto& bins) {
            blocks = in_blocks(team, count, [&](size_t a, size_t b, size_t block) { parts[block] = divide_block(bins, f, cut, order, right, a, b); });
        });
        size_t lefts = 0;
        Part all;
        for (size_t k = 0; k < blocks; ++k) {
            const Part& part = parts[k];
            if (lefts < part.begin) std::memmove(order + lefts, order + part.begin, part.lefts * sizeof(uint32_t));
            lefts += part.lefts;
            all.bin_below = std::max(all.bin_below, part.bin_below), all.bin_above = std::min(all.bin_above, part.bin_above);
            all.below = std::max(all.below, part.below), all.above = std::min(all.above, part.above);
        }
        for (size_t k = 0, at = lefts; k < blocks; at += parts[k++].rights) std::memcpy(order + at, right + parts[k].begin, parts[k].rights * sizeof(uint32_t));
        node.threshold = options_.edges      ? edge_between(f, all.bin_below, all.bin_above)
                         : options_.midpoint ? midpoint(all.below, all.above)
                                             : short_decimal(all.below, all.above);
        return lefts;
    }

    // The edge between two bins: of several, where the bins between are empty, the one in the middle.
    double edge_between(size_t feature, size_t below, size_t above) const {
        return options_.edges[options_.first_edge[feature] + static_cast<int64_t>(middle_edge(below, above))];
    }

    // Adds up the rows of a new node.
    void sum(const uint32_t* rows, Node& node, Team* team) {
        const auto width = static_cast<size_t>(table_.lanes.width);
        if (!team) {
            Squares squares[2];
            in_steps(node.size(), cancel_, [&](size_t a, size_t b) { hot.sum_rows(table_, rows + a, b - a, node.sums, squares); });
            return note_squares(node, squares);
        }
        std::vector<double> part(most_blocks * width, 0.0);
        std::vector<Squares> squares(most_blocks * 2);
        const size_t blocks = in_blocks(team, node.size(), [&](size_t a, size_t b, size_t k) {
            in_steps(b - a, cancel_, [&](size_t i, size_t j) { hot.sum_rows(table_, rows + a + i, j - i, &part[k * width], &squares[2 * k]); });
        });
        for (size_t k = 0; k < blocks * width; ++k) node.sums[k % width] += part[k];
        for (size_t k = 0; k < blocks; ++k) note_squares(node, &squares[2 * k]);
    }

    void note_squares(Node& node, const Squares* squares) const { node.squares += total(squares[0]), node.squares_d += total(squares[1]); }

    void divide(Node& node, const Candidate& chosen, Search& s, Team* team) {
        const auto width = static_cast<size_t>(table_.lanes.width);
        const size_t lefts = node.member ? static_cast<size_t>(chosen.left) : divide_rows(node, chosen.cut, team), rights = node.size() - lefts;
        node.child_begin = node.begin + lefts;
        for (int side = 0; side < 2; ++side) {
            node.child[side] = s.make<Node>(1);
            Node& child = *node.child[side];
            child.begin = side ? node.begin + lefts : node.begin;
            child.end = side ? node.end : node.begin + lefts;
            child.depth = node.depth + 1;
            child.parent = &node;
            child.member = node.member;
            child.sums = s.make<double>(width);
        }
        Node &small = *node.child[rights < lefts], &large = *node.child[!(rights < lefts)];
        const uint32_t* rows = node.member ? divide_pool(node, lefts, s) : order_ + small.begin;
        auto weigh_both = [&] {
            for (size_t k = 0; k < width; ++k) large.sums[k] = node.sums[k] - small.sums[k];
            large.squares = node.squares - small.squares;
            large.squares_d = node.squares_d - small.squares_d;
            weigh(small);
            weigh(large);
        };
        // A histogram is kept only for a child that is sure to be split. As a rule the priorities of both, added up, tell that there will be
        // one; else the children are weighed first, which takes a pass of its own. So does a team.
        const bool useful = node.histogram && large.size() > pool_limit_;
        const bool weighed = !useful || team || node.priority - node.gain <= 2 * s.sure_above;
        if (weighed) sum(rows, small, team), weigh_both();
        if (useful && !(weighed && std::max(small.priority, large.priority) <= s.sure_above)) {
            Squares squares[2];
            const Total total{small.sums, squares};
            auto build_small = [&](double sign, double* histogram) { build(rows, small.size(), s, team, sign, histogram, weighed ? nullptr : &total); };
            if (small.size() > pool_limit_ && !(weighed && small.priority <= s.sure_above)) small.histogram = histograms_.lend();
            if (small.histogram) {
                build_small(1, small.histogram.get());
                hot.subtract(node.histogram.get(), small.histogram.get(), table_.all_bins() * width);
            } else {
                build_small(-1, node.histogram.get());
            }
            large.histogram = std::move(node.histogram);
            if (!weighed) note_squares(small, squares), weigh_both();
        }
        node.histogram.reset();
    }

    Table& table_;
    const PackedCodes& codes_;
    const Options& options_;
    Team& team_;
    const Flag& cancel_;
    std::atomic<int64_t>& leaves_;
    uint32_t *order_, *spare_ = nullptr;  // the second for codes of a large node's rows, and for the right half of a split
    uint16_t* groups_;
    Pools pools_;
    std::vector<Search> searches_;
    Array<Wide> squares_;  // Table::weighted_squares
    Histograms histograms_;
    std::vector<Node*> nodes_;  // the leaves of the tree so far, and what they were split from
    size_t pool_limit_ = 0;     // nodes of at most so many rows are sorted
    // What the threads share while they work.
    std::mutex mutex_;
    std::condition_variable found_;
    Grown tree_;
    std::priority_queue<Entry> queue_;
    std::priority_queue<Wish> wanted_;
    size_t busy_ = 0, ahead_ = 0;  // nodes that are being searched; that are to be split as soon as it is their turn
    size_t awaited_ = 0;           // by gain: leaves that have to be searched before anybody knows whose turn it is
    double impurity_ = 0;          // of all leaves so far, with those that are known ahead
    bool failed_ = false;
};

}  // namespace tripletree
