// Four hints for who is here for the first time.
import { addButton } from "./controls.js";
import { add } from "./dom.js";

/** @typedef {import("./explore.js").App} App */

const SEEN = "tripletree-tour";

const CHOOSE = "Choose the features along the map and the colour above it. Pale parts are hardly in the log.";
const [LEAVES, MEANS] = [
  "Every rectangle is a leaf of the tree: a part of the world in which the agent does one thing.",
  "Every place shows what the agent does there, averaged over the features that are not shown. A slice shows the leaves of the tree instead: parts of the world in which it does one thing.",
];

/** @type {[string, string, string][]} */
const HINTS = [
  [".tx-stage", "This is the agent", ""],
  [".tx-side", "Ask about any state", "Click the map or drag the sliders: you read why the tree predicts what it predicts, what would change it, and what recorded episodes did next."],
  [".tx-tabs", "Other ways to look", "Routes from here to there, episodes step by step, the phases as a machine, the size of the tree. All of them show on the same map."],
  [".tx-actions", "Take it with you", "Every view is in the page's address. Here you undo a step, and take away the picture, the sentence or the Python line that gives the same answer."],
];

/** @param {App} app */
export function maybeTour(app) {
  // Only where it can be remembered that it was seen: nobody wants it twice.
  try {
    if (app.host.kind === "report" || localStorage.getItem(SEEN) || navigator.webdriver) return;
    localStorage.setItem(SEEN, "1");
  } catch {
    return;
  }
  startTour(app);
}

/** @param {App} app */
export function startTour(app) {
  let at = 0;
  const box = add(app.root, "div", { class: "tx-tour", role: "dialog", "aria-label": "Hints" });
  const end = () => {
    for (const one of app.root.querySelectorAll(".tx-lit")) one.classList.remove("tx-lit");
    box.remove();
  };
  const show = () => {
    const [selector, title, text] = HINTS[at];
    for (const one of app.root.querySelectorAll(".tx-lit")) one.classList.remove("tx-lit");
    const lit = app.root.querySelector(selector);
    lit?.classList.add("tx-lit");
    box.replaceChildren();
    add(box, "p", { class: "tx-hint" }, `${at + 1} of ${HINTS.length}`);
    add(box, "h2", {}, title);
    add(box, "p", {}, text || `${app.names().length > 2 ? MEANS : LEAVES} ${CHOOSE}`);
    const ends = add(box, "div", { class: "tx-ends" });
    addButton(ends, "Skip", end, { class: "tx-quiet" });
    const next = addButton(ends, at + 1 < HINTS.length ? "Next" : "Done", () => (++at < HINTS.length ? show() : end()), { class: "tx-main-button" });
    beside(box, lit, app.root);
    next.focus();
  };
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    end();
    event.stopPropagation();
  });
  show();
}

// In the middle of what it is about, as far as there is room.
/** @param {HTMLElement} box @param {Element | null} lit @param {HTMLElement} root */
function beside(box, lit, root) {
  const outer = root.getBoundingClientRect();
  const inner = lit?.getBoundingClientRect() ?? outer;
  const [wide, high] = [box.offsetWidth, box.offsetHeight];
  const fits = (/** @type {number} */ at, /** @type {number} */ size, /** @type {number} */ room) => Math.max(8, Math.min(at, room - size - 8));
  const below = inner.height > 300 ? inner.top - outer.top + inner.height / 2 - high / 2 : inner.bottom - outer.top + 12;
  box.style.left = `${fits(inner.left - outer.left + inner.width / 2 - wide / 2, wide, outer.width)}px`;
  box.style.top = `${fits(below, high, Math.max(outer.height, high + 16))}px`;
}
