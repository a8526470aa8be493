// What colours mean, as a legend and as a table that says the same as the map.
import { add, onAPage } from "./dom.js";
import { rounded } from "./numbers.js";

export function colourOf(tree, colour, leaf) {
  return tree.palettes[colour.palette][colour.shades[leaf]];
}

// What a leaf says on a colour scale, in words.
export function said(colour, leaf) {
  const value = colour.values[leaf];
  return colour.names.length ? colour.names[value] : rounded(value);
}

export function drawLegend(place, tree, { legend, bar, palette }) {
  place.replaceChildren();
  if (!bar) {
    const list = add(place, "ul");
    for (const [text, colour] of legend) {
      const item = add(list, "li");
      // By script, not as an attribute: the page's policy forbids style attributes.
      add(item, "span", { class: "tt-swatch" }).style.background = colour;
      item.append(onAPage(text));
    }
    return;
  }
  add(place, "p", {}, bar.label);
  add(place, "div", { class: "tt-bar" }).style.background = `linear-gradient(to right, ${tree.palettes[palette].join(", ")})`;
  const ticks = add(place, "div", { class: "tt-ticks" });
  for (const [share, text] of bar.ticks) add(ticks, "span", {}, text).style.left = `${100 * share}%`;
}

export function drawTable(place, tree, leaves, columns, colour) {
  place.replaceChildren();
  const grid = add(place, "table");
  const head = add(add(grid, "thead"), "tr");
  const names = ["leaf", ...columns.map((f) => tree.features[f].label), colour.label, "samples"];
  names.forEach((text) => add(head, "th", { scope: "col" }, text));
  const body = add(grid, "tbody");
  for (const leaf of leaves) {
    const row = add(body, "tr");
    add(row, "th", { scope: "row" }, String(leaf));
    columns.forEach((f) => add(row, "td", {}, rangeOf(tree, leaf, f)));
    add(row, "td", {}, said(colour, leaf));
    add(row, "td", {}, tree.count[leaf].toLocaleString("en"));
  }
}

// The values of a feature that a leaf has, as far as the log goes.
function rangeOf(tree, leaf, f) {
  const k = leaf * tree.features.length + f;
  const { whole, min, max } = tree.features[f];
  const last = whole ? Math.ceil(tree.upper[k]) - 1 : tree.upper[k];
  const ends = [Math.max(whole ? Math.ceil(tree.lower[k]) : tree.lower[k], min), Math.min(last, max)];
  return [...new Set(ends.map((end) => rounded(end)))].join(" to ");
}
