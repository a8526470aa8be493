// Sums of products over the rows of a leaf, and ridge regressions from them. Every loop runs over columns side by side, so that no
// vector width changes the order of any sum.
#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

// Adds the products of `left` leading columns of each row with all columns, and the squares of all columns below them.
static void add_products(const double* __restrict rows, size_t count, size_t left, size_t width, double* __restrict sums) {
    size_t r = 0;
    for (; r + 4 <= count; r += 4) {
        const double *a = rows + r * width, *b = a + width, *c = b + width, *e = c + width;
        for (size_t i = 0; i < left; ++i) {
            double* to = sums + i * width;
            const double p = a[i], q = b[i], s = c[i], t = e[i];
            for (size_t j = 0; j < width; ++j) to[j] += ((p * a[j] + q * b[j]) + s * c[j]) + t * e[j];
        }
        double* squares = sums + left * width;
        for (size_t j = 0; j < width; ++j) squares[j] += ((a[j] * a[j] + b[j] * b[j]) + c[j] * c[j]) + e[j] * e[j];
    }
    for (; r < count; ++r) {
        const double* a = rows + r * width;
        for (size_t i = 0; i < left; ++i) {
            double* to = sums + i * width;
            const double p = a[i];
            for (size_t j = 0; j < width; ++j) to[j] += p * a[j];
        }
        double* squares = sums + left * width;
        for (size_t j = 0; j < width; ++j) squares[j] += a[j] * a[j];
    }
}

// Solves (matrix) x = (right) in place, for a positive definite matrix of d x d of which the upper half is read and
// overwritten, and `columns` (a multiple of 8) right sides.
static void solve_ridge(double* matrix, double* right, size_t d, size_t columns) {
    for (size_t j = 0; j < d; ++j) {
        double* row = matrix + j * d;
        const double root = __builtin_sqrt(row[j]), over = 1.0 / root;
        row[j] = over;
        for (size_t k = j + 1; k < d; ++k) row[k] *= over;
        for (size_t i = j + 1; i < d; ++i) {
            const double factor = row[i];
            double* other = matrix + i * d;
            for (size_t k = i; k < d; ++k) other[k] -= factor * row[k];
        }
    }
    for (size_t from = 0; from < columns; from += 8) {
        double* block = right + from;
        for (size_t j = 0; j < d; ++j) {
            const double* row = matrix + j * d;
            V8 mine = load(block + j * columns) * row[j];
            store(block + j * columns, mine);
            for (size_t i = j + 1; i < d; ++i) store(block + i * columns, load(block + i * columns) - row[i] * mine);
        }
        for (size_t j = d; j-- > 0;) {
            const V8 mine = load(block + j * columns) * matrix[j * d + j];
            store(block + j * columns, mine);
            for (size_t i = 0; i < j; ++i) store(block + i * columns, load(block + i * columns) - matrix[i * d + j] * mine);
        }
    }
}

// Adds, for each column of targets, the squared error of the linear model `model` (left x columns, the last of its rows being the
// constant) over the rows that `sums` was made of; the targets begin at column `first`.
static void add_errors(const double* sums, size_t left, size_t width, size_t first, const double* model, size_t columns, double* errors) {
    for (size_t from = 0; from < columns; from += 8) {
        V8 error = load(errors + from) + load(sums + left * width + first + from);
        size_t i = 0;
        for (; i + 4 <= left; i += 4) {  // four rows at a time, so that no sum waits for itself
            const double *a = sums + i * width, *b = a + width, *c = b + width, *e = c + width;
            V8 p = {}, q = {}, r = {}, s = {};
            for (size_t j = 0; j < left; ++j) {
                const V8 own = load(model + j * columns + from);
                p = p + a[j] * own;
                q = q + b[j] * own;
                r = r + c[j] * own;
                s = s + e[j] * own;
            }
            const double* mine = model + i * columns + from;
            error = error + load(mine) * (p - 2.0 * load(a + first + from));
            error = error + load(mine + columns) * (q - 2.0 * load(b + first + from));
            error = error + load(mine + 2 * columns) * (r - 2.0 * load(c + first + from));
            error = error + load(mine + 3 * columns) * (s - 2.0 * load(e + first + from));
        }
        for (; i < left; ++i) {
            const double* row = sums + i * width;
            V8 told = {};
            for (size_t j = 0; j < left; ++j) told = told + row[j] * load(model + j * columns + from);
            error = error + load(model + i * columns + from) * (told - 2.0 * load(row + first + from));
        }
        store(errors + from, error);
    }
}

// What a linear model says of a state; `width` is a multiple of 8.
static void tell(const double* state, const double* origin, const double* centre, const double* slope, const double* low, const double* high, size_t d,
                 size_t width, double* out) {
    for (size_t from = 0; from < width; from += 8) {
        V8 told = load(centre + from);
        for (size_t f = 0; f < d; ++f) {
            // An infinite state must not become a NaN where the slope is 0.
            const double away = state[f] - origin[f], some = away < -1e200 ? -1e200 : away > 1e200 ? 1e200 : away;
            told = told + load(slope + f * width + from) * some;
        }
        const V8 least = load(low + from), most = load(high + from);
        told = told < least ? least : told;
        store(out + from, told > most ? most : told);
    }
}

}  // namespace TT_ISA
}  // namespace tripletree
