// Draws the marks of a scene, as `tripletree.scenes` computed them, with any pen.

/** @typedef {import("./types.js").Pen} Pen */
/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").SceneInfo} SceneInfo */
/** @typedef {{ink: string, soft: string, paper: string}} Tint */

const POINT = 4 / 3; // pixels in a point of length

/**
 * @param {Pen} pen
 * @param {SceneInfo & {palette?: string[]}} scene
 * @param {Frame} frame
 * @param {Tint} tint
 * @param {number} [sharp] device pixels in a pixel
 */
export function drawMarks(pen, scene, frame, tint, sharp = 1) {
  const { left, right, top, floor } = frame;
  pen.within(left, top, right - left, floor - top, () => {
    for (const mark of scene.marks) {
      const draw = DRAWN[/** @type {keyof DRAWN} */ (mark.type)];
      draw?.(pen, mark, frame, tint, scene.palette ?? [], sharp);
    }
  });
}

/** @typedef {(pen: Pen, mark: any, frame: Frame, tint: Tint, palette: string[], sharp: number) => void} Drawing */

/** @type {Drawing} */
function drawRectangles(pen, mark, { px, py, left, right, top, floor }, _tint, palette) {
  const { x0, x1, y0, y1, code } = mark;
  const edges = [];
  for (let k = 0; k < x0.length; k++) {
    const [a, b, c, d] = [px(x0[k]), px(x1[k]), py(y1[k]), py(y0[k])];
    if (b < left || a > right || d < top || c > floor) continue;
    const fill = code ? palette[code[k]] : mark.fill;
    const faint = mark.faint?.[k];
    if (fill) pen.rect(a, c, b - a, d - c, { fill, opacity: faint ? 0.22 : mark.opacity });
    if (mark.edge) edges.push(`M${tenth(a)} ${tenth(c)}H${tenth(b)}V${tenth(d)}H${tenth(a)}z`);
  }
  if (!edges.length) return;
  // All sides as one path: thousands of single strokes would be slow.
  const width = mark.edge_width * POINT;
  pen.path(edges.join(""), { stroke: mark.edge, width, opacity: fillsWell(mark) ? 0.55 : 1, dash: mark.dashed ? [4, 3] : [] });
}

const fillsWell = (/** @type {any} */ mark) => Boolean(mark.code || mark.fill);
const tenth = (/** @type {number} */ at) => Math.round(at * 10) / 10;

// Which cell each pixel of a row or column lies in; -1 beside the grid.
/** @param {ArrayLike<number>} edges @param {number} from @param {number} to @param {number} pixels */
function cellsAlong(edges, from, to, pixels) {
  const cells = new Int32Array(pixels).fill(-1);
  let cell = 0;
  const last = edges.length - 1;
  for (let k = 0; k < pixels; k++) {
    const value = from + ((k + 0.5) / pixels) * (to - from);
    if (value < edges[0] || value > edges[last]) continue;
    while (cell < last - 1 && value >= edges[cell + 1]) cell++;
    cells[k] = cell;
  }
  return cells;
}

