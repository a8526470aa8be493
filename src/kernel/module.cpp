// The compiled part of tripletree: growth, and the passes over a log that must be fast. Checks of the user's input are
// made in Python; here only what would read or write out of bounds is refused.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstring>

#include "apply.hpp"
#include "attributing.hpp"
#include "csv.hpp"
#include "edges.hpp"
#include "encode.hpp"
#include "frontier.hpp"
#include "grow.hpp"
#include "leaf_sums.hpp"
#include "linear.hpp"
#include "middle.hpp"
#include "packing.hpp"
#include "passes.hpp"
#include "resolution.hpp"
#include "settle.hpp"
#include "telling.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace tripletree;

namespace {

template <class T>
using In1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const uint32_t, nb::ndim<2>, nb::f_contig, nb::device::cpu>;  // n x d, feature after feature
template <class T>
using Out1 = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using Out2 = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
using Rows = nb::ndarray<int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr size_t small_log = 20000;            // codes: growth takes a few milliseconds, less than threads are worth
constexpr size_t soon_done = size_t{1} << 21;  // numbers: a pass over them takes a few milliseconds, on one thread or several

void require(bool condition, const char* text) {
    if (!condition) throw nb::value_error(text);
}

template <class T>
T* allocate(size_t size, nb::capsule& owner) {
    Array<T> data = make_array<T>(size);
    owner = nb::capsule(data.get(), [](void* p) noexcept { Free<T>()(static_cast<T*>(p)); });
    return data.release();
}

template <class T>
Out1<T> hand_over(Array<T>& data, size_t size) {
    nb::capsule owner(data.get(), [](void* p) noexcept { Free<T>()(static_cast<T*>(p)); });
    return Out1<T>(data.release(), {size}, owner);
}

template <class T>
Out1<T> to_array(const std::vector<T>& values) {
    nb::capsule owner;
    T* data = allocate<T>(values.size(), owner);
    std::copy(values.begin(), values.end(), data);
    return Out1<T>(data, {values.size()}, owner);
}

// Runs work(cancel) on another thread without the GIL. The calling thread looks every 20 ms for Ctrl-C and reports
// progress; whatever that raises stops the work and goes on to the caller.
// Work that surely ends soon is not worth a thread.
template <class Work, class Poll>
void run_interruptibly(bool soon, const Work& work, const Poll& poll) {
    Flag cancel{false};
    if (soon) {
        nb::gil_scoped_release released;
        work(cancel);
        return;
    }
    bool done = false;
    std::mutex mutex;
    std::condition_variable finished;
    std::exception_ptr error;
    std::thread worker;
    try {
        worker = std::thread([&] {
            try {
                work(cancel);
            } catch (...) {
                error = std::current_exception();
            }
            std::lock_guard<std::mutex> lock(mutex);
            done = true;
            finished.notify_one();
        });
    } catch (const std::system_error&) {
        // No thread to be had: better to work here, deaf to Ctrl-C, than not at all.
        nb::gil_scoped_release released;
        work(cancel);
        return;
    }
    std::exception_ptr interrupted;
    {
        nb::gil_scoped_release released;
        std::unique_lock<std::mutex> lock(mutex);
        while (!finished.wait_for(lock, std::chrono::milliseconds(20), [&] { return done; })) {
            if (interrupted) continue;
            lock.unlock();
            {
                nb::gil_scoped_acquire acquired;
                try {
                    if (PyErr_CheckSignals() != 0) throw nb::python_error();
                    poll();
                } catch (...) {
                    interrupted = std::current_exception();
                    cancel = true;
                }
            }
            lock.lock();
        }
        lock.unlock();
        worker.join();
    }
    if (interrupted) std::rethrow_exception(interrupted);
    if (error) std::rethrow_exception(error);
}

// The regions of each episode without visits that are too brief.
Out1<int64_t> settle_array(In1<int64_t> region, In1<int64_t> starts, double cost) {
    const size_t n = region.shape(0), bounds = starts.shape(0);
    require(bounds > 0 && starts(0) == 0 && starts(bounds - 1) == static_cast<int64_t>(n), "starts must run from 0 to the number of regions");
    for (size_t e = 0; e + 1 < bounds; ++e) require(starts(e) <= starts(e + 1), "starts must ascend");
    nb::capsule owner;
    int64_t* told = allocate<int64_t>(n, owner);
    {
        nb::gil_scoped_release released;
        Settler settler(cost);
        for (size_t e = 0; e + 1 < bounds; ++e) settler.settle(region.data() + starts(e), static_cast<size_t>(starts(e + 1) - starts(e)), told + starts(e));
    }
    return Out1<int64_t>(told, {n}, owner);
}

// V_t = R_t + gamma V_{t+1} inside each episode; after its last step stands tail[episode].
Out1<double> discounted_array(In1<double> rewards, In1<int64_t> starts, double gamma, In1<double> tail) {
    const size_t n = rewards.shape(0), episodes = tail.shape(0);
    require(starts.shape(0) == episodes + 1, "starts must have one entry more than tail");
    require(starts(0) == 0 && starts(episodes) == static_cast<int64_t>(n), "starts must run from 0 to the number of rewards");
    for (size_t e = 0; e < episodes; ++e) require(starts(e) <= starts(e + 1), "starts must ascend");
    nb::capsule owner;
    double* values = allocate<double>(n, owner);
    for (size_t e = 0; e < episodes; ++e) {
        double v = tail(e);
        for (int64_t t = starts(e + 1); t-- > starts(e);) values[t] = v = rewards.data()[t] + gamma * v;
    }
    return Out1<double>(values, {n}, owner);
}

// Writes numbers in single precision, and tells whether nothing is lost; where something is, the rest is not written.
bool narrow(In1<double> numbers, nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu> out) {
    const size_t n = numbers.shape(0), block = 1024;
    require(out.shape(0) == n, "there must be room for every number");
    const double* x = numbers.data();
    float* to = out.data();
    nb::gil_scoped_release released;
    for (size_t a = 0; a < n; a += block) {
        bool lost = false;
        for (size_t i = a; i < std::min(n, a + block); ++i) {
            to[i] = static_cast<float>(x[i]);
            lost |= static_cast<double>(to[i]) != x[i];
        }
        if (lost) return false;
    }
    return true;
}

// Writes columns of single or double precision side by side.
void put_columns(const std::vector<nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>>& columns,
                 nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
    const size_t n = out.shape(0), d = out.shape(1), block = 64;  // so few rows stay in the first cache
    require(columns.size() == d, "there must be room for every column");
    for (const auto& column : columns) {
        require(column.shape(0) == n, "columns must have one length");
        require(column.dtype() == nb::dtype<float>() || column.dtype() == nb::dtype<double>(), "columns must be float64 or float32");
    }
    nb::gil_scoped_release released;
    for (size_t a = 0; a < n; a += block)
        for (size_t f = 0; f < d; ++f) {
            const auto put = [&](const auto* x) {
                for (size_t i = a; i < std::min(n, a + block); ++i) out.data()[i * d + f] = static_cast<double>(x[i]);
            };
            if (columns[f].dtype() == nb::dtype<float>()) put(static_cast<const float*>(columns[f].data()));
            else put(static_cast<const double*>(columns[f].data()));
        }
}

// Adds to each episode's hash those of its numbers, by column and by step. A sum, so that the order of the columns, each
// of which has a key of its own, does not matter. `before` steps of the first episode came before.
void add_hashes(In2<double> columns, In1<uint64_t> keys, In1<int64_t> starts, nb::ndarray<uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> sums,
                int64_t before) {
    const size_t n = columns.shape(0), d = columns.shape(1), episodes = sums.shape(0);
    require(keys.shape(0) == d, "keys must have one entry for each column");
    require(starts.shape(0) == episodes + 1 && starts(0) == 0 && starts(episodes) == static_cast<int64_t>(n), "starts must run from 0 to the number of rows");
    for (size_t e = 0; e < episodes; ++e) require(starts(e) <= starts(e + 1), "starts must ascend");
    nb::gil_scoped_release released;
    for (size_t e = 0; e < episodes; ++e) {
        const auto a = static_cast<size_t>(starts.data()[e]), b = static_cast<size_t>(starts.data()[e + 1]);
        sums.data()[e] += hot.hash_rows(columns.data() + a * d, b - a, d, keys.data(), static_cast<uint64_t>(e ? 0 : before));
    }
}

// Adds what each of some rows gains to the bins that its keys name; most rows gain nothing.
Out1<double> gains_of(In2<int32_t> keys, In1<int64_t> rows, In1<double> gains, size_t bins) {
    const size_t n = keys.shape(0), d = keys.shape(1);
    require(rows.shape(0) == gains.shape(0), "every row must have a gain");
    nb::capsule owner;
    double* sums = allocate<double>(bins, owner);
    std::fill_n(sums, bins, 0.0);
    {
        nb::gil_scoped_release released;
        for (size_t i = 0; i < rows.shape(0); ++i) {
            if (gains.data()[i] == 0) continue;
            const auto row = static_cast<size_t>(rows.data()[i]);
            require(row < n, "there is no such row");
            for (size_t k = 0; k < d; ++k) {
                const auto bin = static_cast<size_t>(keys.data()[row * d + k]);
                require(bin < bins, "there is no such bin");
                sums[bin] += gains.data()[i];
            }
        }
    }
    return Out1<double>(sums, {bins}, owner);
}

Out2<uint32_t> encode_array(In2<double> states, int bins, int threads) {
    const size_t n = states.shape(0), d = states.shape(1);
    require(n > 0 && d > 0, "states must not be empty");
    require(n < (size_t{1} << 29), "states has too many rows (2^29 is the limit)");
    require(bins >= 2 && bins <= 1024, "bins must lie between 2 and 1024");
    require(static_cast<double>(n) / bins < offset_mask / 2.0, "too many rows for so few bins");
    nb::capsule owner;
    uint32_t* codes = allocate<uint32_t>(n * d, owner);
    const bool small = n * d <= small_log;
    std::vector<Words> room;
    for (int t = 0; t < (small ? 1 : useful_threads(threads)); ++t) room.emplace_back(n);
    run_interruptibly(
        2 * n * d <= soon_done,
        [&](const Flag& cancel) {
            Team team(small ? 1 : useful_threads(threads));
            encode(states.data(), n, d, static_cast<size_t>(bins), room, team, cancel, codes);
        },
        [] {});
    return Out2<uint32_t>(codes, {n, d}, owner, {1, static_cast<int64_t>(n)});
}

// Edges between the bins of each feature, one feature after the other; first[f] is where those of f begin, closed by their number.
void require_edges(const In1<double>& edges, const In1<int64_t>& first, size_t d) {
    require(first.shape(0) == d + 1 && first(0) == 0 && first(d) == static_cast<int64_t>(edges.shape(0)), "first must run from 0 to the number of edges");
    for (size_t f = 0; f < d; ++f) {
        require(first(f) <= first(f + 1) && first(f + 1) - first(f) < (1 << (32 - offset_bits)), "a feature must have fewer than 4096 edges");
        for (int64_t k = first(f) + 1; k < first(f + 1); ++k) require(edges.data()[k - 1] < edges.data()[k], "edges must ascend");
    }
}

// The columns of a matrix as rows, each from small to large.
Out2<double> sort_columns(In2<double> states, int threads) {
    const size_t n = states.shape(0), d = states.shape(1);
    require(n > 0 && n < (size_t{1} << 29), "there must be rows, and fewer than 2^29 of them");
    nb::capsule owner;
    double* sorted = allocate<double>(n * d, owner);
    const bool small = n * d <= small_log;
    std::vector<Words> room;
    for (int t = 0; t < (small ? 1 : useful_threads(threads)); ++t) room.emplace_back(n);
    run_interruptibly(
        small,
        [&](const Flag& cancel) {
            Team team(small ? 1 : useful_threads(threads));
            team.run(static_cast<int>(d), [&](int task, int thread) {
                const auto f = static_cast<size_t>(task);
                sort_column(states.data() + f, n, d, room[static_cast<size_t>(thread)], sorted + f * n, cancel);
            });
        },
        [] {});
    return Out2<double>(sorted, {d, n}, owner);
}

Out1<double> other_values_array(nb::ndarray<const double, nb::ndim<1>, nb::device::cpu> column, In1<double> known) {
    require(known.shape(0) > 0 && std::is_sorted(known.data(), known.data() + known.shape(0)), "known values must be sorted, and there must be some");
    std::vector<double> found;
    {
        nb::gil_scoped_release released;
        found = other_values(column.data(), column.shape(0), column.stride(0), known.data(), known.shape(0));
    }
    return to_array(found);
}

// Edges by the first counts[f] numbers of each row of `sorted`: one feature after the other, and where those of each begin.
std::tuple<Out1<double>, Out1<int64_t>> choose_edges_array(In2<double> sorted, In1<int64_t> counts, int bins, bool midpoint, int threads) {
    const size_t d = sorted.shape(0), n = sorted.shape(1);
    require(counts.shape(0) == d && bins >= 2 && bins <= 1024, "there must be a count for each row, and between 2 and 1024 bins");
    for (size_t f = 0; f < d; ++f) {
        const double* row = sorted.data() + f * n;
        require(counts(f) > 0 && counts(f) <= static_cast<int64_t>(n) && std::is_sorted(row, row + counts(f)), "values must be sorted, and there must be some");
    }
    std::vector<std::vector<double>> found(d);
    {
        nb::gil_scoped_release released;
        Team team(n * d <= small_log ? 1 : useful_threads(threads));
        team.run(static_cast<int>(d), [&](int task, int) {
            const auto f = static_cast<size_t>(task);
            found[f] = choose_edges(sorted.data() + f * n, static_cast<size_t>(counts(f)), static_cast<size_t>(bins), midpoint);
        });
    }
    std::vector<double> numbers;
    std::vector<int64_t> first{0};
    for (const auto& edges : found) numbers.insert(numbers.end(), edges.begin(), edges.end()), first.push_back(static_cast<int64_t>(numbers.size()));
    return {to_array(numbers), to_array(first)};
}

// Bins of rows, n x d: row after row as 16 bits, or feature after feature as codes for growth.
Out2<uint16_t> bin_rows(In2<double> states, In1<double> edges, In1<int64_t> first) {
    const size_t n = states.shape(0), d = states.shape(1);
    require_edges(edges, first, d);
    nb::capsule owner;
    uint16_t* bins = allocate<uint16_t>(n * d, owner);
    {
        nb::gil_scoped_release released;
        const std::vector<Bins> finders = make_bins(edges.data(), first.data(), d);
        find_bins(finders, states.data(), n, [=](size_t i, size_t f, size_t bin) { bins[i * d + f] = static_cast<uint16_t>(bin); });
    }
    return Out2<uint16_t>(bins, {n, d}, owner);
}

Out2<uint32_t> encode_edges(In2<double> states, In1<double> edges, In1<int64_t> first, int threads) {
    const size_t n = states.shape(0), d = states.shape(1);
    require_edges(edges, first, d);
    nb::capsule owner;
    uint32_t* codes = allocate<uint32_t>(n * d, owner);
    const bool small = n * d <= small_log;
    run_interruptibly(
        small,
        [&](const Flag& cancel) {
            const std::vector<Bins> finders = make_bins(edges.data(), first.data(), d);
            Team team(small ? 1 : useful_threads(threads));
            constexpr size_t block = 1 << 13;
            team.run(static_cast<int>((n + block - 1) / block), [&](int task, int) {
                stop_if(cancel);
                const size_t a = static_cast<size_t>(task) * block, count = std::min(n - a, block);
                find_bins(finders, states.data() + a * d, count,
                          [=](size_t i, size_t f, size_t bin) { codes[f * n + a + i] = static_cast<uint32_t>(bin) << offset_bits; });
            });
        },
        [] {});
    return Out2<uint32_t>(codes, {n, d}, owner, {1, static_cast<int64_t>(n)});
}

using Columns = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;  // columns x rows; either may lie side by side
template <int Dimensions>
using InOut = nb::ndarray<double, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

// Arrays of a log, checked: nothing that is read from them lies outside.
LogRows log_rows(const In2<double>& states, const In1<int64_t>& starts, const In2<double>& final_states, const In1<double>& periods, const In1<double>& dt) {
    const size_t n = states.shape(0), d = states.shape(1), episodes = final_states.shape(0);
    require(starts.shape(0) == episodes + 1 && starts(0) == 0 && starts(episodes) == static_cast<int64_t>(n), "starts must run from 0 to the number of rows");
    for (size_t e = 0; e < episodes; ++e) require(starts(e) < starts(e + 1), "starts must ascend");
    require(final_states.shape(1) == d && periods.shape(0) == d, "final_states and periods must have one entry per feature");
    require(dt.shape(0) == n || dt.shape(0) == 0, "dt must have one entry per row, or none");
    bool angles = false;
    for (size_t f = 0; f < d; ++f) angles = angles || periods(f) > 0;
    return {states.data(), n, d, starts.data(), final_states.data(), episodes, periods.data(), angles, dt.shape(0) ? dt.data() : nullptr};
}

// The columns of a pass: a matrix, or the changes of a log's states, which are never all in memory.
class Source {
  public:
    explicit Source(Columns columns) : columns_(columns) {
        const auto by_row = columns.stride(1), by_column = columns.stride(0);
        require(by_column == 1 || by_row == 1 || columns.shape(1) == 1, "columns or rows must lie side by side");
        require(by_row >= 0 && by_column >= 0, "columns must not run backwards");
        pass = {columns.data(), columns.shape(1), columns.shape(0), static_cast<size_t>(by_row), static_cast<size_t>(by_column), {}};
    }
    Source(In2<double> states, In1<int64_t> starts, In2<double> final_states, In1<double> periods, In1<double> dt)
        : states_(states), starts_(starts), final_states_(final_states), periods_(periods), dt_(dt) {
        const LogRows log = log_rows(states_, starts_, final_states_, periods_, dt_);
        pass = {nullptr, log.n, log.d, log.d, 1, log};
    }
    PassColumns pass;

