// Machine: the phases as a graph, heavy edges first, and the leaves inside one of them.
import { addButton, card, chooser, emptyState, percent, segments } from "./controls.js";
import { add, addSvg } from "./dom.js";
import { arrowPath } from "./marks.js";

/** @typedef {import("./explore.js").App} App */

const [PAD_X, PAD_Y] = [64, 52];

/** @param {App} app @param {HTMLElement} place */
export function makeMachine(app, place) {
  const { store } = app;
  const box = card(place, "The machine", "Circles are phases, as large as the time spent there; arrows are as thick as the agent often goes that way.");
  const regions = chooser(box.head, "Phases", ["4", "6", "8", "10", "12"].map((n) => [n, n]), (value) => {
    wanted = Number(value);
    store.set({ phase: null, inside: false });
    load();
  });
  regions.select.value = "8";
  const level = segments(
    box.body,
    "Level",
    [
      ["phases", "Phases", "The agent in a handful of regions"],
      ["inside", "Inside the phase", "The leaves of the phase that is selected"],
    ],
    (value) => store.set({ inside: value === "inside" }),
  );
  const figure = add(box.body, "div", { class: "tx-graph" });
  const svg = addSvg(figure, "svg", { role: "group", "aria-label": "Phases and how the agent goes from one to the other" });
  const about = add(box.body, "div", { class: "tx-answer", "aria-live": "polite" });
  const words = card(place, "In words").body;
  const line = app.asker.line();
  let wanted = 8;
  /** @type {any} */
  let data = null;
  let key = "";

  function load() {
    const { view } = store;
    const inside = view.inside && view.phase !== null;
    const args = { model: app.handle(), level: inside ? "leaves" : "phases", regions: wanted, ...(inside ? { region: view.phase, most: 40 } : {}) };
    if (JSON.stringify(args) === key) return;
    key = JSON.stringify(args);
    figure.classList.add("tx-waiting");
    line(
      "machine",
      args,
      (answer) => {
        figure.classList.remove("tx-waiting");
        data = answer;
        words.replaceChildren();
        if (answer.needs) add(words, "p", { class: "tx-hint" }, answer.needs);
        if (answer.level === "phases" && answer.routes.length) {
          add(words, "h4", {}, "The commonest courses");
          const list = add(words, "ol", { class: "tx-worst" });
          for (const one of answer.routes) add(list, "li", {}, one.replaceAll(" -> ", " → "));
          add(words, "h4", {}, "Phase by phase");
        }
        for (const one of answer.text.split("\n")) if (one.trim()) add(words, "p", { class: "tx-hint" }, one.trim());
        draw();
      },
      (error) => {
        figure.classList.remove("tx-waiting");
        key = "";
        data = null;
        svg.replaceChildren();
        emptyState(words, app.sentence(error), "tx-empty tx-error");
      },
    );
  }

  // As wide as its place, so that letters are as large on a phone as elsewhere.
  let [wide, high] = [520, 470];
  new ResizeObserver(() => {
    const width = Math.round(figure.clientWidth);
    if (width < 100 || width === wide) return;
    [wide, high] = [width, Math.round(Math.min(0.9 * width + 30, 560))];
    draw();
  }).observe(figure);
  const px = (/** @type {number} */ x) => PAD_X + (x / 1.25) * (wide - 2 * PAD_X);
  const py = (/** @type {number} */ y) => high - PAD_Y - y * (high - 2 * PAD_Y);
  const radius = (/** @type {any} */ node) => Math.max(8, Math.min(46, (node.size * (data.level === "phases" ? 1.05 : 0.75) * wide) / 600));

  function draw() {
    // Who is here by keyboard stays where they are.
    const held = [...svg.querySelectorAll(".tx-node")].find((node) => node === document.activeElement)?.getAttribute("data-key");
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    if (!data) return;
    const at = new Map(data.nodes.map((/** @type {any} */ node) => [node.key, { x: px(node.x), y: py(node.y), r: radius(node) }]));
    if (data.end) at.set("end", { x: px(data.end[0]), y: py(data.end[1]), r: 11 });
    const edges = addSvg(svg, "g");
    data.edges.forEach((/** @type {any} */ edge, /** @type {number} */ k) => drawEdge(edges, edge, at, k));
    if (data.end) drawEnd(svg, at.get("end"));
    for (const node of data.nodes) drawNode(node, at.get(node.key));
    if (held) /** @type {SVGElement | null} */ (svg.querySelector(`[data-key="${CSS.escape(held)}"]`))?.focus();
    tell();
  }

  /** @param {any} node @param {any} at */
  function drawNode(node, { x, y, r }) {
    const chosen = isChosen(node);
    const g = addSvg(svg, "g", {
      class: chosen ? "tx-node tx-chosen" : "tx-node",
      tabindex: 0,
      role: "button",
      "data-key": node.key,
      "aria-pressed": String(chosen),
      "aria-label": `${node.name}: ${percent(node.share)} of the time`,
    });
    if (node.begins > 0.005) {
      const d = arrowPath(x - r - 26, y, x - r - 3, y, 8);
      addSvg(g, "path", { class: "tx-begins", d });
    }
    addSvg(g, "circle", { cx: x, cy: y, r }).setAttribute("fill", node.colour);
    if (node.ends > 0.005) addSvg(g, "circle", { class: "tx-ends-ring", cx: x, cy: y, r: r + 4 });
    const small = data.level === "leaves";
    const inside = small ? String(node.leaf) : percent(node.share);
    if (r > 3.6 * inside.length) addSvg(g, "text", { class: "tx-node-share", x, y: y + 4, "text-anchor": "middle" }, inside);
    else if (!small) addSvg(g, "text", { class: "tx-node-name", x, y: y - r - 7, "text-anchor": "middle" }, inside);
    if (!small) labelNode(g, node.name, x, y + r + 15, wide);
    addSvg(g, "title", {}, `${node.name}\n${node.text ?? ""}`);
    const act = () => select(node);
    g.addEventListener("click", act);
    g.addEventListener("dblclick", () => data.level === "phases" && store.set({ inside: true }));
    g.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      act();
      event.preventDefault();
    });
    const peek = (/** @type {boolean} */ on) => app.setLayer("peek", on ? { leaves: node.leaves } : {});
    for (const [event, on] of /** @type {[string, boolean][]} */ ([["pointerenter", true], ["pointerleave", false], ["focus", true], ["blur", false]]))
      g.addEventListener(event, () => peek(on));
  }

  const isChosen = (/** @type {any} */ node) => (data.level === "phases" ? node.region === store.view.phase && store.view.phase !== null : false);

  /** @param {any} node */
  function select(node) {
    const state = node.state ? { state: Array.from(node.state) } : {};
    if (data.level === "phases") store.set({ phase: node.region, ...state });
    else store.set(/** @type {any} */ (state));
  }

  function tell() {
    const { view } = store;
    about.replaceChildren();
    const node = data?.nodes.find((/** @type {any} */ one) => one.region === view.phase && data.level === "phases");
    level.choose(view.inside && view.phase !== null ? "inside" : "phases");
    /** @type {HTMLButtonElement} */ (level.group.children[1]).disabled = view.phase === null;
    if (!node) {
      const inside = "Circles are the leaves of this phase; click one to go to its typical state. Escape leads out again.";
      add(about, "p", { class: "tx-hint" }, data?.level === "phases" ? "Click a phase: its leaves are tinted on the map, and its typical state is asked about." : inside);
      app.setLayer("machine", {});
      return;
    }
    add(about, "p", { class: "tx-sentence" }, node.text || node.name);
    const row = add(about, "div", { class: "tx-ends" });
    addButton(row, "Look inside", () => store.set({ inside: true }));
    addButton(row, "Ask about its typical state", () => store.set({ tab: "ask" }));
    app.setLayer("machine", { leaves: node.leaves });
  }

  return {
    /** @param {Set<string> | null} changed */
    update(changed) {
      load();
      if (data && (!changed || changed.has("phase") || changed.has("inside"))) draw();
    },
    words: () => data?.text ?? "",
    taken: () => ({ text: data?.text ?? "", python: data?.python ?? "", data }),
    hide: () => app.setLayer("machine", {}),
  };
}

