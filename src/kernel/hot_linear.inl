// Sums of products over the rows of a leaf, and ridge regressions from them. Every loop runs over columns side by side, so that no
// vector width changes the order of any sum.
//
// A block of sums has `left` rows of `width` numbers, a multiple of 8: the products of the leading columns (the last of which is 1) with all
// columns, of each pair of leading ones but the half from the diagonal on, and all of it in the last row; below them, the squares.
#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

// Where the numbers of a row of such a block begin.
TT_INLINE size_t begin_of(size_t row, size_t left) { return row + 1 == left ? 0 : row / 8 * 8; }

// Makes rows relative to `origin` and in units; `low` and `high` of the first `known` columns are widened to hold what they were before.
static void standardise(double* __restrict rows, size_t count, size_t width, size_t known, const double* __restrict origin, const double* __restrict per_unit,
                        double* __restrict low, double* __restrict high) {
    for (size_t r = 0; r < count; ++r) {
        double* row = rows + r * width;
        for (size_t j = 0; j < known; ++j) {
            low[j] = row[j] < low[j] ? row[j] : low[j];
            high[j] = row[j] > high[j] ? row[j] : high[j];
        }
        for (size_t j = 0; j < width; j += 8) store(row + j, (load(row + j) - load(origin + j)) * load(per_unit + j));
    }
}

// Adds the products of some rows.
static void add_products(const double* rows, size_t count, size_t left, size_t width, double* sums) {
    size_t r = 0;
    for (; r + 4 <= count; r += 4) {
        const double *a = rows + r * width, *b = a + width, *c = b + width, *e = c + width;
        for (size_t i = 0; i < left; ++i) {
            double* to = sums + i * width;
            const double p = a[i], q = b[i], s = c[i], t = e[i];
            for (size_t j = begin_of(i, left); j < width; j += 8)
                store(to + j, load(to + j) + (((p * load(a + j) + q * load(b + j)) + s * load(c + j)) + t * load(e + j)));
        }
        double* squares = sums + left * width;
        for (size_t j = 0; j < width; j += 8) {
            const V8 p = load(a + j), q = load(b + j), s = load(c + j), t = load(e + j);
            store(squares + j, load(squares + j) + (((p * p + q * q) + s * s) + t * t));
        }
    }
    for (; r < count; ++r) {
        const double* a = rows + r * width;
        for (size_t i = 0; i < left; ++i) {
            double* to = sums + i * width;
            for (size_t j = begin_of(i, left); j < width; j += 8) store(to + j, load(to + j) + a[i] * load(a + j));
        }
        double* squares = sums + left * width;
        for (size_t j = 0; j < width; j += 8) store(squares + j, load(squares + j) + load(a + j) * load(a + j));
    }
}

// Makes sums relative to what lies `away` from where they were relative to.
static void move_products(double* sums, size_t left, size_t width, const double* away) {
    double *ones = sums + (left - 1) * width, *squares = ones + width;
    const double n = ones[left - 1];
    for (size_t j = 0; j < width; j += 8) store(squares + j, load(squares + j) + load(away + j) * (2.0 * load(ones + j) + n * load(away + j)));
    for (size_t i = 0; i + 1 < left; ++i) {
        double* row = sums + i * width;
        const double by = away[i], more = ones[i] + n * by;
        for (size_t j = begin_of(i, left); j < width; j += 8) store(row + j, load(row + j) + (by * load(ones + j) + more * load(away + j)));
    }
    for (size_t j = 0; j < width; j += 8) store(ones + j, load(ones + j) + n * load(away + j));  // `away` is 0 at the count itself
}

static void add_up(double* to, const double* from, size_t size) {
    for (size_t j = 0; j < size; j += 8) store(to + j, load(to + j) + load(from + j));
}

