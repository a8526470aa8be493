// The leaf map that answers: hover a leaf, click or move a state, read why and what would have to change.
import { drawAxes, scaleOf, sidesOf } from "./axes.js";
import { add, addSvg, onAPage } from "./dom.js";
import { colourOf, drawLegend, drawTable, said } from "./legend.js";
import { drawVeil, isFaint } from "./support.js";
import { counterfactual, factual, leafAt } from "./tree.js";

const DIGIT = 7.5; // width of a character at a tick
const HELP = "Click the map, or move the state with the arrow keys (Shift: larger steps).";
let explorers = 0;

export function mountExplorer(root, tree) {
  const view = firstView(tree);
  const parts = layOut(root, tree, view, draw);
  const flat = tree.features.length < 2; // one feature makes a strip instead of a map

  // The map is as many units wide as the page has pixels for it, so that letters have their own size on a phone too.
  /** @returns {{box: any, across: any, up: any}} `up` is null on a strip */
  function axes() {
    const across = tree.features[view.x];
    const up = tree.features[view.y];
    // Not less: while a page is laid out, its columns may be narrower than the labels of an axis.
    const width = Math.max(parts.figure.clientWidth || 640, 240);
    const height = flat ? 180 : Math.min(Math.max(0.72 * width, 300), 460);
    const longest = flat ? 0 : Math.max(0, ...up.axis.ticks.map(([, text]) => text.length));
    const box = { left: flat ? 14 : 32 + DIGIT * longest, right: width - 14, top: 10, floor: height - 46, width, height };
    return {
      box,
      across: { feature: across, scale: scaleOf(across.axis, box.left, box.right) },
      up: flat ? null : { feature: up, scale: scaleOf(up.axis, box.floor, box.top) },
    };
  }

  function draw() {
    const { box, across, up } = axes();
    const colour = tree.colours[view.colour];
    const leaves = seen(tree, view);
    parts.svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    parts.svg.replaceChildren();
    const tiles = addSvg(parts.svg, "g", { class: "tt-tiles" });
    const guessed = colour.fades && !tree.veil; // without a log, leaves are faded as a whole
    const pale = new Set(guessed ? leaves.filter((leaf) => isFaint(tree, leaf, flat ? [view.x] : [view.x, view.y])) : []);
    for (const leaf of leaves) {
      const [x0, x1] = sidesOf(tree, leaf, view.x).map(across.scale.place);
      const [y1, y0] = flat ? [box.floor, box.top] : sidesOf(tree, leaf, view.y).map(up.scale.place);
      const fill = colourOf(tree, colour, leaf);
      const tile = addSvg(tiles, "rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0, fill, "data-leaf": leaf });
      if (pale.has(leaf)) tile.classList.add("tt-faint");
    }
    const veiled = colour.fades && tree.veil && drawVeil(parts.svg, tree, view.x, view.y, box, across, up);
    parts.faded.textContent = pale.size || veiled ? tree.faded : "";
    drawAxes(parts.svg, box, across, up);
    const fact = factual(tree, view.state, view.about);
    const answer = counterfactual(tree, view.state, tree.foils[view.foil]);
    drawStates(box, across, up, answer.foilState);
    parts.answers.replaceChildren();
    add(parts.answers, "p", { class: "tt-why" }, fact.text);
    add(parts.answers, "p", { class: "tt-foil" }, answer.text);
    parts.inputs.forEach((input, f) => (input.value = String(Number(view.state[f].toPrecision(6)))));
    drawLegend(parts.legend, tree, colour);
    const by = flat ? across.feature.name : `${across.feature.name} and ${up.feature.name}`;
    const fixed = tree.features.length > 2 ? ", through the state below in all other features" : "";
    parts.svg.setAttribute("aria-label", onAPage(`${colour.title} by ${by}${fixed}. ${fact.text}`));
    if (parts.twin.open) drawTable(parts.table, tree, leaves, flat ? [view.x] : [view.x, view.y], colour);
  }

  function drawStates(box, across, up, foilState) {
    const layer = addSvg(parts.svg, "g", { class: "tt-marks" });
    const place = (along, value) => along.scale.place(along.scale.inside(value));
    const at = (state) => [place(across, state[view.x]), flat ? (box.top + box.floor) / 2 : place(up, state[view.y])];
    const [cx, cy] = at(view.state);
    if (foilState) {
      const [x2, y2] = at(foilState);
      if (Math.hypot(x2 - cx, y2 - cy) > 1) {
        addSvg(layer, "line", { class: "tt-halo", x1: cx, y1: cy, x2, y2 });
        addSvg(layer, "line", { class: "tt-arrow", x1: cx, y1: cy, x2, y2 });
        addSvg(layer, "circle", { class: "tt-there", cx: x2, cy: y2, r: 4.5 });
      }
    }
    addSvg(layer, "circle", { class: "tt-here", cx, cy, r: 6 });
  }

  // The state at a place of the map, or null beside it.
  function pointed(event) {
    const frame = parts.svg.getBoundingClientRect();
    const { box, across, up } = axes();
    const x = ((event.clientX - frame.left) / frame.width) * box.width;
    const y = ((event.clientY - frame.top) / frame.height) * box.height;
    if (x < box.left || x > box.right || y < box.top || y > box.floor) return null;
    const state = [...view.state];
    state[view.x] = known(across.feature, across.scale.value(x));
    if (!flat) state[view.y] = known(up.feature, up.scale.value(y));
    return state;
  }

  parts.svg.addEventListener("click", (event) => {
    view.state = pointed(event) ?? view.state;
    draw();
  });
  parts.svg.addEventListener("pointermove", (event) => {
    const state = pointed(event);
    const colour = tree.colours[view.colour];
    const leaf = state && leafAt(tree, state);
    const samples = state && tree.count[leaf].toLocaleString("en");
    // On top of its neighbours, so that all of its outline is seen.
    if (event.target.dataset.leaf && event.target.nextSibling) event.target.parentNode.append(event.target);
    parts.hover.textContent = state ? onAPage(`Leaf ${leaf}, ${samples} samples: ${colour.label} ${said(colour, leaf)}`) : "";
  });
  parts.svg.addEventListener("pointerleave", () => (parts.hover.textContent = ""));
  parts.svg.addEventListener("keydown", (event) => {
    const keys = { ArrowLeft: ["x", -1], ArrowRight: ["x", 1], ArrowDown: ["y", -1], ArrowUp: ["y", 1] };
    if (!(event.key in keys)) return;
    event.preventDefault(); // arrow keys would scroll the page
    const [axis, sign] = keys[event.key];
    if (axis === "y" && flat) return;
    const feature = tree.features[view[axis]];
    const step = feature.whole ? 1 : (event.shiftKey ? 0.1 : 0.01) * feature.span;
    view.state[view[axis]] = Math.min(Math.max(view.state[view[axis]] + sign * step, feature.min), feature.max);
    draw();
  });

  draw();
  // Only for the width: drawing changes the height, and would call the observer again and again.
  let width = parts.figure.clientWidth;
  new ResizeObserver(() => {
    if (parts.figure.clientWidth === width) return;
    width = parts.figure.clientWidth;
    draw();
  }).observe(parts.figure);
}

// What is shown first: the features that most splits of the upper tree are about, and a foil that does not hold yet.
function firstView(tree) {
  const [x, y] = mostTelling(tree);
  const leaf = leafAt(tree, tree.start);
  const foils = Object.keys(tree.foils);
  return {
    x,
    y,
    colour: Object.keys(tree.colours)[0],
    about: Object.keys(tree.facts)[0],
    foil: foils.find((name) => tree.foils[name].support[leaf] < 0) ?? foils[0],
    state: [...tree.start],
  };
}

function mostTelling(tree) {
  const weight = tree.features.map(() => 0);
  const depth = new Array(tree.left.length).fill(0);
  for (let node = 0; node < tree.left.length; node++) {
    if (tree.left[node] < 0) continue;
    weight[tree.splits[node]] += 2 ** -depth[node];
    depth[tree.left[node]] = depth[tree.left[node] + 1] = depth[node] + 1;
  }
  const order = weight.map((_, f) => f).sort((a, b) => weight[b] - weight[a] || a - b);
  return [order[0], order[1] ?? order[0]].sort((a, b) => a - b);
}

// The leaves that the plane through the state cuts, and that have an area on it.
function seen(tree, view) {
  const d = tree.features.length;
  const list = [];
  for (let leaf = 0; leaf < tree.leaves; leaf++) {
    let inside = true;
    for (let f = 0; f < d && inside; f++) {
      // By the splits, not by the sides as drawn: those end with the log, and a typed state may lie beyond it.
      const [low, high] = sidesOf(tree, leaf, f);
      if (f === view.x || f === view.y) inside = low < high;
      else inside = view.state[f] >= tree.lower[leaf * d + f] && view.state[f] < tree.upper[leaf * d + f];
    }
    if (inside) list.push(leaf);
  }
  return list;
}

// A value that the log may hold: an axis goes on a little beyond its range, and flags and counts are whole numbers.
function known(feature, value) {
  return Math.min(Math.max(feature.whole ? Math.round(value) : value, feature.min), feature.max);
}

// Puts the empty parts on the page; `draw` is called when the reader chooses something else.
function layOut(root, tree, view, draw) {
  const id = `tt${explorers++}`;
  root.classList.add("tt-explorer");
  choosers(add(root, "div", { class: "tt-controls" }), tree, view, draw);
  const board = add(root, "div", { class: "tt-board" });
  const figure = add(board, "figure");
  const svg = addSvg(figure, "svg", {
    tabindex: 0,
    role: "application",
    "aria-roledescription": "map of the tree's leaves",
    "aria-describedby": `${id}-help`,
  });
  const hover = add(figure, "p", { class: "tt-hover", "aria-hidden": "true" });
  const caption = add(figure, "figcaption");
  add(caption, "span", { id: `${id}-help` }, HELP);
  caption.append(" ");
  const faded = add(caption, "span", { class: "tt-faded" });
  const side = add(board, "div", { class: "tt-side" });
  const legend = add(side, "div", { class: "tt-legend" });
  const answers = add(side, "div", { class: "tt-answers", "aria-live": "polite" });
  const state = add(side, "fieldset", { class: "tt-state" });
  add(state, "legend", {}, "The state");
  const inputs = tree.features.map((feature, f) => {
    const label = add(state, "label", {}, feature.label);
    const input = add(label, "input", { type: "number", step: feature.whole ? "1" : "any" });
    input.addEventListener("change", () => {
      if (Number.isFinite(input.valueAsNumber)) view.state[f] = input.valueAsNumber;
      draw();
    });
    return input;
  });
  const twin = add(root, "details", { class: "tt-twin" });
  add(twin, "summary", {}, "The same map as a table");
  const table = add(twin, "div", { class: "tt-scroll", tabindex: 0, role: "region", "aria-label": "Leaves on the map" });
  twin.addEventListener("toggle", () => draw());
  return { figure, svg, hover, faded, legend, answers, inputs, twin, table };
}

function choosers(place, tree, view, draw) {
  const choose = (label, options, chosen, change) => {
    const select = add(add(place, "label", {}, label), "select");
    options.forEach(([value, text]) => {
      add(select, "option", { value }, text).selected = value === String(chosen);
    });
    select.addEventListener("change", () => {
      change(select.value);
      draw();
    });
    return select;
  };
  const same = (names) => names.map((name) => [name, name]);
  const features = tree.features.map((feature, f) => [String(f), feature.name]);
  const colours = Object.entries(tree.colours).map(([name, colour]) => [name, colour.title]);
  const across = choose("Across", features, view.x, (f) => turn("x", Number(f)));
  const up = features.length > 1 ? choose("Up", features, view.y, (f) => turn("y", Number(f))) : null;
  choose("Colour", colours, view.colour, (name) => (view.colour = name));
  choose("Explain", same(Object.keys(tree.facts)), view.about, (name) => (view.about = name));
  choose("What would make it", same(Object.keys(tree.foils)), view.foil, (name) => (view.foil = name));

  // The two axes are never the same feature: choosing the other's swaps them.
  function turn(axis, f) {
    const other = axis === "x" ? "y" : "x";
    if (view[other] === f || features.length < 2) view[other] = view[axis];
    view[axis] = f;
    across.value = String(view.x);
    if (up) up.value = String(view.y);
  }
}
