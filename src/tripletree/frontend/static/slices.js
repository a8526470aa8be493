// The map of a tree with two features, or a slice of one with more, made in the browser from the tree's payload.
import { fromBase64 } from "./bytes.js";
import { isFaint } from "./support.js";

/** @typedef {import("./types.js").TreeData} TreeData */
/** @typedef {import("./types.js").Selection} Selection */

/**
 * The leaves that the plane through a state cuts, and that have an area on it.
 * @param {TreeData} tree @param {number} x @param {number} y @param {number[]} state
 * @returns {number[]}
 */
export function leavesCut(tree, x, y, state) {
  const d = tree.features.length;
  const list = [];
  for (let leaf = 0; leaf < tree.leaves; leaf++) {
    let inside = true;
    for (let f = 0, k = leaf * d; f < d && inside; f++, k++) {
      // By the splits, not by the sides as drawn: those end with the log, and a typed state may lie beyond it.
      if (f === x || f === y) inside = tree.drawnLow[k] < tree.drawnHigh[k];
      else inside = state[f] >= tree.lower[k] && state[f] < tree.upper[k];
    }
    if (inside) list.push(leaf);
  }
  return list;
}

/**
 * The scene that `map` would answer with, for the leaves that are cut.
 * @param {TreeData} tree
 * @param {Selection} view
 */
export function sliceScene(tree, view) {
  const { x, y, state } = view;
  const d = tree.features.length;
  const colour = tree.colours[view.colour];
  const leaves = leavesCut(tree, x, y, state);
  const side = (/** @type {string} */ name, /** @type {number} */ f) =>
    Float64Array.from(leaves, (leaf) => tree[name][leaf * d + f]);
  const rectangles = {
    type: "rectangles",
    x0: side("drawnLow", x),
    x1: side("drawnHigh", x),
    y0: side("drawnLow", y),
    y1: side("drawnHigh", y),
    code: leaves.map((leaf) => colour.shades[leaf]),
    value: leaves.map((leaf) => colour.values[leaf]),
    edge: "#ffffff",
    edge_width: Math.min(Math.max(2 / Math.sqrt(leaves.length), 0.08), 0.4),
    dashed: false,
    opacity: 1,
    leaf: leaves,
    // Without a log, leaves are faded as a whole where less than one sample is to be expected nearby.
    faint: colour.fades && !tree.veil ? leaves.map((leaf) => isFaint(tree, leaf, [x, y])) : null,
  };
  const veil = colour.fades ? veilOf(tree, x, y) : null;
  const others = d > 2 ? " on a slice through the state" : "";
  return {
    title: `${colour.title} by ${tree.features[x].name} and ${tree.features[y].name}`,
    subtitle: `${leaves.length.toLocaleString("en")} ${leaves.length === 1 ? "leaf" : "leaves"}${others}`,
    x: axisOf(tree, x),
    y: axisOf(tree, y),
    marks: veil ? [rectangles, veil] : [rectangles],
    colours: null,
    legend: [],
    note: veil || rectangles.faint?.includes(true) ? tree.faded.replace(/\.$/, "") : "",
    palette: tree.palettes[colour.palette],
    entries: colour.bar ? [] : colour.legend,
    bar: colour.bar,
  };
}

/** @param {TreeData} tree @param {number} f */
function axisOf(tree, f) {
  return tree.features[f].axis;
}

/** @param {TreeData} tree @param {number} x @param {number} y */
function veilOf(tree, x, y) {
  if (!tree.veil) return null;
  const { edges, hidden } = tree.veil;
  const bits = fromBase64(hidden[[x, y].sort((a, b) => a - b).join(" ")]);
  const [n, m] = [edges[x].length - 1, edges[y].length - 1];
  const cells = new Uint8Array(n * m);
  for (let j = 0; j < m; j++)
    for (let i = 0; i < n; i++) {
      // In the payload the feature with the larger number is the faster one.
      const bit = y < x ? j * n + i : i * m + j;
      cells[j * n + i] = (bits[bit >> 3] >> (7 - (bit & 7))) & 1;
    }
  return cells.includes(1) ? { type: "veil", x: edges[x], y: edges[y], hidden: cells, opacity: 0.78 } : null;
}

/**
 * The two features that most splits of the upper tree are about.
 * @param {TreeData} tree
 * @returns {[number, number]}
 */
export function tellingPair(tree) {
  const weight = tree.features.map(() => 0);
  const depth = new Array(tree.left.length).fill(0);
  for (let node = 0; node < tree.left.length; node++) {
    if (tree.left[node] < 0) continue;
    weight[tree.splits[node]] += 2 ** -depth[node];
    depth[tree.left[node]] = depth[tree.left[node] + 1] = depth[node] + 1;
  }
  const order = weight.map((_, f) => f).sort((a, b) => weight[b] - weight[a] || a - b);
  const [first, second] = [order[0], order[1] ?? order[0]].sort((a, b) => a - b);
  return [first, second];
}

/** The box of a leaf on the map, as it is drawn. @param {TreeData} tree @param {number} leaf @param {number} x @param {number} y */
export function boxOf(tree, leaf, x, y) {
  const d = tree.features.length;
  const [i, j] = [leaf * d + x, leaf * d + y];
  return [tree.drawnLow[i], tree.drawnHigh[i], tree.drawnLow[j], tree.drawnHigh[j]];
}

/** A value that the log may hold: flags and counts are whole numbers. @param {import("./types.js").FeatureInfo} feature @param {number} value */
export function possible(feature, value) {
  return Math.min(Math.max(feature.whole ? Math.round(value) : value, feature.min), feature.max);
}