    // Runs work(team, cancel) on threads, if there is enough of it.
    template <class Work>
    void run(int threads, const Work& work) const {
        const bool small = pass.n * pass.m <= 4 * small_log;
        run_interruptibly(
            pass.n * pass.m <= soon_done,
            [&](const Flag& cancel) {
                Team team(small ? 1 : useful_threads(threads));
                work(team, cancel);
            },
            [] {});
    }

  private:
    Columns columns_;
    In2<double> states_;
    In1<int64_t> starts_;
    In2<double> final_states_;
    In1<double> periods_, dt_;
};

// The values that a column has, and how often each; both empty where there are more than `most`.
std::tuple<Out1<double>, Out1<int64_t>> tally_column(In1<double> column, int most) {
    std::vector<double> values;
    std::vector<int64_t> counts;
    {
        nb::gil_scoped_release released;
        for (const auto& [value, count] : tally(column.data(), column.shape(0), static_cast<size_t>(std::max(most, 0))))
            values.push_back(value), counts.push_back(count);
    }
    return {to_array(values), to_array(counts)};
}

void check_children(const In1<int32_t>& left) {
    const size_t nodes = left.shape(0);
    for (size_t j = 0; j < nodes; ++j)
        require(left(j) < 0 || (left(j) > static_cast<int64_t>(j) && static_cast<size_t>(left(j)) + 1 < nodes), "children must come after their parents");
}

// Adds to the row of every inner node those of its children, which are complete by then.
template <class T>
void add_up_tree(In1<int32_t> left, nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu> totals) {
    const size_t nodes = left.shape(0), width = totals.shape(1);
    require(totals.shape(0) == nodes, "totals must have one row per node");
    check_children(left);
    for (size_t node = nodes; node-- > 0;) {
        if (left(node) < 0) continue;
        T *own = totals.data() + node * width, *a = totals.data() + static_cast<size_t>(left(node)) * width, *b = a + width;
        for (size_t k = 0; k < width; ++k) own[k] += a[k] + b[k];
    }
}

// The nodes of the leaves, from left to right.
Out1<int64_t> leaves_in_order(In1<int32_t> left) {
    check_children(left);
    std::vector<int64_t> leaves, way(left.shape(0) ? 1 : 0, 0);
    while (!way.empty()) {
        const int64_t node = way.back(), child = left(static_cast<size_t>(node));
        way.pop_back();
        if (child < 0) leaves.push_back(node);
        else way.push_back(child + 1), way.push_back(child);
    }
    return to_array(leaves);
}

// The lower and the upper one of the numbers in the middle of each column.
std::tuple<Out1<double>, Out1<double>> middle_of(Columns columns) {
    const size_t m = columns.shape(0), n = columns.shape(1);
    require(n > 0 && n < (size_t{1} << 32), "columns must have rows, and fewer than 2^32");
    std::vector<double> lower(m), upper(m);
    {
        nb::gil_scoped_release released;
        constexpr size_t together = 8;  // those of a cache line
        std::vector<std::vector<double>> some(std::min(m, together));
        for (size_t k0 = 0; k0 < m; k0 += together) {
            const size_t width = std::min(together, m - k0);
            for (size_t k = 0; k < width; ++k) some[k].resize(n);
            for (size_t i = 0; i < n; ++i)
                for (size_t k = 0; k < width; ++k)
                    some[k][i] = columns.data()[static_cast<int64_t>(k0 + k) * columns.stride(0) + static_cast<int64_t>(i) * columns.stride(1)];
            for (size_t k = 0; k < width; ++k) std::tie(lower[k0 + k], upper[k0 + k]) = middle(some[k]);
        }
    }
    return {to_array(lower), to_array(upper)};
}

void widen_ranges(const Source& source, InOut<1> lowest, InOut<1> highest, int threads) {
    const size_t m = source.pass.m;
    require(lowest.shape(0) == m && highest.shape(0) == m, "lowest and highest must have one entry per column");
    source.run(threads, [&](Team& team, const Flag& cancel) { widen_all(source.pass, lowest.data(), highest.data(), team, cancel); });
}

// Counts where the numbers of a column lie, NaN aside: by the 16 bits after the first `done` of each, if those are `prefix`. See passes.hpp.
void count_keys(const Source& source, int column, uint64_t prefix, int done, nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> counts,
                int threads) {
    require(column >= 0 && static_cast<size_t>(column) < source.pass.m, "there is no such column");
    require(done >= 0 && done <= 48 && done % 16 == 0 && counts.shape(0) == 1 << 16, "keys are counted by 16 bits at a time");
    source.run(threads,
               [&](Team& team, const Flag& cancel) { count_all(source.pass, static_cast<size_t>(column), prefix, done, counts.data(), team, cancel); });
}

size_t add_sums(const Source& source, In1<double> centre, In1<double> unit, std::tuple<double, double> grids, InOut<2> sums, int threads) {
    const size_t m = source.pass.m;
    require(centre.shape(0) == m && unit.shape(0) == m, "centre and unit must have one entry per column");
    require(sums.shape(0) == m && sums.shape(1) == 4, "sums must have the shape (columns, 4)");
    const double large[2] = {std::get<0>(grids), std::get<1>(grids)};
    size_t count = 0;
    source.run(threads, [&](Team& team, const Flag& cancel) { count = sum_all(source.pass, centre.data(), unit.data(), large, sums.data(), team, cancel); });
    return count;
}

void quantise_array(const Source& source, In1<int64_t> kept, In1<double> centre, In1<double> unit, In1<double> mean, In1<double> scale, Rows out, int lane,
                    bool fine, int threads) {
    const size_t n = source.pass.n, m = kept.shape(0), width = out.shape(1);
    for (const auto* v : {&centre, &unit, &mean, &scale}) require(v->shape(0) == m, "centre, unit, mean and scale must have one entry per column");
    for (size_t k = 0; k < m; ++k)
        require(kept(k) >= (k ? kept(k - 1) + 1 : 0) && kept(k) < static_cast<int64_t>(source.pass.m), "kept must be columns in ascending order");
    require(out.shape(0) == n && lane >= 0 && static_cast<size_t>(lane) + m <= (fine ? width / 2 : width), "out must have room for the columns");
    const Rounding how{kept.data(), m, centre.data(), unit.data(), mean.data(), scale.data()};
    source.run(threads, [&](Team& team, const Flag& cancel) { quantise_all(source.pass, how, out.data() + lane, width, fine ? width / 2 : 0, team, cancel); });
}

Out1<uint8_t> narrow_lanes(Rows rows, int n_plain, int n_derivative, int threads) {
    const size_t n = rows.shape(0), width = rows.shape(1), plain = static_cast<size_t>(n_plain), targets = plain + static_cast<size_t>(n_derivative);
    require(n_plain >= 0 && n_derivative >= 0 && targets < width, "rows must have a lane for each target, and one more");
    nb::capsule owner;
    uint8_t* narrow = allocate<uint8_t>(targets, owner);
    {
        nb::gil_scoped_release released;
        Team team(n * targets > 4 * small_log ? useful_threads(threads) : 1);
        find_narrow(rows.data(), n, width, 0, plain, -1, team, narrow);
        find_narrow(rows.data(), n, width, plain, targets, static_cast<int>(targets), team, narrow + plain);
    }
    return Out1<uint8_t>(narrow, {targets}, owner);
}

using GrownArrays = std::tuple<Out1<int32_t>, Out1<double>, Out1<int32_t>, Out1<double>, Out1<int32_t>>;

// Codes as growth holds them, and the array that they were made from where it is needed.
class HeldCodes {
  public:
    HeldCodes(Codes codes, int threads, bool compact) : array_(codes) {
        const size_t n = codes.shape(0), d = codes.shape(1);
        const bool small = n * d <= small_log;
        run_interruptibly(
            n * d <= soon_done,
            [&](const Flag& cancel) {
                Team team(small ? 1 : useful_threads(threads));
                packed_.emplace(codes.data(), n, d, compact, team, cancel);
            },
            [] {});
        if (!packed_->needs_whole()) array_ = Codes();
    }
    HeldCodes take(In1<int64_t> rows) const {
        for (size_t i = 0; i < rows.shape(0); ++i) require(rows(i) >= 0 && rows(i) < static_cast<int64_t>(packed_->rows()), "rows must be rows of the codes");
        return HeldCodes(packed_->take(rows.data(), rows.shape(0)));
    }
    const PackedCodes& packed() const { return *packed_; }

