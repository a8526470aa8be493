// Axes of a map, as they come with the tree: where values lie on paper, and the ticks.
import { addSvg } from "./dom.js";

export function scaleOf({ low, high }, from, to) {
  return {
    place: (value) => from + ((value - low) / (high - low)) * (to - from),
    value: (at) => low + ((at - from) / (to - from)) * (high - low),
    inside: (value) => Math.min(Math.max(value, low), high),
  };
}

// The sides of a leaf along a feature, as they are drawn.
export function sidesOf(tree, leaf, f) {
  const k = leaf * tree.features.length + f;
  return [tree.drawnLow[k], tree.drawnHigh[k]];
}

const LETTER = 7; // width of a typical letter of a name

// A name that is cut where its axis ends.
function cut(name, room) {
  const letters = Math.max(Math.floor(room / LETTER), 2);
  return name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
}

export function drawAxes(svg, box, across, up) {
  const frame = addSvg(svg, "g", { class: "tt-axes" });
  const { left, right, top, floor } = box;
  for (const [tick, text] of across.feature.axis.ticks) {
    const at = across.scale.place(tick);
    addSvg(frame, "line", { x1: at, x2: at, y1: floor, y2: floor + 4 });
    addSvg(frame, "text", { x: at, y: floor + 17, "text-anchor": "middle" }, text);
  }
  const middle = { "text-anchor": "middle", class: "tt-name" };
  addSvg(frame, "text", { x: (left + right) / 2, y: floor + 38, ...middle }, cut(across.feature.axis.label, right - left));
  if (!up) return;
  for (const [tick, text] of up.feature.axis.ticks) {
    const at = up.scale.place(tick);
    addSvg(frame, "line", { x1: left - 4, x2: left, y1: at, y2: at });
    addSvg(frame, "text", { x: left - 7, y: at + 4, "text-anchor": "end" }, text);
  }
  const turned = `translate(13 ${(top + floor) / 2}) rotate(-90)`;
  addSvg(frame, "text", { transform: turned, ...middle }, cut(up.feature.axis.label, floor - top));
}
