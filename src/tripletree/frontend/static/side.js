// The panels beside the map, one at a time, as tabs.
import { makeAgent } from "./agentview.js";
import { makeAsk } from "./askview.js";
import { makeCompare } from "./compareview.js";
import { add } from "./dom.js";
import { makeEpisodes } from "./episodesview.js";
import { makeMachine } from "./machineview.js";
import { makeRoutes } from "./routesview.js";
import { rowsOf } from "./rows.js";
import { makeSize } from "./sizeview.js";

/** @typedef {import("./explore.js").App} App */

/** @type {[string, string, string, (app: App, place: HTMLElement) => any][]} */
const TABS = [
  ["ask", "Ask here", "Why here, what would change it, and what comes next", makeAsk],
  ["routes", "Routes", "How it gets from one place to another", makeRoutes],
  ["episodes", "Episodes", "What happened, step by step", makeEpisodes],
  ["machine", "Machine", "The phases it goes through", makeMachine],
  ["size", "Size", "How large the tree is, and what it was grown for", makeSize],
  ["agent", "Agent", "Where the tree and its agent disagree", makeAgent],
  ["compare", "Compare", "Two models side by side", makeCompare],
];

/** @param {App} app @param {HTMLElement} place */
export function makeSide(app, place) {
  const box = add(place, "section", { class: "tx-side", "aria-label": "Answers" });
  const list = add(box, "div", { class: "tx-tabs", role: "tablist", "aria-label": "Views" });
  const panels = TABS.filter(([name]) => name !== "compare" || app.hello.models.length > 1);
  const tabs = panels.map(([name, text, title, make], number) => {
    const id = `${app.id}-${name}`;
    const tab = add(list, "button", { type: "button", role: "tab", id: `${id}-tab`, "aria-controls": id, title: `${title} (${number + 1})` }, text);
    const panel = add(box, "div", { role: "tabpanel", id, class: "tx-panel", "aria-labelledby": `${id}-tab`, hidden: "" });
    tab.addEventListener("click", () => app.store.set({ tab: name }));
    return { name, tab, panel, make, /** @type {any} */ view: null };
  });
  // As tabs are used everywhere: one of them is reached by Tab, the others by arrow keys.
  list.addEventListener("keydown", (event) => {
    const step = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1 })[event.key];
    if (!step) return;
    const now = tabs.findIndex(({ name }) => name === app.store.view.tab);
    const next = tabs[(now + step + tabs.length) % tabs.length];
    app.store.set({ tab: next.name });
    next.tab.focus();
    event.preventDefault();
  });
  /** @type {any} */
  let open = null;
  const peekLine = app.asker.line();

  /** @param {string} name */
  function turnTo(name) {
    const wanted = tabs.find((one) => one.name === name) ?? tabs[0];
    if (open === wanted) return false;
    if (open) {
      open.view.hide();
      for (const layer of [open.name, "peek"]) app.setLayer(layer, {});
    }
    open = wanted;
    app.brush = null;
    for (const { tab, panel } of tabs) {
      tab.setAttribute("aria-selected", String(tab === wanted.tab));
      tab.tabIndex = tab === wanted.tab ? 0 : -1;
      panel.hidden = panel !== wanted.panel;
    }
    // Some tabs lie beside a narrow screen.
    wanted.tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    wanted.view ??= wanted.make(app, wanted.panel);
    return true;
  }

  return {
    names: panels.map(([name]) => name),
    /** @param {Set<string> | null} changed */
    update(changed) {
      const other = turnTo(app.store.view.tab);
      open.view.update(other ? null : changed);
    },
    words: () => open?.view.words?.() ?? "",
    taken: () => open?.view.taken(),
    /** @param {number[]} state */
    onPick: (state) => open?.view.onPick?.(state) ?? {},
    /** @param {[number, number, number, number] | null} zone */
    showBrush: (zone) => open?.view.showBrush?.(zone),
    /** @param {[number, number, number, number]} zone */
    brushed: (zone) => open?.view.brushed?.(zone),
    /** @param {number | null} episode */
    peek(episode) {
      peekLine.drop();
      if (episode === null) app.setLayer("peek", {});
      else
        peekLine("episode", { model: app.handle(), episode }, (answer) =>
          app.setLayer("peek", { lines: [{ states: rowsOf(answer.states, app.names().length), kind: "past", width: 2 }] }),
        );
    },
  };
}
