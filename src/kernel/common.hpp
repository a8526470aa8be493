// The team of threads, and the flag that stops all work.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>
#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#endif

namespace tripletree {

// A large array, not initialised, in huge pages where the system has them: fewer faults, fewer misses of the page table.
template <class T>
struct Free {
    void operator()(T* data) const { std::free(data); }
};
template <class T>
using Array = std::unique_ptr<T[], Free<T>>;

template <class T>
Array<T> make_array(size_t size) {
    constexpr size_t huge = size_t{1} << 21;
    const size_t bytes = std::max<size_t>(size * sizeof(T), 64), alignment = bytes >= 2 * huge ? huge : 64;
    void* data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (!data) throw std::bad_alloc();
#ifdef __linux__
    if (alignment == huge) madvise(data, bytes, MADV_HUGEPAGE);
#endif
    return Array<T>(static_cast<T*>(data));
}

// Moves a thread, once, to the core that is `steps` after `from` among those it may use. Left alone, Linux often starts a team on
// one core, where each member waits for half a millisecond, or wakes it there, and moves it apart only after several.
inline void move_apart(std::thread::native_handle_type thread, int from, int steps) {
#ifdef __linux__
    cpu_set_t all, one;
    if (pthread_getaffinity_np(thread, sizeof all, &all) != 0) return;
    int core = from;
    for (int tries = 0; steps > 0 && tries < 4 * CPU_SETSIZE; ++tries) {
        core = (core + 1) % CPU_SETSIZE;
        steps -= CPU_ISSET(core, &all) ? 1 : 0;
    }
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    if (pthread_setaffinity_np(thread, sizeof one, &one) == 0) pthread_setaffinity_np(thread, sizeof all, &all);
#else
    (void)thread, (void)from, (void)steps;
#endif
}

inline void step_aside(int from, int steps) {
#ifdef __linux__
    move_apart(pthread_self(), from, steps);
#else
    (void)from, (void)steps;
#endif
}

inline int current_core() {
#ifdef __linux__
    return sched_getcpu();
#else
    return 0;
#endif
}

// Thrown inside a worker when the caller wants everything to stop.
struct Cancelled : std::runtime_error {
    Cancelled() : std::runtime_error("cancelled") {}
};

using Flag = std::atomic<bool>;

inline void stop_if(const Flag& cancel) {
    if (cancel.load(std::memory_order_relaxed)) throw Cancelled();
}

// Calls work(a, b) for steps that together cover 0 .. n, and looks for Ctrl-C between them.
constexpr size_t step = size_t{1} << 20;
template <class Work>
void in_steps(size_t n, const Flag& cancel, const Work& work) {
    for (size_t a = 0; a < n; a += step) {
        stop_if(cancel);
        work(a, std::min(n, a + step));
    }
}

// As many threads as can be of use: beyond the cores they only take memory, but a few more show that their number does not matter.
inline int useful_threads(int wanted) { return std::min(wanted, std::max(16, static_cast<int>(2 * std::thread::hardware_concurrency()))); }

// A fixed team of threads for many short rounds of work. Whoever waits spins briefly, then sleeps.
// Where the machine gives fewer threads than were asked for, the team is smaller: any number gives the same result.
class Team {
  public:
    explicit Team(int size) {
        members_.reserve(static_cast<size_t>(size));  // from here on only a thread itself can fail
        try {
            for (int t = 1; t < size; ++t) {
                members_.emplace_back([this, t] { serve(t); });
                move_apart(members_.back().native_handle(), current_core(), t);
            }
        } catch (const std::system_error&) {
        } catch (const std::bad_alloc&) {
        }
    }
    Team(const Team&) = delete;
    ~Team() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            quit_ = true;
            round_.fetch_add(1);
        }
        wake_.notify_all();
        for (auto& m : members_) m.join();
    }
    int size() const { return static_cast<int>(members_.size()) + 1; }

    // Calls work(task, thread) for task = 0 .. tasks-1; the first exception is rethrown here.
    void run(int tasks, const std::function<void(int, int)>& work) {
        if (members_.empty() || tasks <= 1) {
            for (int i = 0; i < tasks; ++i) work(i, 0);
            return;
        }
        {
            std::lock_guard<std::mutex> lock(mutex_);
            work_ = &work;
            tasks_ = tasks;
            core_ = current_core();
            next_.store(0);
            busy_.store(static_cast<int>(members_.size()));
            round_.fetch_add(1);
        }
        wake_.notify_all();
        take(0);
        for (int spin = 0; spin < 4000 && busy_.load(std::memory_order_acquire) > 0; ++spin) {
        }
        if (busy_.load(std::memory_order_acquire) > 0) {  // perhaps its core has other work: to wait for it awake would take time of this one
            std::unique_lock<std::mutex> lock(mutex_);
            done_.wait(lock, [&] { return busy_.load(std::memory_order_acquire) == 0; });
        }
        work_ = nullptr;
        if (error_) {
            auto error = error_;
            error_ = nullptr;
            std::rethrow_exception(error);
        }
    }

  private:
    void take(int thread) {
        try {
            for (int i; (i = next_.fetch_add(1)) < tasks_;) (*work_)(i, thread);
        } catch (...) {
            std::lock_guard<std::mutex> lock(mutex_);
            if (!error_) error_ = std::current_exception();
            next_.store(tasks_);
        }
    }
    void serve(int thread) {
        for (uint64_t seen = 0;;) {
            for (int spin = 0; spin < 200000 && round_.load(std::memory_order_acquire) == seen; ++spin) {
            }
            {
                std::unique_lock<std::mutex> lock(mutex_);
                wake_.wait(lock, [&] { return round_.load() != seen; });
                seen = round_.load();
                if (quit_) return;
            }
            if (current_core() == core_) step_aside(core_, thread);
            take(thread);
            if (busy_.fetch_sub(1, std::memory_order_acq_rel) > 1) continue;
            {
                std::lock_guard<std::mutex> lock(mutex_);
            }  // whoever has seen that this was busy is asleep by now
            done_.notify_one();
        }
    }

    std::vector<std::thread> members_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::atomic<uint64_t> round_{0};
    std::atomic<int> next_{0}, busy_{0};
    const std::function<void(int, int)>* work_ = nullptr;
    int tasks_ = 0, core_ = 0;
    bool quit_ = false;
    std::exception_ptr error_;
};

constexpr size_t most_blocks = 64;

// Calls work(a, b, block) for blocks that together cover 0 .. n, shared by `team` if there is one; returns how many there were.
template <class Work>
size_t in_blocks(Team* team, size_t n, const Work& work) {
    constexpr size_t least = size_t{1} << 13;
    const size_t blocks = team ? std::max<size_t>(1, std::min({n / least, 4 * static_cast<size_t>(team->size()), most_blocks})) : 1;
    auto run = [&](int task, int) {
        const auto k = static_cast<size_t>(task);
        work(k * n / blocks, (k + 1) * n / blocks, k);
    };
    if (blocks == 1) run(0, 0);
    else team->run(static_cast<int>(blocks), run);
    return blocks;
}

}  // namespace tripletree
