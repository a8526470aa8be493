// Routes: how recorded episodes really got from one zone to another, how often, and how long it took.
import { addButton, card, emptyState, percent } from "./controls.js";
import { add } from "./dom.js";
import { addSentence } from "./layers.js";
import { rowsOf } from "./rows.js";

/** @typedef {import("./explore.js").App} App */
/** @typedef {[number, number, number, number]} Box */

const FEW_WAYS = 6;

/** @param {App} app @param {HTMLElement} place */
export function makeRoutes(app, place) {
  const { store } = app;
  const asked = card(place, "From where to where", "Drag a rectangle on the map for the start, then one for the end. Or type conditions, or take the surroundings of the state.");
  const fields = {
    from: zoneField(app, asked.body, "from", "Start", `${app.names()[0]} < …`),
    to: zoneField(app, asked.body, "to", "End", "end"),
  };
  const row = add(asked.body, "div", { class: "tx-ends" });
  addButton(row, "Turn around", () => store.set({ from: store.view.to, to: store.view.from }));
  addButton(row, "To the end of the episode", () => store.set({ to: "end" }));
  addButton(row, "Clear", () => store.set({ from: "", to: "" }));
  const answer = card(place, "What happened").body;
  const line = app.asker.line();
  /** @type {{from: any, to: any}} */
  const zones = { from: null, to: null };
  /** @type {any[]} */
  let ways = [];
  let picked = -1;
  /** @type {any} */
  let told = null;

  function draw() {
    const shown = [];
    for (const end of /** @type {("from" | "to")[]} */ (["from", "to"]))
      if (zones[end]) shown.push({ box: zones[end], kind: end, text: end === "from" ? "start" : "end" });
    const lines = ways.map((way, k) => ({
      states: rowsOf(way.states, app.names().length),
      opacity: picked >= 0 ? (picked === k ? 1 : 0.08) : way.opacity,
      width: picked === k ? 3 : 1.8,
      kind: "route",
    }));
    app.setLayer("routes", { zones: shown, lines });
  }

  function ask() {
    const { view } = store;
    ways = [];
    picked = -1;
    told = null;
    app.brush = view.from ? (view.to ? null : "to") : "from";
    if (!view.from || !view.to) {
      line.drop();
      const what = view.from ? "Now the end: drag a rectangle on the map, type a condition, or choose the end of the episode." : "Drag a rectangle on the map where the way should start.";
      emptyState(answer, what);
      draw();
      return;
    }
    answer.classList.add("tx-waiting");
    line(
      "routes",
      { model: app.handle(), start: view.from, end: view.to },
      (found) => {
        told = found;
        ways = [...found.ways].sort((a, b) => (b.share ?? 0) - (a.share ?? 0));
        answer.classList.remove("tx-waiting");
        show(found);
        draw();
      },
      (error) => {
        answer.classList.remove("tx-waiting");
        emptyState(answer, app.sentence(error), "tx-empty tx-error");
        draw();
      },
    );
    draw();
  }

  /** @param {any} found */
  function show(found) {
    answer.replaceChildren();
    const live = add(answer, "div", { "aria-live": "polite", class: "tx-answer" });
    if (found.chance) addSentence(live, found.chance.text, found.nobody ? "tx-sentence tx-careful" : "tx-sentence");
    // The last of the words tell the first way, which is in the list.
    for (const text of found.ways.length ? found.words.slice(1, -1) : found.words.slice(1)) addSentence(live, text);
    if (!found.ways.length) return;
    const guess = found.method === "paper" || found.method === "bridge";
    add(answer, "h4", {}, guess ? "Ways it may take (a guess)" : "Ways it took");
    const list = add(answer, "ol", { class: "tx-ways" });
    ways.slice(0, FEW_WAYS).forEach((way, k) => wayRow(list, way, k));
    if (ways.length <= FEW_WAYS) return;
    const more = addButton(answer, `Show the ${ways.length - FEW_WAYS} others`, () => {
      more.remove();
      ways.slice(FEW_WAYS).forEach((way, k) => wayRow(list, way, FEW_WAYS + k));
    });
  }

  /** @param {HTMLElement} list @param {any} way @param {number} k */
  function wayRow(list, way, k) {
    const item = add(list, "li");
    const point = (/** @type {boolean} */ on) => {
      picked = on ? k : -1;
      draw();
    };
    const head = add(item, "div", { class: "tx-way-head" });
    if (way.share !== null) add(head, "strong", {}, percent(way.share));
    add(head, "span", { class: "tx-hint" }, `${Math.round(way.duration).toLocaleString("en")} steps`);
    for (const source of (way.sources ?? []).slice(0, 3))
      if (source.episode !== null)
        addButton(head, `episode ${source.id}`, () => app.openEpisode(source.episode, source.first), { class: "tx-link", title: `Open it at step ${source.first}` });
    add(item, "p", {}, way.text);
    item.tabIndex = 0;
    for (const [event, on] of /** @type {[string, boolean][]} */ ([["pointerenter", true], ["pointerleave", false], ["focusin", true], ["focusout", false]]))
      item.addEventListener(event, () => point(on));
  }

  return {
    /** @param {Set<string> | null} changed */
    update(changed) {
      const any = (/** @type {string[]} */ ...keys) => !changed || keys.some((key) => changed.has(key));
      if (any("from", "to", "tree")) {
        for (const end of /** @type {("from" | "to")[]} */ (["from", "to"])) {
          fields[end].show(store.view[end]);
          fields[end].read(store.view[end], (zone) => {
            zones[end] = zone;
            draw();
          });
        }
        ask();
      } else draw();
    },
    /** @param {Box | null} box */
    showBrush(box) {
      app.setLayer("peek", box ? { zones: [{ box: zoneOfBox(app, box), kind: app.brush ?? "from", text: app.brush === "to" ? "end" : "start" }] } : {});
    },
    /** @param {Box} box */
    brushed(box) {
      const end = app.brush ?? "from";
      app.setLayer("peek", {});
      store.set({ [end]: zoneText(app, box) });
    },
    words: () => told?.text ?? "",
    taken: () => ({ text: [told?.chance?.text, told?.time?.text, told?.text].filter(Boolean).join("\n"), python: told?.python ?? "", data: told }),
    hide: () => app.setLayer("routes", {}),
  };
}

