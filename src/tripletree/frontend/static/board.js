// The map with its tools, or two maps side by side that are moved together.
import { add } from "./dom.js";
import { makeLimits } from "./limits.js";
import { drawKey, drawMarksKey } from "./mapkey.js";
import { makeMap } from "./mapview.js";
import { makeTools } from "./tools.js";

/** @typedef {import("./explore.js").App} App */

/** @param {App} app @param {HTMLElement} place */
export function makeBoard(app, place) {
  const box = add(place, "section", { class: "tx-board", "aria-label": "Map" });
  const tools = makeTools(app, box);
  const maps = add(box, "div", { class: "tx-maps" });
  const main = makeMap(app, add(maps, "div", { class: "tx-map" }), app.handle, app.tree);
  const keys = add(box, "div", { class: "tx-keys-of-map" });
  const key = add(keys, "div", { class: "tx-key" });
  const marks = add(keys, "ul", { class: "tx-entries tx-marks" });
  const limits = makeLimits(app, box);
  /** @type {import("./mapview.js").MapView | null} */
  let second = null;
  /** @type {HTMLElement | null} */
  let secondPlace = null;

  // The other model's map, made when it is first looked at.
  async function beside() {
    const wanted = app.store.view.beside && app.hello.models.length > 1 && app.store.view.tab === "compare";
    maps.classList.toggle("tx-two", wanted);
    main.call(wanted ? app.hello.models[0].name : "");
    if (secondPlace) secondPlace.hidden = !wanted;
    if (!wanted || secondPlace) return;
    const shown = add(maps, "div", { class: "tx-map" });
    secondPlace = shown;
    const { model } = app.hello.models[1];
    const tree = await app.trees.load(model);
    second = makeMap(app, shown, () => model, () => tree);
    second.call(app.hello.models[1].name);
    second.fetchScene();
  }

  const SCENE = ["x", "y", "colour", "arrows", "rest", "leaves", "model", "tree", "limits"];
  // A file that was mailed cuts its slices by what comes with the sentences.
  if (app.host.kind === "report") SCENE.push("facts");

  return {
    main,
    get second() {
      return second;
    },
    /** @param {Set<string> | null} changed */
    update(changed) {
      const { view } = app.store;
      tools.update();
      limits.update(changed);
      const any = (/** @type {string[]} */ keys) => !changed || keys.some((one) => changed.has(one));
      if (any(["tab", "beside"])) beside();
      const slides = view.rest === "here" && app.names().length > 2 && any(["state"]);
      for (const map of [main, second]) {
        if (!map) continue;
        if (any(SCENE) || slides) map.fetchScene();
        if (any(["zoom"])) map.draw();
        else map.drawOver();
      }
      drawMarksKey(marks, app.layers());
    },
    /** @param {any} map */
    drawn(map) {
      if (map === main) drawKey(key, map.scene);
    },
    drawOver() {
      main.drawOver();
      second?.drawOver();
      drawMarksKey(marks, app.layers());
    },
    redraw() {
      main.draw();
      second?.draw();
    },
  };
}
