// One map: a canvas with the leaves, and above it what is pointed at, asked about and found.
import { drawMarks, flatOf } from "./marks.js";
import { add, addSvg, onAPage } from "./dom.js";
import { drawFrame, makeFrame } from "./frames.js";
import { drawLayers } from "./layers.js";
import { rounded } from "./numbers.js";
import { canvasPen } from "./pens.js";
import { pointing } from "./pointing.js";
import { boxOf, possible, sliceScene } from "./slices.js";
import { leafAt } from "./tree.js";

/** @typedef {import("./explore.js").App} App */
/** @typedef {import("./types.js").TreeData} TreeData */

const POINT_AT_IT = "Point to read the map, click to ask about a state.";

/**
 * @param {App} app
 * @param {HTMLElement} place
 * @param {() => string} handle which tree it shows
 * @param {() => TreeData} treeOf
 */
export function makeMap(app, place, handle, treeOf) {
  const head = add(place, "header", { class: "tx-headline" });
  const title = add(head, "h2", { class: "tx-title" });
  const subtitle = add(head, "p", { class: "tx-subtitle" });
  const stage = add(place, "div", { class: "tx-stage" });
  const canvas = /** @type {HTMLCanvasElement} */ (add(stage, "canvas", { "aria-hidden": "true" }));
  const svg = /** @type {SVGSVGElement} */ (
    addSvg(stage, "svg", {
      class: "tx-over",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "map of the tree's leaves",
      "aria-label": "Map",
    })
  );
  const below = addSvg(svg, "g");
  const outline = addSvg(svg, "rect", { class: "tx-outline", visibility: "hidden" });
  const layers = addSvg(svg, "g");
  const sorry = add(stage, "p", { class: "tx-sorry", role: "status", hidden: "" });
  const hover = add(place, "p", { class: "tx-hover", "aria-hidden": "true" }, POINT_AT_IT);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const line = app.asker.line();
  /** @type {any} */
  let scene = null;
  let called = ""; // the name of the model, where there are two maps
  /** @type {ReturnType<typeof makeFrame> | null} */
  let frame = null;

  /** @type {() => void} */
  let answered = () => {};
  const ready = new Promise((resolve) => (answered = () => resolve(null)));

  const flat = () => treeOf().features.length < 2;

  // The picture: made here where that is exact, else asked for; until it comes, the old one stays.
  function fetchScene() {
    const { view } = app.store;
    const tree = treeOf();
    const fades = tree.colours[view.colour]?.fades;
    const exact = tree.features.length === 2 && (tree.veil || !fades) && tree.handle === handle();
    if (!view.arrows && !flat() && view.colour in tree.colours && (exact || app.host.kind === "report")) {
      line.drop();
      show(sliceScene(tree, view));
      return;
    }
    line("map", { model: handle(), ...mapArgs(app) }, (answer) => show(answer.scene), fail);
  }

  /** @param {any} found */
  function show(found) {
    const before = scene;
    scene = found;
    sorry.hidden = true;
    // Zoomed into another pair of features, nothing would be seen.
    if (before && (before.x.label !== scene.x.label || before.y.label !== scene.y.label) && app.store.view.zoom)
      app.store.set({ zoom: null });
    draw();
    app.drawn(api);
    answered();
  }

  /** @param {any} error */
  function fail(error) {
    sorry.textContent = app.sentence(error);
    sorry.hidden = false;
    answered();
  }

  function draw() {
    const { clientWidth: width, clientHeight: height } = stage;
    if (!scene || width < 20 || height < 20) return;
    const sharp = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * sharp), Math.round(height * sharp)];
    if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
    frame = makeFrame(width, height, scene.x, scene.y, app.store.view.zoom);
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    context.clearRect(0, 0, width, height);
    const tint = app.tint();
    const pen = canvasPen(context);
    drawMarks(pen, scene, frame, tint, sharp);
    drawFrame(pen, frame, tint);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    title.textContent = onAPage(called || scene.title);
    subtitle.textContent = onAPage([scene.subtitle, scene.note].filter(Boolean).join(" · "));
    subtitle.title = subtitle.textContent;
    drawOver();
  }

  function drawOver() {
    if (!frame || !scene) return;
    const { view } = app.store;
    layers.replaceChildren();
    drawLayers(layers, app, frame, treeOf(), flat());
    outline.setAttribute("visibility", "hidden");
    const words = app.words();
    svg.setAttribute("aria-label", onAPage(`${scene.title}. ${words}`));
    svg.setAttribute("aria-describedby", app.helpId);
    below.replaceChildren();
    if (view.zoom) addSvg(below, "rect", { class: "tx-zoomed", x: frame.left, y: frame.top, width: frame.right - frame.left, height: frame.floor - frame.top });
  }

  // What lies at a place of the sheet.
  /** @param {number} px @param {number} py @returns {number[] | null} */
  function stateAt(px, py) {
    if (!frame || px < frame.left || px > frame.right || py < frame.top || py > frame.floor) return null;
    const { view } = app.store;
    const tree = treeOf();
    const state = [...view.state];
    state[view.x] = possible(tree.features[view.x], frame.xAt(px));
    if (!flat()) state[view.y] = possible(tree.features[view.y], frame.yAt(py));
    return state;
  }

  /** @param {number} px @param {number} py */
  function tell(px, py) {
    const state = stateAt(px, py);
    if (!state || !frame || !scene) {
      hover.textContent = POINT_AT_IT;
      outline.setAttribute("visibility", "hidden");
      return;
    }
    const { view } = app.store;
    const tree = treeOf();
    const mesh = scene.marks.find((/** @type {any} */ mark) => mark.type === "mesh");
    const here = whereText(tree, view.x, flat() ? null : view.y, frame.xAt(px), frame.yAt(py));
    if (mesh) {
      const told = meshText(scene, mesh, frame.xAt(px), frame.yAt(py));
      hover.textContent = onAPage(`${here}: ${told}`);
      outline.setAttribute("visibility", "hidden");
      return;
    }
    const leaf = leafAt(tree, state);
    const colour = tree.colours[view.colour];
    hover.textContent = onAPage(`${here}: ${leafText(tree, colour, leaf)}`);
    if (flat()) return;
    const [a, b, c, d] = boxOf(tree, leaf, view.x, view.y);
    const clip = (/** @type {number} */ at, /** @type {number} */ low, /** @type {number} */ high) => Math.min(Math.max(at, low), high);
    const [left, right] = [a, b].map((at) => clip(/** @type {any} */ (frame).px(at), /** @type {any} */ (frame).left, /** @type {any} */ (frame).right));
    const [top, floor] = [d, c].map((at) => clip(/** @type {any} */ (frame).py(at), /** @type {any} */ (frame).top, /** @type {any} */ (frame).floor));
    for (const [name, value] of Object.entries({ x: left, y: top, width: right - left, height: floor - top }))
      outline.setAttribute(name, String(value));
    outline.setAttribute("visibility", "visible");
  }

  const api = {
    svg,
    stage,
    ready,
    get frame() {
      return frame;
    },
    get scene() {
      return scene;
    },
    stateAt,
    tell,
    draw,
    drawOver,
    fetchScene,
    treeOf,
    flat,
    /** @param {string} name */
    call(name) {
      called = name;
      draw();
    },
    clearHover: () => tell(-1, -1),
  };
  pointing(app, api);
  let [before, tall] = [0, 0];
  new ResizeObserver(() => {
    if (stage.clientWidth === before && stage.clientHeight === tall) return;
    [before, tall] = [stage.clientWidth, stage.clientHeight];
    draw();
  }).observe(stage);
  return api;
}

