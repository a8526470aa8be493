// Small controls that several panels share: choosers, rows of buttons, sliders with a number, and empty states.
import { add, onAPage } from "./dom.js";

/**
 * @param {HTMLElement} place
 * @param {string} label
 * @param {[string, string][]} options value and text
 * @param {(value: string) => void} change
 */
export function chooser(place, label, options, change) {
  const box = add(place, "label", { class: "tx-chooser" });
  add(box, "span", {}, label);
  const select = /** @type {HTMLSelectElement} */ (add(box, "select"));
  const fill = (/** @type {[string, string][]} */ list) => {
    const chosen = select.value;
    select.replaceChildren();
    for (const [value, text] of list) add(select, "option", { value }, text);
    if (list.some(([value]) => value === chosen)) select.value = chosen;
  };
  fill(options);
  select.addEventListener("change", () => change(select.value));
  return { select, fill };
}

/**
 * Buttons of which one is chosen.
 * @param {HTMLElement} place
 * @param {string} label
 * @param {[string, string, string][]} options value, text and what it means
 * @param {(value: string) => void} change
 */
export function segments(place, label, options, change) {
  const group = add(place, "div", { class: "tx-segments", role: "group", "aria-label": label });
  const buttons = options.map(([value, text, title]) => {
    const button = add(group, "button", { type: "button", title, "aria-pressed": "false" }, text);
    button.addEventListener("click", () => change(value));
    return /** @type {[string, HTMLElement]} */ ([value, button]);
  });
  const choose = (/** @type {string} */ chosen) => {
    for (const [value, button] of buttons) button.setAttribute("aria-pressed", String(value === chosen));
  };
  return { group, choose };
}

/**
 * @param {HTMLElement} place @param {string} text @param {() => void} act @param {Record<string, any>} [attributes]
 * @returns {HTMLButtonElement}
 */
export function addButton(place, text, act, attributes = {}) {
  const button = /** @type {HTMLButtonElement} */ (add(place, "button", { type: "button", ...attributes }, text));
  button.addEventListener("click", act);
  return button;
}

/**
 * Replaces what a place says, only if it says something else: a reader of the screen would hear it again.
 * @param {HTMLElement} place @param {string} text
 */
export function sayIn(place, text) {
  const shown = onAPage(text);
  if (place.textContent !== shown) place.textContent = shown;
}

/** @param {HTMLElement} place @param {string} heading @param {string} [hint] */
export function card(place, heading, hint = "") {
  const box = add(place, "section", { class: "tx-card" });
  const head = add(box, "header");
  const title = add(head, "h3", {}, heading);
  if (hint) add(head, "p", { class: "tx-hint" }, hint);
  const body = add(box, "div", { class: "tx-body" });
  return { box, head, title, body };
}

/** @param {HTMLElement} place @param {string} text @param {string} [kind] */
export function emptyState(place, text, kind = "tx-empty") {
  place.replaceChildren();
  return add(place, "p", { class: kind }, text);
}

/** A share as people write it: "44 %". @param {number} share */
export function percent(share) {
  const number = 100 * share;
  if (number > 0 && number < 0.05) return "< 0.1 %";
  const digits = number !== 0 && number < 10 && Math.abs(number - Math.round(number)) > 0.05 ? 1 : 0;
  return `${number.toFixed(digits)} %`;
}

/** @param {number} number @param {string} one @param {string} [many] */
export function counted(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/**
 * A bar with a whisker: a share and its interval.
 * @param {HTMLElement} place @param {number} share @param {[number, number] | null} interval
 */
export function shareBar(place, share, interval) {
  const bar = add(place, "span", { class: "tx-share", "aria-hidden": "true" });
  add(bar, "span", { class: "tx-fill" }).style.width = `${100 * share}%`;
  if (interval) {
    const whisker = add(bar, "span", { class: "tx-whisker" });
    whisker.style.left = `${100 * interval[0]}%`;
    whisker.style.width = `${100 * (interval[1] - interval[0])}%`;
  }
  return bar;
}
