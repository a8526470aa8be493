// What is shown first: the features that tell most, the busiest leaf, and a foil that does not hold there yet.
import { tellingPair } from "./slices.js";
import { leafAt } from "./tree.js";

/** @typedef {import("./types.js").Selection} Selection */

/**
 * @param {any} hello
 * @param {any} tree
 * @returns {Selection}
 */
export function firstSelection(hello, tree) {
  const model = hello.models[0];
  const [x, y] = tellingPair(tree);
  return {
    tab: "ask",
    x,
    y,
    colour: model.colours[0]?.name ?? Object.keys(tree.colours)[0],
    rest: model.features.length > 2 ? "all" : "here",
    limits: {},
    arrows: false,
    zoom: null,
    state: Array.from(tree.start),
    about: model.abouts[0] ?? "",
    foil: otherFoil(model, tree),
    fixed: [],
    episode: null,
    step: 0,
    given: "",
    sort: "episode",
    from: "",
    to: "",
    phase: null,
    inside: false,
    leaves: null,
    theta: null,
    model: model.model,
    beside: hello.models.length > 1,
  };
}

/** A foil that does not hold in the first state, as far as its colour tells. @param {any} model @param {any} tree */
function otherFoil(model, tree) {
  const colour = tree.colours[model.colours[0]?.name];
  const here = colour?.names.length ? colour.names[colour.values[leafAt(tree, tree.start)]] : null;
  return model.foils.find((/** @type {string} */ foil) => here === null || !foil.endsWith(`= ${here}`)) ?? "";
}
