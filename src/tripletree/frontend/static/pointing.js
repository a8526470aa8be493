// Pointing at a map: hover, click, drag the state, pan, zoom, brush a zone, and all of it by keyboard.

/** @typedef {import("./explore.js").App} App */
/** @typedef {import("./mapview.js").MapView} MapView */

const NEAR = 14; // pixels around the state within which it is taken hold of
const CLICK = 4; // pixels that a pointer may move in a click

/**
 * @param {App} app
 * @param {any} map
 */
export function pointing(app, map) {
  const { svg, stage } = map;
  const { store } = app;
  /** @type {null | {kind: "state" | "pan" | "brush", x: number, y: number, zoom: number[], moved: boolean}} */
  let held = null;
  let waiting = 0;
  /** @type {[number, number]} */
  let last = [0, 0];

  /** @param {PointerEvent | WheelEvent} event @returns {[number, number]} */
  const placeOf = (event) => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  /** @param {number} x @param {number} y */
  const nearState = (x, y) => {
    const { view } = store;
    const { px, py, top, floor } = map.frame;
    const up = map.flat() ? (top + floor) / 2 : py(view.state[view.y]);
    return Math.hypot(px(view.state[view.x]) - x, up - y) < NEAR;
  };

  svg.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.button !== 0 || !map.frame) return;
    const [x, y] = placeOf(event);
    if (!map.stateAt(x, y)) return;
    const brushes = app.brush !== null || event.shiftKey;
    const kind = brushes ? "brush" : nearState(x, y) ? "state" : "pan";
    const { xs, ys } = map.frame;
    held = { kind, x, y, zoom: [...xs, ...ys], moved: false };
    svg.setPointerCapture(event.pointerId);
    svg.focus({ preventScroll: true });
  });

  svg.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    last = placeOf(event);
    // At most once a frame.
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      if (!held) map.tell(...last);
      else drag(...last);
    });
  });

  /** @param {number} x @param {number} y */
  function drag(x, y) {
    if (!held || !map.frame) return;
    held.moved ||= Math.hypot(x - held.x, y - held.y) > CLICK;
    if (!held.moved) return;
    if (held.kind === "state") {
      const state = map.stateAt(inside(x, map.frame.left, map.frame.right), inside(y, map.frame.top, map.frame.floor));
      if (state) store.set({ state }, true);
    } else if (held.kind === "brush") {
      app.showBrush(zoneOf(held.x, held.y, x, y));
    } else if (store.view.zoom) {
      const { left, right, top, floor } = map.frame;
      const [x0, x1, y0, y1] = held.zoom;
      const dx = ((held.x - x) / (right - left)) * (x1 - x0);
      const dy = ((y - held.y) / (floor - top)) * (y1 - y0);
      store.set({ zoom: within(map.scene, [x0 + dx, x1 + dx, y0 + dy, y1 + dy]) }, true);
    }
  }

  svg.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
    const was = held;
    held = null;
    if (!was || !map.frame) return;
    const [x, y] = placeOf(event);
    if (was.kind === "brush" && was.moved) app.brushed(zoneOf(was.x, was.y, x, y), event.shiftKey && app.brush === null);
    else if (!was.moved) {
      const state = map.stateAt(x, y);
      if (state) app.pick(app.completed(state));
    }
    store.settle();
  });
  svg.addEventListener("pointercancel", () => {
    held = null;
    app.showBrush(null);
  });
  svg.addEventListener("pointerleave", () => !held && map.clearHover());

  // The wheel zooms where it has nothing else to do: a page that scrolls, scrolls, unless Ctrl is held.
  svg.addEventListener(
    "wheel",
    (/** @type {WheelEvent} */ event) => {
      const scrolls = document.documentElement.scrollHeight > window.innerHeight + 1;
      if (!map.frame || (scrolls && !event.ctrlKey)) return;
      event.preventDefault();
      zoomBy(map, store, Math.exp(event.deltaY * 0.0015), ...placeOf(event));
    },
    { passive: false },
  );

  svg.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = /** @type {Record<string, [number, number]>} */ ({
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowDown: [0, -1],
      ArrowUp: [0, 1],
    });
    const zooms = /** @type {Record<string, number>} */ ({ "+": 0.7, "=": 0.7, "-": 1 / 0.7 });
    if (event.key in moves) {
      const [dx, dy] = moves[event.key];
      const { view } = store;
      const f = dx ? view.x : view.y;
      if (dy && map.flat()) return;
      const feature = map.treeOf().features[f];
      const step = feature.whole ? 1 : (event.shiftKey ? 0.1 : 0.01) * feature.span;
      const state = [...view.state];
      state[f] = inside(state[f] + (dx + dy) * step, feature.min, feature.max);
      store.set({ state }, true);
    } else if (event.key in zooms) zoomBy(map, store, zooms[event.key]);
    else if (event.key === "0") store.set({ zoom: null });
    else return;
    event.preventDefault();
  });
  svg.addEventListener("keyup", () => store.settle());

  /** @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 */
  function zoneOf(x0, y0, x1, y1) {
    const { left, right, top, floor, xAt, yAt } = map.frame;
    const xs = [x0, x1].map((x) => xAt(inside(x, left, right))).sort((a, b) => a - b);
    const ys = [y0, y1].map((y) => yAt(inside(y, top, floor))).sort((a, b) => a - b);
    return /** @type {[number, number, number, number]} */ ([...xs, ...ys]);
  }
}

/** @param {number} value @param {number} low @param {number} high */
function inside(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/**
 * Zooms around a place of the sheet; without one, around the state if it is seen.
 * @param {any} map @param {any} store @param {number} factor @param {number} [x] @param {number} [y]
 */
export function zoomBy(map, store, factor, x, y) {
  if (!map.frame) return;
  const { xs, ys, xAt, yAt, px, py, left, right, top, floor } = map.frame;
  const { view } = store;
  const [sx, sy] = [px(view.state[view.x]), map.flat() ? NaN : py(view.state[view.y])];
  const seen = sx >= left && sx <= right && sy >= top && sy <= floor;
  const cx = xAt(x ?? (seen ? sx : (left + right) / 2));
  const cy = yAt(y ?? (seen ? sy : (top + floor) / 2));
  const along = (/** @type {number} */ at, /** @type {number} */ middle) => middle + (at - middle) * factor;
  const wanted = [along(xs[0], cx), along(xs[1], cx), map.flat() ? ys[0] : along(ys[0], cy), map.flat() ? ys[1] : along(ys[1], cy)];
  store.set({ zoom: within(map.scene, wanted) }, true);
}

const DEEPEST = 1e-5; // of the whole map

/**
 * A part of the map no larger than it, no smaller than can be drawn, and not beside it; null for all of it.
 * @param {any} scene
 * @param {number[]} wanted
 * @returns {[number, number, number, number] | null}
 */
function within(scene, wanted) {
  const result = [];
  let whole = true;
  for (const [k, axis] of [
    [0, scene.x],
    [2, scene.y],
  ]) {
    const span = axis.high - axis.low;
    const size = inside(wanted[k + 1] - wanted[k], DEEPEST * span, span);
    const middle = (wanted[k] + wanted[k + 1]) / 2;
    const low = inside(middle - size / 2, axis.low, axis.high - size);
    result.push(low, low + size);
    whole &&= size > 0.999 * span;
  }
  return whole ? null : /** @type {[number, number, number, number]} */ (result);
}