// Correlations of the features, and of each with the targets from column `first` of the sums on, from these sums: in rows of `apart` numbers,
// of which the targets begin at `place`. Both are multiples of 8, and so are `columns`.
static void correlate(const double* sums, size_t left, size_t width, size_t first, const double* mean, const double* scale, double* out, size_t apart,
                      size_t place, size_t columns) {
    const size_t d = left - 1;
    const double *totals = sums + d * width, per_row = 1.0 / totals[d];
    for (size_t i = 0; i < d; ++i) {
        const double *row = sums + i * width, factor = scale[i] * per_row;
        double *between = out + i * apart, *with = between + place;
        for (size_t j = i; j < d; ++j) between[j] = (row[j] * per_row - mean[i] * mean[j]) * (scale[i] * scale[j]);
        for (size_t c = 0; c < columns; c += 8) store(with + c, (load(row + first + c) - mean[i] * load(totals + first + c)) * factor);
    }
}

// Row j of an elimination, 8 N columns of it: all rows above it are finished.
template <size_t N>
TT_INLINE void eliminate(double* rows, size_t j, size_t from, size_t apart, V8* mine) {
    for (size_t v = 0; v < N; ++v) mine[v] = load(rows + j * apart + from + 8 * v);
    for (size_t i = 0; i < j; ++i) {
        const double *other = rows + i * apart, factor = other[j];
        for (size_t v = 0; v < N; ++v) mine[v] = mine[v] - factor * load(other + from + 8 * v);
    }
}

template <size_t N>
TT_INLINE void eliminate(double* rows, size_t j, size_t from, size_t apart, double over) {
    V8 mine[N];
    eliminate<N>(rows, j, from, apart, mine);
    for (size_t v = 0; v < N; ++v) store(rows + j * apart + from + 8 * v, mine[v] * over);
}

// The unknowns of 8 N right sides, from the last to the first: those that come after are finished.
template <size_t N>
TT_INLINE void substitute(double* rows, size_t d, size_t from, size_t apart) {
    V8 mine[N];
    for (size_t j = d; j-- > 0;) {
        double* own = rows + j * apart;
        for (size_t v = 0; v < N; ++v) mine[v] = load(own + from + 8 * v);
        for (size_t i = d; i-- > j + 1;) {
            const double *other = rows + i * apart + from, factor = own[i];
            for (size_t v = 0; v < N; ++v) mine[v] = mine[v] - factor * load(other + 8 * v);
        }
        for (size_t v = 0; v < N; ++v) store(own + from + 8 * v, mine[v] * own[j]);
    }
}

// Solves (matrix) x = (right) in place, for a positive definite matrix of which the half from the diagonal on is read and overwritten, and
// `columns` right sides, which begin at column `place` of the same d rows of `apart` numbers: all of these multiples of 8.
static void solve_ridge(double* rows, size_t d, size_t apart, size_t place, size_t columns) {
    for (size_t j = 0; j < d; ++j) {
        const size_t own = j / 8 * 8;
        V8 first;
        eliminate<1>(rows, j, own, apart, &first);
        const double over = 1.0 / __builtin_sqrt(first[j % 8]);
        first = first * over;
        first[j % 8] = over;
        store(rows + j * apart + own, first);
        size_t from = own + 8;
        const size_t end = place + columns;
        for (; from + 32 <= end; from += 32) eliminate<4>(rows, j, from, apart, over);
        for (; from + 16 <= end; from += 16) eliminate<2>(rows, j, from, apart, over);
        for (; from < end; from += 8) eliminate<1>(rows, j, from, apart, over);
    }
    size_t from = place;
    const size_t end = place + columns;
    for (; from + 32 <= end; from += 32) substitute<4>(rows, d, from, apart);
    for (; from + 16 <= end; from += 16) substitute<2>(rows, d, from, apart);
    for (; from < end; from += 8) substitute<1>(rows, d, from, apart);
}

// Makes slopes per unit of those per deviation, and completes the constants below them, which were those at the mean state.
static void finish_model(double* model, size_t d, size_t apart, size_t columns, const double* scale, const double* mean) {
    double* constant = model + d * apart;
    for (size_t i = 0; i < d; ++i) {
        double* own = model + i * apart;
        for (size_t c = 0; c < columns; c += 8) {
            const V8 slope = load(own + c) * scale[i];
            store(own + c, slope);
            store(constant + c, load(constant + c) - mean[i] * slope);
        }
    }
}

