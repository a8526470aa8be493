// Trees as the browser asks them, by handle: the shape first, which draws, and then the sentences, which explain.
import { readTree } from "./tree.js";

/** @typedef {import("./types.js").TreeData} TreeData */

const MOST_TREES = 12;
// What a tree has while its sentences are still on the way.
const UNTOLD = { facts: {}, foils: {}, texts: [], linear: null, lower: [], upper: [], nearHigh: [], landLow: [], landHigh: [], riseText: [], fallText: [] };

/** @param {import("./asking.js").Asker} asker */
export function treeKeeper(asker) {
  /** @type {Map<string, {tree: TreeData, shape: any}>} */
  const kept = new Map();

  /** @param {string} handle @param {any} shape @returns {TreeData} */
  function keep(handle, shape) {
    const known = kept.get(handle);
    if (known) return known.tree;
    const tree = Object.assign(readTree({ ...UNTOLD, ...shape }), { handle, told: "facts" in shape });
    kept.set(handle, { tree, shape });
    if (kept.size > MOST_TREES) kept.delete(/** @type {string} */ (kept.keys().next().value));
    return tree;
  }

  return {
    keep,
    /** @param {string} handle @returns {any} */
    get: (handle) => kept.get(handle)?.tree,
    /** @param {string} handle */
    load: async (handle) => keep(handle, await asker.ask("tree", { model: handle })),
    /** The tree with its sentences. @param {string} handle @returns {Promise<TreeData>} */
    async facts(handle) {
      const known = kept.get(handle) ?? { tree: await this.load(handle), shape: await asker.ask("tree", { model: handle }) };
      if (known.tree.told) return known.tree;
      const sayings = await asker.ask("facts", { model: handle });
      // Two may have waited for them, and reading changes what is read.
      const now = kept.get(handle);
      if (now?.tree.told) return now.tree;
      const tree = Object.assign(readTree({ ...known.shape, ...sayings }), { handle, told: true });
      kept.set(handle, { tree, shape: known.shape });
      return tree;
    },
  };
}
