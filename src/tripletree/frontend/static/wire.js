// What goes over the wire between a page and whoever answers it: questions, answers with typed arrays, and errors.
import { fromBase64 } from "./bytes.js";

const TYPES = { f4: Float32Array, f8: Float64Array, i4: Int32Array, u1: Uint8Array };

// Why a question has no answer; `text` is a sentence to show.
export class AskError extends Error {
  /**
   * @param {string} kind "mistake", "needs", "gone", "cancelled", "fault", "broken" or "away"
   * @param {string} text
   * @param {string} [needs] what is missing: "log", "agent", "second", "library" or "server"
   */
  constructor(kind, text, needs = "") {
    super(text);
    this.name = "AskError";
    this.kind = kind;
    this.text = text;
    this.needs = needs;
  }
}

// An answer in which large arrays, sent as their bytes, are typed arrays with a shape.
/** @param {any} value @returns {any} */
export function unpackAnswer(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(unpackAnswer);
  if (typeof value.dtype === "string" && typeof value.data === "string" && value.dtype in TYPES) {
    const Type = TYPES[/** @type {keyof typeof TYPES} */ (value.dtype)];
    return Object.assign(new Type(fromBase64(value.data).buffer), { shape: value.shape });
  }
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unpackAnswer(part)]));
}

// A host out of a function that sends a body and brings back the reply to it.
/**
 * @param {"server" | "notebook"} kind
 * @param {(body: object, signal?: AbortSignal) => Promise<any>} send
 */
export function makeHost(kind, send) {
  const read = (/** @type {any} */ reply) => {
    if (reply.error) return new AskError(reply.error.kind, reply.error.text, reply.error.needs);
    return unpackAnswer(reply.answer);
  };
  return {
    kind,
    /** @param {string} question @param {Record<string, any>} [args] @param {AbortSignal} [signal] */
    async ask(question, args = {}, signal) {
      const answer = read(await send({ question, args }, signal));
      if (answer instanceof AskError) throw answer;
      return answer;
    },
    // Several questions at once; each has its answer or its error.
    /** @param {[string, Record<string, any>][]} list @param {AbortSignal} [signal] */
    async asks(list, signal) {
      const reply = await send({ batch: list.map(([question, args]) => ({ question, args })) }, signal);
      if (reply.error) throw read(reply);
      return reply.batch.map(read);
    },
  };
}
