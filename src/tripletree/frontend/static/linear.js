// The linear models in the leaves: what they predict, how a sentence tells them, and their second opinion on a foil.
// Everything is added up in the order of Python's kernel, so that both sides find the same numbers, bit for bit.
import { fromBase64 } from "./bytes.js";
import { allOf, exact, rounded } from "./numbers.js";

const MOST_TERMS = 3;
const DEPTHS = [0, 0.25, 0.5, 1];

export function readLinear(payload) {
  if (payload === null) return null;
  const { targets, above, predicts, origin, centre, slope, low, high } = payload;
  const doubles = (text) => new Float64Array(fromBase64(text).buffer);
  const singles = (text) => new Float32Array(fromBase64(text).buffer);
  return {
    targets,
    above,
    predicts,
    origin: doubles(origin),
    centre: doubles(centre),
    slope: singles(slope),
    low: singles(low),
    high: singles(high),
  };
}

export function readDemands(payload) {
  return payload?.map((demand) => ({
    ...demand,
    least: new Float64Array(fromBase64(demand.least).buffer),
    below: new Float64Array(fromBase64(demand.below).buffer),
    low: demand.low ?? -Infinity,
    high: demand.high ?? Infinity,
  }));
}

// What the model of a node says about a target before it is held within the node's range.
function unheld(tree, node, target, state) {
  const { targets, origin, centre, slope } = tree.linear;
  const d = tree.features.length;
  const row = (node * targets + target) * d;
  let told = centre[node * targets + target];
  for (let f = 0; f < d; f++) told += slope[row + f] * (state[f] - origin[node * d + f]);
  return told;
}

function tell(tree, node, target, state) {
  const { targets, low, high } = tree.linear;
  const at = node * targets + target;
  const told = unheld(tree, node, target, state);
  const held = told < low[at] ? low[at] : told;
  return held > high[at] ? high[at] : held;
}

// "0.32 - 0.92 (y - 0.25) + 1.04 (v_x + 0.36)": the model of a target, or of its lead over another; null where it is flat.
function terms(tree, leaf, state, target, less = null) {
  const { targets, origin, centre, slope, low, high } = tree.linear;
  const d = tree.features.length;
  const node = tree.nodeOf[leaf];
  const at = node * targets + target;
  const slopes = Array.from({ length: d }, (_, f) => {
    const own = slope[at * d + f];
    return less === null ? own : own - slope[(node * targets + less) * d + f];
  });
  const middle = less === null ? centre[at] : centre[at] - centre[node * targets + less];
  const weight = slopes.map((number, f) => {
    const k = leaf * d + f;
    const { min, max } = tree.features[f];
    return Math.abs(number) * (Math.min(tree.upper[k], max) - Math.max(tree.lower[k], min));
  });
  const order = slopes.map((_, f) => f).sort((a, b) => weight[b] - weight[a]);
  const used = order.filter((f) => slopes[f] !== 0);
  if (!used.length && less !== null) return null;
  const shown = used.length <= MOST_TERMS + 1 ? used : used.slice(0, MOST_TERMS);
  const others = used.slice(shown.length).sort((a, b) => a - b);
  let text = rounded(middle, 3);
  for (const f of shown) {
    const from = origin[node * d + f];
    const name = tree.features[f].name;
    const away = rounded(Math.abs(from), 3);
    const part = away === "0" ? name : `(${name} ${sign(-from)} ${away})`;
    text += ` ${sign(slopes[f])} ${rounded(Math.abs(slopes[f]), 3)} ${part}`;
  }
  if (others.length) {
    let rest = 0;
    for (const f of others) rest += slopes[f] * (state[f] - origin[node * d + f]);
    const what = others.length === 1 ? "1 other feature" : `${others.length} other features`;
    text += ` ${sign(rest)} ${rounded(Math.abs(rest), 3)} from ${what}`;
  }
  if (less === null) {
    const told = unheld(tree, node, target, state);
    const limit = told < low[at] ? low[at] : told > high[at] ? high[at] : null;
    const side = told < low[at] ? "less" : "more";
    if (limit !== null) text += `, but no ${side} than the leaf has seen: ${rounded(limit, 3)}`;
  }
  return text;
}

const sign = (number) => (number < 0 ? "-" : "+");

// The sentence about a state whose leaf has a linear model.
export function linearFact(tree, fact, leaf, state) {
  const why = tree.texts[fact.why[leaf]];
  if (!fact.labels.length) {
    const told = tell(tree, tree.nodeOf[leaf], fact.target, state);
    const number = `${measured(told, fact.places[leaf])}${tree.texts[fact.spread[leaf]]}${fact.unit}`;
    const model = `In this leaf ${fact.name} = ${terms(tree, leaf, state, fact.target)}.`;
    return `${fact.head}${number}${why}. ${model} ${tree.texts[fact.sure[leaf][0]]}`;
  }
  const [best, next] = ranked(tree, tree.nodeOf[leaf], fact.target, fact.labels.length, state);
  const lead = terms(tree, leaf, state, fact.target + best, fact.target + next);
  const model = lead === null ? "" : ` In this leaf ${fact.labels[best]} is ahead of ${fact.labels[next]} by ${lead}.`;
  return `${fact.head}${fact.labels[best]}${fact.unit}${why}.${model} ${tree.texts[fact.sure[leaf][best]]}`;
}

function measured(number, places) {
  return places === null ? rounded(number) : exact(toPlaces(number, places));
}

