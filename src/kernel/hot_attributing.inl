// The share of each feature in what one leaf adds to the predictions of eight states, one in each lane.
#include "hot_vectors.inl"

namespace tripletree {
namespace TT_ISA {

// `phi` has eight numbers for each feature and target, and the leaf's are added to them; `room` is scratch.
static void attribute_eight(const PathLeaf& leaf, const double* states, double* room, double* phi) {
    const size_t path = leaf.path, nodes = leaf.nodes, d = leaf.d, targets = leaf.targets;
    double *inside = room, *part = inside + 8 * d, *whole = part + 8 * d, *told = whole + 8 * nodes;
    const V8 one = load(states) * 0.0 + 1.0, zero = one * 0.0;
    for (size_t f = 0; f < d; ++f) store(inside + 8 * f, one);
    // Comparisons are written lane by lane: GCC takes vectors that are wider than the machine's apart for them, one number at a time.
    for (size_t j = 0; j < path; ++j) {
        const double *x = states + 8 * leaf.feature[j], low = leaf.lower[j], high = leaf.upper[j];
        double* in = inside + 8 * leaf.feature[j];
        for (size_t lane = 0; lane < 8; ++lane) in[lane] = (x[lane] >= low) & (x[lane] < high) ? 1.0 : 0.0;
    }
    V8 total = zero;
    for (size_t k = 0; k < nodes; ++k) {
        V8 product = zero + leaf.weight[k];
        for (size_t j = 0; j < path; ++j) product = product * (load(inside + 8 * leaf.feature[j]) * leaf.at[k] + leaf.outside[k * path + j]);
        store(whole + 8 * k, product);
        total = total + product;
    }
    for (size_t c = 0; c < targets; ++c) {
        const double *slope = leaf.slope + c * d, centre = leaf.centre[c];
        if (!leaf.sloping[c]) {
            for (size_t j = 0; j < path; ++j) {
                const V8 in = load(inside + 8 * leaf.feature[j]), out = one - in;
                V8 sum = zero;
                for (size_t k = 0; k < nodes; ++k) sum = sum + load(whole + 8 * k) * (in * leaf.more[k * path + j] + out * leaf.less[k]);
                double* to = phi + 8 * (leaf.feature[j] * targets + c);
                store(to, load(to) + sum * centre);
            }
            continue;
        }
        V8 away = zero;
        for (size_t f = 0; f < d; ++f) {
            const V8 a = (load(states + 8 * f) - leaf.origin[f]) * slope[f] * load(inside + 8 * f);
            store(part + 8 * f, a);
            away = away + a;
        }
        // The sum of all parts leads to what the leaf says, which is held within its range.
        double sums[8], by[8];
        store(sums, away);
        for (size_t lane = 0; lane < 8; ++lane) {
            const double raw = sums[lane] + centre, least = leaf.low[c], most = leaf.high[c];
            const double held = raw < least ? least : raw > most ? most : raw;
            by[lane] = raw == held ? 1.0 : (held - centre) / sums[lane];
        }
        const V8 shrink = load(by);
        V8 off = zero;
        for (size_t f = 0; f < d; ++f) {
            const V8 a = load(part + 8 * f) * shrink;
            store(part + 8 * f, a);
            if (!leaf.on_path[f]) off = off + a;
        }
        for (size_t k = 0; k < nodes; ++k) {
            V8 sum = off;
            for (size_t j = 0; j < path; ++j) sum = sum + load(part + 8 * leaf.feature[j]) * leaf.per_inside[k * path + j];
            store(told + 8 * k, sum * leaf.at[k] + centre);
        }
        for (size_t j = 0; j < path; ++j) {
            const V8 in = load(inside + 8 * leaf.feature[j]), out = one - in, a = load(part + 8 * leaf.feature[j]);
            V8 sum = zero;
            for (size_t k = 0; k < nodes; ++k) {
                const V8 own = a * leaf.per_inside[k * path + j], gain = in * leaf.more[k * path + j] + out * leaf.less[k];
                sum = sum + load(whole + 8 * k) * (gain * (load(told + 8 * k) - own * leaf.at[k]) + own);
            }
            double* to = phi + 8 * (leaf.feature[j] * targets + c);
            store(to, load(to) + sum);
        }
        for (size_t f = 0; f < d; ++f) {
            if (leaf.on_path[f]) continue;
            double* out = phi + 8 * (f * targets + c);
            store(out, load(out) + load(part + 8 * f) * total);
        }
    }
}

}  // namespace TT_ISA
}  // namespace tripletree
