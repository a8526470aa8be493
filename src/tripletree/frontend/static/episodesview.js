// Episodes: a list to sort and to filter, and one of them step by step.
import { addButton, card, chooser, counted, emptyState } from "./controls.js";
import { makeDemands } from "./demands.js";
import { add, addSvg, onAPage } from "./dom.js";
import { makeEpisode } from "./episodeview.js";
import { rounded } from "./numbers.js";
import { numbersOf } from "./rows.js";

/** @typedef {import("./explore.js").App} App */

const PAGE = 60;
const SORTS = [
  ["episode", "as recorded"],
  ["return-", "highest return"],
  ["return", "lowest return"],
  ["length-", "longest"],
  ["length", "shortest"],
  ["outcome", "failures first"],
];

/** @param {App} app @param {HTMLElement} place */
export function makeEpisodes(app, place) {
  const { store } = app;
  const list = add(place, "div");
  const one = add(place, "div", { hidden: "" });
  const box = card(list, "Episodes");
  const sort = chooser(box.head, "Sort", /** @type {[string, string][]} */ (SORTS), (value) => store.set({ sort: value }));
  const row = add(box.body, "label", { class: "tx-field" });
  add(row, "span", {}, "Only those with");
  const given = /** @type {HTMLInputElement} */ (
    add(row, "input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: `return < …, length >= …, visits (${app.names()[0]} < …)` })
  );
  given.addEventListener("change", () => store.set({ given: given.value.trim() }));
  const said = add(box.body, "p", { class: "tx-hint", role: "status" });
  const scroll = add(box.body, "div", { class: "tx-scroll" });
  const table = add(scroll, "table", { class: "tx-table" });
  const head = add(add(table, "thead"), "tr");
  const body = add(table, "tbody");
  const more = addButton(box.body, "Show more", () => load(true), { class: "tx-quiet", hidden: "" });
  const demands = makeDemands(app, list);
  const detail = makeEpisode(app, one);
  const line = app.asker.line();
  /** @type {any} */
  let told = null;
  let shown = 0;

  /** @param {boolean} further */
  function load(further) {
    const { view } = store;
    const first = further ? shown : 0;
    const descending = view.sort.endsWith("-");
    const args = { model: app.handle().split("/")[0], sort: view.sort.replace("-", ""), descending, first, count: PAGE, ...(view.given ? { given: view.given } : {}) };
    line("episodes", args, (answer) => show(answer, further), (error) => {
      given.setAttribute("aria-invalid", "true");
      emptyState(said, app.sentence(error), "tx-error");
      body.replaceChildren();
      more.hidden = true;
    });
  }

  /** @param {any} answer @param {boolean} further */
  function show(answer, further) {
    told = answer;
    given.removeAttribute("aria-invalid");
    said.textContent = onAPage([answer.text, answer.outcomeText].filter(Boolean).join(" "));
    if (!further) {
      head.replaceChildren();
      for (const [text, kind] of [["episode", ""], ["return", "tx-number"], ["length", "tx-number"], ["outcome", ""], [answer.sparkOf ?? "", ""]])
        add(head, "th", { scope: "col", class: kind }, text);
      body.replaceChildren();
      shown = 0;
    }
    for (const episode of answer.rows) episodeRow(episode);
    shown += answer.rows.length;
    more.hidden = shown >= answer.total;
    more.textContent = `Show more (${counted(answer.total - shown, "episode")} left)`;
  }

  /** @param {any} episode */
  function episodeRow(episode) {
    const row = add(body, "tr");
    const name = add(row, "th", { scope: "row" });
    addButton(name, String(episode.id), () => app.openEpisode(episode.episode), { class: "tx-link", "aria-label": `Open episode ${episode.id}` });
    add(row, "td", { class: "tx-number" }, episode.return === null ? "–" : rounded(episode.return, 4));
    add(row, "td", { class: "tx-number" }, episode.length.toLocaleString("en"));
    const ended = add(row, "td");
    if (episode.outcome !== null) add(ended, "span", { class: episode.outcome ? "tx-good" : "tx-bad" }, episode.outcome ? "✓ success" : "✗ failure");
    else add(ended, "span", { class: "tx-hint" }, ENDED[/** @type {keyof ENDED} */ (episode.ending)] ?? episode.ending);
    spark(add(row, "td"), numbersOf(episode.spark));
    row.addEventListener("click", (event) => {
      if (!(/** @type {HTMLElement} */ (event.target).closest("button"))) app.openEpisode(episode.episode);
    });
    for (const event of ["pointerenter", "focusin"]) row.addEventListener(event, () => app.peekEpisode(episode.episode));
    for (const event of ["pointerleave", "focusout"]) row.addEventListener(event, () => app.peekEpisode(null));
  }

  return {
    /** @param {Set<string> | null} changed */
    update(changed) {
      const { view } = store;
      const open = view.episode !== null;
      const turned = list.hidden !== open;
      list.hidden = open;
      one.hidden = !open;
      sort.select.value = view.sort;
      if (document.activeElement !== given) given.value = view.given;
      const any = (/** @type {string[]} */ ...keys) => !changed || keys.some((key) => changed.has(key));
      if (!open && (any("sort", "given", "model") || !shown)) load(false);
      if (open) detail.update(turned ? null : changed);
      else app.setLayer("episodes", {});
      if (open) demands.hide();
      else if (turned || !changed) demands.draw();
    },
    words: () => (store.view.episode === null ? told?.text ?? "" : detail.words()),
    taken: () => (store.view.episode === null ? { text: told?.text ?? "", python: told?.python ?? "", data: told } : detail.taken()),
    /** @param {[number, number, number, number]} state */
    onPick: (state) => detail.onPick(state),
    hide() {
      app.setLayer("episodes", {});
      demands.hide();
    },
  };
}

const ENDED = { terminated: "ended by itself", truncated: "cut off", unknown: "not recorded" };

/** @param {HTMLElement} place @param {number[]} values */
function spark(place, values) {
  const known = values.filter(Number.isFinite);
  if (known.length < 2) return;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const svg = addSvg(place, "svg", { class: "tx-spark", viewBox: "0 0 96 20", "aria-hidden": "true", preserveAspectRatio: "none" });
  const d = values.map((value, k) => `${k ? "L" : "M"}${((96 * k) / (values.length - 1)).toFixed(1)} ${(18 - (16 * (value - low)) / (high - low || 1)).toFixed(1)}`).join("");
  addSvg(svg, "path", { d });
}
