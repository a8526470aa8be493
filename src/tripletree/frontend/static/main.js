// Starts an explorer in every place of the page that names a tree.
import { mountExplorer } from "./explorer.js";
import { unpackTree } from "./tree.js";

for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-tree]"))) {
  unpackTree(document.getElementById(place.dataset.tree ?? "")?.textContent ?? "").then((tree) => {
    place.replaceChildren();
    mountExplorer(place, tree);
  });
}