// Adds, for each column of targets, the squared error of a linear model (`left` rows of `apart` numbers, the last one being the constants)
// over the rows that `sums` was made of; the targets begin at column `first`.
static void add_errors(const double* sums, size_t left, size_t width, size_t first, const double* model, size_t apart, size_t columns, double* errors) {
    for (size_t from = 0; from < columns; from += 8) {
        V8 error = load(errors + from) + load(sums + left * width + first + from);
        const double* own = model + from;
        size_t i = 0;
        for (; i + 4 <= left; i += 4) {  // four rows at a time, so that no sum waits for itself
            const double *a = sums + i * width, *b = a + width, *c = b + width, *e = c + width;
            const V8 u = load(own + i * apart), v = load(own + (i + 1) * apart), w = load(own + (i + 2) * apart), x = load(own + (i + 3) * apart);
            // Pairs of different features count twice; those among the four first.
            V8 p = (a[i + 1] * v + a[i + 2] * w) + a[i + 3] * x, q = b[i + 2] * w + b[i + 3] * x, r = c[i + 3] * x, s = {};
            for (size_t j = i + 4; j < left; ++j) {
                const V8 other = load(own + j * apart);
                p = p + a[j] * other;
                q = q + b[j] * other;
                r = r + c[j] * other;
                s = s + e[j] * other;
            }
            error = error + u * (a[i] * u + 2.0 * (p - load(a + first + from)));
            error = error + v * (b[i + 1] * v + 2.0 * (q - load(b + first + from)));
            error = error + w * (c[i + 2] * w + 2.0 * (r - load(c + first + from)));
            error = error + x * (e[i + 3] * x + 2.0 * (s - load(e + first + from)));
        }
        for (; i < left; ++i) {
            const double* row = sums + i * width;
            const V8 mine = load(own + i * apart);
            V8 told = {};
            for (size_t j = i + 1; j < left; ++j) told = told + row[j] * load(own + j * apart);
            error = error + mine * (row[i] * mine + 2.0 * (told - load(row + first + from)));
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

// Adds the squared errors of a linear model, in units and weighted, in up to `together` states, and writes what it says of each: as `tell`
// does, with all of them side by side. Both are in rows of `width` numbers. A missing target adds nothing.
static void tell_together(const TellTogether& some, size_t count, const double* origin, const double* centre, const double* slope, const double* low,
                          const double* high, size_t d, size_t width, double* sums) {
    constexpr size_t together = TellTogether::together;
    double* away = some.away;
    for (size_t r = 0; r < count; ++r)
        for (size_t f = 0; f < d; ++f) {
            const double here = some.state[r][f] - origin[f];
            away[r * d + f] = here < -1e200 ? -1e200 : here > 1e200 ? 1e200 : here;
        }
    for (size_t from = 0; from < width; from += 8) {
        const V8 middle = load(centre + from), least = load(low + from), most = load(high + from), per_unit = load(some.per_unit + from);
        V8 told[together];
        for (size_t r = 0; r < together; ++r) told[r] = middle;
        for (size_t f = 0; f < d; ++f) {
            const V8 by = load(slope + f * width + from);
            for (size_t r = 0; r < together; ++r) told[r] = told[r] + by * away[r * d + f];
        }
        V8 sum = load(sums + from);
        for (size_t r = 0; r < count; ++r) {
            V8 held = told[r] < least ? least : told[r];
            held = held > most ? most : held;
            store(some.told + r * width + from, held);
            const V8 off = (load(some.target[r] + from) - held) * per_unit, square = some.weight[r] * (off * off);
            sum = sum + (off == off ? square : V8{});
        }
        store(sums + from, sum);
    }
}

}  // namespace TT_ISA
}  // namespace tripletree
