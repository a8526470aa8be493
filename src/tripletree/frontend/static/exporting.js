// What can be taken away: the picture, the sentence, the data, the Python line, the address, a report.
import { addButton } from "./controls.js";
import { add } from "./dom.js";
import { drawFrame, makeFrame } from "./frames.js";
import { mapArgs } from "./mapview.js";
import { drawMarks } from "./marks.js";
import { svgPen } from "./pens.js";

/** @typedef {import("./explore.js").App} App */

/** @param {App} app @param {HTMLElement} place */
export function makeExports(app, place) {
  const menu = /** @type {HTMLDetailsElement} */ (add(place, "details", { class: "tx-exports" }));
  add(menu, "summary", { class: "tx-quiet", title: "Take something away (E)" }, "Export");
  const list = add(menu, "div", { class: "tx-menu" });
  const said = add(list, "p", { class: "tx-hint", role: "status" });
  const say = (/** @type {string} */ text) => (said.textContent = text);
  const name = () => app.hello.title.replace(/[^\w.-]+/g, "-").toLowerCase() || "tripletree";

  addButton(list, "Picture of the map, SVG", () => {
    save(`${name()}.svg`, new Blob([pictureOf(app)], { type: "image/svg+xml" }));
    say("Saved the map as SVG.");
  });
  addButton(list, "Picture of the map, PNG", async () => {
    save(`${name()}.png`, await painted(pictureOf(app)));
    say("Saved the map as PNG.");
  });
  addButton(list, "Copy the sentences", () => copy(app.taken().text, say, "Copied the sentences."));
  addButton(list, "Copy the Python lines", async () => {
    // A map that was made here has no line yet; a file that was mailed knows none.
    const map = await app.asker.ask("map", { model: app.handle(), ...mapArgs(app) }).catch(() => ({}));
    const lines = [...(app.hello.setup ?? []), map.python, app.taken().python].filter(Boolean);
    await copy(lines.join("\n"), say, "Copied the Python lines.");
  });
  addButton(list, "Answers as JSON", () => {
    const data = { view: app.store.view, answer: app.taken().data };
    save(`${name()}.json`, new Blob([JSON.stringify(data, null, 2)], { type: "application/json" }));
    say("Saved the answers as JSON.");
  });
  if (app.host.kind === "server") addButton(list, "Copy the address of this view", () => copy(window.location.href, say, "Copied the address. It works while this server runs."));
  if (app.host.kind !== "report") {
    const report = addButton(list, "Save as a report", async () => {
      report.disabled = true;
      try {
        const answer = await app.asker.job("report", { model: app.handle() }, (progress) => say(progress.text || "Writing the report …"));
        if (answer) save(answer.name, new Blob([answer.html], { type: "text/html" }));
        say(answer ? "Saved the report: one file that can be mailed." : "Cancelled.");
      } catch (error) {
        say(app.sentence(error));
      }
      report.disabled = false;
    });
  }
  menu.addEventListener("toggle", () => menu.open && say(""));
  // Elsewhere closes it.
  document.addEventListener("pointerdown", (event) => {
    if (menu.open && !menu.contains(/** @type {Node} */ (event.target))) menu.open = false;
  });
}

/** The map as an SVG file, with what lies above it. @param {App} app @returns {string} */
export function pictureOf(app) {
  const map = app.map();
  const { clientWidth: width, clientHeight: height } = map.stage;
  const tint = app.tint();
  const [head, foot] = [44, 46];
  const { pen, file } = svgPen(width, height + head + foot, tint.paper);
  const { scene } = map;
  const frame = shifted(makeFrame(width, height, scene.x, scene.y, app.store.view.zoom), head);
  pen.text(frame.left, 20, scene.title, { size: 15, fill: tint.ink, weight: 600 });
  pen.text(frame.left, 38, [scene.subtitle, scene.note].filter(Boolean).join(" · "), { size: 11, fill: tint.soft });
  drawMarks(pen, scene, frame, tint, 2);
  drawFrame(pen, frame, tint);
  paintLegend(pen, scene, frame.left, height + head + 12, width - frame.left - 14, tint);
  const over = dressedCopy(map.svg);
  const inner = `<svg y="${head}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${over}</svg>`;
  return file().replace(/<\/svg>\n$/, `${inner}</svg>\n`);
}

/**
 * What the colours mean, below the map.
 * @param {import("./types.js").Pen} pen @param {any} scene @param {number} left @param {number} top @param {number} room
 * @param {{ink: string, soft: string}} tint
 */
function paintLegend(pen, scene, left, top, room, tint) {
  if (scene.bar) {
    const { palette, bar } = scene;
    const from = left + 7 * bar.label.length + 14;
    const wide = Math.max(60, Math.min(260, left + room - from - 20)) / palette.length;
    pen.text(left, top + 9, bar.label, { size: 11, fill: tint.ink });
    palette.forEach((/** @type {string} */ fill, /** @type {number} */ k) => pen.rect(from + k * wide, top, wide + 0.5, 9, { fill }));
    for (const [share, text] of bar.ticks) pen.text(from + share * wide * palette.length, top + 22, text, { size: 10, fill: tint.ink, align: "middle" });
    return;
  }
  let [x, y] = [left, top];
  for (const [text, fill] of scene.entries ?? []) {
    const wide = 24 + 6.5 * text.length;
    if (x + wide > left + room && x > left) [x, y] = [left, y + 16];
    pen.rect(x, y, 10, 10, { fill });
    pen.text(x + 15, y + 9, text, { size: 11, fill: tint.ink });
    x += wide;
  }
}

/** @param {any} frame @param {number} down */
function shifted(frame, down) {
  return { ...frame, top: frame.top + down, floor: frame.floor + down, height: frame.height + down, py: (/** @type {number} */ value) => frame.py(value) + down };
}

const KEPT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "visibility", "font-size", "paint-order", "stroke-linejoin"];

// What lies above the map, with its style written out: a file has no style sheet.
/** @param {SVGElement} svg */
function dressedCopy(svg) {
  const copied = /** @type {SVGElement} */ (svg.cloneNode(true));
  const [from, to] = [svg, copied].map((root) => [...root.querySelectorAll("path, rect, circle, text, line")]);
  from.forEach((element, k) => {
    const style = getComputedStyle(element);
    for (const name of KEPT) to[k].setAttribute(name, style.getPropertyValue(name));
  });
  return new XMLSerializer().serializeToString(copied).replace(/^<svg[^>]*>|<\/svg>$/g, "");
}

/** @param {string} svg @returns {Promise<Blob>} */
async function painted(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const sheet = document.createElement("canvas");
  [sheet.width, sheet.height] = [2 * image.width, 2 * image.height];
  /** @type {CanvasRenderingContext2D} */ (sheet.getContext("2d")).drawImage(image, 0, 0, sheet.width, sheet.height);
  return new Promise((resolve, reject) => sheet.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture is too large."))), "image/png"));
}

/** @param {string} file @param {Blob} blob */
function save(file, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** @param {string} text @param {(text: string) => void} say @param {string} done */
async function copy(text, say, done) {
  try {
    await navigator.clipboard.writeText(text);
    say(done);
  } catch {
    say("The browser does not allow copying here.");
  }
}