  private:
    explicit HeldCodes(PackedCodes&& packed) : packed_(std::move(packed)) {}
    Codes array_;
    std::optional<PackedCodes> packed_;
};

GrownArrays grow_arrays(In2<double> states, const HeldCodes& held, Rows rows, int n_plain, int n_derivative, int64_t max_leaves, int64_t max_depth,
                        int64_t min_samples_leaf, double min_gain, bool by_gain, bool midpoint, int threads, nb::object progress, int64_t pool, bool fine,
                        bool weighted, std::optional<In1<double>> edges, std::optional<In1<int64_t>> first_edge) {
    const PackedCodes& codes = held.packed();
    const size_t n = states.shape(0), d = states.shape(1), width = rows.shape(1);
    require(n > 0 && d > 0 && n < (size_t{1} << 29), "states must have between 1 and 2^29 rows");
    require(codes.rows() == n && codes.features() == d && rows.shape(0) == n, "states, codes and rows must match");
    require(n_plain >= 0 && n_derivative >= 0, "numbers of targets must not be negative");
    const size_t halves = fine ? 2 : 1;
    require(width % (8 * halves) == 0 && width / halves >= static_cast<size_t>(n_plain + n_derivative) + 4,
            "rows must have a multiple of 8 lanes, at least targets + 4 (fine: twice as many)");
    require(max_leaves >= 1 && max_leaves < (int64_t{1} << 30) && min_samples_leaf >= 1 && threads >= 1 && pool >= 0, "sizes must be positive");
    const int targets = n_plain + n_derivative;
    require(fine || !weighted, "rows with weights must be fine");
    double total = 0;
    for (size_t i = 0; i < n && weighted; ++i) {
        const int32_t weight = rows.data()[i * width + static_cast<size_t>(targets) + 1];
        require(weight >= 1 && weight <= (1 << most_weight_bits), "weights must lie between 1 and 2^20");
        require(rows.data()[i * width + width / 2 + static_cast<size_t>(targets) + 1] == 1, "rows with weights must count themselves");
        total += weight;
    }
    require(total < 68719476736.0, "the sum of all weights must stay below 2^36");
    Table table{states.data(),
                codes.parts(),
                rows.data(),
                n,
                d,
                {n_plain, targets, static_cast<int>(width), static_cast<int>(width / 8), fine, weighted},
                false,
                1,
                {},
                {},
                1,
                nullptr};
    Options options{max_leaves, max_depth, min_samples_leaf, min_gain, by_gain, midpoint, static_cast<size_t>(pool)};
    if (edges && first_edge) {
        require_edges(*edges, *first_edge, d);
        for (size_t f = 0; f < d; ++f)
            require(codes.kinds(f).size() <= static_cast<size_t>((*first_edge)(f + 1) - (*first_edge)(f)) + 1, "there is no such bin");
        options.edges = edges->data(), options.first_edge = first_edge->data();
    }
    std::atomic<int64_t> leaves{1};
    Grown grown;
    nb::capsule owner;
    int32_t* node_of = allocate<int32_t>(n, owner);
    auto report = [&] {
        if (!progress.is_none()) progress(leaves.load(std::memory_order_relaxed), max_leaves);
    };
    const bool small = n * d <= small_log;
    const Room room(n, d, wants_groups(n, d, options.edges));
    run_interruptibly(
        small,
        [&](const Flag& cancel) {
            Team team(small ? 1 : useful_threads(threads));
            grown = Grower(table, codes, room, options, team, cancel, leaves).grow(node_of);
        },
        report);
    report();
    return {to_array(grown.feature), to_array(grown.threshold), to_array(grown.left), to_array(grown.gain), Out1<int32_t>(node_of, {n}, owner)};
}

WideLanes wide_lanes(int n_plain, int n_derivative, bool fine, bool weighted) {
    require(n_plain >= 0 && n_derivative >= 0, "numbers of targets must not be negative");
    require(fine || !weighted, "rows with weights must be fine");
    return {n_plain, n_plain + n_derivative, fine, weighted};
}

size_t require_bins(const In1<int64_t>& first_bin) {
    const size_t d = first_bin.shape(0) - 1;
    require(first_bin.shape(0) > 1 && first_bin(0) == 0, "first_bin must begin with 0");
    for (size_t f = 0; f < d; ++f) require(first_bin(f) < first_bin(f + 1) && first_bin(f + 1) - first_bin(f) <= 4096, "every feature must have bins");
    return d;
}

using AnyNumbers = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// Numbers as the cache keeps them, n rows.
Numbers numbers_of(const AnyNumbers& from, size_t n) {
    require((from.ndim() == 1 || from.ndim() == 2) && from.shape(0) == n, "there must be one row of numbers for each row");
    Numbers::Type type = Numbers::float64;
    if (from.dtype() == nb::dtype<float>()) type = Numbers::float32;
    else if (from.dtype() == nb::dtype<int32_t>()) type = Numbers::int32;
    else if (from.dtype() == nb::dtype<uint8_t>()) type = Numbers::uint8;
    else require(from.dtype() == nb::dtype<double>(), "numbers must be float64, float32, int32 or uint8");
    return {type, from.data(), from.ndim() == 2 ? from.shape(1) : 1};
}

// A piece of a log as it lies in the cache; what is mapped is read when rows are added to histograms, and `at` is brought up to date.
class PieceArrays {
  public:
    PieceArrays(AnyNumbers states, In1<int64_t> starts, In2<double> final_states, In1<double> periods, AnyNumbers actions, In2<int32_t> given,
                nb::ndarray<uint16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> at, std::optional<In1<double>> dt, std::optional<In1<int32_t>> weights)
        : states_(states), actions_(actions), starts_(starts), final_states_(final_states), periods_(periods), given_(given), at_(at), dt_(dt),
          weights_(weights) {
        const size_t n = at.shape(0), d = periods.shape(0), episodes = final_states.shape(0);
        require(!dt || dt->shape(0) == n, "dt must have one number for each row");
        require(!weights || weights->shape(0) == n, "weights must have one number for each row");
        for (size_t i = 0; weights && i < n; ++i) require((*weights)(i) >= 0 && (*weights)(i) <= (1 << most_weight_bits), "weights must be from 0 to 2^20");
        require(starts.shape(0) == episodes + 1 && starts(0) == 0 && starts(episodes) == static_cast<int64_t>(n),
                "starts must run from 0 to the number of rows");
        for (size_t e = 0; e < episodes; ++e) require(starts(e) < starts(e + 1), "starts must ascend");
        require(final_states.shape(1) == d && given.shape(0) == n && n < (size_t{1} << 31), "the arrays of a piece must match");
        bool angles = false;
        for (size_t f = 0; f < d; ++f) angles = angles || periods(f) > 0;
        const LogRows log{nullptr, n, d, starts.data(), final_states.data(), episodes, periods.data(), angles, dt ? dt->data() : nullptr};
        rows = {numbers_of(states, n), numbers_of(actions, n), log, given.data(), given.shape(1), at.data(), weights ? weights->data() : nullptr};
        require(rows.states.width == d && states.ndim() == 2, "states must have one column for each feature");
        require(rows.states.type == Numbers::float64 || rows.states.type == Numbers::float32, "states must be float64 or float32");
    }
    PieceRows rows;