/** @param {SVGElement} svg @param {{x: number, y: number, r: number}} at */
function drawEnd(svg, { x, y, r }) {
  const g = addSvg(svg, "g", { class: "tx-end" });
  addSvg(g, "rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, rx: 3 });
  addSvg(g, "text", { x, y: y + r + 14, "text-anchor": "middle" }, "end");
}

/** @param {SVGElement} place @param {any} edge @param {Map<string, {x: number, y: number, r: number}>} at @param {number} number */
function drawEdge(place, edge, at, number) {
  const [from, to] = [at.get(edge.from), at.get(edge.to)];
  if (!from || !to || from === to) return;
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  // Bent to one side, so that there and back are two lines.
  const bend = 0.14 * length;
  const [mx, my] = [(from.x + to.x) / 2 + (dy / length) * bend, (from.y + to.y) / 2 - (dx / length) * bend];
  const end = (/** @type {any} */ node, /** @type {number} */ gap) => {
    const away = Math.hypot(mx - node.x, my - node.y) || 1;
    return [node.x + ((mx - node.x) / away) * (node.r + gap), node.y + ((my - node.y) / away) * (node.r + gap)];
  };
  const [[a, b], [c, d]] = [end(from, 2), end(to, 4)];
  const wide = Math.max(0.7, edge.width * 1.3);
  const line = addSvg(place, "path", { class: "tx-edge", d: `M${a} ${b}Q${mx} ${my} ${c} ${d}`, "stroke-width": wide, "stroke-opacity": Math.max(edge.opacity, 0.25) });
  const [ux, uy] = [c - mx, d - my].map((part) => part / (Math.hypot(c - mx, d - my) || 1));
  const head = 4 + 1.2 * wide;
  const tip = `M${c} ${d}L${c - head * ux - 0.5 * head * uy} ${d - head * uy + 0.5 * head * ux}L${c - head * ux + 0.5 * head * uy} ${d - head * uy - 0.5 * head * ux}z`;
  addSvg(place, "path", { class: "tx-tip", d: tip, "fill-opacity": Math.max(edge.opacity, 0.35) });
  addSvg(line, "title", {}, `${percent(edge.share)} of the ways on (${edge.count.toLocaleString("en")} times)`);
  if (number < 16 && edge.share >= 0.15) addSvg(place, "text", { class: "tx-edge-share", x: (mx + (a + c) / 2) / 2, y: (my + (b + d) / 2) / 2 + 3, "text-anchor": "middle" }, percent(edge.share));
}

// A name below its circle, on at most two lines.
/** @param {SVGElement} g @param {string} name @param {number} x @param {number} y @param {number} wide */
function labelNode(g, name, x, y, wide) {
  const room = 22;
  const lines = [""];
  for (const word of name.split(" ")) {
    const last = lines.length - 1;
    if (lines[last] && lines[last].length + word.length >= room) lines.push(word);
    else lines[last] += (lines[last] ? " " : "") + word;
  }
  if (lines.length > 2) lines.splice(1, lines.length, `${lines[1].slice(0, room - 2)} …`);
  const near = Math.min(Math.max(x, 62), wide - 62);
  lines.forEach((text, k) => addSvg(g, "text", { class: "tx-node-name", x: near, y: y + 13 * k, "text-anchor": "middle" }, text));
}
