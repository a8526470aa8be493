// Ask here: one state, moved by sliders; why the tree predicts what it predicts, what would change it, what comes next.
import { addButton, card, chooser, emptyState, percent, sayIn, shareBar } from "./controls.js";
import { add, onAPage } from "./dom.js";
import { addSentence } from "./layers.js";
import { rounded } from "./numbers.js";
import { stateSliders } from "./sliders.js";
import { counterfactual, factual } from "./tree.js";

/** @typedef {import("./explore.js").App} App */

const MOST_EPISODES = 24;

/** @param {App} app @param {HTMLElement} place */
export function makeAsk(app, place) {
  const rest = app.names().length > 2 ? " A click takes the other features from the nearest recorded state." : "";
  const state = card(place, "The state", `Drag, type, or click the map.${rest}`).body;
  const sliders = stateSliders(app, state);
  const unlike = add(state, "p", { class: "tx-careful", "aria-live": "polite" });

  const why = card(place, "Why");
  const about = chooser(why.head, "about", [], (value) => app.store.set({ about: value }));
  const reason = add(why.body, "div", { "aria-live": "polite", class: "tx-answer", id: `${app.id}-why` });
  const beside = add(why.body, "p", { class: "tx-hint tx-beside-agent" });

  const change = card(place, "What would change it");
  const wish = foilInput(app, change.body);
  const changed = add(change.body, "div", { "aria-live": "polite", class: "tx-answer" });
  const others = add(change.body, "div", { class: "tx-others" });

  const next = card(place, "Where it goes next").body;
  const through = card(place, "Who came through here").body;

  const lines = { why: app.asker.line(), foil: app.asker.line(), next: app.asker.line(), through: app.asker.line(), agent: app.asker.line(), novelty: app.asker.line() };
  /** @type {any} */
  let told = {};

  /** @param {HTMLElement} into */
  const sorryIn = (into) => (/** @type {any} */ error) => emptyState(into, app.sentence(error), "tx-empty tx-error");

  function askWhy() {
    const { view } = app.store;
    const tree = app.tree();
    const show = (/** @type {string} */ text) => {
      told.why = text;
      if (reason.textContent === onAPage(text)) return;
      reason.replaceChildren();
      addSentence(reason, text);
    };
    if (tree.facts[view.about]) {
      lines.why.drop();
      show(factual(tree, view.state, view.about).text);
    } else lines.why("explain", { model: app.handle(), state: view.state, about: view.about }, (answer) => show(answer.text), sorryIn(reason));
    if (app.hello.can.agent)
      lines.agent("agent", { model: app.handle(), state: view.state }, (answer) => sayIn(beside, answer.text), sorryIn(beside));
  }

  function askFoil() {
    const { view } = app.store;
    const tree = app.tree();
    if (!view.foil) {
      emptyState(changed, "Choose or type what the tree should predict instead.");
      others.replaceChildren();
      app.setLayer("ask", { leaves: app.leafShown(), foils: [] });
      return;
    }
    const local = tree.foils[view.foil] && !view.fixed.length;
    if (local) {
      const answer = counterfactual(tree, view.state, tree.foils[view.foil]);
      showFoil(answer.text, answer.foilState ? [{ state: answer.foilState, leaf: answer.foilLeaf }] : []);
    }
    if (local) wish.fine();
    if (local && app.host.kind === "report") return;
    const args = { model: app.handle(), state: view.state, foil: view.foil, k: 3, ...(view.fixed.length ? { fixed: view.fixed } : {}) };
    lines.foil(
      "counterfactual",
      args,
      (answer) => {
        const found = answer.answers.filter((/** @type {any} */ one) => one.state);
        told.change = answer.python;
        told.data = answer.data;
        showFoil(answer.answers[0]?.text ?? answer.text, found);
        showOthers(answer.answers.slice(1));
        wish.fine();
      },
      (error) => {
        if (local) return;
        others.replaceChildren();
        wish.wrong(app.sentence(error));
        emptyState(changed, app.sentence(error), "tx-empty tx-error");
        app.setLayer("ask", { leaves: app.leafShown(), foils: [] });
      },
    );
  }

  /** @param {string} text @param {{state: number[], leaf: number | null}[]} found */
  function showFoil(text, found) {
    told.foil = text;
    if (changed.textContent !== onAPage(text)) {
      changed.replaceChildren();
      addSentence(changed, text);
    }
    const leaves = [...app.leafShown(), ...found.slice(0, 1).map((one) => one.leaf ?? -1)].filter((leaf) => leaf >= 0);
    app.setLayer("ask", { leaves, foils: found.map((one, k) => ({ to: one.state, main: k === 0 })) });
  }

  /** @param {any[]} list */
  function showOthers(list) {
    others.replaceChildren();
    if (!list.length) return;
    add(others, "h4", {}, "Other ways");
    const items = add(others, "ul");
    for (const one of list) {
      const item = add(items, "li");
      addButton(item, one.text.replace(/^Or /, ""), () => one.state && app.pick(one.state), { class: "tx-link", title: "Go to that state" });
    }
  }

  function askNext() {
    const { view } = app.store;
    // A tree that kept no states has no opinion on that.
    lines.novelty("novelty", { model: app.handle(), state: view.state }, (answer) => sayIn(unlike, answer.text), () => sayIn(unlike, ""));
    lines.next(
      "futures",
      { model: app.handle(), start: view.state },
      (answer) => {
        [told.next, told.nextLine] = [answer.text, answer.python];
        next.replaceChildren();
        if (!answer.found.length) emptyState(next, answer.text);
        else add(next, "p", { class: "tx-hint" }, fromHere(answer.text.split("\n")[0]));
        const list = add(next, "ol", { class: "tx-futures" });
        for (const one of answer.found) futureRow(app, list, one);
        const rest = answer.text.split("\n").slice(1 + answer.found.length).join(" ").trim();
        if (rest && answer.found.length) add(next, "p", { class: "tx-hint" }, rest);
      },
      sorryIn(next),
    );
    lines.through(
      "through",
      { model: app.handle(), start: view.state, most: MOST_EPISODES },
      (answer) => {
        [told.through, told.throughLine] = [answer.text, answer.python];
        through.replaceChildren();
        add(through, "p", { class: "tx-sentence" }, nearHere(answer.text));
        if (answer.actionsText && !answer.text.includes(answer.actionsText)) add(through, "p", { class: answer.actions ? "tx-sentence" : "tx-hint" }, answer.actionsText);
        if (!answer.episodes.length) return;
        const list = add(through, "ul", { class: "tx-chips" });
        for (const one of answer.episodes) {
          const label = `Episode ${one.id}, step ${one.step}, return ${one.return === null ? "unknown" : rounded(one.return, 3)}`;
          const chip = addButton(add(list, "li"), String(one.id), () => app.openEpisode(one.episode, one.step), { title: label, "aria-label": label });
          for (const event of ["pointerenter", "focus"]) chip.addEventListener(event, () => app.peekEpisode(one.episode));
          for (const event of ["pointerleave", "blur"]) chip.addEventListener(event, () => app.peekEpisode(null));
          if (typeof one.outcome === "boolean") add(chip, "span", { class: one.outcome ? "tx-good" : "tx-bad" }, one.outcome ? "✓" : "✗");
        }
        if (answer.found > answer.episodes.length)
          add(through, "p", { class: "tx-hint" }, `${MOST_EPISODES} of them are shown.`);
      },
      sorryIn(through),
    );
  }

  return {
    /** @param {Set<string> | null} changedKeys */
    update(changedKeys) {
      const { view } = app.store;
      const any = (/** @type {string[]} */ ...keys) => !changedKeys || keys.some((key) => changedKeys.has(key));
      if (any("tree", "facts")) {
        about.fill(app.info().abouts.map((/** @type {string} */ name) => [name, name]));
        wish.fill(app.info().foils);
      }
      about.select.value = view.about;
      wish.show(view.foil);
      sliders.update();
      if (any("state", "about", "tree", "facts")) askWhy();
      if (any("state", "foil", "fixed", "tree", "facts")) askFoil();
      if (any("state", "tree")) askNext();
    },
    words: () => told.why ?? "",
    /** What can be taken away from here. */
    taken: () => {
      const { view } = app.store;
      const text = [told.why, told.foil, told.next, told.through].filter(Boolean).join("\n\n");
      const state = JSON.stringify(view.state);
      const why = `${app.tree().called}.explain(${state}, about=${JSON.stringify(view.about)})`;
      const python = [why, told.change, told.nextLine, told.throughLine].filter(Boolean).join("\n");
      return { text, python, data: { state: view.state, why: told.why, foil: view.foil, change: told.data ?? told.foil, next: told.next, through: told.through } };
    },
    hide: () => {},
  };
}