// A number to so many decimal places, as Python rounds: what is exactly between two goes to the even digit.
function toPlaces(number, places) {
  const [digits, power] = Math.abs(number).toExponential(60).split("e");
  const size = Number(power) + places; // place of the last digit that is kept
  const all = digits.replace(".", "");
  const kept = size < 0 ? "0" : all.slice(0, size + 1);
  const rest = size < -1 ? `0${all}` : size === -1 ? all : all.slice(size + 1);
  let whole = BigInt(kept);
  if (/^50*$/.test(rest) ? whole % 2n === 1n : rest[0] >= "5") whole += 1n;
  return Math.sign(number) * Number(`${whole}e${-places}`);
}

function ranked(tree, node, first, labels, state) {
  const scores = Array.from({ length: labels }, (_, label) => tell(tree, node, first + label, state));
  return scores.map((_, label) => label).sort((a, b) => scores[b] - scores[a]);
}

// Which of the models of a leaf and of the nodes above it objects to a foil at a point: a node, or null if none does.
function objector(tree, foil, leaf, point) {
  let node = tree.nodeOf[leaf];
  const enough = (demand) => meets(tree, demand, node, point, demand.least[leaf], demand.below[leaf]);
  if (!foil.demands.every(enough)) return node;
  for (let up = 0; up < tree.linear.above; up++) {
    node = tree.parent[node];
    // The root is the mean of all, which knows nothing of the state.
    if (node <= 0) return null;
    if (!holdsAt(tree, foil, node, point)) return node;
  }
  return null;
}

// Does a foil hold at a point as the model of a node predicts, by however little?
function holdsAt(tree, foil, node, point) {
  return foil.demands.every((demand) => meets(tree, demand, node, point, demand.wanted ? 0 : demand.low, demand.high));
}

function meets(tree, demand, node, point, least, below) {
  if (demand.wanted === null) {
    const told = tell(tree, node, demand.target, point);
    return least === below ? told === least : told >= least && told < below;
  }
  let [best, rest] = [-Infinity, -Infinity];
  demand.wanted.forEach((wanted, label) => {
    const score = tell(tree, node, demand.target + label, point);
    if (wanted) best = Math.max(best, score);
    else rest = Math.max(rest, score);
  });
  return best - rest >= least;
}

// Does the second model agree that a foil holds at a point of a leaf?
export function agrees(tree, foil, leaf, point) {
  return objector(tree, foil, leaf, point) === null;
}

// The sentence that says so.
export function secondOpinion(tree, foil, leaf, point, where) {
  const node = objector(tree, foil, leaf, point);
  if (node === null) return " The log's second model agrees.";
  const said = foil.demands.map((demand) => `${demand.name}${saidBy(tree, demand, node, point)}`);
  return ` The log's second model is not sure: ${allOf(said)} ${where}.`;
}

function saidBy(tree, demand, node, point) {
  if (demand.wanted === null) return ` = ${rounded(tell(tree, node, demand.target, point), 3)}${demand.unit}`;
  const [best] = ranked(tree, node, demand.target, demand.labels.length, point);
  return ` = ${demand.labels[best]}${demand.unit}`;
}

// The sentence that a foil holds already as the tree predicts, where its leaf's mean does not; null where it does not hold.
export function heldAlready(tree, foil, leaf, state) {
  const node = tree.nodeOf[leaf];
  if (!tree.linear?.predicts || !holdsAt(tree, foil, node, state)) return null;
  const said = foil.demands.map((demand, i) => `${i ? demand.name : demand.head}${saidBy(tree, demand, node, state)}`);
  return `${allOf(said)} here by the leaf's linear model, so ${foil.told} already.`;
}

// The nearest point, at the border of a foil leaf or further inside, with which the second model agrees.
export function agreedPoint(tree, state, foil) {
  const d = tree.features.length;
  const found = [];
  for (const [depth, share] of DEPTHS.entries()) {
    for (let leaf = 0; leaf < tree.leaves; leaf++) {
      if (foil.support[leaf] < 0) continue;
      const point = Array.from(state);
      let changes = 0;
      let square = 0;
      for (let f = 0, k = leaf * d; f < d; f++, k++) {
        if (state[f] < tree.lower[k]) point[f] = tree.landLow[k];
        else if (state[f] >= tree.upper[k]) point[f] = tree.landHigh[k];
        else continue;
        changes++;
        if (depth && !tree.features[f].whole) point[f] = deeper(tree, f, k, point[f], share);
        const away = (point[f] - state[f]) / tree.features[f].span;
        square += away * away;
      }
      found.push({ changes, square, leaf, point });
    }
  }
  found.sort((a, b) => a.changes - b.changes || a.square - b.square || a.leaf - b.leaf);
  return found.find(({ leaf, point }) => agrees(tree, foil, leaf, point)) ?? null;
}

function deeper(tree, f, k, near, share) {
  const { min, max, scale } = tree.features[f];
  const [low, high] = [tree.lower[k], tree.upper[k]];
  const inside = nextBelow(high);
  const bottom = low === -Infinity ? Math.min(min, inside) : low;
  const top = high === Infinity ? Math.max(max, low) : high;
  const middle = Math.min(Math.max(bottom / 2 + top / 2, low), inside);
  const further = near + share * (middle - near);
  const whole = halfEvenWhole(further * scale);
  const short = scale >= 1 ? whole / scale : whole * halfEvenWhole(1 / scale);
  return short >= low && short <= inside ? short : Math.min(Math.max(further, low), inside);
}

function halfEvenWhole(number) {
  const down = Math.floor(number);
  const part = number - down;
  if (part !== 0.5) return part < 0.5 ? down : down + 1;
  return down % 2 === 0 ? down : down + 1;
}

function nextBelow(number) {
  if (number === Infinity) return Number.MAX_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  if (number === 0) return -Number.MIN_VALUE;
  view.setBigInt64(0, view.getBigInt64(0) + (number > 0 ? -1n : 1n));
  return view.getFloat64(0);
}