  private:
    AnyNumbers states_, actions_;
    In1<int64_t> starts_;
    In2<double> final_states_;
    In1<double> periods_;
    In2<int32_t> given_;
    nb::ndarray<uint16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> at_;
    std::optional<In1<double>> dt_;
    std::optional<In1<int32_t>> weights_;
};

// Columns that are kept, and what each of them is rounded by: centre, unit, mean and scale.
using RoundingArrays = std::tuple<In1<int64_t>, In1<double>, In1<double>, In1<double>, In1<double>>;

Rounding rounding_of(const RoundingArrays& how, size_t columns) {
    const auto& [kept, centre, unit, mean, scale] = how;
    const size_t m = kept.shape(0);
    for (const auto* v : {&centre, &unit, &mean, &scale}) require(v->shape(0) == m, "centre, unit, mean and scale must have one entry per column");
    for (size_t k = 0; k < m; ++k)
        require(kept(k) >= (k ? kept(k - 1) + 1 : 0) && kept(k) < static_cast<int64_t>(columns), "kept must be columns in ascending order");
    return {kept.data(), m, centre.data(), unit.data(), mean.data(), scale.data()};
}

// Adds rows of one piece after the other to the histograms of the nodes that they fall into: slot[node] is the number of the histogram, or -1.
// Targets of the action are rounded, or those of its label; `lie` counts where targets lie on the grid, unless it is empty.
class Counter {
  public:
    Counter(In1<double> edges, In1<int64_t> first_edge, const RoundingArrays& action, In2<int32_t> labels, const RoundingArrays& derivative,
            In1<int32_t> feature, In1<int32_t> cut, In1<int32_t> left, In1<int32_t> slot, int n_plain, int n_derivative, bool fine, bool weighted, int shift,
            nb::ndarray<int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu> histograms, nb::ndarray<int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> lie)
        : weighted_(weighted), held_(edges, first_edge, action, labels, derivative, feature, left, slot, histograms, lie) {
        const WideLanes lanes = wide_lanes(n_plain, n_derivative, fine, weighted);
        require(first_edge.shape(0) > 1, "there must be features");
        const size_t d = first_edge.shape(0) - 1, nodes = feature.shape(0), slots = histograms.shape(0);
        require_edges(edges, first_edge, d);
        limbs_ = fine && !weighted ? 2 : 1, n_plain_ = static_cast<size_t>(n_plain);
        require(labels.shape(1) % limbs_ == 0, "labels must have all targets");
        Making how{lanes,
                   shift,
                   rounding_of(action, SIZE_MAX >> 1),
                   rounding_of(derivative, d),
                   labels.shape(0) ? labels.data() : nullptr,
                   labels.shape(0),
                   labels.shape(1) / limbs_,
                   edges.data(),
                   first_edge.data(),
                   {0}};
        for (size_t f = 0; f < d; ++f) how.first_bin.push_back(how.first_bin.back() + first_edge(f + 1) - first_edge(f) + 1);
        require(how.derivative.count == static_cast<size_t>(n_derivative), "every target must be made once");
        require(histograms.shape(1) == static_cast<size_t>(how.first_bin[d]) && histograms.shape(2) == lanes.width(),
                "histograms must have the bins and lanes");
        require(lie.shape(0) == 0 || (lie.shape(0) == static_cast<size_t>(lanes.targets) && lie.shape(1) > 0), "every target must have its stretches");
        require(shift >= 0 && shift < 32, "targets have 32 bits");
        require(nodes > 0 && cut.shape(0) == nodes && left.shape(0) == nodes && slot.shape(0) == nodes, "tree arrays must have one length");
        Route route{feature.data(), left.data(), slot.data(), std::vector<double>(nodes), nodes, slots};
        for (size_t k = 0; k < nodes; ++k) {
            require(slot(k) >= -1 && slot(k) < static_cast<int64_t>(slots), "there is no such histogram");
            if (left(k) < 0) continue;
            require(left(k) > static_cast<int64_t>(k) && static_cast<size_t>(left(k)) + 1 < nodes, "children must come after their parents");
            require(feature(k) >= 0 && static_cast<size_t>(feature(k)) < d, "the tree splits on a feature that has no edges");
            const auto f = static_cast<size_t>(feature(k));
            require(cut(k) >= 0 && cut(k) < first_edge(f + 1) - first_edge(f), "there is no such edge");
            route.threshold[k] = edges.data()[first_edge(f) + cut(k)];
        }
        actions_ = how.action.count ? static_cast<size_t>(how.action.kept[how.action.count - 1]) + 1 : 0;
        d_ = d, action_lanes_ = how.action_lanes();
        counter_ = std::make_unique<RowCounter>(how, route, histograms.data(), lie.shape(0) ? lie.data() : nullptr, lie.shape(1));
    }
    void add(const PieceArrays& piece) {
        const PieceRows& rows = piece.rows;
        require(rows.log.d == d_ && rows.actions.width >= actions_, "the piece must have all features and actions");
        require(rows.weights || !weighted_, "the piece must have weights");
        require(rows.n_given % limbs_ == 0 && action_lanes_ + rows.n_given / limbs_ == n_plain_, "every target must be made once");
        nb::gil_scoped_release released;
        counter_->add(rows);
    }
    void finish() {
        nb::gil_scoped_release released;
        counter_->finish();
    }

