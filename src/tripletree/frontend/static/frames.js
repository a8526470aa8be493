// Where a picture lies on its sheet: margins for what is written, the part of the values that is seen, and the axes.
import { powerOfTen, ticksBetween } from "./ticks.js";

/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").Pen} Pen */
/** @typedef {import("./types.js").AxisInfo} AxisInfo */

const LETTER_WIDTH = 6.6;

/**
 * @param {number} width
 * @param {number} height
 * @param {AxisInfo} x
 * @param {AxisInfo} y
 * @param {[number, number, number, number] | null} zoom
 * @returns {Frame & {xTicks: [number, string][], yTicks: [number, string][], xLabel: string, yLabel: string}}
 */
export function makeFrame(width, height, x, y, zoom) {
  const [x0, x1, y0, y1] = zoom ?? [x.low, x.high, y.low, y.high];
  const room = Math.max(2, Math.min(7, Math.floor(width / 90)));
  const xTicks = axisTicks(x, x0, x1, zoom !== null, room);
  const yTicks = axisTicks(y, y0, y1, zoom !== null, Math.max(2, Math.min(7, Math.floor(height / 60))));
  const longest = Math.max(0, ...yTicks.map(([, text]) => text.length));
  const [left, right, top, floor] = [Math.round(30 + LETTER_WIDTH * longest), width - 14, 10, height - 44];
  const named = (/** @type {AxisInfo} */ axis, /** @type {number} */ a, /** @type {number} */ b) => {
    const power = zoom && !axis.log ? powerOfTen(a, b) : 0;
    return power ? `${axis.label.replace(/, in 1e-?\d+$/, "")}, in 1e${power}` : axis.label;
  };
  return {
    left,
    right,
    top,
    floor,
    width,
    height,
    xs: [x0, x1],
    ys: [y0, y1],
    px: (value) => left + ((value - x0) / (x1 - x0)) * (right - left),
    py: (value) => floor - ((value - y0) / (y1 - y0)) * (floor - top),
    xAt: (at) => x0 + ((at - left) / (right - left)) * (x1 - x0),
    yAt: (at) => y0 + ((floor - at) / (floor - top)) * (y1 - y0),
    xTicks,
    yTicks,
    xLabel: named(x, x0, x1),
    yLabel: named(y, y0, y1),
  };
}

/**
 * @param {AxisInfo} axis @param {number} low @param {number} high @param {boolean} zoomed @param {number} most
 * @returns {[number, string][]}
 */
function axisTicks(axis, low, high, zoomed, most) {
  const own = axis.ticks ?? [];
  if (!zoomed && own.length && own.length <= most + 2) return own;
  return ticksBetween(low, high, most);
}

/**
 * @param {Pen} pen
 * @param {ReturnType<typeof makeFrame>} frame
 * @param {{ink: string, soft: string}} tint
 */
export function drawFrame(pen, frame, tint) {
  const { left, right, top, floor, px, py } = frame;
  const line = { stroke: tint.soft, width: 1 };
  const inside = (/** @type {number} */ at, /** @type {number} */ a, /** @type {number} */ b) => at >= a - 0.5 && at <= b + 0.5;
  for (const [tick, text] of frame.xTicks) {
    const at = px(tick);
    if (!inside(at, left, right)) continue;
    pen.path(`M${at} ${floor}V${floor + 4}`, line);
    const half = (LETTER_WIDTH * text.length) / 2;
    const x = Math.min(Math.max(at, half), frame.width - half);
    pen.text(x, floor + 17, text, { fill: tint.ink, align: "middle" });
  }
  for (const [tick, text] of frame.yTicks) {
    const at = py(tick);
    if (!inside(at, top, floor)) continue;
    pen.path(`M${left - 4} ${at}H${left}`, line);
    pen.text(left - 7, at + 4, text, { fill: tint.ink, align: "end" });
  }
  pen.text((left + right) / 2, floor + 37, shortened(frame.xLabel, right - left), { size: 13, fill: tint.ink, align: "middle" });
  const middle = (top + floor) / 2;
  pen.text(14, middle, shortened(frame.yLabel, floor - top), { size: 13, fill: tint.ink, align: "middle", turn: -90 });
}

/** @param {string} name @param {number} room */
function shortened(name, room) {
  const letters = Math.max(Math.floor(room / 7), 2);
  return name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
}
