// Asks a host: what is known is not asked again, one question of a kind is under way, and only the newest one waits.

/** @typedef {import("./types.js").Host} Host */

const MOST_KEPT = 300;

/** @param {Host} host */
export function makeAsker(host) {
  /** @type {Map<string, Promise<any>>} */
  const kept = new Map();
  /** @type {(error: any) => void} */
  let away = () => {};

  /**
   * A handle means the same tree for as long as its host lives, so an answer is good for ever.
   * @param {string} question @param {Record<string, any>} [args]
   * @returns {Promise<any>}
   */
  function ask(question, args = {}) {
    const key = `${question} ${JSON.stringify(args)}`;
    const known = kept.get(key);
    if (known) {
      // Used last, forgotten last.
      kept.delete(key);
      kept.set(key, known);
      return known;
    }
    const answer = host.ask(question, args);
    kept.set(key, answer);
    answer.catch((error) => {
      kept.delete(key);
      if (error?.kind === "away") away(error);
    });
    if (kept.size > MOST_KEPT) kept.delete(/** @type {string} */ (kept.keys().next().value));
    return answer;
  }

  /**
   * A line on which only the newest question counts: `then` gets its answer, `sorry` its error; those of older ones are
   * dropped, and those that were not sent yet are never sent.
   */
  function line() {
    let turn = 0;
    let busy = false;
    /** @type {(() => void) | null} */
    let next = null;
    /**
     * @param {string} question @param {Record<string, any>} args
     * @param {(answer: any) => void} then @param {(error: any) => void} [sorry]
     */
    function send(question, args, then, sorry = () => {}) {
      const mine = ++turn;
      const go = () => {
        busy = true;
        ask(question, args)
          .then(
            (answer) => mine === turn && then(answer),
            (error) => mine === turn && sorry(error),
          )
          .finally(() => {
            busy = false;
            const waiting = next;
            next = null;
            waiting?.();
          });
      };
      if (busy) next = go;
      else go();
    }
    /** Nothing that is under way counts any more. */
    send.drop = () => {
      turn++;
      next = null;
    };
    return send;
  }

  /**
   * Waits for a job of the host, and tells how far it is.
   * @param {string} question @param {Record<string, any>} args
   * @param {(progress: any) => void} tell
   * @param {AbortSignal} [signal]
   */
  async function job(question, args, tell, signal) {
    const { job: name } = await host.ask(question, args);
    for (;;) {
      const progress = await host.ask(signal?.aborted ? "cancel" : "progress", { job: name });
      tell(progress);
      if (progress.state === "done") return progress.answer;
      if (progress.state === "failed") throw progress.error ?? { text: progress.text };
      if (progress.state === "cancelled") return null;
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  }

  /** Calls a function when the host does not answer at all. @param {(error: any) => void} call */
  const onAway = (call) => {
    away = call;
  };
  return { ask, line, job, onAway };
}

/** @typedef {ReturnType<typeof makeAsker>} Asker */

/** What went wrong, as a sentence. @param {any} error @returns {string} */
export function sentenceOf(error) {
  return error?.text ?? error?.message ?? String(error);
}