/** @param {App} app @param {Box} box @returns {Record<string, [number, number]>} */
function zoneOfBox(app, [x0, x1, y0, y1]) {
  const { view } = app.store;
  const names = app.names();
  return names.length > 1 ? { [names[view.x]]: [x0, x1], [names[view.y]]: [y0, y1] } : { [names[view.x]]: [x0, x1] };
}

/** The surroundings of the state on the map, a tenth of it wide and high. @param {App} app @returns {Box} */
function aroundState(app) {
  const { view } = app.store;
  const ends = [view.x, view.y].flatMap((f) => {
    const { min, max, whole } = app.info().features[f];
    const reach = whole ? 0.4 : 0.05 * (max - min);
    return [view.state[f] - reach, view.state[f] + reach];
  });
  return /** @type {Box} */ (ends);
}

/** A rectangle in words, with as many digits as a hand can point at. @param {App} app @param {Box} box */
function zoneText(app, box) {
  const { features } = app.info();
  const parts = Object.entries(zoneOfBox(app, box)).flatMap(([name, [low, high]]) => {
    const feature = features[app.names().indexOf(name)];
    const step = 10 ** (Math.floor(Math.log10(feature.max - feature.min || 1)) - 2);
    const cut = (/** @type {number} */ value) => Number((Math.round(value / step) * step).toPrecision(6));
    const [a, b] = feature.whole ? [Math.ceil(low), Math.floor(high) + 1] : [cut(low), cut(high)];
    // A rectangle that reaches the side of the map has no limit there.
    const ends = [];
    if (a > feature.min) ends.push(`${name} >= ${a}`);
    if (b < feature.max) ends.push(`${name} < ${b}`);
    return ends;
  });
  return parts.join(" and ") || `${app.names()[0]} >= ${features[0].min}`;
}

/** @param {App} app @param {HTMLElement} place @param {"from" | "to"} end @param {string} label @param {string} hint */
function zoneField(app, place, end, label, hint) {
  const box = add(place, "div", { class: `tx-field tx-field-${end}` });
  const id = `${app.id}-${end}`;
  add(box, "label", { for: id }, label);
  const field = /** @type {HTMLInputElement} */ (add(box, "input", { type: "text", id, autocomplete: "off", spellcheck: "false", placeholder: hint }));
  const sorry = add(place, "p", { class: "tx-empty tx-error", role: "status", hidden: "" });
  field.addEventListener("change", () => app.store.set({ [end]: field.value.trim() }));
  const title = `A tenth of the map around the state as the ${label.toLowerCase()}`;
  addButton(box, "Around the state", () => app.store.set({ [end]: zoneText(app, aroundState(app)) }), { title, "aria-label": title });
  const line = app.asker.line();
  return {
    /** @param {string} text */
    show: (text) => (field.value = text),
    /** @param {string} text @param {(zone: any) => void} then */
    read(text, then) {
      sorry.hidden = true;
      field.removeAttribute("aria-invalid");
      line.drop();
      if (!text) then(null);
      else
        line("check", { model: app.handle(), kind: "zone", text }, (answer) => {
          then(answer.ok ? answer.zone ?? null : null);
          if (answer.ok) return;
          field.setAttribute("aria-invalid", "true");
          sorry.textContent = answer.text;
          sorry.hidden = false;
        });
    },
  };
}
