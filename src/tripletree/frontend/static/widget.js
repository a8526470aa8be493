// The explorer in a cell of a notebook: questions go to Python as messages of the widget.
import { mountExplore } from "./explore.js";
import { AskError, makeHost } from "./wire.js";

const GONE = "Python does not answer: the kernel was stopped or is busy. Run the cell again.";
const PATIENCE = 120_000; // milliseconds

/** @param {{model: any, el: HTMLElement}} widget */
function render({ model, el }) {
  const waiting = new Map();
  let number = 0;
  const heard = (/** @type {any} */ message) => {
    waiting.get(message.id)?.(JSON.parse(message.reply));
    waiting.delete(message.id);
  };
  model.on("msg:custom", heard);
  const send = (/** @type {object} */ body, /** @type {AbortSignal | undefined} */ signal) =>
    new Promise((resolve, reject) => {
      const id = `${Date.now()}-${number++}`;
      const over = setTimeout(() => forget(new AskError("away", GONE)), PATIENCE);
      const stopped = () => forget(new AskError("cancelled", "Stopped."));
      const forget = (/** @type {AskError} */ error) => {
        waiting.delete(id);
        clearTimeout(over);
        signal?.removeEventListener("abort", stopped);
        reject(error);
      };
      signal?.addEventListener("abort", stopped);
      waiting.set(id, (/** @type {any} */ reply) => {
        clearTimeout(over);
        signal?.removeEventListener("abort", stopped);
        resolve(reply);
      });
      model.send({ id, body });
    });
  const host = {
    ...makeHost("notebook", send),
    recall: () => model.get("selection"),
    remember: (/** @type {string} */ text) => {
      model.set("selection", text);
      model.save_changes();
    },
  };
  const place = document.createElement("div");
  place.className = "tx-cell";
  place.style.height = `${model.get("height")}px`;
  el.append(place);
  mountExplore(place, host);
  return () => model.off("msg:custom", heard);
}

export default { render };
