// Vector types, the team of threads, and the flag that stops all work.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

// One source, one binary: hot functions are compiled for several instruction sets and chosen when the module loads.
// All of them round alike (vector lanes and reduction order are written out, contraction is off), so the tree does not
// depend on the choice. Sanitizers cannot run the loader's choice, so they get the plain build.
#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__) && !defined(__clang__) && !defined(TRIPLETREE_SANITIZE)
#define TT_CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define TT_CLONES
#endif
#define TT_INLINE inline __attribute__((always_inline))

namespace tripletree {

typedef double V8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef double V4 __attribute__((vector_size(32)));
typedef double V2 __attribute__((vector_size(16)));
typedef int32_t I8 __attribute__((vector_size(32), aligned(4), may_alias));

TT_INLINE double horizontal_sum(V8 v) {
    V4 a = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
    V2 b = __builtin_shufflevector(a, a, 0, 1) + __builtin_shufflevector(a, a, 2, 3);
    return b[0] + b[1];
}

// Thrown inside a worker when the caller wants everything to stop.
struct Cancelled : std::runtime_error {
    Cancelled() : std::runtime_error("cancelled") {}
};

using Flag = std::atomic<bool>;

inline void stop_if(const Flag& cancel) {
    if (cancel.load(std::memory_order_relaxed)) throw Cancelled();
}

// A fixed team of threads for many short rounds of work. Idle members spin briefly, then sleep.
class Team {
  public:
    explicit Team(int size) {
        for (int t = 1; t < size; ++t) members_.emplace_back([this, t] { serve(t); });
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
            next_.store(0);
            busy_.store(static_cast<int>(members_.size()));
            round_.fetch_add(1);
        }
        wake_.notify_all();
        take(0);
        for (int spin = 0; busy_.load(std::memory_order_acquire) > 0; ++spin)
            if (spin > 4000) std::this_thread::yield();
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
            for (int spin = 0; spin < 4000 && round_.load(std::memory_order_acquire) == seen; ++spin) {
            }
            {
                std::unique_lock<std::mutex> lock(mutex_);
                wake_.wait(lock, [&] { return round_.load() != seen; });
                seen = round_.load();
                if (quit_) return;
            }
            take(thread);
            busy_.fetch_sub(1, std::memory_order_release);
        }
    }

    std::vector<std::thread> members_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<uint64_t> round_{0};
    std::atomic<int> next_{0}, busy_{0};
    const std::function<void(int, int)>* work_ = nullptr;
    int tasks_ = 0;
    bool quit_ = false;
    std::exception_ptr error_;
};

}  // namespace tripletree
