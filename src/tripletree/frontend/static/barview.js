// The bar at the top: whose tree it is, undo, what can be taken away, light and dark, help.
import { addButton, counted } from "./controls.js";
import { add, addSvg, onAPage } from "./dom.js";
import { makeExports } from "./exporting.js";
import { openHelp } from "./shortcuts.js";

/** @typedef {import("./explore.js").App} App */
/** @typedef {import("./theme.js").Theme} Theme */

/** @param {App} app @param {Theme} theme */
export function makeBar(app, theme) {
  const bar = add(app.root, "header", { class: "tx-bar" });
  const name = add(bar, "div", { class: "tx-brand" });
  const logo = addSvg(name, "svg", { viewBox: "0 0 20 20", class: "tx-logo", "aria-hidden": "true" });
  for (const [x, y, width, height, fill] of [
    [1, 1, 11, 18, "#56b4e9"],
    [13, 1, 6, 9, "#e69f00"],
    [13, 11, 6, 8, "#009e73"],
  ])
    addSvg(logo, "rect", { x, y, width, height, fill, rx: 1.5 });
  add(name, "h1", {}, app.hello.title);
  const facts = add(name, "p", { class: "tx-facts" });
  const actions = add(bar, "div", { class: "tx-actions" });
  const undo = addButton(actions, "Undo", app.undo, { title: "Undo (Ctrl+Z)", class: "tx-quiet" });
  makeExports(app, actions);
  const words = /** @type {Record<string, string>} */ ({ auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" });
  const tone = addButton(actions, words[theme.chosen], () => tell(theme.turn()), { class: "tx-quiet" });
  const tell = (/** @type {string} */ chosen) => {
    tone.textContent = words[chosen];
    tone.title = chosen === "auto" ? "Light or dark, as your system has it. Click for light." : `Always ${chosen}. Click for the next.`;
    tone.setAttribute("aria-label", `Colours: ${chosen}`);
  };
  tell(theme.chosen);
  addButton(actions, "?", () => openHelp(app), { class: "tx-quiet tx-round", title: "Keys and hints (?)", "aria-label": "Keys and hints" });
  const news = add(app.root, "p", { class: "tx-news", role: "status", hidden: "" });

  return {
    update() {
      const model = app.info();
      const leaves = app.store.view.leaves ?? model.leaves;
      const told = [counted(leaves, "leaf", "leaves")];
      const log = model.log ?? model.track;
      if (log) told.push(counted(log.episodes, "episode"), counted(log.steps, "step"));
      if (!model.log && app.host.kind !== "report") told.push("no log given");
      if (app.host.kind === "report") told.push("computed in this file");
      facts.textContent = onAPage(told.join(" · "));
      undo.disabled = !app.store.canUndo();
    },
    /** @param {string} text @param {string} [again] @param {() => void} [act] */
    say(text, again, act) {
      news.replaceChildren();
      news.append(onAPage(text));
      if (again && act)
        addButton(news, again, () => {
          news.hidden = true;
          act();
        });
      addButton(news, "Close", () => (news.hidden = true), { class: "tx-quiet" });
      news.hidden = false;
    },
  };
}
