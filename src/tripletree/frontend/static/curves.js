// The loss by the number of leaves, for action, value and derivative; a click chooses a size.
import { add, addSvg } from "./dom.js";
import { rounded } from "./numbers.js";
import { numbersOf } from "./rows.js";
import { ticksBetween } from "./ticks.js";

const PARTS = [
  ["action", "#0072b2"],
  ["value", "#d55e00"],
  ["derivative", "#009e73"],
];
const [CURVE_WIDE, CURVE_HIGH, CURVE_LEFT, CURVE_RIGHT, CURVE_TOP, CURVE_FLOOR] = [520, 214, 56, 496, 12, 174];

/** @param {HTMLElement} place @param {(leaves: number) => void} go @param {() => void} settle */
export function makeCurve(place, go, settle) {
  const key = add(place, "ul", { class: "tx-entries" });
  const svg = addSvg(place, "svg", { class: "tx-curve", viewBox: `0 0 ${CURVE_WIDE} ${CURVE_HIGH}`, role: "img", "aria-label": "Loss by number of leaves" });
  const said = add(place, "p", { class: "tx-hint", role: "status" });
  /** @type {any} */
  let data = null;
  /** @type {Element | null} */
  let cursor = null;
  /** @type {Record<string, {numbers: number[], dashed: boolean, colour: string}>} */
  let lines = {};

  const across = (/** @type {number} */ leaves) => CURVE_LEFT + (Math.log(leaves) / Math.log(Math.max(data.most, 2))) * (CURVE_RIGHT - CURVE_LEFT);
  /** @param {PointerEvent} event */
  const point = (event) => {
    if (!data) return;
    const frame = svg.getBoundingClientRect();
    const x = ((event.clientX - frame.left) / frame.width) * CURVE_WIDE;
    go(Math.max(data.most, 2) ** ((x - CURVE_LEFT) / (CURVE_RIGHT - CURVE_LEFT)));
  };
  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(/** @type {PointerEvent} */ (event).pointerId);
    point(/** @type {PointerEvent} */ (event));
  });
  svg.addEventListener("pointermove", (event) => {
    if (svg.hasPointerCapture(/** @type {PointerEvent} */ (event).pointerId)) point(/** @type {PointerEvent} */ (event));
  });
  svg.addEventListener("pointerup", settle);

  return {
    words: () => said.textContent ?? "",
    /** @param {any} answer */
    load(answer) {
      data = answer;
      const sizes = numbersOf(answer.leaves);
      lines = {};
      for (const [name, colour] of PARTS) {
        for (const [kind, table] of [["training", answer.training], ["validation", answer.validation]]) {
          const numbers = numbersOf(table?.[name]);
          if (!numbers.length || !Number.isFinite(numbers[0])) continue;
          lines[`${name}, ${kind}`] = { numbers, dashed: kind === "training" && Boolean(answer.validation), colour };
        }
      }
      drawAll(sizes);
    },
    /** @param {number} leaves */
    moveTo(leaves) {
      if (!data || !cursor) return;
      const at = across(Math.max(leaves, 1));
      cursor.setAttribute("transform", `translate(${at} 0)`);
      const sizes = numbersOf(data.leaves);
      let k = sizes.findIndex((size) => size >= leaves);
      if (k < 0) k = sizes.length - 1;
      const told = Object.entries(lines)
        .filter(([, line]) => !line.dashed)
        .map(([name, line]) => `${name.split(",")[0]} ${rounded(line.numbers[k], 3)}`);
      const size = `${sizes[k].toLocaleString("en")} ${sizes[k] === 1 ? "leaf" : "leaves"}`;
      const where = data.validation ? "on episodes that were kept aside" : "on the log that it was grown on";
      said.textContent = told.length ? `With ${size} the losses are ${told.join(", ")} ${where}.` : "";
    },
  };

  /** @param {number[]} sizes */
  function drawAll(sizes) {
    svg.replaceChildren();
    key.replaceChildren();
    // Relative to a single leaf, so that the three fit on one axis.
    const all = Object.values(lines).flatMap(({ numbers }) => numbers.map((number) => number / (numbers[0] || 1)));
    const most = Math.max(1, ...all.filter(Number.isFinite));
    const up = (/** @type {number} */ share) => CURVE_FLOOR - (share / most) * (CURVE_FLOOR - CURVE_TOP);
    for (const [tick, text] of ticksBetween(0, most, 4)) {
      addSvg(svg, "path", { class: "tx-grid", d: `M${CURVE_LEFT} ${up(tick)}H${CURVE_RIGHT}` });
      addSvg(svg, "text", { x: CURVE_LEFT - 6, y: up(tick) + 4, "text-anchor": "end" }, text);
    }
    for (let size = 1; size <= data.most; size *= 10) {
      addSvg(svg, "path", { class: "tx-grid", d: `M${across(size)} ${CURVE_FLOOR}v4` });
      addSvg(svg, "text", { x: across(size), y: CURVE_FLOOR + 17, "text-anchor": "middle" }, size.toLocaleString("en"));
    }
    addSvg(svg, "text", { x: (CURVE_LEFT + CURVE_RIGHT) / 2, y: CURVE_HIGH - 4, "text-anchor": "middle" }, "leaves");
    addSvg(svg, "text", { transform: `translate(12 ${(CURVE_TOP + CURVE_FLOOR) / 2}) rotate(-90)`, "text-anchor": "middle" }, "loss, of one leaf = 1");
    if (data.kept) addSvg(svg, "path", { class: "tx-kept", d: `M${across(data.kept)} ${CURVE_TOP}V${CURVE_FLOOR}` });
    for (const [name, { numbers, dashed, colour }] of Object.entries(lines)) {
      const d = sizes.map((size, k) => `${k ? "L" : "M"}${across(size).toFixed(1)} ${up(numbers[k] / (numbers[0] || 1)).toFixed(1)}`).join("");
      const line = addSvg(svg, "path", { class: dashed ? "tx-loss tx-dashed" : "tx-loss", d });
      line.setAttribute("stroke", colour);
      if (dashed) continue;
      const item = add(key, "li");
      add(item, "span", { class: "tx-swatch tx-area" }).style.background = colour;
      item.append(name.split(",")[0]);
    }
    if (data.validation) add(key, "li", { class: "tx-hint" }, "dashed: on the episodes it was grown on");
    cursor = addSvg(svg, "path", { class: "tx-cursor", d: `M0 ${CURVE_TOP}V${CURVE_FLOOR}` });
  }
}
