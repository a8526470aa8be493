// Two models side by side: how far they agree, where they do not, and what changed between them.
import { addButton, card, emptyState, sayIn } from "./controls.js";
import { add } from "./dom.js";
import { rounded } from "./numbers.js";
import { actionText, disagreeing } from "./rows.js";

/** @typedef {import("./explore.js").App} App */

/** @param {App} app @param {HTMLElement} place */
export function makeCompare(app, place) {
  const { store } = app;
  const [a, b] = app.hello.models;
  const box = card(place, "Two models", `Left: ${a.name}; right: ${b?.name ?? ""}. Both maps move together. Dark leaves are those in which they differ, circles the states in which they differ most.`);
  const answer = add(box.body, "div", { class: "tx-answer", "aria-live": "polite" });
  const here = card(place, "In this state").body;
  const lists = card(place, "Where they differ most").body;
  const lines = { all: app.asker.line(), a: app.asker.line(), b: app.asker.line() };
  /** @type {any} */
  let told = null;
  let asked = false;
  /** @type {any[]} */
  let zones = [];
  const said = ["", ""];

  if (app.hello.can.diff) {
    const part = card(place, "What changed").body;
    const news = add(part, "p", { class: "tx-sentence", role: "status" });
    const button = addButton(part, "Find what changed between them", async () => {
      button.disabled = true;
      try {
        const found = await app.asker.job("diff", { a: a.model, b: b.model }, (progress) => sayIn(news, progress.text ?? ""));
        sayIn(news, found?.text ?? "");
        zones = (found?.zones ?? []).map((/** @type {any} */ zone, /** @type {number} */ k) => ({ box: zone.where, kind: "diff", text: String(k + 1) }));
        const list = add(part, "ol", { class: "tx-worst" });
        for (const zone of found?.zones ?? []) add(list, "li", {}, zone.text);
        draw();
      } catch (error) {
        sayIn(news, app.sentence(error));
        button.disabled = false;
      }
    });
  }

  function ask() {
    if (asked) return;
    asked = true;
    lines.all("compare", { a: a.model, b: b.model }, (found) => {
      told = found;
      answer.replaceChildren();
      add(answer, "p", { class: "tx-sentence" }, found.text);
      lists.replaceChildren();
      if (!found.worst.length) emptyState(lists, "They agree in every recorded state.");
      const list = add(lists, "ol", { class: "tx-worst" });
      for (const one of found.worst.slice(0, 12)) {
        const place = app.names().map((name, f) => `${name} ${rounded(one.state[f], 3)}`);
        const told = `${place.slice(0, 4).join(", ")}${place.length > 4 ? ", …" : ""}: ${actionText(app, one.tree)} and ${actionText(app, one.other)}`;
        addButton(add(list, "li"), told, () => store.set({ state: Array.from(one.state) }), { class: "tx-link" });
      }
      draw();
    }, (error) => {
      asked = false;
      emptyState(answer, app.sentence(error), "tx-empty tx-error");
    });
  }

  function askHere() {
    [a, b].forEach((model, k) => {
      lines[k ? "b" : "a"]("explain", { model: model.model, state: store.view.state, about: store.view.about }, (found) => {
        said[k] = found.text;
        here.replaceChildren();
        [a, b].forEach((one, j) => {
          if (!said[j]) return;
          add(here, "h4", {}, one.name);
          add(here, "p", { class: "tx-sentence" }, said[j]);
        });
      });
    });
  }

  function draw() {
    const points = (told?.worst ?? []).slice(0, 60).map((/** @type {any} */ one) => ({ state: one.state, kind: "differs" }));
    app.setLayer("compare", { points, zones, ...(told ? { shade: disagreeing(a.model, told) } : {}) });
  }

  return {
    /** @param {Set<string> | null} changed */
    update(changed) {
      ask();
      if (!changed || changed.has("state") || changed.has("about")) askHere();
      if (!changed) draw();
    },
    words: () => told?.text ?? "",
    taken: () => ({ text: [told?.text, ...said].filter(Boolean).join("\n\n"), python: told?.python ?? "", data: told }),
    hide: () => app.setLayer("compare", {}),
  };
}
