// A log as passes over its rows see it: states, what follows each of them, and the change from one to the other.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace tripletree {

struct LogRows {
    const double* states;  // n x d
    size_t n, d;
    const int64_t* starts;       // episode e is rows starts[e] .. starts[e + 1]
    const double* final_states;  // episodes x d; NaN where none was recorded
    size_t episodes;
    const double* periods;  // d: of angles; 0 for others
    bool angles;            // whether any feature is one
    const double* dt;       // n: seconds to what follows; nullptr where steps are counted

    // after[i - a] = the state that follows row i of a .. b; nullptr where none was recorded.
    void following(size_t a, size_t b, const double** after) const {
        for (size_t i = a; i < b; ++i) after[i - a] = states + (i + 1) * d;
        const int64_t* end = std::upper_bound(starts + 1, starts + episodes + 1, static_cast<int64_t>(a));
        for (; end <= starts + episodes && *end <= static_cast<int64_t>(b); ++end) {
            const double* state = final_states + static_cast<size_t>(end - starts - 1) * d;
            after[static_cast<size_t>(*end) - 1 - a] = d && state[0] == state[0] ? state : nullptr;
        }
    }

    // Changes of angles go the shorter way round.
    void turn(double* change, size_t apart) const {
        for (size_t f = 0; angles && f < d; ++f) {
            double& moved = change[f * apart];
            if (periods[f] > 0 && std::fabs(moved) > periods[f] / 2) moved -= periods[f] * std::nearbyint(moved / periods[f]);
        }
    }

    // change[f x apart] = how feature f changes from row i to `after`: angles the shorter way round, per second where the time is known.
    void derivative(size_t i, const double* after, double* change, size_t apart) const {
        const double* state = states + i * d;
        for (size_t f = 0; f < d; ++f) change[f * apart] = after[f] - state[f];
        turn(change, apart);
        for (size_t f = 0; dt && f < d; ++f) change[f * apart] /= dt[i];
    }
};

}  // namespace tripletree
