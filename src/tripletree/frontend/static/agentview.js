// Agent beside it: where the tree and its agent disagree, and what both do in the state that is asked about.
import { addButton, card, emptyState, percent } from "./controls.js";
import { add } from "./dom.js";
import { actionText, disagreeing } from "./rows.js";

/** @typedef {import("./explore.js").App} App */

/** @param {App} app @param {HTMLElement} place */
export function makeAgent(app, place) {
  const { store } = app;
  if (!app.hello.can.agent) {
    emptyState(card(place, "The agent beside its tree").body, app.hello.needs?.agent ?? "Start again with the agent, to see where the tree and the agent disagree.");
    return { update: () => {}, words: () => "", taken: () => ({ text: "", python: "", data: null }), hide: () => {} };
  }
  const here = card(place, "In this state").body;
  const all = card(place, "Where they disagree", "Dark leaves are those in which they disagree, circles the states in which they do so most.").body;
  const lines = { here: app.asker.line(), all: app.asker.line() };
  /** @type {any} */
  let told = null;
  let key = "";

  function askHere() {
    lines.here("agent", { model: app.handle(), state: store.view.state }, (answer) => {
      here.replaceChildren();
      add(here, "p", { class: answer.agree ? "tx-sentence" : "tx-sentence tx-careful", "aria-live": "polite" }, answer.text);
    }, (error) => emptyState(here, app.sentence(error), "tx-empty tx-error"));
  }

  function askAll() {
    if (key === app.handle()) return;
    key = app.handle();
    all.classList.add("tx-waiting");
    lines.all("agreement", { model: app.handle() }, (answer) => {
      all.classList.remove("tx-waiting");
      told = answer;
      all.replaceChildren();
      add(all, "p", { class: "tx-sentence" }, answer.text);
      add(all, "h4", {}, "Leaves in which they disagree most");
      const list = add(all, "ol", { class: "tx-worst" });
      for (const leaf of answer.leaves.slice(0, 12)) {
        const item = add(list, "li");
        const text = leaf.text || `Leaf ${leaf.leaf}: the same in ${percent(leaf.share)} of ${leaf.states.toLocaleString("en")} states`;
        const button = addButton(item, text[0].toUpperCase() + text.slice(1), () => goTo(leaf.leaf), { class: "tx-link" });
        for (const [event, on] of /** @type {[string, boolean][]} */ ([["pointerenter", true], ["pointerleave", false], ["focus", true], ["blur", false]]))
          button.addEventListener(event, () => app.setLayer("peek", on ? { leaves: [leaf.leaf] } : {}));
      }
      if (answer.worst.length) {
        add(all, "h4", {}, "Steps to look at");
        const steps = add(all, "ul", { class: "tx-chips" });
        for (const one of answer.worst.slice(0, 16))
          addButton(add(steps, "li"), `episode ${one.id ?? one.episode}, step ${one.step}`, () => app.openEpisode(one.episode, one.step), { title: `Tree: ${actionText(app, one.tree)}; agent: ${actionText(app, one.other)}` });
      }
      draw();
    }, (error) => {
      all.classList.remove("tx-waiting");
      key = "";
      emptyState(all, app.sentence(error), "tx-empty tx-error");
    });
  }

  /** To a state of a leaf that a step of the log was in. @param {number} leaf */
  async function goTo(leaf) {
    const answer = await app.asker.ask("leaf", { model: app.handle(), leaf });
    if (answer.state) store.set({ state: Array.from(answer.state) });
  }

  function draw() {
    if (!told) return;
    app.setLayer("agent", { shade: disagreeing(key, told), points: told.worst.slice(0, 60).map((/** @type {any} */ one) => ({ state: one.state, kind: "differs" })) });
  }

  return {
    /** @param {Set<string> | null} changed */
    update(changed) {
      if (!changed || changed.has("state") || changed.has("tree")) askHere();
      askAll();
      if (!changed) draw();
    },
    words: () => told?.text ?? "",
    taken: () => ({ text: told?.text ?? "", python: told?.python ?? "", data: told }),
    hide: () => app.setLayer("agent", {}),
  };
}
