// What the colours and marks of a map mean.
import { add, onAPage } from "./dom.js";

/** @typedef {import("./layers.js").Layer} Layer */

/** @param {HTMLElement} place @param {any} scene */
export function drawKey(place, scene) {
  const told = JSON.stringify([scene.bar, scene.entries, scene.legend, scene.palette]);
  if (place.dataset.told === told) return;
  place.dataset.told = told;
  place.replaceChildren();
  if (scene.bar) {
    const box = add(place, "div", { class: "tx-scale" });
    add(box, "span", { class: "tx-scale-name" }, scene.bar.label);
    const ruler = add(box, "div", { class: "tx-ruler" });
    add(ruler, "div", { class: "tx-colours" }).style.background = `linear-gradient(to right, ${scene.palette.join(", ")})`;
    const ticks = add(ruler, "div", { class: "tx-ticks" });
    for (const [share, text] of scene.bar.ticks) add(ticks, "span", {}, text).style.left = `${100 * share}%`;
  }
  const entries = [
    ...(scene.bar ? [] : scene.entries ?? []).map(([text, colour]) => ({ label: text, colour, symbol: "area", opacity: 1 })),
    ...(scene.legend ?? []),
  ];
  if (!entries.length) return;
  const list = add(place, "ul", { class: "tx-entries" });
  for (const { label, colour, symbol, opacity } of entries) {
    const item = add(list, "li");
    const swatch = add(item, "span", { class: `tx-swatch tx-${symbol}`, "aria-hidden": "true" }, symbol === "arrow" ? "→" : "");
    // By script, not as an attribute: the page's policy forbids style attributes.
    if (symbol === "area") swatch.style.background = colour;
    swatch.style.opacity = String(opacity);
    item.append(onAPage(label));
  }
}

/** What lies above a map, by the layers that do. @param {HTMLElement} place @param {Layer[]} layers */
export function drawMarksKey(place, layers) {
  const has = (/** @type {(layer: Layer) => any} */ test) => layers.some(test);
  const point = (/** @type {string} */ kind) => has((layer) => layer.points?.some((one) => one.kind === kind));
  const shown = [
    ["dot", "the state", true],
    ["change", "what would change it", has((layer) => layer.foils?.some(({ main }) => main))],
    ["other", "other ways", has((layer) => layer.foils?.some(({ main }) => !main))],
    ["leaves", "selected leaves", has((layer) => (layer.leaves?.length ?? 0) > 2)],
    ["ring", "the prediction changes", point("change")],
    ["differs", "they differ most", point("differs")],
    ["shade", "they differ often", has((layer) => layer.shade)],
    ["route", "recorded ways", has((layer) => layer.lines?.some(({ kind }) => kind === "route"))],
  ].filter(([, , there]) => there);
  const told = shown.map(([kind]) => kind).join(" ");
  if (place.dataset.told === told) return;
  place.dataset.told = told;
  place.replaceChildren();
  for (const [kind, text] of shown) {
    const item = add(place, "li");
    add(item, "span", { class: `tx-swatch tx-key-${kind}`, "aria-hidden": "true" });
    item.append(String(text));
  }
}