// The state stands above, so that these sentences need not tell it once more.
/** @param {string} text */
const fromHere = (text) => text.replace(/^From .* \((?=\d[^()]*\):$)/, "From here (").replace(/:$/, ".");
/** @param {string} text */
const nearHere = (text) => text.replace(/came near .*? \((?=at most)/, "came near here (");

/** @param {App} app @param {HTMLElement} list @param {any} one */
function futureRow(app, list, one) {
  const item = add(list, "li", { tabindex: 0 });
  const head = add(item, "div", { class: "tx-future" });
  add(head, "strong", {}, percent(one.share));
  shareBar(head, one.share, one.interval);
  add(item, "p", {}, one.text);
  const point = (/** @type {boolean} */ on) => app.setLayer("peek", on ? { leaves: one.leaves ?? [] } : {});
  item.addEventListener("pointerenter", () => point(true));
  item.addEventListener("pointerleave", () => point(false));
  item.addEventListener("focus", () => point(true));
  item.addEventListener("blur", () => point(false));
}

/** A field for a foil: chosen from a list or typed. @param {App} app @param {HTMLElement} place */
function foilInput(app, place) {
  const row = add(place, "label", { class: "tx-field" });
  add(row, "span", {}, "What would make it");
  const id = `${app.id}-foils`;
  const field = /** @type {HTMLInputElement} */ (
    add(row, "input", { type: "text", list: id, autocomplete: "off", spellcheck: "false", placeholder: "action = …, value >= …" })
  );
  const list = add(row, "datalist", { id });
  const quick = add(place, "div", { class: "tx-quick" });
  const set = () => app.store.set({ foil: field.value.trim() });
  field.addEventListener("change", set);
  return {
    /** @param {string[]} foils */
    fill(foils) {
      list.replaceChildren();
      quick.replaceChildren();
      for (const foil of foils) add(list, "option", { value: foil });
      for (const foil of foils.slice(0, 8))
        addButton(quick, foil, () => app.store.set({ foil }), { class: "tx-pill", "data-foil": foil });
    },
    /** @param {string} foil */
    show(foil) {
      if (document.activeElement !== field || field.value.trim() === "") field.value = foil;
      for (const pill of quick.querySelectorAll("button")) pill.setAttribute("aria-pressed", String(pill.dataset.foil === foil));
    },
    fine: () => field.removeAttribute("aria-invalid"),
    /** @param {string} text */
    wrong: (text) => {
      field.setAttribute("aria-invalid", "true");
      field.title = text;
    },
  };
}

