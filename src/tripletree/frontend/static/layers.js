// What lies above a map: the state that is asked about, and what the open panel found.
import { add, addSvg, onAPage } from "./dom.js";
import { arrowPath } from "./marks.js";
import { boxOf, leavesCut } from "./slices.js";

/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").TreeData} TreeData */

/**
 * What a panel may show on every map; states have all features, so they lie on the map of any two.
 * @typedef {object} Layer
 * @property {number[]} [leaves] leaves to outline
 * @property {{handle: string, strength: ArrayLike<number>}} [shade] how strongly each leaf of a tree is tinted, from 0 to 1
 * @property {{to: number[], main: boolean}[]} [foils] changes of the state
 * @property {{states: ArrayLike<number>[], opacity?: number, width?: number, kind?: string}[]} [lines] ways
 * @property {{state: ArrayLike<number>, kind: string, text?: string}[]} [points]
 * @property {{box: Record<string, [number | null, number | null]>, kind: string, text: string}[]} [zones]
 */

/** @typedef {(element: SVGElement, attributes: Record<string, any>) => void} Dress */

/**
 * @param {SVGElement} place
 * @param {import("./explore.js").App} app
 * @param {Frame} frame
 * @param {TreeData} tree
 * @param {boolean} flat one feature only
 */
export function drawLayers(place, app, frame, tree, flat) {
  const { view } = app.store;
  const { left, right, top, floor, px, py } = frame;
  const id = `${app.id}-clip`;
  const clip = addSvg(place, "clipPath", { id });
  addSvg(clip, "rect", { x: left, y: top, width: right - left, height: floor - top });
  const sheet = addSvg(place, "g", { "clip-path": `url(#${id})` });
  const middle = (top + floor) / 2;
  /** @type {(state: ArrayLike<number>) => [number, number]} */
  const at = (state) => [px(state[view.x]), flat ? middle : py(state[view.y])];
  const names = app.names();
  for (const layer of app.layers()) {
    for (const zone of layer.zones ?? []) drawZone(sheet, zone, frame, names[view.x], flat ? null : names[view.y]);
    if (layer.shade && !flat && layer.shade.handle === tree.handle && (names.length === 2 || view.rest === "here"))
      shadeLeaves(sheet, layer.shade.strength, frame, tree, view);
    if (!flat) outlineLeaves(sheet, layer.leaves ?? [], frame, tree, view.x, view.y, names.length > 2 && view.rest !== "here");
    for (const line of layer.lines ?? []) drawWay(sheet, line, at);
    for (const point of layer.points ?? []) {
      const [cx, cy] = at(point.state);
      addSvg(sheet, "circle", { class: `tx-point tx-${point.kind}`, cx, cy, r: point.kind === "now" ? 6 : 4 });
      if (point.text) addSvg(sheet, "text", { class: "tx-mark", x: cx + 8, y: cy - 6 }, point.text);
    }
    drawFoils(sheet, layer.foils ?? [], at(view.state), at);
  }
  const [cx, cy] = at(view.state);
  const [x, y] = [Math.min(Math.max(cx, left), right), Math.min(Math.max(cy, top), floor)];
  // Beside the part that is seen, a hollow mark at the border says where to look.
  const beside = Math.hypot(x - cx, y - cy) > 1 && view.zoom !== null;
  addSvg(place, "circle", { class: beside ? "tx-here tx-beside" : "tx-here", cx: x, cy: y, r: beside ? 5 : 6.5 });
}

/** @param {SVGElement} sheet @param {any[]} foils @param {[number, number]} from @param {(state: ArrayLike<number>) => [number, number]} at */
function drawFoils(sheet, foils, [cx, cy], at) {
  // The best one last, above the others.
  for (const { to, main } of [...foils].reverse()) {
    const [x, y] = at(to);
    const kind = main ? "" : " tx-other";
    if (Math.hypot(x - cx, y - cy) > 2) {
      const d = arrowPath(cx, cy, x, y, 9);
      addSvg(sheet, "path", { class: `tx-halo${kind}`, d });
      addSvg(sheet, "path", { class: `tx-arrow${kind}`, d });
    } else addSvg(sheet, "circle", { class: `tx-ring${kind}`, cx, cy, r: 10 });
  }
}

