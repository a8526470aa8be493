// The share of each feature in what one leaf adds to the predictions of eight states, one in each lane.
#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

// Vectors as wide as the machine's: wider ones GCC copies in parts, which takes longer than all the rest.
#if defined(__AVX512F__)
typedef V8 Wide;
#elif defined(__AVX__)
typedef V4 Wide;
#else
typedef V2 Wide;
#endif
constexpr size_t wide = sizeof(Wide) / sizeof(double);
TT_INLINE Wide get(const double* p) {
    Wide v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
TT_INLINE void put(double* p, Wide v) { std::memcpy(p, &v, sizeof v); }

// Of as many states as fit a vector, eight numbers apart.
TT_INLINE void attribute_lanes(const PathLeaf& leaf, const double* states, double* room, double* phi) {
    const size_t path = leaf.path, nodes = leaf.nodes, d = leaf.d, targets = leaf.targets;
    double *inside = room, *part = inside + 8 * d, *whole = part + 8 * d, *told = whole + 8 * nodes;
    const Wide one = get(states) * 0.0 + 1.0, zero = one * 0.0;
    for (size_t f = 0; f < d; ++f) put(inside + 8 * f, one);
    for (size_t j = 0; j < path; ++j) {
        const double *x = states + 8 * leaf.feature[j], low = leaf.lower[j], high = leaf.upper[j];
        double* in = inside + 8 * leaf.feature[j];
        for (size_t lane = 0; lane < wide; ++lane) in[lane] = (x[lane] >= low) & (x[lane] < high) ? 1.0 : 0.0;
    }
    Wide total = zero;
    for (size_t k = 0; k < nodes; ++k) {
        Wide product = zero + leaf.weight[k];
        for (size_t j = 0; j < path; ++j) product = product * (get(inside + 8 * leaf.feature[j]) * leaf.at[k] + leaf.outside[k * path + j]);
        put(whole + 8 * k, product);
        total = total + product;
    }
    for (size_t c = 0; c < targets; ++c) {
        const double *slope = leaf.slope + c * d, centre = leaf.centre[c];
        if (!leaf.sloping[c]) {
            for (size_t j = 0; j < path; ++j) {
                const Wide in = get(inside + 8 * leaf.feature[j]), out = one - in;
                Wide sum = zero;
                for (size_t k = 0; k < nodes; ++k) sum = sum + get(whole + 8 * k) * (in * leaf.more[k * path + j] + out * leaf.less[k]);
                double* to = phi + 8 * (leaf.feature[j] * targets + c);
                put(to, get(to) + sum * centre);
            }
            continue;
        }
        Wide away = zero;
        for (size_t f = 0; f < d; ++f) {
            const Wide a = (get(states + 8 * f) - leaf.origin[f]) * slope[f] * get(inside + 8 * f);
            put(part + 8 * f, a);
            away = away + a;
        }
        // The sum of all parts leads to what the leaf says, which is held within its range.
        double sums[wide], by[wide];
        put(sums, away);
        for (size_t lane = 0; lane < wide; ++lane) {
            const double raw = sums[lane] + centre, least = leaf.low[c], most = leaf.high[c];
            const double held = raw < least ? least : raw > most ? most : raw;
            by[lane] = raw == held ? 1.0 : (held - centre) / sums[lane];
        }
        const Wide shrink = get(by);
        Wide off = zero;
        for (size_t f = 0; f < d; ++f) {
            const Wide a = get(part + 8 * f) * shrink;
            put(part + 8 * f, a);
            if (!leaf.on_path[f]) off = off + a;
        }
        for (size_t k = 0; k < nodes; ++k) {
            Wide sum = off;
            for (size_t j = 0; j < path; ++j) sum = sum + get(part + 8 * leaf.feature[j]) * leaf.per_inside[k * path + j];
            put(told + 8 * k, sum * leaf.at[k] + centre);
        }
        for (size_t j = 0; j < path; ++j) {
            const Wide in = get(inside + 8 * leaf.feature[j]), out = one - in, a = get(part + 8 * leaf.feature[j]);
            Wide sum = zero;
            for (size_t k = 0; k < nodes; ++k) {
                const Wide own = a * leaf.per_inside[k * path + j], gain = in * leaf.more[k * path + j] + out * leaf.less[k];
                sum = sum + get(whole + 8 * k) * (gain * (get(told + 8 * k) - own * leaf.at[k]) + own);
            }
            double* to = phi + 8 * (leaf.feature[j] * targets + c);
            put(to, get(to) + sum);
        }
        for (size_t f = 0; f < d; ++f) {
            if (leaf.on_path[f]) continue;
            double* out = phi + 8 * (f * targets + c);
            put(out, get(out) + get(part + 8 * f) * total);
        }
    }
}

// `phi` has eight numbers for each feature and target, and the leaf's are added to them; `room` is scratch.
static void attribute_eight(const PathLeaf& leaf, const double* states, double* room, double* phi) {
    for (size_t lane = 0; lane < 8; lane += wide) attribute_lanes(leaf, states + lane, room + lane, phi + lane);
}

}  // namespace TT_ISA
}  // namespace tripletree
