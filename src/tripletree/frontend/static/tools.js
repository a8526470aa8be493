// What a map shows: the features along it, the colour, and what holds for the other features.
import { addButton, chooser, segments } from "./controls.js";
import { add } from "./dom.js";
import { zoomBy } from "./pointing.js";

/** @typedef {import("./explore.js").App} App */

/** @param {App} app @param {HTMLElement} place */
export function makeTools(app, place) {
  const { store } = app;
  const features = app.names().map((name, f) => /** @type {[string, string]} */ ([String(f), name]));
  // What holds for other features is on a line of its own, which leaves room beside the colour.
  const row = add(place, "div", { class: features.length > 2 ? "tx-tools tx-roomy" : "tx-tools" });
  const across = chooser(row, "Across", features, (f) => turn("x", Number(f)));
  const up = features.length > 1 ? chooser(row, "Up", features, (f) => turn("y", Number(f))) : null;
  const colour = chooser(
    row,
    "Colour",
    app.info().colours.map((/** @type {any} */ one) => [one.name, one.title]),
    (name) => store.set({ colour: name }),
  );
  const rest =
    features.length > 2 && app.host.kind !== "report"
      ? segments(
          row,
          "Other features",
          [
            ["all", "Averaged", "Each point shows the mean of all leaves behind it"],
            ["here", "Slice", "The plane through the state: leaf by leaf"],
            ["within", "Limits", "Only where other features lie within limits"],
          ],
          (value) => store.set({ rest: /** @type {any} */ (value) }),
        )
      : null;
  const end = add(row, "div", { class: "tx-tools-end" });
  const moves = add(end, "button", { type: "button", class: "tx-toggle", title: "Mean moves: where the agent goes from each leaf" }, "Moves");
  moves.addEventListener("click", () => store.set({ arrows: !store.view.arrows }));

  const zooming = add(end, "div", { class: "tx-segments", role: "group", "aria-label": "Zoom" });
  for (const [text, label, act] of /** @type {[string, string, () => void][]} */ ([
    ["+", "Zoom in", () => zoomBy(app.map(), store, 0.6)],
    ["−", "Zoom out", () => zoomBy(app.map(), store, 1 / 0.6)],
    ["⤢", "See all of the map", () => store.set({ zoom: null })],
  ]))
    addButton(zooming, text, act, { "aria-label": label, title: label });

  /** The two axes are never the same feature: choosing the other's swaps them. @param {"x" | "y"} axis @param {number} f */
  function turn(axis, f) {
    const { view } = store;
    const other = axis === "x" ? "y" : "x";
    const swapped = view[other] === f && features.length > 1;
    store.set({ [axis]: f, ...(swapped ? { [other]: view[axis] } : {}), zoom: null });
  }

  return {
    update() {
      const { view } = store;
      across.select.value = String(view.x);
      if (up) up.select.value = String(view.y);
      colour.select.value = view.colour;
      rest?.choose(view.rest);
      moves.setAttribute("aria-pressed", String(view.arrows));
      moves.hidden = features.length < 2 || app.host.kind === "report";
    },
  };
}
