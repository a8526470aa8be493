// The leaf map that answers: hover a leaf, click or move a state, read why and what would have to change.
import { colourOf } from "./colours.js";
import { add, addSvg } from "./dom.js";
import { exact, rounded } from "./numbers.js";
import { counterfactual, factual, leafAt } from "./tree.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [640, 460, 62, 46, 10, 10];
let explorers = 0;

export function mountExplorer(root, tree) {
  const id = `tt${explorers++}`;
  const names = tree.features.map((feature) => feature.name);
  const abouts = Object.keys(tree.facts);
  const foils = Object.keys(tree.foils);
  const [across, up] = mostTelling(tree);
  const here = leafAt(tree, tree.start);
  const view = {
    x: across,
    y: up,
    colour: Object.keys(tree.colours)[0],
    about: abouts[0],
    foil: foils.find((name) => tree.foils[name].support[here] < 0) ?? foils[0],
    state: [...tree.start],
  };

  root.classList.add("tt-explorer");
  const controls = add(root, "div", { class: "tt-controls" });
  const picker = (label, options, chosen, change) => {
    const box = add(controls, "label", {}, label);
    const select = add(box, "select");
    options.forEach(([value, text]) => {
      const option = add(select, "option", { value }, text);
      option.selected = value === String(chosen);
    });
    select.addEventListener("change", () => {
      change(select.value);
      draw();
    });
    return select;
  };
  const axes = names.map((name, f) => [String(f), name]);
  const pickX = picker("Across", axes, view.x, (f) => turn("x", Number(f)));
  const pickY = names.length > 1 ? picker("Up", axes, view.y, (f) => turn("y", Number(f))) : null;
  picker("Colour", Object.keys(tree.colours).map((name) => [name, tree.colours[name].title]), view.colour, (name) => (view.colour = name));
  picker("Explain", abouts.map((name) => [name, name]), view.about, (name) => (view.about = name));
  picker("What would make it", foils.map((name) => [name, name]), view.foil, (name) => (view.foil = name));

  // The two axes are never the same feature: choosing the other's swaps them.
  function turn(axis, f) {
    const other = axis === "x" ? "y" : "x";
    if (names.length > 1 && view[other] === f) view[other] = view[axis];
    view[axis] = f;
    pickX.value = String(view.x);
    if (pickY) pickY.value = String(view.y);
  }

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
  add(figure, "figcaption", { id: `${id}-help` }, "Click the map, or move the state with the arrow keys (Shift: larger steps).");
  const side = add(board, "div", { class: "tt-side" });
  const legend = add(side, "div", { class: "tt-legend" });
  const answers = add(side, "div", { class: "tt-answers", "aria-live": "polite" });
  const state = add(side, "fieldset", { class: "tt-state" });
  add(state, "legend", {}, "The state");
  const inputs = tree.features.map((feature, f) => {
    const box = add(state, "label", {}, feature.unit ? `${feature.name} (${feature.unit})` : feature.name);
    const whole = feature.kind === "binary" || feature.kind === "integer";
    const input = add(box, "input", { type: "number", step: whole ? "1" : "any" });
    input.addEventListener("change", () => {
      if (input.value !== "" && Number.isFinite(input.valueAsNumber)) view.state[f] = input.valueAsNumber;
      draw();
    });
    return input;
  });
  const twin = add(root, "details", { class: "tt-twin" });
  add(twin, "summary", {}, "The same map as a table");
  const table = add(twin, "div", { class: "tt-scroll", tabindex: 0, role: "region", "aria-label": "Leaves on the map" });
  twin.addEventListener("toggle", () => draw());

  const range = (f) => {
    const { min, max, span, kind } = tree.features[f];
    const pad = kind === "binary" || kind === "integer" ? 0.5 : min === max ? 0.5 * span : 0;
    return [min - pad, max + pad];
  };
  const along = (f, from, to) => {
    const [low, high] = range(f);
    return {
      place: (value) => from + ((value - low) / (high - low)) * (to - from),
      value: (at) => low + ((at - from) / (to - from)) * (high - low),
    };
  };
  const scales = () => ({
    x: along(view.x, LEFT, WIDTH - RIGHT),
    y: names.length > 1 ? along(view.y, HEIGHT - BOTTOM, TOP) : { place: () => HEIGHT / 2, value: () => 0 },
  });

  // The leaves that the plane through the state cuts.
  function seen() {
    const d = names.length;
    const list = [];
    for (let leaf = 0; leaf < tree.leaves; leaf++) {
      let inside = true;
      for (let f = 0; f < d && inside; f++) {
        if (f === view.x || (f === view.y && d > 1)) continue;
        inside = view.state[f] >= tree.lower[leaf * d + f] && view.state[f] < tree.upper[leaf * d + f];
      }
      if (inside) list.push(leaf);
    }
    return list;
  }

  // A whole number is a band around it, so a border between 0 and 1 is drawn in the middle whatever its threshold.
  function bounds(leaf, f) {
    const [low, high] = range(f);
    let [a, b] = [tree.lower[leaf * names.length + f], tree.upper[leaf * names.length + f]];
    if (["binary", "integer"].includes(tree.features[f].kind)) [a, b] = [Math.ceil(a) - 0.5, Math.ceil(b) - 0.5];
    return [Math.min(Math.max(a, low), high), Math.max(Math.min(b, high), low)];
  }

  function draw() {
    const { x, y } = scales();
    const colour = tree.colours[view.colour];
    const leaves = seen();
    svg.replaceChildren();
    const tiles = addSvg(svg, "g", { class: "tt-tiles" });
    for (const leaf of leaves) {
      const [x0, x1] = bounds(leaf, view.x).map(x.place);
      const [y1, y0] = names.length > 1 ? bounds(leaf, view.y).map(y.place) : [HEIGHT - BOTTOM, TOP];
      if (x1 <= x0 || y1 <= y0) continue;
      const fill = colourOf(colour.scale, colour.values[leaf]);
      addSvg(tiles, "rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0, fill, "data-leaf": leaf });
    }
    drawAxes(x, y);
    const fact = factual(tree, view.state, view.about);
    const answer = counterfactual(tree, view.state, tree.foils[view.foil]);
    drawState(x, y, answer);
    answers.replaceChildren();
    add(answers, "p", { class: "tt-why" }, fact.text);
    add(answers, "p", { class: "tt-foil" }, answer.text);
    inputs.forEach((input, f) => (input.value = String(Number(view.state[f].toPrecision(6)))));
    drawLegend(colour);
    const fixed = tree.features.length > 2 ? ", through the state below in all other features" : "";
    svg.setAttribute("aria-label", `${colour.title} by ${names[view.x]}${names.length > 1 ? ` and ${names[view.y]}` : ""}${fixed}. ${fact.text}`);
    if (twin.open) drawTable(leaves, colour);
  }

  function drawAxes(x, y) {
    const frame = addSvg(svg, "g", { class: "tt-axes" });
    const floor = HEIGHT - BOTTOM;
    for (const tick of ticks(range(view.x))) {
      addSvg(frame, "line", { x1: x.place(tick), x2: x.place(tick), y1: floor, y2: floor + 4 });
      addSvg(frame, "text", { x: x.place(tick), y: floor + 17, "text-anchor": "middle" }, exact(tick));
    }
    const labelled = (f) => (tree.features[f].unit ? `${names[f]} (${tree.features[f].unit})` : names[f]);
    addSvg(frame, "text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle", class: "tt-name" }, labelled(view.x));
    if (names.length < 2) return;
    for (const tick of ticks(range(view.y))) {
      addSvg(frame, "line", { x1: LEFT - 4, x2: LEFT, y1: y.place(tick), y2: y.place(tick) });
      addSvg(frame, "text", { x: LEFT - 7, y: y.place(tick) + 4, "text-anchor": "end" }, exact(tick));
    }
    const middle = (TOP + floor) / 2;
    addSvg(frame, "text", { transform: `translate(15 ${middle}) rotate(-90)`, "text-anchor": "middle", class: "tt-name" }, labelled(view.y));
  }

  function drawState(x, y, answer) {
    const layer = addSvg(svg, "g", { class: "tt-marks" });
    const [low, high] = [0, 1].map((end) => range(view.x)[end]);
    const clamp = (value, [a, b]) => Math.min(Math.max(value, a), b);
    const at = (point) => [
      x.place(clamp(point[view.x], [low, high])),
      names.length > 1 ? y.place(clamp(point[view.y], range(view.y))) : HEIGHT / 2,
    ];
    const [cx, cy] = at(view.state);
    if (answer.foilState) {
      const [fx, fy] = at(answer.foilState);
      if (Math.hypot(fx - cx, fy - cy) > 1) {
        addSvg(layer, "line", { class: "tt-halo", x1: cx, y1: cy, x2: fx, y2: fy });
        addSvg(layer, "line", { class: "tt-arrow", x1: cx, y1: cy, x2: fx, y2: fy });
        addSvg(layer, "circle", { class: "tt-there", cx: fx, cy: fy, r: 4.5 });
      }
    }
    addSvg(layer, "circle", { class: "tt-here", cx, cy, r: 6 });
  }

  function drawLegend(colour) {
    legend.replaceChildren();
    add(legend, "p", {}, colour.scale.label);
    if (colour.scale.kind === "categories") {
      const list = add(legend, "ul");
      colour.scale.categories.forEach((name, i) => {
        const item = add(list, "li");
        add(item, "span", { class: "tt-swatch" }).style.background = colour.scale.stops[i];
        item.append(name);
      });
      return;
    }
    add(legend, "div", { class: "tt-bar" }).style.background = `linear-gradient(to right, ${colour.scale.stops.join(", ")})`;
    const ends = add(legend, "div", { class: "tt-ends" });
    add(ends, "span", {}, rounded(colour.scale.low));
    add(ends, "span", {}, colour.scale.kind === "log" ? `${rounded(colour.scale.high)} (log scale)` : rounded(colour.scale.high));
  }

  function said(colour, leaf) {
    const value = colour.values[leaf];
    return colour.scale.kind === "categories" ? colour.scale.categories[value] : rounded(value);
  }

  function drawTable(leaves, colour) {
    table.replaceChildren();
    const grid = add(table, "table");
    const head = add(add(grid, "thead"), "tr");
    const columns = names.length > 1 ? [view.x, view.y] : [view.x];
    ["leaf", ...columns.map((f) => names[f]), colour.scale.label, "samples"].forEach((text) => add(head, "th", { scope: "col" }, text));
    const body = add(grid, "tbody");
    for (const leaf of leaves) {
      const row = add(body, "tr");
      add(row, "th", { scope: "row" }, String(leaf));
      columns.forEach((f) => add(row, "td", {}, bounds(leaf, f).map(rounded).join(" to ")));
      add(row, "td", {}, said(colour, leaf));
      add(row, "td", {}, tree.count[leaf].toLocaleString("en"));
    }
  }

  function pointed(event) {
    const box = svg.getBoundingClientRect();
    const { x, y } = scales();
    const px = ((event.clientX - box.left) / box.width) * WIDTH;
    const py = ((event.clientY - box.top) / box.height) * HEIGHT;
    if (px < LEFT || px > WIDTH - RIGHT || py < TOP || py > HEIGHT - BOTTOM) return null;
    const point = [...view.state];
    point[view.x] = whole(view.x, x.value(px));
    if (names.length > 1) point[view.y] = whole(view.y, y.value(py));
    return point;
  }

  function whole(f, value) {
    const { kind, min, max } = tree.features[f];
    return kind === "binary" || kind === "integer" ? Math.min(Math.max(Math.round(value), min), max) : value;
  }

  svg.addEventListener("click", (event) => {
    const point = pointed(event);
    if (point) view.state = point;
    draw();
  });
  svg.addEventListener("pointermove", (event) => {
    const point = pointed(event);
    const colour = tree.colours[view.colour];
    const leaf = point && leafAt(tree, point);
    hover.textContent = point ? `Leaf ${leaf}, ${tree.count[leaf].toLocaleString("en")} samples: ${colour.scale.label} ${said(colour, leaf)}` : "";
  });
  svg.addEventListener("pointerleave", () => (hover.textContent = ""));
  svg.addEventListener("keydown", (event) => {
    const ways = { ArrowLeft: ["x", -1], ArrowRight: ["x", 1], ArrowDown: ["y", -1], ArrowUp: ["y", 1] };
    if (!(event.key in ways)) return;
    event.preventDefault();
    const [axis, sign] = ways[event.key];
    if (axis === "y" && names.length < 2) return;
    const f = view[axis];
    const { kind, min, max, span } = tree.features[f];
    const step = kind === "binary" || kind === "integer" ? 1 : (event.shiftKey ? 0.1 : 0.01) * span;
    view.state[f] = Math.min(Math.max(view.state[f] + sign * step, min), max);
    draw();
  });

  draw();
  return {
    get state() {
      return [...view.state];
    },
    show(point) {
      view.state = [...point];
      draw();
    },
  };
}

// The two features that most splits of the upper tree are about.
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

// Round numbers, about five of them.
function ticks([low, high]) {
  const raw = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((nice) => nice * power >= raw) * power;
  const list = [];
  const hair = (0.02 * (high - low)) / step; // a range that begins a hair above a round number begins with it
  for (let k = Math.ceil(low / step - hair); k <= high / step + hair; k++) list.push(Number((k * step).toPrecision(12)));
  return list;
}
