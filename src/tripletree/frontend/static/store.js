// One selection for all views: changed in one place, kept in the address, and undone step by step.

/** @typedef {import("./types.js").Selection} Selection */

const MOST_STEPS = 200;

/**
 * @param {Selection} first
 * @param {(view: Selection) => void} remember called when the selection has settled
 */
export function makeStore(first, remember) {
  let view = { ...first };
  /** @type {{view: Selection, keys: string}[]} */
  const past = [];
  /** @type {Set<(view: Selection, changed: Set<string>) => void>} */
  const listeners = new Set();
  /** @type {Set<string>} */
  let changed = new Set();
  let waiting = 0;

  function announce() {
    cancelAnimationFrame(waiting);
    waiting = 0;
    if (!changed.size) return;
    const what = changed;
    changed = new Set();
    for (const listener of listeners) listener(view, what);
    remember(view);
  }

  // A click is answered at once. What is dragged, once a frame: a slider sends more events than a screen shows.
  /** @param {Iterable<string>} keys @param {boolean} [dragging] */
  function soon(keys, dragging = false) {
    for (const key of keys) changed.add(key);
    if (dragging) waiting ||= requestAnimationFrame(announce);
    else queueMicrotask(announce);
  }

  return {
    get view() {
      return view;
    },

    /**
     * Changes the selection. Changes of the same things that follow each other while something is dragged are one step.
     * @param {Partial<Selection>} change
     * @param {boolean} [dragging]
     */
    set(change, dragging = false) {
      const now = /** @type {Record<string, any>} */ (view);
      const keys = Object.entries(change)
        .filter(([key, value]) => JSON.stringify(now[key]) !== JSON.stringify(value))
        .map(([key]) => key);
      if (!keys.length) return;
      const name = dragging ? keys.join(" ") : "";
      if (!name || past.at(-1)?.keys !== name) past.push({ view, keys: name });
      if (past.length > MOST_STEPS) past.shift();
      view = { ...view, ...change };
      soon(keys, dragging);
    },

    /** Changes the selection without a step to undo: nobody asked for it. @param {Partial<Selection>} change */
    put(change) {
      const keys = differing(view, { ...view, ...change });
      view = { ...view, ...change };
      if (keys.length) soon(keys);
    },

    /** The pointer is up: what is dragged next is another step. */
    settle() {
      const last = past.at(-1);
      if (last) last.keys = "";
    },

    /** @returns {boolean} whether there was anything to undo */
    undo() {
      const before = past.pop();
      if (!before) return false;
      const keys = differing(view, before.view);
      view = before.view;
      soon(keys);
      return true;
    },

    canUndo: () => past.length > 0,

    /** @param {(view: Selection, changed: Set<string>) => void} listener */
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    /** Draws everything again, because something else than the selection changed. @param {...string} keys */
    refresh: (...keys) => soon(keys),
  };
}

/** @typedef {ReturnType<typeof makeStore>} Store */

/** @param {Selection} a @param {Selection} b */
function differing(a, b) {
  const one = /** @type {Record<string, any>} */ (a);
  const other = /** @type {Record<string, any>} */ (b);
  return Object.keys(one).filter((key) => JSON.stringify(one[key]) !== JSON.stringify(other[key]));
}

// The address: names rather than numbers, so that it can be read, and nothing that is as it is at first.

/**
 * @param {Selection} view
 * @param {Selection} first
 * @param {string[]} names of the features
 */
export function toAddress(view, first, names) {
  const parts = new URLSearchParams();
  for (const key of differing(view, first)) {
    const value = /** @type {Record<string, any>} */ (view)[key];
    if (key === "x" || key === "y") parts.set(key, names[value]);
    else if (value === null || value === "") parts.set(key, "");
    else if (key === "limits") {
      for (const [name, [low, high]] of Object.entries(value)) parts.append("limit", `${name}:${low}:${high}`);
    } else if (Array.isArray(value)) parts.set(key, value.join(","));
    else parts.set(key, value === true ? "1" : value === false ? "0" : String(value));
  }
  return parts.toString();
}

/**
 * The selection that an address tells; what cannot be read is left as it is at first.
 * @param {string} text
 * @param {Selection} first
 * @param {string[]} names
 * @returns {Selection}
 */
export function fromAddress(text, first, names) {
  const parts = new URLSearchParams(text.replace(/^#/, ""));
  const view = /** @type {Record<string, any>} */ ({ ...first });
  for (const [key, value] of parts) {
    if (key === "limit") {
      const [, name, low, high] = /^(.*):([^:]*):([^:]*)$/.exec(value) ?? [];
      const pair = [Number(low), Number(high)];
      if (names.includes(name) && pair.every(Number.isFinite)) view.limits = { ...view.limits, [name]: pair };
    } else if (key in first) view[key] = readPart(key, value, view[key], names);
  }
  if (view.x === view.y && names.length > 1) view.y = names.findIndex((_, f) => f !== view.x);
  return /** @type {Selection} */ (view);
}

const NUMBERS = ["episode", "step", "phase", "leaves"];
const LISTS = { state: 0, zoom: 4, theta: 3 };
const ONE_OF = {
  rest: ["all", "here", "within"],
  tab: ["ask", "routes", "episodes", "machine", "size", "agent", "compare"],
};

/** @param {string} key @param {string} value @param {any} before @param {string[]} names */
function readPart(key, value, before, names) {
  if (key === "x" || key === "y") return names.includes(value) ? names.indexOf(value) : before;
  if (key === "fixed") return value.split(",").filter((name) => names.includes(name));
  if (NUMBERS.includes(key)) {
    if (value === "") return before === null ? null : before;
    return Number.isFinite(Number(value)) ? Number(value) : before;
  }
  if (key in LISTS) {
    if (value === "") return before;
    const list = value.split(",").map(Number);
    const size = LISTS[/** @type {keyof LISTS} */ (key)] || names.length;
    return list.length === size && list.every(Number.isFinite) ? list : before;
  }
  if (typeof before === "boolean") return value === "1";
  if (key in ONE_OF) return ONE_OF[/** @type {keyof ONE_OF} */ (key)].includes(value) ? value : before;
  return value;
}
