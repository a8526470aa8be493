// Questions a grown tree: the leaf of a state, why it predicts what it predicts, and what would have to change.
// The sentences are those of the Python package: texts come with the tree, and are only put together here.
import { fromBase64 } from "./bytes.js";
import { agreedPoint, agrees, heldAlready, linearFact, readDemands, readLinear, secondOpinion } from "./linear.js";
import { allOf, exact, rounded, unit } from "./numbers.js";

const NO_OPINION = " There is no second opinion, because the model file has no linear leaves.";

export function readTree(payload) {
  const tree = { ...payload, leaves: payload.count.length };
  // JSON has no infinity: null is a bound that is not there, below for the lower sides and above for all others.
  const missing = { lower: -Infinity, landLow: -Infinity };
  for (const name of ["threshold", "lower", "upper", "nearHigh", "landLow", "landHigh", "drawnLow", "drawnHigh"])
    tree[name] = Float64Array.from(payload[name], (number) => number ?? missing[name] ?? Infinity);
  for (const name of ["splits", "left", "leafOf", "riseText", "fallText"]) tree[name] = Int32Array.from(payload[name]);
  tree.linear = readLinear(payload.linear);
  tree.nodeOf = new Int32Array(tree.leaves);
  tree.parent = new Int32Array(tree.left.length).fill(-1);
  tree.left.forEach((child, node) => {
    if (child < 0) tree.nodeOf[tree.leafOf[node]] = node;
    else tree.parent[child] = tree.parent[child + 1] = node;
  });
  for (const foil of Object.values(tree.foils)) foil.demands = readDemands(foil.demands);
  return tree;
}

// The tree as it is inlined in a page: JSON, gzipped, in base64.
export async function unpackTree(text) {
  const bytes = fromBase64(text.trim());
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return readTree(await new Response(stream).json());
}

export function leafAt(tree, state) {
  let node = 0;
  while (tree.left[node] >= 0) node = tree.left[node] + (state[tree.splits[node]] < tree.threshold[node] ? 0 : 1);
  return tree.leafOf[node];
}

export function isOutside(tree, state) {
  return tree.features.some((feature, f) => state[f] < feature.min || state[f] > feature.max);
}

// Why the tree predicts what it predicts: one sentence a leaf, or one put together where the leaf has a linear model, and a warning where no such state is in the log.
export function factual(tree, state, about) {
  const leaf = leafAt(tree, state);
  const beyond = [];
  tree.features.forEach((feature, f) => {
    const far = Math.max(state[f] - feature.max, 0) + Math.min(state[f] - feature.min, 0);
    if (far === 0) return;
    const tail = unit(feature.unit);
    const [side, limit, end] = far > 0 ? ["above", "largest", feature.max] : ["below", "smallest", feature.min];
    beyond.push(
      `${feature.name} = ${rounded(state[f])}${tail} is ${rounded(Math.abs(far))}${tail} ${side} its ${limit} value ` +
        `in the log (${rounded(end)}${tail})`,
    );
  });
  const warning = beyond.length ? ` Careful, no such state is in the log: ${allOf(beyond)}.` : "";
  const fact = tree.facts[about];
  const text = fact.whole[leaf] < 0 ? linearFact(tree, fact, leaf, state) : tree.texts[fact.whole[leaf]];
  return { leaf, text: text + warning };
}

// The least change of a state after which the tree predicts the foil: fewest features, then least distance.
export function counterfactual(tree, state, foil) {
  const d = tree.features.length;
  const leaf = leafAt(tree, state);
  const careful = isOutside(tree, state) ? " Careful, the state lies outside the range of the log." : "";
  if (foil.support[leaf] >= 0) {
    const second = tree.linear ? secondOpinion(tree, foil, leaf, state, "here") : "";
    return { leaf, foilLeaf: null, foilState: null, text: tree.texts[foil.already[leaf]] + second + careful };
  }
  const held = heldAlready(tree, foil, leaf, state);
  if (held !== null) return { leaf, foilLeaf: null, foilState: null, text: held + careful };
  let best = -1;
  let fewest = Infinity;
  let nearest = Infinity;
  for (let candidate = 0; candidate < tree.leaves; candidate++) {
    if (foil.support[candidate] < 0) continue;
    let changes = 0;
    let square = 0;
    for (let f = 0, k = candidate * d; f < d; f++, k++) {
      let border = state[f];
      if (state[f] < tree.lower[k]) border = tree.landLow[k];
      else if (state[f] >= tree.upper[k]) border = tree.nearHigh[k];
      else continue;
      if (++changes > fewest) break; // distances do not matter any more
      const away = (border - state[f]) / tree.features[f].span;
      square += away * away;
    }
    // With "<", the first of equally near leaves wins, as it does in Python.
    if (changes < fewest || (changes === fewest && square < nearest)) {
      best = candidate;
      fewest = changes;
      nearest = square;
    }
  }
  if (best < 0) return { leaf, foilLeaf: null, foilState: null, text: foil.nowhere + careful };
  let foilState = entered(tree, state, best);
  if (tree.linear && !agrees(tree, foil, best, foilState)) {
    const agreed = agreedPoint(tree, state, foil);
    if (agreed) [best, foilState] = [agreed.leaf, agreed.point];
  }
  const second = tree.linear ? secondOpinion(tree, foil, best, foilState, "there") : NO_OPINION;
  const why = allOf(changesOf(tree, state, foilState, best));
  const text = `${foil.would} if ${why}. ${tree.texts[foil.support[best]]}${second}${careful}`;
  return { leaf, foilLeaf: best, foilState, text };
}

// Where a state lands that must enter a leaf.
function entered(tree, state, leaf) {
  const d = tree.features.length;
  return Array.from(state, (value, f) => {
    const k = leaf * d + f;
    if (value < tree.lower[k]) return tree.landLow[k];
    return value >= tree.upper[k] ? tree.landHigh[k] : value;
  });
}

// What must hold of the features that change: a border, or a number further inside that the second model asked for.
function changesOf(tree, state, foilState, leaf) {
  const d = tree.features.length;
  const conditions = [];
  for (let f = 0, k = leaf * d; f < d; f++, k++) {
    if (foilState[f] === state[f]) continue;
    const rises = foilState[f] > state[f];
    const edge = rises ? tree.landLow[k] : tree.landHigh[k];
    const { name, unit: of } = tree.features[f];
    if (foilState[f] !== edge) conditions.push(`${name} = ${exact(foilState[f])}${unit(of)}`);
    else conditions.push(tree.texts[rises ? tree.riseText[k] : tree.fallText[k]]);
  }
  return conditions;
}
