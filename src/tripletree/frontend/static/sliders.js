// The state as a row for each feature: a slider, a number, and whether a counterfactual may change it.
import { add } from "./dom.js";
import { possible } from "./slices.js";

/** @typedef {import("./explore.js").App} App */

const FEW_ROWS = 4;

/** @param {App} app @param {HTMLElement} place */
export function stateSliders(app, place) {
  const { features } = app.info();
  // Many features in two columns: the answers should be seen while a slider is moved.
  place.classList.toggle("tx-rows", features.length > FEW_ROWS);
  const rows = features.map((/** @type {any} */ feature, /** @type {number} */ f) => {
    const row = add(place, "div", { class: "tx-row" });
    const id = `${app.id}-state-${f}`;
    add(row, "label", { for: id, class: "tx-name" }, feature.label);
    const range = /** @type {HTMLInputElement} */ (
      add(row, "input", { type: "range", id, min: feature.min, max: feature.max, step: feature.whole ? 1 : "any" })
    );
    const number = /** @type {HTMLInputElement} */ (
      add(row, "input", { type: "number", step: feature.whole ? 1 : "any", "aria-label": feature.label })
    );
    const hold = add(row, "button", { type: "button", class: "tx-hold", "aria-pressed": "false", title: `Hold ${feature.name}: what would change it may not change this` });
    add(hold, "span", { "aria-hidden": "true" });
    hold.setAttribute("aria-label", `Hold ${feature.name}`);
    const put = (/** @type {number} */ value, /** @type {boolean} */ dragging) => {
      if (!Number.isFinite(value)) return;
      const state = [...app.store.view.state];
      state[f] = value;
      app.store.set({ state }, dragging);
    };
    range.addEventListener("input", () => put(possible(feature, range.valueAsNumber), true));
    range.addEventListener("change", () => app.store.settle());
    number.addEventListener("change", () => put(number.valueAsNumber, false));
    hold.addEventListener("click", () => {
      const { fixed } = app.store.view;
      const kept = fixed.includes(feature.name);
      app.store.set({ fixed: kept ? fixed.filter((name) => name !== feature.name) : [...fixed, feature.name] });
    });
    return { range, number, hold, feature };
  });
  return {
    update() {
      const { view } = app.store;
      rows.forEach((/** @type {any} */ { range, number, hold, feature }, /** @type {number} */ f) => {
        const value = shownNumber(view.state[f], feature);
        // An `any` step of a slider has as many places as Chromium likes; what was dragged there stays.
        if (Math.abs(range.valueAsNumber - view.state[f]) > 1e-9 * (feature.max - feature.min || 1)) range.value = String(view.state[f]);
        if (number.value !== value) number.value = value;
        const share = (view.state[f] - feature.min) / (feature.max - feature.min || 1);
        range.style.setProperty("--at", `${100 * Math.min(Math.max(share, 0), 1)}%`);
        hold.setAttribute("aria-pressed", String(view.fixed.includes(feature.name)));
      });
    },
  };
}

/** A number as exact as a slider is, without a tail of digits. @param {number} value @param {any} feature */
function shownNumber(value, feature) {
  const digits = 4 - Math.floor(Math.log10(feature.max - feature.min || 1));
  return String(Number(value.toFixed(Math.min(Math.max(digits, 0), 20))));
}
