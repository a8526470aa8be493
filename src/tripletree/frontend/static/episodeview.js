// One episode: scrub through it, with its path on the map, its story, and the reason of every change.
import { addButton, card, emptyState, sayIn } from "./controls.js";
import { add, onAPage } from "./dom.js";
import { rounded } from "./numbers.js";
import { numbersOf, rowsOf } from "./rows.js";
import { makeStrip } from "./strips.js";

/** @typedef {import("./explore.js").App} App */

/** @param {App} app @param {HTMLElement} place */
export function makeEpisode(app, place) {
  const { store } = app;
  const box = card(place, "Episode");
  addButton(box.head, "All episodes", () => store.set({ episode: null, step: 0 }), { class: "tx-quiet" });
  const facts = add(box.body, "p", { class: "tx-hint" });
  const scrub = add(box.body, "div", { class: "tx-scrub" });
  const range = /** @type {HTMLInputElement} */ (add(scrub, "input", { type: "range", min: 0, max: 0, step: 1, "aria-label": "Step" }));
  const now = add(scrub, "output", { class: "tx-number" });
  const jumps = add(box.body, "div", { class: "tx-ends" });
  addButton(jumps, "◀ change", () => jump(-1), { title: "To the change before" });
  addButton(jumps, "change ▶", () => jump(1), { title: "To the next change" });
  const frame = addButton(jumps, "Show the frame", () => showFrame(), { hidden: "" });
  const said = add(box.body, "p", { class: "tx-sentence tx-now", "aria-live": "polite" });
  const picture = add(box.body, "figure", { class: "tx-frame", hidden: "" });
  const strip = makeStrip(app, card(place, "Along the episode").body, (step) => go(step, true), () => store.settle());
  const story = card(place, "The story").body;
  const line = app.asker.line();
  const frameLine = app.asker.line();
  /** @type {any} */
  let data = null;
  /** @type {ArrayLike<number>[]} */
  let states = [];
  let key = "";

  range.addEventListener("input", () => go(range.valueAsNumber, true));
  range.addEventListener("change", () => store.settle());

  /** @param {number} step @param {boolean} [dragging] */
  function go(step, dragging = false) {
    const at = Math.min(Math.max(Math.round(step), 0), states.length - 1);
    store.set({ step: at, state: Array.from(states[at]) }, dragging);
  }

  /** @param {number} way */
  function jump(way) {
    if (!data) return;
    const steps = data.changes.map((/** @type {any} */ change) => change.step);
    const { step } = store.view;
    const next = way > 0 ? steps.find((/** @type {number} */ one) => one > step) : steps.findLast((/** @type {number} */ one) => one < step);
    if (next !== undefined) go(next);
  }

  function load() {
    const { view } = store;
    const wanted = JSON.stringify([app.handle(), view.episode]);
    if (wanted === key) return;
    key = wanted;
    place.classList.add("tx-waiting");
    line(
      "episode",
      { model: app.handle(), episode: view.episode },
      (answer) => {
        place.classList.remove("tx-waiting");
        data = answer;
        states = rowsOf(answer.states, app.names().length);
        box.title.textContent = onAPage(`Episode ${answer.id}`);
        const ended = /** @type {Record<string, string>} */ ({ terminated: "ended by itself", truncated: "cut off", unknown: "how it ended is not recorded" })[answer.ending];
        const total = answer.return === null || answer.return === undefined ? [] : [`return ${rounded(answer.return, 4)}`];
        const outcome = answer.outcome === null || answer.outcome === undefined ? [] : [answer.outcome ? "success" : "failure"];
        facts.textContent = onAPage([`${answer.length.toLocaleString("en")} steps`, ...total, ended, ...outcome].filter(Boolean).join(" · "));
        range.max = String(states.length - 1);
        frame.hidden = !app.hello.can.frames;
        strip.load(answer, states);
        tellStory();
        const at = Math.min(store.view.step, states.length - 1);
        store.put({ step: at, state: Array.from(states[at]) });
        draw();
      },
      (error) => {
        place.classList.remove("tx-waiting");
        data = null;
        states = [];
        emptyState(story, app.sentence(error), "tx-empty tx-error");
        app.setLayer("episodes", {});
      },
    );
  }

  function tellStory() {
    story.replaceChildren();
    if (data.needs) add(story, "p", { class: "tx-hint" }, data.needs);
    const list = add(story, "ol", { class: "tx-story" });
    for (const phase of data.phases) {
      const item = add(list, "li", { "data-begin": phase.begin, "data-end": phase.end });
      const button = addButton(item, "", () => go(phase.begin), { class: "tx-phase" });
      add(button, "span", { class: "tx-dot" }).style.background = phase.colour;
      add(button, "span", { class: "tx-steps" }, `${phase.begin}–${phase.end - 1}`);
      add(button, "span", {}, phase.text);
    }
    const rest = onAPage(data.text).split("\n").slice(1 + data.phases.length).map((one) => one.trim()).filter(Boolean);
    for (const one of rest) add(story, "p", { class: "tx-hint" }, one);
  }

  function draw() {
    if (!data) return;
    const step = Math.min(store.view.step, states.length - 1);
    if (range.valueAsNumber !== step) range.value = String(step);
    range.style.setProperty("--at", `${(100 * step) / Math.max(states.length - 1, 1)}%`);
    now.textContent = `step ${step} of ${states.length - 1}`;
    strip.moveTo(step);
    for (const item of /** @type {NodeListOf<HTMLElement>} */ (story.querySelectorAll("li[data-begin]"))) {
      const inside = step >= Number(item.dataset.begin) && step < Number(item.dataset.end);
      if (inside) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    }
    sayIn(said, nowText(step));
    app.setLayer("episodes", {
      lines: [
        { states, kind: "whole", width: 1.5 },
        { states: states.slice(0, step + 1), kind: "past", width: 2.5 },
      ],
      points: [
        { state: states[0], kind: "begin", text: "start" },
        ...data.changes.map((/** @type {any} */ change) => ({ state: states[Math.min(change.step, states.length - 1)], kind: "change" })),
      ],
    });
  }

  // What is done at a step, and why it has just changed.
  /** @param {number} step */
  function nowText(step) {
    const { action } = data;
    const parts = [];
    if (action) {
      const done = numbersOf(rowsOf(action.recorded ?? action.predicted, action.names.length)[step]);
      const told = action.names.map((/** @type {string} */ name, /** @type {number} */ k) => `${name} ${action.labels.length ? action.labels[done[k]] : rounded(done[k], 3)}`);
      parts.push(`${action.recorded ? "recorded" : "the tree predicts"} ${told.join(", ")}`);
    }
    if (data.value) parts.push(`value ${rounded(numbersOf(data.value.predicted)[step], 3)}`);
    const reasons = data.changes.filter((/** @type {any} */ one) => one.step === step).map((/** @type {any} */ one) => one.text);
    return [`Step ${step}: ${parts.join("; ")}.`, ...reasons].join(" ");
  }

  function showFrame() {
    const { view } = store;
    picture.hidden = false;
    frameLine("frame", { episode: view.episode, step: view.step }, (answer) => {
      picture.replaceChildren();
      add(picture, "img", { src: `data:image/png;base64,${answer.png}`, alt: `The task at step ${view.step}` });
      add(picture, "figcaption", { class: "tx-hint" }, answer.text);
    }, (error) => emptyState(picture, app.sentence(error), "tx-empty tx-error"));
  }

  place.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const step = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1 })[event.key];
    if (!step || target.matches("input, select") || !data) return;
    go(store.view.step + step, true);
    event.preventDefault();
  });

  return {
    /** @param {Set<string> | null} changed */
    update(changed) {
      load();
      if (data && (!changed || changed.has("step") || changed.has("x") || changed.has("y"))) draw();
      if (!picture.hidden && changed?.has("step")) showFrame();
    },
    // A click on the map goes to the step that is nearest on it.
    /** @param {number[]} state */
    onPick(state) {
      if (!states.length || store.view.episode === null) return {};
      const { view } = store;
      const { features } = app.tree();
      const away = (/** @type {ArrayLike<number>} */ one) => [view.x, view.y].reduce((sum, f) => sum + ((one[f] - state[f]) / features[f].span) ** 2, 0);
      let best = 0;
      states.forEach((one, k) => away(one) < away(states[best]) && (best = k));
      return { step: best, state: Array.from(states[best]) };
    },
    words: () => said.textContent ?? "",
    taken: () => ({ text: data?.text ?? "", python: data?.python ?? "", data: data && { ...data, states: states.map((one) => Array.from(one)) } }),
  };
}