  private:
    bool weighted_;
    std::tuple<In1<double>, In1<int64_t>, RoundingArrays, In2<int32_t>, RoundingArrays, In1<int32_t>, In1<int32_t>, In1<int32_t>,
               nb::ndarray<int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>, nb::ndarray<int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>>
        held_;
    size_t limbs_, n_plain_, d_, actions_, action_lanes_;
    std::unique_ptr<RowCounter> counter_;
};

// The best split of a node by its histogram: feature (-1: none), the bins below and above it, gain, and the sums on its left.
std::tuple<int, int, int, double, Out1<int64_t>> split_histogram(In2<int64_t> histogram, In1<int64_t> first_bin, int n_plain, int n_derivative, bool fine,
                                                                 bool weighted, bool missing, double least, int64_t min_samples_leaf, double min_gain) {
    const WideLanes lanes = wide_lanes(n_plain, n_derivative, fine, weighted);
    const size_t d = require_bins(first_bin);
    require(histogram.shape(0) == static_cast<size_t>(first_bin(d)) && histogram.shape(1) == lanes.width(), "the histogram must have the bins and lanes");
    require(min_samples_leaf >= 1 && least >= 1, "sizes must be positive");
    Found found;
    {
        nb::gil_scoped_release released;
        found = best_split(lanes, histogram.data(), first_bin.data(), d, missing, least, static_cast<double>(min_samples_leaf), min_gain);
    }
    return {found.feature, found.below, found.above, found.gain, to_array(found.left)};
}

double priority_of(In1<int64_t> sums, int n_plain, int n_derivative, bool fine, bool weighted, bool missing) {
    const WideLanes lanes = wide_lanes(n_plain, n_derivative, fine, weighted);
    require(sums.shape(0) == lanes.width(), "sums must have the lanes");
    return Totals(lanes, sums.data()).priority(missing);
}

Out1<int32_t> apply_array(In2<double> states, In1<int32_t> feature, In1<double> threshold, In1<int32_t> left, In1<int32_t> leaf_number, int threads) {
    const size_t n = states.shape(0), d = states.shape(1), nodes = feature.shape(0);
    require(nodes < (size_t{1} << 27), "the tree has too many nodes (2^27 is the limit)");
    require(nodes > 0 && threshold.shape(0) == nodes && left.shape(0) == nodes && leaf_number.shape(0) == nodes, "tree arrays must have one length");
    for (size_t k = 0; k < nodes; ++k) {
        if (left(k) < 0) continue;
        require(left(k) > static_cast<int64_t>(k) && static_cast<size_t>(left(k)) + 1 < nodes, "children must come after their parents");
        require(feature(k) >= 0 && static_cast<size_t>(feature(k)) < d, "the tree splits on a feature that states does not have");
    }
    nb::capsule owner;
    int32_t* out = allocate<int32_t>(n, owner);
    {
        nb::gil_scoped_release released;
        apply(states.data(), n, d, feature.data(), threshold.data(), left.data(), leaf_number.data(), nodes, threads, out);
    }
    return Out1<int32_t>(out, {n}, owner);
}

// The states in some rows, and final ones, feature by feature: (what bins are decoded as, differences of codes in bytes).
nb::list pack_states(In2<double> states, In1<int64_t> rows, In2<double> finals, In1<double> cuts, In1<int64_t> first_cut, size_t bins, size_t spare,
                     int threads) {
    const size_t n = rows.shape(0), d = states.shape(1), last = finals.shape(0);
    require(n > 0 && finals.shape(1) == d && first_cut.shape(0) == d + 1, "states, final states and cuts must have the same features");
    require(first_cut(0) == 0 && first_cut(d) == static_cast<int64_t>(cuts.shape(0)), "first_cut must run from 0 to the number of cuts");
    for (size_t f = 0; f < d; ++f) require(first_cut(f) <= first_cut(f + 1), "first_cut must ascend");
    for (size_t i = 0; i < n; ++i) require(rows(i) >= 0 && static_cast<size_t>(rows(i)) < states.shape(0), "rows must be rows of the states");
    std::vector<PackedColumn> packed(d);
    run_interruptibly(
        n * d <= small_log,
        [&](const Flag& cancel) {
            Team team(n * d <= small_log ? 1 : useful_threads(threads));
            constexpr size_t together = 8;  // features: those of a cache line
            const size_t all = n + last;
            const Array<double> columns = make_array<double>(std::min(d, together) * all);
            std::vector<Packer> packers;
            for (int t = 0; t < team.size(); ++t) packers.emplace_back(bins, spare);
            for (size_t f0 = 0; f0 < d; f0 += together) {
                const size_t some = std::min(together, d - f0);
                constexpr size_t block = 1 << 12;
                team.run(static_cast<int>((n + block - 1) / block), [&](int task, int) {
                    const size_t a = static_cast<size_t>(task) * block, b = std::min(n, a + block);
                    for (size_t i = a; i < b; ++i)
                        for (size_t k = 0; k < some; ++k) columns[k * all + i] = states.data()[static_cast<size_t>(rows.data()[i]) * d + f0 + k];
                });
                for (size_t i = 0; i < last; ++i)
                    for (size_t k = 0; k < some; ++k) columns[k * all + n + i] = finals.data()[i * d + f0 + k];
                team.run(static_cast<int>(some), [&](int task, int thread) {
                    const size_t k = static_cast<size_t>(task), f = f0 + k;
                    std::vector<double> own(cuts.data() + first_cut.data()[f], cuts.data() + first_cut.data()[f + 1]);
                    packed[f] = packers[static_cast<size_t>(thread)].pack(columns.get() + k * all, all, n, std::move(own), cancel);
                });
            }
        },
        [] {});
    nb::list found;
    for (const PackedColumn& one : packed) found.append(nb::make_tuple(to_array(one.values), to_array(one.planes)));
    return found;
}

template <class T>
using In3 = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out3 = nb::ndarray<nb::numpy, T, nb::ndim<3>>;

template <class T, int Dimensions>
using Totals = nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

LeafTotals leaf_totals(const Totals<uint64_t, 3>& words, const Totals<double, 3>& ranges, const Totals<int64_t, 2>& counts, const Totals<int64_t, 3>& labels) {
    const size_t leaves = words.shape(0), columns = words.shape(1);
    require(leaves > 0 && words.shape(2) == sum_words, "words must have the shape (leaves, columns, 5)");
    require(ranges.shape(0) == leaves && ranges.shape(1) == columns && ranges.shape(2) == 2, "ranges must have the shape (leaves, columns, 2)");
    require(counts.shape(0) == leaves && counts.shape(1) == 4, "counts must have the shape (leaves, 4)");
    require(labels.shape(0) == leaves && labels.shape(2) == 2, "labels must have the shape (leaves, labels, 2)");
    return {words.data(), ranges.data(), counts.data(), labels.data()};
}

// The rows of a log, each with a place in the tree below `places`, checked.
LeafColumns leaf_columns(const LogRows& log, const In2<double>& actions, const In1<int32_t>& labels, size_t n_labels, const In1<double>& values,
                         const In1<int64_t>& rows, const In1<int64_t>& weights, const In1<int32_t>& leaf, size_t places) {
    const size_t count = leaf.shape(0), m = actions.shape(1);
    require(values.shape(0) == log.n && (m == 0 || actions.shape(0) == log.n), "states, actions and values must match");
    require(labels.shape(0) == (n_labels ? log.n : 0), "labels must have one entry per row, or none");
    require(count == (rows.shape(0) ? rows.shape(0) : log.n), "leaf must have one entry per row that counts");
    require(weights.shape(0) == count || weights.shape(0) == 0, "weights must have one entry per row that counts, or none");
    const LeafColumns in{log,
                         actions.data(),
                         m,
                         n_labels ? labels.data() : nullptr,
                         n_labels,
                         values.data(),
                         rows.shape(0) ? rows.data() : nullptr,
                         weights.shape(0) ? weights.data() : nullptr,
                         leaf.data(),
                         count,
                         nullptr};
    for (size_t i = 0; i < count; ++i) {
        require(leaf.data()[i] >= 0 && static_cast<size_t>(leaf.data()[i]) < places, "there is no such leaf");
        if (in.rows) require(rows.data()[i] < static_cast<int64_t>(log.n) && rows.data()[i] >= (i ? rows.data()[i - 1] + 1 : 0), "rows must ascend");
        if (in.weights) require(weights.data()[i] >= 1 && weights.data()[i] <= (1 << most_weight_bits), "weights must lie between 1 and 2^20");
    }
    for (size_t i = 0; i < log.n && in.labels; ++i)
        require(labels.data()[i] >= 0 && static_cast<size_t>(labels.data()[i]) < n_labels, "there is no such label");
    return in;
}

void add_to_leaves_array(In2<double> states, In1<int64_t> starts, In2<double> final_states, In1<double> periods, In1<double> dt, In2<double> actions,
                         In1<int32_t> labels, In1<double> values, In1<int64_t> rows, In1<int64_t> weights, In1<int32_t> leaf, In2<double> factors,
                         Totals<uint64_t, 3> words, Totals<double, 3> ranges, Totals<int64_t, 2> counts, Totals<int64_t, 3> label_counts, int threads) {
    const LeafTotals out = leaf_totals(words, ranges, counts, label_counts);
    const size_t leaves = words.shape(0), n_labels = label_counts.shape(1);
    LeafColumns in = leaf_columns(log_rows(states, starts, final_states, periods, dt), actions, labels, n_labels, values, rows, weights, leaf, leaves);
    require(words.shape(1) == in.columns() && factors.shape(0) == in.columns() && factors.shape(1) == 2, "there must be sums and factors for each column");
    in.factors = factors.data();
    // A thread of its own needs totals of its own: no more of these than rows are worth.
    const size_t totals = leaves * (in.columns() * 7 + 4 + 2 * n_labels), numbers = in.count * in.columns();
    const bool small = numbers <= 4 * small_log;
    const int useful = small ? 1 : std::min<int>(useful_threads(threads), static_cast<int>(std::min<size_t>(1 + numbers / totals, 1024)));
    run_interruptibly(
        small,
        [&](const Flag& cancel) {
            Team team(useful);
            add_to_leaves(in, leaves, out, team, cancel);
        },
        [] {});
    for (size_t k = 0; k < leaves * in.columns(); ++k) {
        const double *factor = factors.data() + 2 * (k % in.columns()), largest = std::max(-ranges.data()[2 * k], ranges.data()[2 * k + 1]);
        require(!(largest * factor[0] * factor[1] > 0x1p61), "there are numbers beyond those that the factors are made for");
    }
}

void merge_leaves(Totals<uint64_t, 3> words, Totals<double, 3> ranges, Totals<int64_t, 2> counts, Totals<int64_t, 3> labels, Totals<uint64_t, 3> other_words,
                  Totals<double, 3> other_ranges, Totals<int64_t, 2> other_counts, Totals<int64_t, 3> other_labels) {
    const LeafTotals to = leaf_totals(words, ranges, counts, labels), from = leaf_totals(other_words, other_ranges, other_counts, other_labels);
    require(words.shape(0) == other_words.shape(0) && words.shape(1) == other_words.shape(1) && labels.shape(1) == other_labels.shape(1),
            "only sums of the same leaves and columns can be merged");
    merge_totals(to, from, words.shape(0), words.shape(1), labels.shape(1));
}

using FinishedArrays = std::tuple<Out2<int64_t>, Out3<int64_t>, Out2<double>, Out2<double>>;

FinishedArrays finish_leaves_array(In1<int32_t> left, In1<int64_t> leaf_node, In1<int64_t> exponents, int n_actions, int features, Totals<uint64_t, 3> words,
                                   Totals<double, 3> ranges, Totals<int64_t, 2> counts, Totals<int64_t, 3> labels) {
    const LeafTotals in = leaf_totals(words, ranges, counts, labels);
    const size_t nodes = left.shape(0), leaves = words.shape(0), columns = words.shape(1), m = static_cast<size_t>(n_actions),
                 d = static_cast<size_t>(features);
    require(nodes == 2 * leaves - 1 && leaf_node.shape(0) == leaves, "leaf_node must have the node of each leaf");
    require(n_actions >= 0 && features >= 0 && columns == m + 1 + 2 * d && exponents.shape(0) == columns, "there must be an exponent for each column");
    for (size_t l = 0; l < leaves; ++l)
        require(leaf_node(l) >= 0 && static_cast<size_t>(leaf_node(l)) < nodes && left(static_cast<size_t>(leaf_node(l))) < 0,
                "leaf_node must be that of a leaf");
    check_children(left);
    nb::capsule owners[4];
    const size_t n_labels = labels.shape(1);
    int64_t *all = allocate<int64_t>(nodes * 4, owners[0]), *all_labels = allocate<int64_t>(nodes * n_labels * 2, owners[1]);
    double *mean = allocate<double>(nodes * columns, owners[2]), *deviation = allocate<double>(nodes * (m + 1 + d), owners[3]);
    finish_leaves({left.data(), leaf_node.data(), nodes, leaves, columns, m + 1 + d, n_labels, m + 1, m + 1 + d, exponents.data()}, in, all, all_labels, mean,
                  deviation);
    return {Out2<int64_t>(all, {nodes, 4}, owners[0]), Out3<int64_t>(all_labels, {nodes, n_labels, 2}, owners[1]),
            Out2<double>(mean, {nodes, columns}, owners[2]), Out2<double>(deviation, {nodes, m + 1 + d}, owners[3])};
}

using LinearArrays = std::tuple<Out2<double>, Out3<float>, Out2<float>, Out2<float>, Out2<float>, Out2<double>>;

LinearArrays linear_arrays(In2<double> states, In1<int64_t> starts, In2<double> final_states, In1<double> periods, In1<double> dt, In2<double> actions,
                           In1<int32_t> labels, In1<double> values, In1<int64_t> rows, In1<int64_t> weights, In1<int32_t> node, In1<uint8_t> fold,
                           In1<int32_t> left, In2<double> origin, In2<double> mean, In1<double> per_span, In1<double> sigma, In1<double> penalty, int n_labels,
                           int folds, int most, int threads) {
    const size_t nodes = left.shape(0), k = sigma.shape(0), joint = static_cast<size_t>(n_labels);
    require(n_labels >= 0 && folds >= 1 && most >= 0 && threads >= 1, "sizes must fit");
    const LeafColumns in_rows = leaf_columns(log_rows(states, starts, final_states, periods, dt), actions, labels, joint, values, rows, weights, node, nodes);
    const size_t n = in_rows.count, d = in_rows.log.d, plain = (joint ? joint : in_rows.n_actions) + 1;
    require(n > 0 && in_rows.log.n < (size_t{1} << 32) && fold.shape(0) == n, "node and fold must have one entry per row that counts");
    require(k == plain || k == plain + d, "sigma must have one entry per target");
    require(origin.shape(0) == nodes && origin.shape(1) == d && mean.shape(0) == nodes && mean.shape(1) == k, "origin and mean must have a row for each node");
    require(per_span.shape(0) == d, "per_span must have one entry per feature");
    check_children(left);
    for (size_t i = 0; i < n; ++i) {
        require(fold.data()[i] < folds, "fold must lie below folds");
        require(left.data()[node.data()[i]] < 0, "node must be that of a leaf");
    }
    nb::capsule owners[6];
    const LinearOutput out{allocate<double>(nodes * k, owners[0]), allocate<double>(nodes * k, owners[5]), allocate<float>(nodes * k * d, owners[1]),
                           allocate<float>(nodes * k, owners[2]),  allocate<float>(nodes * k, owners[3]),  allocate<float>(nodes * k, owners[4])};
    const LinearInput in{in_rows,
                         fold.data(),
                         left.data(),
                         origin.data(),
                         mean.data(),
                         per_span.data(),
                         sigma.data(),
                         penalty.data(),
                         n,
                         d,
                         k,
                         nodes,
                         plain,
                         joint,
                         static_cast<size_t>(folds),
                         penalty.shape(0),
                         static_cast<size_t>(most)};
    const bool small = n * d <= small_log;
    run_interruptibly(
        small,
        [&](const Flag& cancel) {
            Team team(small ? 1 : useful_threads(threads));
            LinearLeaves(in, out, team, cancel).fit();
        },
        [] {});
    return {Out2<double>(out.centre, {nodes, k}, owners[0]), Out3<float>(out.slope, {nodes, k, d}, owners[1]),
            Out2<float>(out.low, {nodes, k}, owners[2]),     Out2<float>(out.high, {nodes, k}, owners[3]),
            Out2<float>(out.spread, {nodes, k}, owners[4]),  Out2<double>(out.squares, {nodes, k}, owners[5])};
}

// A tree whose nodes have linear models, to be asked many times.
class Policy {
  public:
    Policy(In1<int32_t> feature, In1<double> threshold, In1<int32_t> left, In2<double> origin, In2<double> centre, In3<float> slope, In2<float> low,
           In2<float> high)
        : feature_(feature.data(), feature.data() + feature.shape(0)), threshold_(threshold.data(), threshold.data() + threshold.shape(0)),
          left_(left.data(), left.data() + left.shape(0)), models_(checked(feature, threshold, left, origin, centre, slope, low, high), origin.shape(1),
                                                                   centre.shape(1), origin.data(), centre.data(), slope.data(), low.data(), high.data()),
          told_(models_.width) {}

