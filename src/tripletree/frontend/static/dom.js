// Makes elements of a page, of HTML or SVG; text is always text, never markup.

const SVG = "http://www.w3.org/2000/svg";

export function add(parent, tag, attributes = {}, text) {
  return place(parent, document.createElement(tag), attributes, text);
}

export function addSvg(parent, tag, attributes = {}, text) {
  return place(parent, document.createElementNS(SVG, tag), attributes, text);
}

// Text as text.py has it for a page: what cannot be seen is written out, and words from right to left are set apart.
const UNSEEN =
  /[\0-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const LEFTWARDS = (() => {
  const letter = "\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}";
  return new RegExp(`[${letter}](?:[${letter}\\s]*[${letter}])?`, "gu");
})();

export function onAPage(text) {
  return String(text).replace(UNSEEN, escaped).replace(LEFTWARDS, "\u2068$&\u2069");
}

// As Python escapes a character.
function escaped(character) {
  const named = { "\t": "\\t", "\r": "\\r" }[character];
  const code = character.codePointAt(0);
  const digits = (size) => code.toString(16).padStart(size, "0");
  return named ?? (code < 0x100 ? `\\x${digits(2)}` : code < 0x10000 ? `\\u${digits(4)}` : `\\U${digits(8)}`);
}

function place(parent, element, attributes, text) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  // As text: names of features come from a log, and may look like markup.
  if (text !== undefined) element.textContent = onAPage(text);
  parent.append(element);
  return element;
}
