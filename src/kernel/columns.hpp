// Passes over columns: discounted sums, and targets rounded to the integer grid.
#pragma once

#include <cmath>

#include "common.hpp"

namespace tripletree {

// V_t = R_t + gamma V_{t+1} inside each episode; after its last step stands tail[episode].
inline void discounted(const double* rewards, const int64_t* starts, size_t episodes, double gamma, const double* tail,
                       double* values) {
    for (size_t e = 0; e < episodes; ++e) {
        double v = tail[e];
        for (int64_t t = starts[e + 1]; t-- > starts[e];) values[t] = v = rewards[t] + gamma * v;
    }
}

// out[i][lane + k] = (x[i][k] - centre[k]) * scale[k], rounded half to even; 0 for NaN. |result| must stay below 2^31.
TT_CLONES void quantise(const double* x, size_t n, size_t m, int64_t row_stride, int64_t column_stride,
                        const double* centre, const double* scale, int32_t* out, size_t width) {
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < m; ++k) {
            double y = (x[static_cast<int64_t>(i) * row_stride + static_cast<int64_t>(k) * column_stride] - centre[k]) * scale[k];
            const double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
            double rounded = (y + magic) - magic;
            out[i * width + k] = y == y ? static_cast<int32_t>(rounded) : 0;
        }
}

}  // namespace tripletree
