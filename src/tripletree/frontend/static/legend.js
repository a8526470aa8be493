// What colours mean, as a legend and as a table that says the same as the map.
import { sidesOf } from "./axes.js";
import { add } from "./dom.js";
import { rounded } from "./numbers.js";

// What a leaf says on a colour scale, in words.
export function said(colour, leaf) {
  const value = colour.values[leaf];
  return colour.scale.kind === "categories" ? colour.scale.categories[value] : rounded(value);
}

export function drawLegend(place, { scale }) {
  place.replaceChildren();
  add(place, "p", {}, scale.label);
  if (scale.kind === "categories") {
    const list = add(place, "ul");
    scale.categories.forEach((name, i) => {
      const item = add(list, "li");
      add(item, "span", { class: "tt-swatch" }).style.background = scale.stops[i];
      item.append(name);
    });
    return;
  }
  add(place, "div", { class: "tt-bar" }).style.background = `linear-gradient(to right, ${scale.stops.join(", ")})`;
  const ends = add(place, "div", { class: "tt-ends" });
  add(ends, "span", {}, rounded(scale.low));
  add(ends, "span", {}, rounded(scale.high) + (scale.kind === "log" ? " (log scale)" : ""));
}

export function drawTable(place, tree, leaves, columns, colour) {
  place.replaceChildren();
  const grid = add(place, "table");
  const head = add(add(grid, "thead"), "tr");
  const names = ["leaf", ...columns.map((f) => tree.features[f].name), colour.scale.label, "samples"];
  names.forEach((text) => add(head, "th", { scope: "col" }, text));
  const body = add(grid, "tbody");
  for (const leaf of leaves) {
    const row = add(body, "tr");
    add(row, "th", { scope: "row" }, String(leaf));
    columns.forEach((f) => add(row, "td", {}, sidesOf(tree, leaf, f).map(rounded).join(" to ")));
    add(row, "td", {}, said(colour, leaf));
    add(row, "td", {}, tree.count[leaf].toLocaleString("en"));
  }
}
