// The strip: action, value and features of an episode, one below the other, with one cursor through all of them.
import { add, addSvg } from "./dom.js";
import { rounded } from "./numbers.js";
import { numbersOf, rowsOf } from "./rows.js";

/** @typedef {import("./explore.js").App} App */

const HIGH = 30;
const GAP = 6;
const MOST_POINTS = 700;
const MOST_LINES = 40;

/**
 * @param {App} app
 * @param {HTMLElement} place
 * @param {(step: number) => void} go
 * @param {() => void} settle
 */
export function makeStrip(app, place, go, settle) {
  const box = add(place, "div", { class: "tx-strip" });
  const names = add(box, "div", { class: "tx-strip-names" });
  const svg = addSvg(box, "svg", { class: "tx-strip-lines", "aria-hidden": "true", preserveAspectRatio: "none" });
  const values = add(box, "div", { class: "tx-strip-values" });
  /** @type {{name: string, numbers: number[], labels: string[] | null, kind: string}[]} */
  let rows = [];
  let steps = 1;
  /** @type {Element | null} */
  let cursor = null;

  /** @param {PointerEvent} event */
  const point = (event) => {
    const frame = svg.getBoundingClientRect();
    go(((event.clientX - frame.left) / frame.width) * (steps - 1));
  };
  svg.addEventListener("pointerdown", (event) => {
    const pointer = /** @type {PointerEvent} */ (event);
    svg.setPointerCapture(pointer.pointerId);
    point(pointer);
  });
  svg.addEventListener("pointermove", (event) => {
    const pointer = /** @type {PointerEvent} */ (event);
    if (svg.hasPointerCapture(pointer.pointerId)) point(pointer);
  });
  svg.addEventListener("pointerup", settle);

  return {
    /** @param {any} data @param {ArrayLike<number>[]} states */
    load(data, states) {
      steps = states.length;
      const { action } = data;
      const done = action ? rowsOf(action.recorded ?? action.predicted, action.names.length) : [];
      rows = (action?.names ?? []).map((/** @type {string} */ name, /** @type {number} */ k) => ({
        name,
        numbers: done.map((row) => row[k]),
        labels: action.labels.length ? action.labels : null,
        kind: "action",
      }));
      if (data.value?.predicted) rows.push({ name: "value", numbers: numbersOf(data.value.predicted), labels: null, kind: "value" });
      app.info().features.forEach((/** @type {any} */ feature, /** @type {number} */ f) => {
        rows.push({ name: feature.label, numbers: states.map((state) => state[f]), labels: null, kind: feature.whole ? "steps" : "feature" });
      });
      draw(data);
    },
    /** @param {number} step */
    moveTo(step) {
      cursor?.setAttribute("transform", `translate(${step} 0)`);
      [...values.children].forEach((place, k) => {
        const number = rows[k]?.numbers[step];
        if (number !== undefined) place.textContent = rows[k].labels ? rows[k].labels[number] : rounded(number, 3);
      });
    },
  };

  /** @param {any} data */
  function draw(data) {
    const top = 10;
    const height = top + rows.length * (HIGH + GAP);
    svg.replaceChildren();
    names.replaceChildren();
    values.replaceChildren();
    // Steps are the units across, so that the cursor is moved without any sum.
    svg.setAttribute("viewBox", `0 0 ${Math.max(steps - 1, 1)} ${height}`);
    svg.setAttribute("height", String(height));
    svg.style.height = `${height}px`;
    for (const phase of data.phases) {
      const band = addSvg(svg, "rect", { x: phase.begin, y: 0, width: Math.max(phase.end - phase.begin, 0.5), height: 6 });
      band.setAttribute("fill", phase.colour);
    }
    // Few changes go through all rows; many would hide them.
    const end = data.changes.length > MOST_LINES ? top : height;
    for (const change of data.changes)
      addSvg(svg, "line", { class: "tx-change-line", x1: change.step, x2: change.step, y1: 6, y2: end, "vector-effect": "non-scaling-stroke" });
    rows.forEach((row, k) => {
      const y = top + k * (HIGH + GAP);
      add(names, "span", { title: row.name }, row.name);
      add(values, "span", {});
      addSvg(svg, "path", { class: `tx-line tx-line-${row.kind}`, d: lineOf(row, y), "vector-effect": "non-scaling-stroke" });
    });
    cursor = addSvg(svg, "line", { class: "tx-cursor", x1: 0, x2: 0, y1: 0, y2: height, "vector-effect": "non-scaling-stroke" });
  }

  /** @param {{numbers: number[], kind: string, labels: string[] | null}} row @param {number} y */
  function lineOf({ numbers, kind, labels }, y) {
    const known = numbers.filter(Number.isFinite);
    let [low, high] = [Infinity, -Infinity];
    for (const number of known) [low, high] = [Math.min(low, number), Math.max(high, number)];
    const at = (/** @type {number} */ value) => (y + HIGH - 2 - ((HIGH - 4) * (value - low)) / (high - low || 1)).toFixed(1);
    const stairs = kind === "steps" || labels !== null;
    const every = Math.max(1, Math.floor(numbers.length / MOST_POINTS));
    let path = "";
    for (let k = 0; k < numbers.length; k += every) {
      const number = numbers[k];
      if (!Number.isFinite(number)) continue;
      if (!path) path = `M${k} ${at(number)}`;
      else path += stairs ? `H${k}V${at(number)}` : `L${k} ${at(number)}`;
    }
    return path;
  }
}
