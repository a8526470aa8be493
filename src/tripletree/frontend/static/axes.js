// Axes of a map: where values lie on paper, round numbers to mark, and how features are labelled.
import { addSvg } from "./dom.js";
import { exact } from "./numbers.js";

export function isWhole(feature) {
  return feature.kind === "binary" || feature.kind === "integer";
}

export function labelled(feature) {
  return feature.unit ? `${feature.name} (${feature.unit})` : feature.name;
}

// Where an axis begins and ends; a whole number is the middle of a band that is 1 wide.
export function rangeOf(feature) {
  const pad = isWhole(feature) ? 0.5 : feature.min === feature.max ? 0.5 * feature.span : 0;
  return [feature.min - pad, feature.max + pad];
}

export function scaleOf(feature, from, to) {
  const [low, high] = rangeOf(feature);
  return {
    place: (value) => from + ((value - low) / (high - low)) * (to - from),
    value: (at) => low + ((at - from) / (to - from)) * (high - low),
    inside: (value) => Math.min(Math.max(value, low), high),
  };
}

// The sides of a leaf along a feature, as far as the axis goes.
export function sidesOf(tree, leaf, f) {
  const feature = tree.features[f];
  const [low, high] = rangeOf(feature);
  let [a, b] = [tree.lower[leaf * tree.features.length + f], tree.upper[leaf * tree.features.length + f]];
  // A border between 0 and 1 is drawn in the middle, whatever its threshold.
  if (isWhole(feature)) [a, b] = [Math.ceil(a) - 0.5, Math.ceil(b) - 0.5];
  return [Math.min(Math.max(a, low), high), Math.max(Math.min(b, high), low)];
}

export function drawAxes(svg, box, across, up) {
  const frame = addSvg(svg, "g", { class: "tt-axes" });
  const [left, right, top, floor] = [box.left, box.right, box.top, box.floor];
  for (const tick of roundNumbers(rangeOf(across.feature))) {
    const at = across.scale.place(tick);
    addSvg(frame, "line", { x1: at, x2: at, y1: floor, y2: floor + 4 });
    addSvg(frame, "text", { x: at, y: floor + 17, "text-anchor": "middle" }, exact(tick));
  }
  const middle = { "text-anchor": "middle", class: "tt-name" };
  addSvg(frame, "text", { x: (left + right) / 2, y: floor + 38, ...middle }, labelled(across.feature));
  if (!up) return;
  for (const tick of roundNumbers(rangeOf(up.feature))) {
    const at = up.scale.place(tick);
    addSvg(frame, "line", { x1: left - 4, x2: left, y1: at, y2: at });
    addSvg(frame, "text", { x: left - 7, y: at + 4, "text-anchor": "end" }, exact(tick));
  }
  addSvg(frame, "text", { transform: `translate(15 ${(top + floor) / 2}) rotate(-90)`, ...middle }, labelled(up.feature));
}

// About five round numbers; a range that begins a hair above a round number begins with it.
function roundNumbers([low, high]) {
  const raw = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((nice) => nice * power >= raw) * power;
  const hair = (0.02 * (high - low)) / step;
  const list = [];
  for (let k = Math.ceil(low / step - hair); k <= high / step + hair; k++) list.push(Number((k * step).toPrecision(12)));
  return list;
}
