// Size and weights: fewer or more leaves, live; and other weights, for which the tree is grown again.
import { addButton, card, emptyState, sayIn } from "./controls.js";
import { makeCurve } from "./curves.js";
import { add } from "./dom.js";
import { makeTriangle } from "./triangle.js";

/** @typedef {import("./explore.js").App} App */

/** @param {App} app @param {HTMLElement} place */
export function makeSize(app, place) {
  const { store } = app;
  const box = card(place, "How many leaves", "Fewer leaves are easier to read, more are closer to the log. The map follows.");
  const row = add(box.body, "div", { class: "tx-row tx-leaves-row" });
  const id = `${app.id}-leaves`;
  add(row, "label", { for: id, class: "tx-name" }, "Leaves");
  // Every further leaf matters less: the slider is logarithmic.
  const range = /** @type {HTMLInputElement} */ (add(row, "input", { type: "range", id, min: 0, max: 1, step: "any" }));
  const number = /** @type {HTMLInputElement} */ (add(row, "input", { type: "number", min: 1, step: 1, "aria-label": "Number of leaves" }));
  const lost = card(place, "What is lost").body;
  const curve = makeCurve(lost, (leaves) => put(leaves, true), () => store.settle());
  const weights = card(place, "What it is grown for", "Action, value and how the state changes: their weights say which of them a leaf should agree on.");
  const triangle = makeTriangle(weights.body);
  const ends = add(weights.body, "div", { class: "tx-ends" });
  const grow = addButton(ends, "Grow with these weights", () => regrow(), { class: "tx-main-button" });
  const stop = addButton(ends, "Stop", () => abort?.abort(), { hidden: "" });
  const back = addButton(ends, "Back to the tree as it was", () => store.set({ model: app.info().model, leaves: null, theta: null }), { hidden: "" });
  const bar = /** @type {HTMLProgressElement} */ (add(weights.body, "progress", { hidden: "", "aria-label": "Growing" }));
  const news = add(weights.body, "p", { class: "tx-sentence", role: "status" });
  const line = app.asker.line();
  /** @type {AbortController | null} */
  let abort = null;
  /** @type {any} */
  let told = null;
  let most = app.info().most;
  let key = "";

  const sizeAt = (/** @type {number} */ share) => Math.max(1, Math.round(most ** share));
  range.addEventListener("input", () => put(sizeAt(range.valueAsNumber), true));
  range.addEventListener("change", () => store.settle());
  // Arrow keys change the number itself, which a logarithmic slider would not.
  range.addEventListener("keydown", (event) => {
    const step = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 })[event.key];
    if (!step) return;
    put(leavesNow() + step, true);
    event.preventDefault();
  });
  number.addEventListener("change", () => put(number.valueAsNumber, false));

  const leavesNow = () => store.view.leaves ?? app.info().leaves;

  /** @param {number} leaves @param {boolean} dragging */
  function put(leaves, dragging) {
    if (!Number.isFinite(leaves)) return;
    store.set({ leaves: Math.min(Math.max(Math.round(leaves), 1), most) }, dragging);
  }

  function load() {
    const { model } = store.view;
    if (model === key) return;
    key = model;
    line("curve", { model }, (answer) => {
      told = answer;
      most = answer.most;
      curve.load(answer);
      show();
    }, (error) => emptyState(lost, app.sentence(error), "tx-error"));
  }

  async function regrow() {
    const theta = triangle.weights();
    abort = new AbortController();
    grow.disabled = true;
    stop.hidden = bar.hidden = false;
    bar.removeAttribute("value");
    try {
      const answer = await app.asker.job(
        "regrow",
        { model: app.info().model, theta },
        (progress) => {
          sayIn(news, progress.text ?? "");
          if (progress.of) [bar.max, bar.value] = [progress.of, progress.done];
        },
        abort.signal,
      );
      sayIn(news, answer ? answer.text : "Stopped; the tree is as it was.");
      if (answer) store.set({ model: answer.model, leaves: null, theta });
    } catch (error) {
      sayIn(news, app.sentence(error));
    }
    stop.hidden = bar.hidden = true;
    grow.disabled = false;
  }

  function show() {
    const leaves = leavesNow();
    const share = most > 1 ? Math.log(leaves) / Math.log(most) : 1;
    if (document.activeElement !== range || sizeAt(range.valueAsNumber) !== leaves) range.value = String(share);
    range.style.setProperty("--at", `${100 * share}%`);
    range.setAttribute("aria-valuetext", `${leaves} leaves`);
    number.max = String(most);
    if (number.value !== String(leaves)) number.value = String(leaves);
    curve.moveTo(leaves);
  }

  return {
    /** @param {Set<string> | null} changed */
    update(changed) {
      load();
      show();
      const possible = app.hello.can.regrow;
      grow.disabled = !possible || !bar.hidden;
      back.hidden = !store.view.model.includes("~");
      if (!possible) sayIn(news, app.hello.needs?.log ?? "");
      if (!changed || changed.has("theta") || changed.has("model")) triangle.show(store.view.theta ?? app.info().theta);
    },
    words: () => curve.words(),
    taken: () => ({ text: [curve.words(), news.textContent].filter(Boolean).join("\n"), python: [app.tree().called, told?.python].filter(Boolean).join("\n"), data: told }),
    hide: () => {},
  };
}
