// Bytes that were sent as text.

/** @param {string} text in base64 @returns {Uint8Array<ArrayBuffer>} */
export function fromBase64(text) {
  const made = /** @type {any} */ (Uint8Array);
  if (made.fromBase64) return made.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k++) bytes[k] = letters.charCodeAt(k);
  return bytes;
}