/** @param {SVGElement} sheet @param {number[]} leaves @param {Frame} frame @param {TreeData} tree @param {number} x @param {number} y @param {boolean} behind other features are not those of the leaf */
function outlineLeaves(sheet, leaves, { px, py }, tree, x, y, behind) {
  let path = "";
  for (const leaf of leaves) {
    if (leaf >= tree.leaves) continue;
    const [a, b, c, d] = boxOf(tree, leaf, x, y);
    path += `M${px(a).toFixed(1)} ${py(c).toFixed(1)}H${px(b).toFixed(1)}V${py(d).toFixed(1)}H${px(a).toFixed(1)}z`;
  }
  if (!path) return;
  // A few are outlined; of many, what they cover together is tinted.
  const kind = leaves.length > 24 ? "tx-region" : leaves.length > 2 ? "tx-leaves tx-many" : "tx-leaves";
  addSvg(sheet, "path", { class: behind ? `${kind} tx-behind` : kind, d: path });
}

const SHADES = 5;

// Leaves by strength, in a few steps: a path for each step instead of a rectangle for each leaf.
/** @param {SVGElement} sheet @param {ArrayLike<number>} strength @param {Frame} frame @param {TreeData} tree @param {import("./types.js").Selection} view */
function shadeLeaves(sheet, strength, { px, py }, tree, view) {
  const paths = new Array(SHADES + 1).fill("");
  for (const leaf of leavesCut(tree, view.x, view.y, view.state)) {
    const step = Math.round(SHADES * strength[leaf]);
    if (!(step > 0)) continue;
    const [a, b, c, d] = boxOf(tree, leaf, view.x, view.y);
    paths[step] += `M${px(a).toFixed(1)} ${py(c).toFixed(1)}H${px(b).toFixed(1)}V${py(d).toFixed(1)}H${px(a).toFixed(1)}z`;
  }
  paths.forEach((d, step) => d && addSvg(sheet, "path", { class: "tx-shade", d, "fill-opacity": (0.55 * step) / SHADES }));
}

/** @param {SVGElement} sheet @param {any} line @param {(state: ArrayLike<number>) => [number, number]} at */
function drawWay(sheet, line, at) {
  let path = "";
  for (let k = 0; k < line.states.length; k++) {
    const [x, y] = at(line.states[k]);
    path += `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
  }
  if (!path) return;
  if (line.kind === "past") addSvg(sheet, "path", { class: "tx-halo", d: path });
  const shape = addSvg(sheet, "path", { class: `tx-way tx-${line.kind ?? "plain"}`, d: path });
  if (line.opacity !== undefined) shape.setAttribute("stroke-opacity", String(line.opacity));
  if (line.width !== undefined) shape.setAttribute("stroke-width", String(line.width));
}

/** @param {SVGElement} sheet @param {any} zone @param {Frame} frame @param {string} x @param {string | null} y */
function drawZone(sheet, zone, { px, py, left, right, top, floor }, x, y) {
  const [a, b] = zone.box[x] ?? [null, null];
  const [c, d] = (y === null ? null : zone.box[y]) ?? [null, null];
  // Of the end of an episode, or of other features only, nothing can be seen here.
  if (a === null && b === null && c === null && d === null) return;
  const x0 = a === null ? left : px(a);
  const x1 = b === null ? right : px(b);
  const y0 = d === null ? top : py(d);
  const y1 = c === null ? floor : py(c);
  if (!(x1 > x0 && y1 > y0)) return;
  addSvg(sheet, "rect", { class: `tx-zone tx-${zone.kind}`, x: x0, y: y0, width: x1 - x0, height: y1 - y0 });
  const label = { class: "tx-mark", x: Math.max(x0, left) + 5, y: Math.max(y0, top) + 15 };
  addSvg(sheet, "text", label, zone.text);
}

/**
 * A sentence in which a warning is seen as one.
 * @param {HTMLElement} place @param {string} text
 */
export function addSentence(place, text, kind = "tx-sentence") {
  const paragraph = add(place, "p", { class: kind });
  const warning = text.search(/(?:^| )Careful, /);
  if (warning < 0) paragraph.textContent = onAPage(text);
  else {
    paragraph.append(onAPage(text.slice(0, warning)));
    add(paragraph, "span", { class: "tx-careful" }, ` ${text.slice(warning).trim()}`);
  }
  return paragraph;
}
