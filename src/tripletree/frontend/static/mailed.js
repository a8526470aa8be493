// The explorer in a file that was mailed: answers are computed in it, or were frozen when it was written.
import { fromBase64 } from "./bytes.js";
import { mountExplore } from "./explore.js";
import { AskError, unpackAnswer } from "./wire.js";

const NOT_HERE =
  "This file has what was frozen when it was written, and what can be computed in it. For anything else open the model: tripletree explore MODEL --log LOG.";

/** @param {any} value @returns {string} */
function inOrder(value) {
  if (value === null || typeof value !== "object") return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map(inOrder).join()}]`;
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${inOrder(value[name])}`).join()}}`;
}

// Rows of the list of episodes in the order that is asked for: all of them are here.
/** @param {any} list @param {Record<string, any>} args */
function arranged(list, args) {
  const by = { id: "id", return: "return", length: "length", outcome: "outcome", ending: "ending" }[String(args.sort)] ?? "episode";
  const sign = args.descending ? -1 : 1;
  const rows = [...list.rows].sort((a, b) => sign * (a[by] < b[by] ? -1 : a[by] > b[by] ? 1 : 0));
  const first = args.first ?? 0;
  return { ...list, first, rows: rows.slice(first, first + (args.count ?? 100)) };
}

/** @param {string} text what was frozen: JSON, gzipped, in base64 */
async function frozenHost(text) {
  const bytes = fromBase64(text.trim());
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { answers, defaults } = await new Response(stream).json();
  // What is left out, or is what it would be anyway, makes no other question.
  const keyOf = (/** @type {string} */ question, /** @type {Record<string, any>} */ args) => {
    const usual = defaults[question] ?? {};
    const told = Object.entries(args).filter(([name, value]) => inOrder(value) !== inOrder(usual[name]));
    return `${question} ${inOrder(Object.fromEntries(told))}`;
  };
  const known = new Map(answers.map((/** @type {any} */ one) => [keyOf(one.question, one.args), one.answer]));
  const list = answers.find((/** @type {any} */ one) => one.question === "episodes")?.answer;
  /** @param {string} question @param {Record<string, any>} [args] */
  async function ask(question, args = {}) {
    if (question === "episodes" && list && !args.given && !args.success && !args.spark) return arranged(list, args);
    const answer = known.get(keyOf(question, args));
    if (answer === undefined) throw new AskError("needs", NOT_HERE, "server");
    return unpackAnswer(answer);
  }
  return { kind: /** @type {"report"} */ ("report"), ask };
}

const mailed = document.getElementById("explore");
mailed?.classList.add("tx-server"); // as wide and as high as the window, like a page of the server
frozenHost(document.getElementById("frozen")?.textContent ?? "").then((host) => mailed && mountExplore(mailed, host));
