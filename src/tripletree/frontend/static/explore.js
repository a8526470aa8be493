// The explorer: one page on which a person points at an agent and reads what it does. See types.js for its selection.
import { makeAsker, sentenceOf } from "./asking.js";
import { makeBar } from "./barview.js";
import { addButton } from "./controls.js";
import { add } from "./dom.js";
import { makeBoard } from "./board.js";
import { makeNearby } from "./nearby.js";
import { keepAddress } from "./address.js";
import { makeSide } from "./side.js";
import { makeStore } from "./store.js";
import { watchKeys } from "./shortcuts.js";
import { watchTheme } from "./theme.js";
import { maybeTour } from "./tour.js";
import { treeKeeper } from "./trees.js";
import { firstSelection } from "./first.js";
import { leafAt } from "./tree.js";

/** @typedef {import("./types.js").Host} Host */
/** @typedef {import("./types.js").Selection} Selection */
/** @typedef {import("./types.js").TreeData} TreeData */
/** @typedef {import("./layers.js").Layer} Layer */
/** @typedef {Awaited<ReturnType<typeof mountExplore>>} App */

let mounted = 0;
const MOST_TOLD = 2000; // leaves
const SETTLED = 160; // milliseconds without another size

/**
 * Opens the explorer in a place of a page.
 * @param {HTMLElement} root
 * @param {Host} host
 */
