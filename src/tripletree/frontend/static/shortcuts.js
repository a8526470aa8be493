// Keys that work everywhere, and the dialog that lists them.
import { addButton } from "./controls.js";
import { add } from "./dom.js";
import { startTour } from "./tour.js";

/** @typedef {import("./explore.js").App} App */

const KEYS = [
  ["1 to 7", "Open a view: Ask here, Routes, Episodes, ..."],
  ["M", "Go to the map"],
  ["Arrow keys", "On the map: move the state (Shift: larger steps). In an episode: step by step"],
  ["+  −  0", "Zoom in, zoom out, see all"],
  ["Shift and drag", "Zoom into a part of the map"],
  ["Escape", "Close what is open: a zone, an episode, a phase, the zoom"],
  ["Ctrl+Z or U", "Undo"],
  ["E", "Take something away: picture, sentence, Python, report"],
  ["?", "This list"],
];

/**
 * @param {App} app
 * @param {any} side
 */
export function watchKeys(app, side) {
  // A page of its own listens everywhere; in a notebook, keys belong to whatever has the focus.
  const place = /** @type {HTMLElement} */ (app.host.kind === "server" ? document.body : app.root);
  place.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const typing = target.matches("input:not([type=range]):not([type=checkbox]), textarea, select");
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && !typing) {
      app.undo();
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("dialog")) return;
    if (event.key === "Escape") {
      if (typing) target.blur();
      else if (!closeMenu(app.root)) close(app);
      return;
    }
    if (typing) return;
    const number = Number(event.key);
    if (number >= 1 && number <= side.names.length) app.store.set({ tab: side.names[number - 1] });
    else if (event.key === "?") openHelp(app);
    else if (event.key === "u") app.undo();
    else if (event.key === "m") app.map()?.svg.focus();
    else if (event.key === "e") /** @type {HTMLElement | null} */ (app.root.querySelector(".tx-exports > summary"))?.click();
    else return;
    event.preventDefault();
  });
}

/** @param {HTMLElement} root */
function closeMenu(root) {
  const menu = /** @type {HTMLDetailsElement | null} */ (root.querySelector("details.tx-exports[open]"));
  if (!menu) return false;
  menu.open = false;
  menu.querySelector("summary")?.focus();
  return true;
}

// The nearest thing that is open: first the zoom, then what a view has opened.
/** @param {App} app */
function close(app) {
  const { view } = app.store;
  if (view.zoom) app.store.set({ zoom: null });
  else if (view.tab === "episodes" && view.episode !== null) app.store.set({ episode: null, step: 0 });
  else if (view.tab === "routes" && (view.from || view.to)) app.store.set(view.to ? { to: "" } : { from: "" });
  else if (view.tab === "machine" && view.inside) app.store.set({ inside: false });
  else if (view.tab === "machine" && view.phase !== null) app.store.set({ phase: null });
}

/** @param {App} app */
export function openHelp(app) {
  const dialog = /** @type {HTMLDialogElement} */ (add(app.root, "dialog", { class: "tx-dialog", "aria-label": "Keys and hints" }));
  add(dialog, "h2", {}, "Keys");
  const list = add(dialog, "dl", { class: "tx-keys" });
  for (const [key, what] of KEYS) {
    const row = add(list, "div");
    add(add(row, "dt"), "kbd", {}, key);
    add(row, "dd", {}, what);
  }
  const ends = add(dialog, "div", { class: "tx-ends" });
  addButton(ends, "Show the four hints again", () => {
    dialog.close();
    startTour(app);
  });
  addButton(ends, "Close", () => dialog.close(), { class: "tx-main-button", autofocus: "" });
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
}
