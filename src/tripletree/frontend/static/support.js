// Where a map is faded, because the log says nothing there: see scenes/support.py.
import { sidesOf } from "./axes.js";
import { fromBase64 } from "./bytes.js";
import { addSvg } from "./dom.js";

// Whether a patch of the map would hold less than one sample of a leaf, were they spread evenly.
export function isFaint(tree, leaf, axes) {
  let expected = tree.count[leaf];
  for (const f of axes) {
    const [low, high] = sidesOf(tree, leaf, f);
    expected *= tree.features[f].patch / (high - low);
  }
  return expected < 1 - 1e-6;
}

// Cells of the map without a state of the log nearby, as one shape; returns whether there are any.
export function drawVeil(svg, tree, x, y, box, across, up) {
  const { edges, hidden } = tree.veil;
  const sides = edges[x].map(across.scale.place);
  const levels = up ? edges[y].map(up.scale.place) : [box.floor, box.top];
  const key = up ? [x, y].sort((a, b) => a - b).join(" ") : String(x);
  const bits = fromBase64(hidden[key]);
  const [n, m] = [sides.length - 1, levels.length - 1];
  // The feature with the larger number is the faster one.
  const bitAt = (i, j) => (up && y < x ? j * n + i : i * m + j);
  const isHidden = (i, j) => (bits[bitAt(i, j) >> 3] >> (7 - (bitAt(i, j) & 7))) & 1;
  let path = "";
  for (let j = 0; j < m; j++)
    for (let i = 0; i < n; i++) {
      if (!isHidden(i, j)) continue;
      const first = i;
      while (i + 1 < n && isHidden(i + 1, j)) i++;
      path += `M${sides[first]} ${levels[j]}H${sides[i + 1]}V${levels[j + 1]}H${sides[first]}z`;
    }
  if (path) addSvg(svg, "path", { class: "tt-veil", d: path });
  return path !== "";
}
