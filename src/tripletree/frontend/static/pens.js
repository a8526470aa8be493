// What pictures are drawn with: the same strokes on a canvas for the screen, and in an SVG file to keep.

/** @typedef {import("./types.js").Pen} Pen */
/** @typedef {import("./types.js").Style} Style */
/** @typedef {import("./types.js").Lettering} Lettering */

export const LETTERS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif';

/**
 * @param {CanvasRenderingContext2D} context
 * @returns {Pen}
 */
export function canvasPen(context) {
  /** @param {Style} style @param {() => void} fill @param {() => void} stroke */
  const inked = (style, fill, stroke) => {
    context.globalAlpha = style.opacity ?? 1;
    if (style.fill) {
      context.fillStyle = style.fill;
      fill();
    }
    if (style.stroke) {
      context.strokeStyle = style.stroke;
      context.lineWidth = style.width ?? 1;
      context.setLineDash(style.dash ?? []);
      stroke();
    }
    context.globalAlpha = 1;
  };
  return {
    rect(x, y, w, h, style) {
      inked(
        style,
        () => context.fillRect(x, y, w, h),
        () => context.strokeRect(x, y, w, h),
      );
    },
    path(d, style) {
      const path = new Path2D(d);
      context.lineJoin = context.lineCap = "round";
      inked(
        style,
        () => context.fill(path),
        () => context.stroke(path),
      );
    },
    disc(x, y, r, style) {
      context.beginPath();
      context.arc(x, y, r, 0, 2 * Math.PI);
      inked(
        style,
        () => context.fill(),
        () => context.stroke(),
      );
    },
    text(x, y, text, { size = 12, fill = "#000", align = "start", turn = 0, halo, weight = 400 }) {
      context.save();
      context.translate(x, y);
      context.rotate((turn * Math.PI) / 180);
      context.font = `${weight} ${size}px ${LETTERS}`;
      context.textAlign = align === "middle" ? "center" : align === "end" ? "right" : "left";
      if (halo) {
        context.strokeStyle = halo;
        context.lineWidth = 3;
        context.lineJoin = "round";
        context.strokeText(text, 0, 0);
      }
      context.fillStyle = fill;
      context.fillText(text, 0, 0);
      context.restore();
    },
    image(x, y, w, h, rgba, columns, rows) {
      context.imageSmoothingEnabled = false;
      context.drawImage(asCanvas(rgba, columns, rows), x, y, w, h);
    },
    within(x, y, w, h, draw) {
      context.save();
      context.beginPath();
      context.rect(x, y, w, h);
      context.clip();
      draw();
      context.restore();
    },
  };
}

/** @param {Uint8ClampedArray} rgba @param {number} columns @param {number} rows */
function asCanvas(rgba, columns, rows) {
  const sheet = document.createElement("canvas");
  sheet.width = columns;
  sheet.height = rows;
  const pixels = new ImageData(/** @type {Uint8ClampedArray<ArrayBuffer>} */ (rgba), columns, rows);
  /** @type {CanvasRenderingContext2D} */ (sheet.getContext("2d")).putImageData(pixels, 0, 0);
  return sheet;
}

/**
 * A pen that writes SVG; `file()` gives the whole of it.
 * @param {number} width
 * @param {number} height
 * @param {string} paper
 */
export function svgPen(width, height, paper) {
  /** @type {string[]} */
  const parts = [];
  let clips = 0;
  /** @param {Style} style */
  const dressed = ({ fill = "none", stroke, width: wide = 1, opacity, dash }) => {
    let text = ` fill="${safe(fill)}"`;
    if (stroke) text += ` stroke="${safe(stroke)}" stroke-width="${short(wide)}" stroke-linejoin="round"`;
    if (stroke && dash?.length) text += ` stroke-dasharray="${dash.join(" ")}"`;
    return opacity === undefined || opacity === 1 ? text : `${text} opacity="${short(opacity)}"`;
  };
  /** @type {Pen} */
  const pen = {
    rect(x, y, w, h, style) {
      const [left, top] = [Math.min(x, x + w), Math.min(y, y + h)];
      const size = `width="${short(Math.abs(w))}" height="${short(Math.abs(h))}"`;
      parts.push(`<rect x="${short(left)}" y="${short(top)}" ${size}${dressed(style)}/>`);
    },
    path(d, style) {
      parts.push(`<path d="${safe(d)}"${dressed(style)}/>`);
    },
    disc(x, y, r, style) {
      parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(r)}"${dressed(style)}/>`);
    },
    text(x, y, text, { size = 12, fill = "#000", align = "start", turn = 0, halo, weight = 400 }) {
      const place = turn ? `transform="translate(${short(x)} ${short(y)}) rotate(${turn})"` : `x="${short(x)}" y="${short(y)}"`;
      const edge = halo ? ` stroke="${safe(halo)}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"` : "";
      const anchor = ` text-anchor="${align}" font-size="${size}" font-weight="${weight}"`;
      parts.push(`<text ${place} fill="${safe(fill)}"${anchor}${edge}>${safe(text)}</text>`);
    },
    image(x, y, w, h, rgba, columns, rows) {
      const link = asCanvas(rgba, columns, rows).toDataURL("image/png");
      const size = `x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}"`;
      parts.push(`<image ${size} preserveAspectRatio="none" image-rendering="pixelated" href="${link}"/>`);
    },
    within(x, y, w, h, draw) {
      const id = `clip${clips++}`;
      const size = `x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}"`;
      parts.push(`<clipPath id="${id}"><rect ${size}/></clipPath><g clip-path="url(#${id})">`);
      draw();
      parts.push("</g>");
    },
  };
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
  const file = () => `${head} font-family='${LETTERS}'><rect width="100%" height="100%" fill="${paper}"/>${parts.join("")}</svg>\n`;
  return { pen, file };
}

/** @param {number} number */
function short(number) {
  return String(Math.round(number * 100) / 100);
}

/** @param {string} text */
function safe(text) {
  const names = /** @type {Record<string, string>} */ ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" });
  return text.replace(/[&<>"]/g, (character) => names[character]);
}
