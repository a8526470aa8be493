// Limits of the features that are not on the map: an interval each, by two sliders on one line.
import { addButton } from "./controls.js";
import { add } from "./dom.js";
import { rounded } from "./numbers.js";

/** @typedef {import("./explore.js").App} App */

/** @param {App} app @param {HTMLElement} place */
export function makeLimits(app, place) {
  const { features } = app.info();
  const box = add(place, "fieldset", { class: "tx-limits", hidden: "" });
  add(box, "legend", {}, "Only where");
  const rows = features.map((/** @type {any} */ feature) => {
    const row = add(box, "div", { class: "tx-limit" });
    add(row, "span", { class: "tx-name" }, feature.label);
    const track = add(row, "div", { class: "tx-double" });
    const bar = add(track, "span", { class: "tx-between", "aria-hidden": "true" });
    const [low, high] = ["at least", "at most"].map(
      (word) =>
        /** @type {HTMLInputElement} */ (
          add(track, "input", {
            type: "range",
            min: feature.min,
            max: feature.max,
            step: feature.whole ? 1 : (feature.max - feature.min) / 200 || "any",
            "aria-label": `${feature.label} ${word}`,
          })
        ),
    );
    const said = add(row, "output", { class: "tx-number" });
    const put = (/** @type {HTMLInputElement} */ moved) => {
      // The ends may meet, but not pass each other.
      if (low.valueAsNumber > high.valueAsNumber) (moved === low ? high : low).value = moved.value;
      const limits = { ...app.store.view.limits };
      const whole = low.valueAsNumber <= feature.min && high.valueAsNumber >= feature.max;
      if (whole) delete limits[feature.name];
      else limits[feature.name] = [low.valueAsNumber, high.valueAsNumber];
      app.store.set({ limits }, true);
    };
    for (const end of [low, high]) {
      end.addEventListener("input", () => put(end));
      end.addEventListener("change", () => app.store.settle());
    }
    return { row, low, high, bar, said, feature };
  });
  const around = addButton(add(box, "div", { class: "tx-limit-ends" }), "Near the state", () => {
    const { view } = app.store;
    const limits = Object.fromEntries(
      features.map((/** @type {any} */ feature, /** @type {number} */ f) => {
        const reach = feature.whole ? 0.5 : 0.1 * (feature.max - feature.min);
        const at = Math.min(Math.max(view.state[f], feature.min), feature.max);
        return [feature.name, [Math.max(at - reach, feature.min), Math.min(at + reach, feature.max)]];
      }),
    );
    app.store.set({ limits });
  });
  around.title = "A tenth of the range around the state, in every other feature";
  addButton(around.parentElement ?? box, "No limits", () => app.store.set({ limits: {} }));

  return {
    /** @param {Set<string> | null} changed */
    update(changed) {
      const { view } = app.store;
      box.hidden = view.rest !== "within" || features.length < 3;
      if (box.hidden || (changed && !["rest", "limits", "x", "y"].some((key) => changed.has(key)))) return;
      rows.forEach((/** @type {any} */ { row, low, high, bar, said, feature }, /** @type {number} */ f) => {
        row.hidden = f === view.x || f === view.y;
        const [a, b] = view.limits[feature.name] ?? [feature.min, feature.max];
        if (low.valueAsNumber !== a) low.value = String(a);
        if (high.valueAsNumber !== b) high.value = String(b);
        const share = (/** @type {number} */ value) => (100 * (value - feature.min)) / (feature.max - feature.min || 1);
        bar.style.left = `${share(a)}%`;
        bar.style.right = `${100 - share(b)}%`;
        said.textContent = feature.name in view.limits ? `${rounded(a, 3)} to ${rounded(b, 3)}` : "any";
      });
    },
  };
}
