// Keeps the selection where a reader can share it: in the address of the page, or with the notebook.
import { fromAddress, toAddress } from "./store.js";

/** @typedef {import("./types.js").Selection} Selection */

const PAUSE = 350; // milliseconds

/**
 * @param {import("./types.js").Host} host
 * @param {Selection} first
 * @param {string[]} names
 */
export function keepAddress(host, first, names) {
  const own = host.kind === "notebook";
  const recalled = () => (own ? host.recall?.() ?? "" : window.location.hash.slice(1));
  let written = "";
  let waiting = 0;
  const keep = () => {
    if (own) host.remember?.(written);
    else if (written !== window.location.hash.slice(1)) window.history.replaceState(null, "", `#${written}`);
  };
  return {
    read: () => fromAddress(recalled(), first, names),
    /** @param {Selection} view */
    write(view) {
      written = toAddress(view, first, names);
      // At once, but not at every frame of a drag: browsers refuse addresses that change all the time.
      if (waiting) return;
      keep();
      waiting = window.setTimeout(() => {
        waiting = 0;
        keep();
      }, PAUSE);
    },
    /** @param {(view: Selection) => void} change */
    listen(change) {
      if (own) return;
      window.addEventListener("hashchange", () => {
        if (recalled() !== written) change(fromAddress(recalled(), first, names));
      });
    },
    link: () => `${window.location.href.split("#")[0]}#${written}`,
  };
}