    // One state, by the shortest way.
    Out1<double> one(nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu> state) {
        find(state);
        nb::capsule owner;
        double* out = allocate<double>(models_.k, owner);
        std::copy_n(told_.data(), models_.k, out);
        return Out1<double>(out, {models_.k}, owner);
    }
    size_t best(nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu> state) {
        find(state);
        return models_.best(told_.data(), models_.k);
    }

    // Of many states: what the given node of each says.
    Out2<double> many(In2<double> states, In1<int32_t> node, int threads) const {
        const size_t n = states.shape(0);
        require(states.shape(1) == models_.d && node.shape(0) == n, "states must have one column per feature, and node one entry per state");
        for (size_t i = 0; i < n; ++i) require(node.data()[i] >= 0 && static_cast<size_t>(node.data()[i]) < models_.nodes, "there is no such node");
        nb::capsule owner;
        double* out = allocate<double>(n * models_.k, owner);
        {
            nb::gil_scoped_release released;
            constexpr size_t block = 4096;
            Team team(n > 4 * block ? useful_threads(threads) : 1);
            team.run(static_cast<int>((n + block - 1) / block), [&](int task, int) {
                std::vector<double> told(models_.width);
                const size_t a = static_cast<size_t>(task) * block;
                for (size_t i = a; i < std::min(n, a + block); ++i) {
                    models_.tell(static_cast<size_t>(node.data()[i]), states.data() + i * models_.d, told.data());
                    std::copy_n(told.data(), models_.k, out + i * models_.k);
                }
            });
        }
        return Out2<double>(out, {n, models_.k}, owner);
    }