/** @param {string} colour @returns {[number, number, number]} */
export function partsOf(colour) {
  const number = parseInt(colour.slice(1, 7), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

/**
 * A grid as an image: the colour of each pixel by the cell that it lies in.
 * @param {Pen} pen
 * @param {any} mark
 * @param {Frame} frame
 * @param {number} sharp
 * @param {Uint32Array} colours of the cells, one row after the other
 */
function drawGrid(pen, mark, { left, right, top, floor, xs, ys }, sharp, colours) {
  const columns = Math.max(1, Math.round((right - left) * sharp));
  const rows = Math.max(1, Math.round((floor - top) * sharp));
  const across = cellsAlong(mark.x, xs[0], xs[1], columns);
  const up = cellsAlong(mark.y, ys[0], ys[1], rows);
  const wide = mark.x.length - 1;
  const pixels = new Uint32Array(columns * rows);
  let before = -1;
  for (let row = 0; row < rows; row++) {
    const line = up[rows - 1 - row];
    if (line < 0) continue;
    const start = row * columns;
    // Rows within one cell are the same.
    if (line === before) {
      pixels.copyWithin(start, start - columns, start);
      continue;
    }
    before = line;
    const first = line * wide;
    for (let column = 0; column < columns; column++) if (across[column] >= 0) pixels[start + column] = colours[first + across[column]];
  }
  pen.image(left, top, right - left, floor - top, new Uint8ClampedArray(pixels.buffer), columns, rows);
}

// Little-endian, as all machines with a browser are: red is the lowest byte.
/** @param {string} colour @param {number} alpha */
const pixelOf = (colour, alpha) => {
  const [red, green, blue] = partsOf(colour);
  return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
};

/** @type {Drawing} */
function drawMesh(pen, mark, frame, _tint, palette, sharp) {
  const shades = palette.map((colour) => pixelOf(colour, 255));
  drawGrid(pen, mark, frame, sharp, Uint32Array.from(flatOf(mark.code), (code) => shades[code] ?? 0));
}

/** @type {Drawing} */
function drawVeilMark(pen, mark, frame, tint, _palette, sharp) {
  const pale = pixelOf(tint.paper, Math.round(255 * mark.opacity));
  drawGrid(pen, mark, frame, sharp, Uint32Array.from(flatOf(mark.hidden), (hidden) => (hidden ? pale : 0)));
}

// A grid that came packed (one long array) or as lists of rows, as one list.
/** @param {any} grid @returns {ArrayLike<number>} */
export function flatOf(grid) {
  return Array.isArray(grid) ? grid.flat() : grid;
}

/** @type {Drawing} */
function drawArrows(pen, mark, { px, py }) {
  const stretch = mark.stretch;
  let path = "";
  for (let k = 0; k < mark.x.length; k++) {
    const [dx, dy] = [mark.dx[k] * stretch, mark.dy[k] * stretch];
    if (!Number.isFinite(dx) || !Number.isFinite(dy)) continue;
    const back = mark.centred ? 0.5 : 0;
    const [a, b] = [px(mark.x[k] - back * dx), py(mark.y[k] - back * dy)];
    const [c, d] = [px(mark.x[k] + (1 - back) * dx), py(mark.y[k] + (1 - back) * dy)];
    path += arrowPath(a, b, c, d);
  }
  pen.path(path, { stroke: mark.colour, width: Math.max(mark.width * POINT, 0.8) });
}

/**
 * A line with a head, which is small where the arrow is short.
 * @param {number} a @param {number} b @param {number} c @param {number} d @param {number} [most]
 */
export function arrowPath(a, b, c, d, most = 5) {
  const length = Math.hypot(c - a, d - b);
  if (length < 1) return "";
  const head = Math.min(most, 0.4 * length) / length;
  const [ux, uy] = [(c - a) * head, (d - b) * head];
  const left = `${tenth(c - ux - 0.5 * uy)} ${tenth(d - uy + 0.5 * ux)}`;
  const right = `${tenth(c - ux + 0.5 * uy)} ${tenth(d - uy - 0.5 * ux)}`;
  return `M${tenth(a)} ${tenth(b)}L${tenth(c)} ${tenth(d)}M${left}L${tenth(c)} ${tenth(d)}L${right}`;
}

/** @type {Drawing} */
function drawLines(pen, mark, { px, py }) {
  mark.points.forEach((/** @type {any} */ points, /** @type {number} */ k) => {
    let path = "";
    let pending = true;
    eachPair(points, (x, y) => {
      const known = Number.isFinite(x) && Number.isFinite(y) && x !== null && y !== null;
      if (known) path += `${pending ? "M" : "L"}${tenth(px(x))} ${tenth(py(y))}`;
      pending = !known;
    });
    const width = (typeof mark.width === "number" ? mark.width : mark.width[k]) * POINT;
    const opacity = mark.opacity ? mark.opacity[k] : 1;
    pen.path(path, { stroke: mark.colour, width, opacity, dash: mark.dashed ? [5, 4] : [] });
  });
}

/**
 * Calls a function with every point of a line that came packed or as pairs.
 * @param {any} points
 * @param {(x: number, y: number) => void} call
 */
export function eachPair(points, call) {
  if (Array.isArray(points)) points.forEach(([x, y]) => call(x ?? NaN, y ?? NaN));
  else for (let k = 0; k < points.length; k += 2) call(points[k], points[k + 1]);
}

/** @type {Drawing} */
function drawBand(pen, mark, { px, py }) {
  const there = Array.from(mark.x, (x, k) => `${tenth(px(/** @type {number} */ (x)))} ${tenth(py(mark.high[k]))}`);
  const back = Array.from(mark.x, (x, k) => `${tenth(px(/** @type {number} */ (x)))} ${tenth(py(mark.low[k]))}`).reverse();
  if (there.length) pen.path(`M${there.join("L")}L${back.join("L")}z`, { fill: mark.colour, opacity: mark.opacity });
}

/** @type {Drawing} */
function drawPoints(pen, mark, { px, py }, _tint, palette) {
  for (let k = 0; k < mark.x.length; k++) {
    const size = typeof mark.size === "number" ? mark.size : mark.size[k];
    const fill = mark.code ? palette[mark.code[k]] : mark.colour;
    pen.disc(px(mark.x[k]), py(mark.y[k]), (size * POINT) / 2, { fill, stroke: mark.edge ?? undefined, opacity: mark.opacity });
  }
}

/** @type {Drawing} */
function drawLabels(pen, mark, { px, py }) {
  mark.text.forEach((/** @type {string} */ text, /** @type {number} */ k) => {
    const align = mark.align === "center" ? "middle" : mark.align === "right" ? "end" : "start";
    const halo = mark.framed ? "#ffffffcc" : undefined;
    pen.text(px(mark.x[k]), py(mark.y[k]) + 4, text, { size: Math.max(mark.size * POINT, 9), fill: mark.colour, align, halo });
  });
}

const DRAWN = {
  rectangles: drawRectangles,
  mesh: drawMesh,
  veil: drawVeilMark,
  arrows: drawArrows,
  lines: drawLines,
  band: drawBand,
  points: drawPoints,
  labels: drawLabels,
};
