// The weights of action, value and derivative as a place in a triangle: three shares that add up to one.
import { add, addSvg } from "./dom.js";

const CORNERS = [
  [150, 18],
  [18, 224],
  [282, 224],
];
const PART_NAMES = ["action", "value", "derivative"];

/** @param {HTMLElement} place */
export function makeTriangle(place) {
  const box = add(place, "div", { class: "tx-triangle" });
  const svg = /** @type {SVGSVGElement} */ (
    addSvg(box, "svg", { viewBox: "0 0 300 262", tabindex: 0, role: "application", "aria-roledescription": "triangle of three weights", "aria-label": "Weights" })
  );
  addSvg(svg, "path", { class: "tx-simplex", d: `M${CORNERS.map((corner) => corner.join(" ")).join("L")}z` });
  for (const share of [0.25, 0.5, 0.75])
    for (let k = 0; k < 3; k++) {
      const [from, to] = [1, 2].map((other) => mixed([0, 0, 0].map((_, j) => (j === k ? share : j === (k + other) % 3 ? 1 - share : 0))));
      addSvg(svg, "path", { class: "tx-grid", d: `M${from.join(" ")}L${to.join(" ")}` });
    }
  CORNERS.forEach(([x, y], k) => {
    addSvg(svg, "text", { x: k === 0 ? x + 12 : x, y: k === 0 ? y + 4 : y + 20, "text-anchor": ["start", "start", "end"][k] }, PART_NAMES[k]);
  });
  const dot = addSvg(svg, "circle", { class: "tx-here", r: 8 });
  const fields = add(box, "div", { class: "tx-weights" });
  const inputs = PART_NAMES.map((name, k) => {
    const label = add(fields, "label", { class: "tx-field" });
    add(label, "span", {}, name);
    const input = /** @type {HTMLInputElement} */ (add(label, "input", { type: "number", min: 0, max: 1, step: 0.05 }));
    input.addEventListener("change", () => {
      const wanted = Math.min(Math.max(input.valueAsNumber || 0, 0), 1);
      const rest = now.reduce((sum, share, j) => (j === k ? sum : sum + share), 0);
      put(now.map((share, j) => (j === k ? wanted : rest > 0 ? (share / rest) * (1 - wanted) : (1 - wanted) / 2)));
    });
    return input;
  });
  let now = [1 / 3, 1 / 3, 1 / 3];

  /** @param {number[]} weights */
  function put(weights) {
    const total = weights.reduce((sum, share) => sum + Math.max(share, 0), 0) || 1;
    now = weights.map((share) => Math.round((1000 * Math.max(share, 0)) / total) / 1000);
    now[2] = Math.round(1000 * (1 - now[0] - now[1])) / 1000;
    const [x, y] = mixed(now);
    dot.setAttribute("cx", String(x));
    dot.setAttribute("cy", String(y));
    inputs.forEach((input, k) => (input.value = String(now[k])));
    svg.setAttribute("aria-label", `Weights: ${PART_NAMES.map((name, k) => `${name} ${now[k]}`).join(", ")}`);
  }

  /** @param {PointerEvent} event */
  const point = (event) => {
    const frame = svg.getBoundingClientRect();
    const [x, y] = [((event.clientX - frame.left) / frame.width) * 300, ((event.clientY - frame.top) / frame.height) * 262];
    const [[ax, ay], [bx, by], [cx, cy]] = CORNERS;
    const area = (by - cy) * (ax - cx) + (cx - bx) * (ay - cy);
    const first = ((by - cy) * (x - cx) + (cx - bx) * (y - cy)) / area;
    const second = ((cy - ay) * (x - cx) + (ax - cx) * (y - cy)) / area;
    put([first, second, 1 - first - second]);
  };
  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(event.pointerId);
    point(event);
  });
  svg.addEventListener("pointermove", (event) => svg.hasPointerCapture(event.pointerId) && point(event));
  svg.addEventListener("keydown", (event) => {
    const moves = /** @type {Record<string, number[]>} */ ({
      ArrowUp: [0.05, -0.025, -0.025],
      ArrowDown: [-0.05, 0.025, 0.025],
      ArrowLeft: [0, 0.05, -0.05],
      ArrowRight: [0, -0.05, 0.05],
    });
    if (!(event.key in moves)) return;
    put(now.map((share, k) => share + moves[event.key][k]));
    event.preventDefault();
  });

  return {
    weights: () => /** @type {[number, number, number]} */ ([...now]),
    /** @param {number[] | null} weights */
    show: (weights) => put(weights ?? [1, 1, 1]),
  };
}

/** @param {number[]} weights @returns {[number, number]} */
function mixed(weights) {
  return /** @type {[number, number]} */ ([0, 1].map((axis) => CORNERS.reduce((sum, corner, k) => sum + weights[k] * corner[axis], 0)));
}
