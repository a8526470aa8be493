// Light or dark: as the reader's system has it, until they choose.

const KEY = "tripletree-theme";
const ORDER = ["auto", "light", "dark"];

/**
 * @param {HTMLElement} root
 * @param {() => void} changed
 */
export function watchTheme(root, changed) {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = remembered();
  const isDark = () => (chosen === "auto" ? dark.matches : chosen === "dark");
  /** @type {{ink: string, soft: string, paper: string, accent: string} | null} */
  let tint = null;
  const apply = () => {
    root.dataset.theme = isDark() ? "dark" : "light";
    // The page around the explorer, where it is a page of its own.
    if (root.classList.contains("tx-server")) document.documentElement.dataset.theme = root.dataset.theme;
    tint = null;
    changed();
  };
  dark.addEventListener("change", apply);
  root.dataset.theme = isDark() ? "dark" : "light";
  if (root.classList.contains("tx-server")) document.documentElement.dataset.theme = root.dataset.theme;
  return {
    get chosen() {
      return chosen;
    },
    /** Auto, light, dark, auto, ... */
    turn() {
      chosen = ORDER[(ORDER.indexOf(chosen) + 1) % ORDER.length];
      try {
        localStorage.setItem(KEY, chosen);
      } catch {
        // A page that may keep nothing still changes its colours.
      }
      apply();
      return chosen;
    },
    /** The colours of what is drawn on a canvas. */
    tint() {
      const style = getComputedStyle(root);
      const read = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
      tint ??= { ink: read("--tx-ink"), soft: read("--tx-edge"), paper: read("--tx-paper"), accent: read("--tx-accent") };
      return tint;
    },
  };
}

/** @typedef {ReturnType<typeof watchTheme>} Theme */

function remembered() {
  try {
    const kept = localStorage.getItem(KEY);
    return kept && ORDER.includes(kept) ? kept : "auto";
  } catch {
    return "auto";
  }
}