    // Squared errors in units, and wrong labels, at every node; each row counts as much as its weight says, if there are any.
    std::tuple<Out2<double>, Out1<double>> errors(In2<double> states, In2<double> targets, In1<double> per_unit, In1<double> weights, int scores,
                                                  int threads) const {
        const size_t n = states.shape(0);
        require(states.shape(1) == models_.d && targets.shape(0) == n && targets.shape(1) == models_.k && per_unit.shape(0) == models_.k,
                "states and targets must fit the models");
        require(scores >= 0 && static_cast<size_t>(scores) <= models_.k, "there are fewer targets than scores");
        require(weights.shape(0) == n || weights.shape(0) == 0, "weights must have one entry per row, or none");
        Errors found;
        run_interruptibly(
            n * models_.d <= small_log,
            [&](const Flag& cancel) {
                Team team(n > 4096 ? useful_threads(threads) : 1);
                const double* weight = weights.shape(0) ? weights.data() : nullptr;
                found = errors_of(models_, {feature_.data(), threshold_.data(), left_.data()},
                                  {states.data(), targets.data(), n, per_unit.data(), weight, static_cast<size_t>(scores)}, team, cancel);
            },
            [] {});
        nb::capsule owner;
        double* squares = allocate<double>(found.squares.size(), owner);
        std::copy(found.squares.begin(), found.squares.end(), squares);
        return {Out2<double>(squares, {models_.nodes, models_.k}, owner), to_array(found.wrong)};
    }

  private:
    std::vector<int32_t> feature_;
    std::vector<double> threshold_;
    std::vector<int32_t> left_;
    Models models_;
    std::vector<double> told_, state_;

    static size_t checked(In1<int32_t> feature, In1<double> threshold, In1<int32_t> left, In2<double> origin, In2<double> centre, In3<float> slope,
                          In2<float> low, In2<float> high) {
        const size_t nodes = feature.shape(0), d = origin.shape(1), k = centre.shape(1);
        require(nodes > 0 && threshold.shape(0) == nodes && left.shape(0) == nodes && origin.shape(0) == nodes, "tree arrays must have one length");
        for (const auto* v : {&low, &high}) require(v->shape(0) == nodes && v->shape(1) == k, "low and high must have one row per node");
        require(centre.shape(0) == nodes && slope.shape(0) == nodes && slope.shape(1) == k && slope.shape(2) == d && d > 0 && k > 0,
                "models must have one row per node");
        for (size_t j = 0; j < nodes; ++j) {
            if (left(j) < 0) continue;
            require(left(j) > static_cast<int64_t>(j) && static_cast<size_t>(left(j)) + 1 < nodes, "children must come after their parents");
            require(feature(j) >= 0 && static_cast<size_t>(feature(j)) < d, "the tree splits on a feature that states does not have");
        }
        return nodes;
    }

    void find(const nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>& state) {
        require(state.shape(0) == models_.d, "state must have one number per feature");
        state_.resize(models_.d);
        if (state.dtype() == nb::dtype<double>()) std::copy_n(static_cast<const double*>(state.data()), models_.d, state_.data());
        else if (state.dtype() == nb::dtype<float>()) std::copy_n(static_cast<const float*>(state.data()), models_.d, state_.data());
        else throw nb::type_error("state must hold float32 or float64");
        const Branches branches{feature_.data(), threshold_.data(), left_.data()};
        size_t node = 0;
        while (left_[node] >= 0) node = branches.below(node, state_.data());
        models_.tell(node, state_.data(), told_.data());
    }
};

// What leaves predict, as arrays of one row per leaf.
LeafModels leaf_models(size_t d, const In2<double>& origin, const In2<double>& centre, const In3<double>& slope, const In2<double>& low,
                       const In2<double>& high) {
    const size_t leaves = centre.shape(0), targets = centre.shape(1);
    require(d > 0 && leaves > 0 && origin.shape(0) == leaves && origin.shape(1) == d, "origin must have one row per leaf and one column per feature");
    require(slope.shape(0) == leaves && slope.shape(1) == targets && slope.shape(2) == d, "slope must have the shape (leaves, targets, features)");
    for (const auto* v : {&low, &high}) require(v->shape(0) == leaves && v->shape(1) == targets, "low and high must fit centre");
    return {leaves, d, targets, origin.data(), centre.data(), slope.data(), low.data(), high.data()};
}

constexpr size_t short_work = size_t{1} << 16;  // states times leaves: ends within a few milliseconds

Out3<double> attribute_paths(In2<double> states, In2<double> lower, In2<double> upper, In2<double> cover, In2<double> at, In2<double> weight,
                             In2<double> origin, In2<double> centre, In3<double> slope, In2<double> low, In2<double> high, int threads) {
    const size_t n = states.shape(0), d = states.shape(1);
    const LeafModels models = leaf_models(d, origin, centre, slope, low, high);
    for (const auto* v : {&lower, &upper, &cover}) require(v->shape(0) == models.leaves && v->shape(1) == d, "bounds and cover must have one row per leaf");
    require(at.shape(0) == at.shape(1) && weight.shape(0) == at.shape(0) && weight.shape(1) == at.shape(0), "the quadrature must be square");
    nb::capsule owner;
    double* out = allocate<double>(n * d * models.targets, owner);
    const PathLeaves leaves(models, lower.data(), upper.data(), cover.data(), at.data(), weight.data(), at.shape(0));
    const bool small = n * models.leaves <= short_work;
    run_interruptibly(
        small,
        [&](const Flag& cancel) {
            Team team(small ? 1 : useful_threads(threads));
            leaves.attribute(states.data(), n, d, models.targets, team, cancel, out);
        },
        [] {});
    return Out3<double>(out, {n, d, models.targets}, owner);
}

Out3<double> attribute_background(In2<double> states, In2<double> background, In1<int32_t> feature, In1<double> threshold, In1<int32_t> left,
                                  In1<int32_t> leaf_number, In2<double> origin, In2<double> centre, In3<double> slope, In2<double> low, In2<double> high,
                                  int threads) {
    const size_t n = states.shape(0), d = states.shape(1), m = background.shape(0), nodes = feature.shape(0);
    const LeafModels models = leaf_models(d, origin, centre, slope, low, high);
    require(m > 0 && background.shape(1) == d, "background must have at least one state, and the same features");
    require(nodes > 0 && threshold.shape(0) == nodes && left.shape(0) == nodes && leaf_number.shape(0) == nodes, "tree arrays must have one length");
    for (size_t k = 0; k < nodes; ++k) {
        if (left(k) < 0) {
            require(leaf_number(k) >= 0 && static_cast<size_t>(leaf_number(k)) < models.leaves, "there is no such leaf");
            continue;
        }
        require(left(k) > static_cast<int64_t>(k) && static_cast<size_t>(left(k)) + 1 < nodes, "children must come after their parents");
        require(feature(k) >= 0 && static_cast<size_t>(feature(k)) < d, "the tree splits on a feature that states does not have");
    }
    nb::capsule owner;
    double* out = allocate<double>(n * d * models.targets, owner);
    const bool small = n * m * std::min<size_t>(models.leaves, 64) <= short_work;
    run_interruptibly(
        small,
        [&](const Flag& cancel) {
            Team team(small ? 1 : useful_threads(threads));
            attribute_against(models, {feature.data(), threshold.data(), left.data()}, leaf_number.data(), states.data(), n, background.data(), m, team, cancel,
                              out);
        },
        [] {});
    return Out3<double>(out, {n, d, models.targets}, owner);
}

std::string_view view_of(const nb::bytes& data) { return {data.c_str(), data.size()}; }

nb::object text_of(std::string_view cell) {
    PyObject* const text = PyUnicode_DecodeUTF8(cell.data(), static_cast<Py_ssize_t>(cell.size()), nullptr);
    if (!text) throw nb::python_error();
    return nb::steal(text);
}

// The cells of the first record that is not empty, and where the next one begins; None if the data ends before that.
nb::object csv_header(nb::bytes data, char separator, bool last) {
    CsvRows rows(view_of(data), separator, last);
    while (rows.next()) {
        if (rows.size() == 0) continue;
        nb::list names;
        for (size_t k = 0; k < rows.size(); ++k) names.append(text_of(rows[k]));
        return nb::make_tuple(names, rows.position());
    }
    return nb::none();
}

// The columns of all whole records: (where the rest begins, rows, (records of another length, the first of them, its length),
// [(integers, doubles or a list of texts, what was seen)]).
nb::tuple csv_columns(nb::bytes data, char separator, bool last, nb::bytes as_text) {
    const size_t columns = as_text.size();
    require(columns > 0, "a table has at least one column");
    CsvRows cells(view_of(data), separator, last);
    struct Column {
        Array<int64_t> integers;
        Array<double> doubles;
        uint32_t seen = 0;
    };
    std::vector<Column> found(columns);
    size_t rows = 0, odd = 0, first = 0, first_size = 0;
    {
        nb::gil_scoped_release released;
        for (size_t before = 0; cells.next(); before = cells.size()) {
            const size_t size = cells.size() - before;
            if (size == columns) {
                ++rows;
            } else if (size > 0) {
                if (odd++ == 0) first = rows, first_size = size;
                cells.drop(before);
            }
        }
        for (size_t k = 0; k < columns; ++k) {
            Column& column = found[k];
            if (as_text.c_str()[k]) {
                column.seen = seen_text;
                continue;
            }
            column.integers = make_array<int64_t>(rows);
            column.doubles = make_array<double>(rows);
            for (size_t row = 0; row < rows && !(column.seen & seen_text); ++row) {
                const Number number = read_number(cells[row * columns + k]);
                column.integers[row] = number.integer;
                column.doubles[row] = number.value;
                column.seen |= number.seen;
            }
        }
    }
    nb::list table;
    for (size_t k = 0; k < columns; ++k) {
        Column& column = found[k];
        if (column.seen & seen_text) {
            nb::list texts;
            for (size_t row = 0; row < rows; ++row) texts.append(text_of(cells[row * columns + k]));
            table.append(nb::make_tuple(texts, column.seen));
        } else if (column.seen & (seen_large | seen_fraction)) {
            table.append(nb::make_tuple(hand_over(column.doubles, rows), column.seen));
        } else {
            table.append(nb::make_tuple(hand_over(column.integers, rows), column.seen));
        }
    }
    return nb::make_tuple(cells.position(), rows, nb::make_tuple(odd, first, first_size), table);
}

}  // namespace

