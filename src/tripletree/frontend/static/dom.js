// Makes elements of a page, of HTML or SVG; text is always text, never markup.

const SVG = "http://www.w3.org/2000/svg";

export function add(parent, tag, attributes = {}, text) {
  return place(parent, document.createElement(tag), attributes, text);
}

export function addSvg(parent, tag, attributes = {}, text) {
  return place(parent, document.createElementNS(SVG, tag), attributes, text);
}

function place(parent, element, attributes, text) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  // As text: names of features come from a log, and may look like markup.
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}