export async function mountExplore(root, host) {
  const id = `tx${mounted++}`;
  root.classList.add("tx", `tx-${host.kind}`);
  root.setAttribute("aria-busy", "true");
  const asker = makeAsker(host);
  const trees = treeKeeper(asker);
  // The first model is always called so: its tree need not wait for the greeting.
  const [hello] = await opened(root, () => Promise.all([asker.ask("hello"), trees.load("a")]));
  const first = firstSelection(hello, trees.get(hello.models[0].model));
  // Slices are all that a file can cut by itself.
  if (host.kind === "report") first.rest = "here";
  const names = hello.models[0].features.map((/** @type {any} */ feature) => feature.name);
  const address = keepAddress(host, first, names);
  const store = makeStore(address.read(), address.write);
  address.listen((/** @type {Selection} */ view) => store.set(view));

  const handleOf = (/** @type {Selection} */ view) => (view.leaves ? `${view.model}/${view.leaves}` : view.model);
  /** @type {Map<string, Layer>} */
  const shown = new Map();
  /** @type {any} */
  let side = null;
  /** @type {any} */
  let board = null;
  let current = trees.get(hello.models[0].model);

  const app = {
    id,
    root,
    host,
    hello,
    store,
    asker,
    first,
    helpId: `${id}-help`,
    names: () => names,
    /** The model that is asked, as `hello` told of it. */
    info: () => hello.models.find((/** @type {any} */ one) => one.model === store.view.model.split("~")[0]) ?? hello.models[0],
    handle: () => handleOf(store.view),
    /** @type {() => TreeData} */
    tree: () => current,
    trees,
    sentence: sentenceOf,
    tint: () => theme.tint(),
    words: () => side?.words() ?? "",
    /** The leaf of the state, while the map shows single leaves. */
    leafShown: () => (names.length > 2 && store.view.rest !== "here" ? [] : [leafAt(current, store.view.state)]),
    layers: () => [...shown.values()],
    /** @param {string} name @param {Layer} layer */
    setLayer(name, layer) {
      if (Object.keys(layer).length) shown.set(name, layer);
      else shown.delete(name);
      board?.drawOver();
    },
    /** What dragging on the map marks, while a panel wants it. @type {null | "from" | "to"} */
    brush: /** @type {null | "from" | "to"} */ (null),
    /** @param {[number, number, number, number] | null} box */
    showBrush: (box) => side?.showBrush(box),
    /** @param {[number, number, number, number]} box @param {boolean} zooms */
    brushed(box, zooms) {
      if (zooms) store.set({ zoom: box });
      else side?.brushed(box);
    },
    /** @param {number[]} state */
    completed: (state) => nearby.completed(state),
    /** @param {number[]} state */
    pick: (state) => store.set(store.view.tab === "ask" || store.view.tab === "agent" || store.view.tab === "compare" ? { state } : { state, ...side.onPick(state) }),
    /** @param {number} episode @param {number} [step] */
    openEpisode: (episode, step = 0) => store.set({ tab: "episodes", episode, step }),
    /** @param {number | null} episode */
    peekEpisode: (episode) => side?.peek(episode),
    /** @param {any} map */
    drawn: (map) => board?.drawn(map),
    taken: () => side?.taken(),
    map: () => board?.main,
    undo: () => store.undo(),
    redraw: () => board?.redraw(),
  };

  const nearby = makeNearby(app);
  const theme = watchTheme(root, () => app.redraw());
  root.replaceChildren();
  add(root, "p", { class: "tx-unseen", id: app.helpId }, "Arrow keys move the state, Shift for larger steps; plus, minus and 0 zoom; question mark for all keys.");
  const bar = makeBar(app, theme);
  const main = add(root, "div", { class: "tx-main" });
  board = makeBoard(app, main);
  side = makeSide(app, main);
  watchKeys(app, side);

  asker.onAway((error) => bar.say(sentenceOf(error), "Try again", () => store.refresh(...Object.keys(store.view), "tree")));
  const inTime = asker.line();
  let waiting = 0;
  /** The tree of the selection, when its slider is still; until it comes, panels ask the old one. */
  function loadTree() {
    const wanted = app.handle();
    if (current.handle === wanted) return;
    const ready = trees.get(wanted);
    if (ready) {
      current = ready;
      store.refresh("tree");
      return;
    }
    clearTimeout(waiting);
    waiting = window.setTimeout(() => fetchTree(wanted), SETTLED);
  }
  /** @param {string} wanted */
  function fetchTree(wanted) {
    inTime(
      "tree",
      { model: wanted },
      (answer) => {
        current = trees.keep(wanted, answer);
        store.refresh("tree");
        factsOf(wanted);
      },
      (error) => {
        bar.say(sentenceOf(error));
        // A tree that is gone, after a restart: back to the one that was given.
        if (error?.kind === "gone") store.set({ model: hello.models[0].model, leaves: null });
      },
    );
  }
  /** @param {string} handle */
  function factsOf(handle) {
    // Writing so many sentences would keep the host from answering; it tells those that are asked for.
    if (current.leaves > MOST_TOLD) return;
    trees.facts(handle).then(
      (tree) => {
        if (handle !== current.handle) return;
        current = tree;
        const { foil, state } = store.view;
        // Nobody chose it yet: then it should ask for something that is not so already.
        if (foil === first.foil && tree.foils[foil]?.support[leafAt(tree, state)] >= 0)
          store.put({ foil: Object.keys(tree.foils).find((name) => tree.foils[name].support[leafAt(tree, state)] < 0) ?? foil });
        store.refresh("facts");
      },
      (/** @type {any} */ error) => bar.say(sentenceOf(error)),
    );
  }

  store.listen((_, changed) => {
    loadTree();
    board.update(changed);
    side.update(changed);
    bar.update();
  });
  loadTree();
  board.update(null);
  // Whoever answers has one thing to do at first.
  await board.main.ready;
  side.update(null);
  bar.update();
  factsOf(current.handle);
  nearby.load();
  root.removeAttribute("aria-busy");
  maybeTour(app);
  return app;
}

/**
 * What is needed before anything can be shown; where it does not come, the page says why and offers to try again.
 * @param {HTMLElement} root
 * @param {() => Promise<any>} ask
 * @returns {Promise<any>}
 */
async function opened(root, ask) {
  try {
    return await ask();
  } catch (error) {
    root.replaceChildren();
    const place = add(root, "div", { class: "tx-opening", role: "alert" });
    add(place, "p", {}, sentenceOf(error));
    await new Promise((resolve) => addButton(place, "Try again", () => resolve(null)));
    return opened(root, ask);
  }
}
