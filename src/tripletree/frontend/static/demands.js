// What episodes should do: why some fail, by a condition, and whether they meet a requirement.
import { addButton, card, emptyState } from "./controls.js";
import { add, onAPage } from "./dom.js";

/** @typedef {import("./explore.js").App} App */

const SHOWN = 40;

/** @param {App} app @param {HTMLElement} place */
export function makeDemands(app, place) {
  const first = app.names()[0];
  /** @type {Map<string, any[]>} */
  const zones = new Map();
  const asked = [
    { question: "failures", heading: "Why episodes fail", label: "Failed means", hint: "return < …, ends (…); empty: as the log says", button: "Brief me", name: "when" },
    { question: "require", heading: "What is required", label: "Every episode", hint: `always (${first} > …), eventually[0, 300] (…)`, button: "Check", name: "requirement" },
  ];
  for (const { question, heading, label, hint, button, name } of asked) {
    if (!app.hello.can[question]) continue;
    const { body } = card(place, heading);
    const row = add(body, "form", { class: "tx-field" });
    const id = `${app.id}-${question}`;
    add(row, "label", { for: id }, label);
    const field = /** @type {HTMLInputElement} */ (add(row, "input", { type: "text", id, autocomplete: "off", spellcheck: "false", placeholder: hint }));
    const go = addButton(body, button, ask);
    const said = add(body, "div", { role: "status" });
    const cases = add(body, "ol", { class: "tx-worst" });
    row.addEventListener("submit", (event) => {
      event.preventDefault();
      ask();
    });

    async function ask() {
      go.disabled = true;
      cases.replaceChildren();
      zones.delete(question);
      try {
        const args = { model: app.handle().split("/")[0], [name]: field.value.trim() };
        const found = await app.asker.job(question, args, (progress) => emptyState(said, progress.text ?? "", "tx-hint"));
        said.replaceChildren();
        for (const line of found.text.split("\n")) add(said, "p", { class: "tx-sentence" }, onAPage(line));
        for (const one of found.cases.slice(0, SHOWN))
          addButton(add(cases, "li"), one.text, () => app.openEpisode(one.episode, one.step ?? 0), { class: "tx-link" });
        zones.set(question, (found.zones ?? []).map((/** @type {any} */ zone, /** @type {number} */ k) => ({ box: zone.where, kind: question, text: String(k + 1) })));
      } catch (error) {
        emptyState(said, app.sentence(error), "tx-error");
      }
      go.disabled = false;
      draw();
    }
  }

  function draw() {
    app.setLayer("demands", zones.size ? { zones: [...zones.values()].flat() } : {});
  }

  return { draw, hide: () => app.setLayer("demands", {}) };
}