NB_MODULE(_kernel, m) {
    m.doc() = "The compiled part of tripletree.";
    // Whatever a user still holds when Python ends is no leak; nobody should read of it on leaving.
    nb::set_leak_warnings(false);
    m.def("csv_header", &csv_header, "data"_a, "separator"_a, "last"_a);
    m.def("csv_columns", &csv_columns, "data"_a, "separator"_a, "last"_a, "as_text"_a);
    m.def("discounted", &discounted_array, "rewards"_a, "starts"_a, "gamma"_a, "tail"_a);
    m.def("narrow", &narrow, "numbers"_a, "out"_a.noconvert());
    m.def("put_columns", &put_columns, "columns"_a, "out"_a.noconvert());
    m.def("add_hashes", &add_hashes, "columns"_a, "keys"_a, "starts"_a, "sums"_a.noconvert(), "before"_a = 0);
    m.def("pack_states", &pack_states, "states"_a, "rows"_a, "finals"_a, "cuts"_a, "first_cut"_a, "bins"_a, "spare"_a, "threads"_a);
    m.def("settle", &settle_array, "region"_a, "starts"_a, "cost"_a);
    m.def("encode", &encode_array, "states"_a, "bins"_a, "threads"_a);
    m.def("sort_columns", &sort_columns, "states"_a, "threads"_a);
    m.def("other_values", &other_values_array, "column"_a, "known"_a);
    m.def("choose_edges", &choose_edges_array, "ordered"_a, "counts"_a, "bins"_a, "midpoint"_a, "threads"_a);
    m.def("bin_rows", &bin_rows, "states"_a, "edges"_a, "first"_a);
    m.def("encode_edges", &encode_edges, "states"_a, "edges"_a, "first"_a, "threads"_a);
    nb::class_<Source>(m, "Source")
        .def(nb::init<Columns>(), "columns"_a)
        .def(nb::init<In2<double>, In1<int64_t>, In2<double>, In1<double>, In1<double>>(), "states"_a, "starts"_a, "final_states"_a, "periods"_a, "dt"_a);
    m.def("tally", &tally_column, "column"_a, "most"_a);
    m.def("add_up", &add_up_tree<double>, "left"_a, "totals"_a.noconvert());
    m.def("add_up", &add_up_tree<int64_t>, "left"_a, "totals"_a.noconvert());
    m.def("leaves_in_order", &leaves_in_order, "left"_a);
    m.def("middle", &middle_of, "columns"_a);
    m.def("gains", &gains_of, "keys"_a, "rows"_a, "gains"_a, "bins"_a);
    m.def("widen_ranges", &widen_ranges, "source"_a, "lowest"_a.noconvert(), "highest"_a.noconvert(), "threads"_a = 1);
    m.def("add_sums", &add_sums, "source"_a, "centre"_a, "unit"_a, "grids"_a, "sums"_a.noconvert(), "threads"_a = 1);
    m.def("count_keys", &count_keys, "source"_a, "column"_a, "prefix"_a, "done"_a, "counts"_a.noconvert(), "threads"_a = 1);
    m.def("quantise", &quantise_array, "source"_a, "kept"_a, "centre"_a, "unit"_a, "mean"_a, "scale"_a, "out"_a.noconvert(), "lane"_a, "fine"_a = false,
          "threads"_a = 1);
    m.def("narrow_lanes", &narrow_lanes, "rows"_a.noconvert(), "n_plain"_a, "n_derivative"_a, "threads"_a = 1);
    nb::class_<HeldCodes>(m, "Codes")
        .def(nb::init<Codes, int, bool>(), "codes"_a, "threads"_a = 1, "compact"_a = false)
        .def("take", &HeldCodes::take, "rows"_a);
    nb::implicitly_convertible<Codes, HeldCodes>();
    m.def("grow", &grow_arrays, "states"_a, "codes"_a, "rows"_a.noconvert(), "n_plain"_a, "n_derivative"_a, "max_leaves"_a, "max_depth"_a, "min_samples_leaf"_a,
          "min_gain"_a, "by_gain"_a, "midpoint"_a, "threads"_a, "progress"_a.none(), "pool"_a = 0, "fine"_a = false, "weighted"_a = false,
          "edges"_a = nb::none(), "first_edge"_a = nb::none());
    m.def("add_to_leaves", &add_to_leaves_array, "states"_a, "starts"_a, "final_states"_a, "periods"_a, "dt"_a, "actions"_a, "labels"_a, "values"_a, "rows"_a,
          "weights"_a, "leaf"_a, "factors"_a, "words"_a.noconvert(), "ranges"_a.noconvert(), "counts"_a.noconvert(), "label_counts"_a.noconvert(), "threads"_a);
    m.def("merge_leaves", &merge_leaves, "words"_a.noconvert(), "ranges"_a.noconvert(), "counts"_a.noconvert(), "labels"_a.noconvert(),
          "other_words"_a.noconvert(), "other_ranges"_a.noconvert(), "other_counts"_a.noconvert(), "other_labels"_a.noconvert());
    m.def("finish_leaves", &finish_leaves_array, "left"_a, "leaf_node"_a, "exponents"_a, "n_actions"_a, "features"_a, "words"_a.noconvert(),
          "ranges"_a.noconvert(), "counts"_a.noconvert(), "labels"_a.noconvert());
    m.def("linear_leaves", &linear_arrays, "states"_a, "starts"_a, "final_states"_a, "periods"_a, "dt"_a, "actions"_a, "labels"_a, "values"_a, "rows"_a,
          "weights"_a, "node"_a, "fold"_a, "left"_a, "origin"_a, "mean"_a, "per_span"_a, "sigma"_a, "penalty"_a, "n_labels"_a, "folds"_a, "most"_a,
          "threads"_a);
    nb::class_<Policy>(m, "Policy")
        .def(nb::init<In1<int32_t>, In1<double>, In1<int32_t>, In2<double>, In2<double>, In3<float>, In2<float>, In2<float>>(), "feature"_a, "threshold"_a,
             "left"_a, "origin"_a, "centre"_a, "slope"_a, "low"_a, "high"_a)
        .def("one", &Policy::one, "state"_a)
        .def("best", &Policy::best, "state"_a)
        .def("many", &Policy::many, "states"_a, "node"_a, "threads"_a)
        .def("errors", &Policy::errors, "states"_a, "targets"_a, "per_unit"_a, "weights"_a, "scores"_a, "threads"_a);
    m.def("attribute_paths", &attribute_paths, "states"_a, "lower"_a, "upper"_a, "cover"_a, "at"_a, "weight"_a, "origin"_a, "centre"_a, "slope"_a, "low"_a,
          "high"_a, "threads"_a);
    m.def("attribute_background", &attribute_background, "states"_a, "background"_a, "feature"_a, "threshold"_a, "left"_a, "leaf_number"_a, "origin"_a,
          "centre"_a, "slope"_a, "low"_a, "high"_a, "threads"_a);
    nb::class_<PieceArrays>(m, "Piece")
        .def(nb::init<AnyNumbers, In1<int64_t>, In2<double>, In1<double>, AnyNumbers, In2<int32_t>,
                      nb::ndarray<uint16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>, std::optional<In1<double>>, std::optional<In1<int32_t>>>(),
             "states"_a.noconvert(), "starts"_a, "final_states"_a, "periods"_a, "actions"_a.noconvert(), "given"_a, "at"_a.noconvert(), "dt"_a = nb::none(),
             "weights"_a = nb::none());
    nb::class_<Counter>(m, "Counter")
        .def(nb::init<In1<double>, In1<int64_t>, const RoundingArrays&, In2<int32_t>, const RoundingArrays&, In1<int32_t>, In1<int32_t>, In1<int32_t>,
                      In1<int32_t>, int, int, bool, bool, int, nb::ndarray<int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>,
                      nb::ndarray<int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(),
             "edges"_a, "first_edge"_a, "action"_a, "labels"_a, "derivative"_a, "feature"_a, "cut"_a, "left"_a, "slot"_a, "n_plain"_a, "n_derivative"_a,
             "fine"_a, "weighted"_a, "shift"_a, "histograms"_a.noconvert(), "lie"_a.noconvert())
        .def("add", &Counter::add, "piece"_a)
        .def("finish", &Counter::finish);
    m.def("split_histogram", &split_histogram, "histogram"_a, "first_bin"_a, "n_plain"_a, "n_derivative"_a, "fine"_a, "weighted"_a, "missing"_a, "least"_a,
          "min_samples_leaf"_a, "min_gain"_a);
    m.def("priority_of", &priority_of, "sums"_a, "n_plain"_a, "n_derivative"_a, "fine"_a, "weighted"_a, "missing"_a);
    m.def("apply", &apply_array, "states"_a, "feature"_a, "threshold"_a, "left"_a, "leaf_number"_a, "threads"_a);
}
