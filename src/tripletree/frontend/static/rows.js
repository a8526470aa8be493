// Tables as they come from a host: packed in one long array, or as lists of rows.
import { rounded } from "./numbers.js";

/**
 * @param {any} table
 * @param {number} columns
 * @returns {ArrayLike<number>[]}
 */
export function rowsOf(table, columns) {
  if (!table) return [];
  if (Array.isArray(table)) return typeof table[0] === "object" ? table : table.map((number) => [number]);
  return Array.from({ length: table.length / columns }, (_, k) => table.subarray(k * columns, (k + 1) * columns));
}

/** The numbers of a list that came packed or not, as a plain array. @param {any} list @returns {number[]} */
export function numbersOf(list) {
  return list ? Array.from(list, (/** @type {any} */ number) => number ?? NaN) : [];
}

/** An action in words: a label, or its numbers. @param {import("./explore.js").App} app @param {any} action */
export function actionText(app, action) {
  const { labels, names } = app.info().action;
  const parts = typeof action === "object" && action !== null ? Array.from(action) : [action];
  if (labels?.length) return String(labels[parts[0]] ?? parts[0]);
  return parts.map((part, k) => `${names[k]} ${rounded(part, 3)}`).join(", ");
}

/** How often two disagree in each leaf of a tree, to be shown on it. @param {string} handle @param {any} answer */
export function disagreeing(handle, answer) {
  return { handle, strength: numbersOf(answer.byLeaf).map((share) => (Number.isFinite(share) ? 1 - share : 0)) };
}
