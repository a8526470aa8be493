// The leaf map that answers: hover a leaf, click or move a state, read why and what would have to change.
import { drawAxes, isWhole, labelled, scaleOf, sidesOf } from "./axes.js";
import { colourOf } from "./colours.js";
import { add, addSvg } from "./dom.js";
import { drawLegend, drawTable, said } from "./legend.js";
import { counterfactual, factual, leafAt } from "./tree.js";

const [WIDTH, HEIGHT] = [640, 460];
const BOX = { left: 62, right: WIDTH - 10, top: 10, floor: HEIGHT - 46 };
const HELP = "Click the map, or move the state with the arrow keys (Shift: larger steps).";
let explorers = 0;

export function mountExplorer(root, tree) {
  const view = firstView(tree);
  const parts = layOut(root, tree, view, draw);
  const flat = tree.features.length < 2; // one feature makes a strip instead of a map

  function axes() {
    const across = tree.features[view.x];
    const up = tree.features[view.y];
    return {
      across: { feature: across, scale: scaleOf(across, BOX.left, BOX.right) },
      up: flat ? null : { feature: up, scale: scaleOf(up, BOX.floor, BOX.top) },
    };
  }

  function draw() {
    const { across, up } = axes();
    const colour = tree.colours[view.colour];
    const leaves = seen(tree, view);
    parts.svg.replaceChildren();
    const tiles = addSvg(parts.svg, "g", { class: "tt-tiles" });
    for (const leaf of leaves) {
      const [x0, x1] = sidesOf(tree, leaf, view.x).map(across.scale.place);
      const [y1, y0] = flat ? [BOX.floor, BOX.top] : sidesOf(tree, leaf, view.y).map(up.scale.place);
      if (x1 <= x0 || y1 <= y0) continue;
      const fill = colourOf(colour.scale, colour.values[leaf]);
      addSvg(tiles, "rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0, fill, "data-leaf": leaf });
    }
    drawAxes(parts.svg, BOX, across, up);
    const fact = factual(tree, view.state, view.about);
    const answer = counterfactual(tree, view.state, tree.foils[view.foil]);
    drawStates(across, up, answer.foilState);
    parts.answers.replaceChildren();
    add(parts.answers, "p", { class: "tt-why" }, fact.text);
    add(parts.answers, "p", { class: "tt-foil" }, answer.text);
    parts.inputs.forEach((input, f) => (input.value = String(Number(view.state[f].toPrecision(6)))));
    drawLegend(parts.legend, colour);
    const by = flat ? across.feature.name : `${across.feature.name} and ${up.feature.name}`;
    const fixed = tree.features.length > 2 ? ", through the state below in all other features" : "";
    parts.svg.setAttribute("aria-label", `${colour.title} by ${by}${fixed}. ${fact.text}`);
    if (parts.twin.open) drawTable(parts.table, tree, leaves, flat ? [view.x] : [view.x, view.y], colour);
  }

  function drawStates(across, up, foilState) {
    const layer = addSvg(parts.svg, "g", { class: "tt-marks" });
    const place = (along, value) => along.scale.place(along.scale.inside(value));
    const at = (state) => [place(across, state[view.x]), flat ? HEIGHT / 2 : place(up, state[view.y])];
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
    const x = ((event.clientX - frame.left) / frame.width) * WIDTH;
    const y = ((event.clientY - frame.top) / frame.height) * HEIGHT;
    if (x < BOX.left || x > BOX.right || y < BOX.top || y > BOX.floor) return null;
    const { across, up } = axes();
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
    parts.hover.textContent = state ? `Leaf ${leaf}, ${samples} samples: ${colour.scale.label} ${said(colour, leaf)}` : "";
  });
  parts.svg.addEventListener("pointerleave", () => (parts.hover.textContent = ""));
  parts.svg.addEventListener("keydown", (event) => {
    const ways = { ArrowLeft: ["x", -1], ArrowRight: ["x", 1], ArrowDown: ["y", -1], ArrowUp: ["y", 1] };
    if (!(event.key in ways)) return;
    event.preventDefault();
    const [axis, sign] = ways[event.key];
    if (axis === "y" && flat) return;
    const feature = tree.features[view[axis]];
    const step = isWhole(feature) ? 1 : (event.shiftKey ? 0.1 : 0.01) * feature.span;
    view.state[view[axis]] = Math.min(Math.max(view.state[view[axis]] + sign * step, feature.min), feature.max);
    draw();
  });

  draw();
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

// The leaves that the plane through the state cuts.
function seen(tree, view) {
  const d = tree.features.length;
  const list = [];
  for (let leaf = 0; leaf < tree.leaves; leaf++) {
    let inside = true;
    for (let f = 0; f < d && inside; f++) {
      if (f === view.x || f === view.y) continue;
      inside = view.state[f] >= tree.lower[leaf * d + f] && view.state[f] < tree.upper[leaf * d + f];
    }
    if (inside) list.push(leaf);
  }
  return list;
}

// A value that the log may hold: whole numbers within its range for flags and counts.
function known(feature, value) {
  return isWhole(feature) ? Math.min(Math.max(Math.round(value), feature.min), feature.max) : value;
}

// Puts the empty parts on the page; `draw` is called when the reader chooses something else.
function layOut(root, tree, view, draw) {
  const id = `tt${explorers++}`;
  root.classList.add("tt-explorer");
  choosers(add(root, "div", { class: "tt-controls" }), tree, view, draw);
  const board = add(root, "div", { class: "tt-board" });
  const figure = add(board, "figure");
  const svg = addSvg(figure, "svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    tabindex: 0,
    role: "application",
    "aria-roledescription": "map of the tree's leaves",
    "aria-describedby": `${id}-help`,
  });
  const hover = add(figure, "p", { class: "tt-hover", "aria-hidden": "true" });
  add(figure, "figcaption", { id: `${id}-help` }, HELP);
  const side = add(board, "div", { class: "tt-side" });
  const legend = add(side, "div", { class: "tt-legend" });
  const answers = add(side, "div", { class: "tt-answers", "aria-live": "polite" });
  const state = add(side, "fieldset", { class: "tt-state" });
  add(state, "legend", {}, "The state");
  const inputs = tree.features.map((feature, f) => {
    const label = add(state, "label", {}, labelled(feature));
    const input = add(label, "input", { type: "number", step: isWhole(feature) ? "1" : "any" });
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
  return { svg, hover, legend, answers, inputs, twin, table };
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