/** @typedef {ReturnType<typeof makeMap>} MapView */

/** What the map is asked for. @param {App} app */
export function mapArgs(app) {
  const { view } = app.store;
  const names = app.names();
  const [x, y] = [names[view.x], names.length > 1 ? names[view.y] : null];
  /** @type {Record<string, any>} */
  const args = { x, y, colour: view.colour };
  if (view.arrows && y !== null) args.arrows = true;
  if (names.length > 2 && view.rest === "here") args.at = view.state.map((value, f) => (f === view.x || f === view.y ? app.info().features[f].median ?? 0 : value));
  if (names.length > 2 && view.rest === "within") {
    const where = Object.entries(view.limits).filter(([name]) => name !== x && name !== y);
    if (where.length) args.where = Object.fromEntries(where);
  }
  return args;
}

/** @param {TreeData} tree @param {number} x @param {number | null} y @param {number} across @param {number} up */
function whereText(tree, x, y, across, up) {
  const told = (/** @type {number} */ f, /** @type {number} */ value) => {
    const { name, unit, whole } = tree.features[f];
    return `${name} ${rounded(whole ? Math.round(value) : value, 3)}${unit ? ` ${unit}` : ""}`;
  };
  return y === null ? told(x, across) : `${told(x, across)}, ${told(y, up)}`;
}

/** @param {TreeData} tree @param {any} colour @param {number} leaf */
export function leafText(tree, colour, leaf) {
  const samples = tree.count[leaf];
  const value = colour.names.length ? colour.names[colour.values[leaf]] : rounded(colour.values[leaf]);
  const shown = colour.label === "leaf" ? "" : `, ${colour.label} ${value}`;
  return `leaf ${leaf}${shown}, ${samples.toLocaleString("en")} ${samples === 1 ? "sample" : "samples"}`;
}

/** @param {any} scene @param {any} mesh @param {number} across @param {number} up */
function meshText(scene, mesh, across, up) {
  const column = cellOf(mesh.x, across);
  const row = cellOf(mesh.y, up);
  const wide = mesh.x.length - 1;
  const value = flatOf(mesh.value)[row * wide + column];
  if (value === null || !Number.isFinite(value)) return "no leaf lies here";
  const { categories, label } = scene.colours;
  return categories.length ? `mostly ${label} = ${categories[Math.round(value)]}` : `${label} ${rounded(value, 3)} on average`;
}

/** @param {ArrayLike<number>} edges @param {number} value */
function cellOf(edges, value) {
  let [low, high] = [0, edges.length - 2];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (edges[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

