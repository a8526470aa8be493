// Recorded states behind the map: it shows two features of many, and a click should ask about a state that there is.

/** @typedef {import("./explore.js").App} App */

/** @param {App} app */
export function makeNearby(app) {
  /** All features of one state after the other. @type {ArrayLike<number>} */
  let states = [];
  return {
    /** Fetches the states, where the host has any. */
    load() {
      const keep = (/** @type {any} */ answer) => (states = answer.states.shape ? answer.states : answer.states.flat());
      app.asker.ask("recorded", { model: app.hello.models[0].model }).then(keep, () => {});
    },
    /**
     * A state with the other features of the recorded one that is nearest to it on the map; those that are held stay, and
     * so do all of them where the map is a slice.
     * @param {number[]} state
     * @returns {number[]}
     */
    completed(state) {
      const { view } = app.store;
      const width = state.length;
      if (view.rest === "here" || width <= 2) return state;
      const { features } = app.tree();
      const axes = [...new Set([view.x, view.y])];
      const limits = view.rest === "within" ? Object.entries(view.limits).map(([name, [low, high]]) => ({ f: app.names().indexOf(name), low, high })) : [];
      let best = -1;
      let least = Infinity;
      for (let begin = 0; begin < states.length; begin += width) {
        if (limits.some(({ f, low, high }) => states[begin + f] < low || states[begin + f] >= high)) continue;
        let away = 0;
        for (const f of axes) away += ((states[begin + f] - state[f]) / (features[f].span || 1)) ** 2;
        if (away < least) [best, least] = [begin, away];
      }
      if (best < 0) return state;
      return state.map((value, f) => (axes.includes(f) || view.fixed.includes(app.names()[f]) ? value : states[best + f]));
    },
  };
}
