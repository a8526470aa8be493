// The explorer on a page of the local server: questions go to the address that the page itself came from.
import { mountExplore } from "./explore.js";
import { AskError, makeHost } from "./wire.js";

const AWAY = "The server does not answer: it was stopped, or started again with another address. Start it again.";

/** @param {object} body @param {AbortSignal} [signal] */
async function post(body, signal) {
  let response;
  try {
    response = await fetch("ask", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
    return await response.json();
  } catch (error) {
    if (signal?.aborted) throw new AskError("cancelled", "Stopped.");
    if (response && !response.ok) throw new AskError("broken", `The server refused this (${response.status}).`);
    throw new AskError("away", AWAY);
  }
}

const page = document.getElementById("explore");
if (page) mountExplore(page, makeHost("server", post));
