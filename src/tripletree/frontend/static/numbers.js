// Numbers in words, digit for digit as language/numbers.py writes them.

// All digits of a number that has few, six of any other.
export function exact(number) {
  const digits = repr(number + 0);
  const mantissa = digits.split("e")[0].replace(/^-/, "").replace(".", "").replace(/^0+|0+$/g, "");
  return general(number, mantissa.length > 8 ? 6 : 10);
}

// A number to four digits, or as many as asked for.
export function rounded(number, digits = 4) {
  return exact(Number(general(number, digits)));
}

export function allOf(parts) {
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}` : parts.join("");
}

export function unit(of) {
  return of ? ` ${of}` : "";
}

// Python's repr of a float: the shortest digits that give the number back, with an exponent from 1e16 and below 1e-4.
function repr(number) {
  if (!Number.isFinite(number)) return Number.isNaN(number) ? "nan" : number > 0 ? "inf" : "-inf";
  const size = Math.abs(number);
  if (number === 0 || (size >= 1e-4 && size < 1e16)) {
    const text = String(number);
    return Number.isInteger(number) ? `${text}.0` : text;
  }
  return padded(number.toExponential());
}

// Python's "%.Ng": N digits, no trailing zeros, an exponent where it is shorter.
function general(number, digits) {
  if (number === 0 || !Number.isFinite(number)) return repr(number).replace(/\.0$/, "");
  const [mantissa, exponent] = halfEven(number, digits).split("e");
  const power = Number(exponent);
  // The exponent after rounding decides, as in Python: 999999.9 to six digits is 1e+06.
  if (power < -4 || power >= digits) return padded(`${trimmed(mantissa)}e${exponent}`);
  return trimmed(Number(`${mantissa}e${exponent}`).toFixed(Math.max(digits - 1 - power, 0)));
}

// JavaScript rounds a tie up, Python to the even digit. A number is a tie when its exact digits go on with a 5 and then
// only zeros; 60 of them are enough to tell.
function halfEven(number, digits) {
  const plain = number.toExponential(digits - 1);
  const [mantissa] = number.toExponential(60).split("e");
  const rest = mantissa.replace(/^-?\d\.?/, "").slice(digits - 1);
  if (!/^50*$/.test(rest)) return plain;
  const down = number.toExponential(60).split("e");
  const kept = down[0].slice(0, down[0].indexOf(".") + digits).replace(/\.$/, "");
  return Number(kept[kept.length - 1]) % 2 === 0 ? `${kept}e${down[1]}` : plain;
}

function trimmed(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

// Python writes exponents with two digits, JavaScript with as few as it can.
function padded(text) {
  return text.replace(/e([+-])(\d)$/, "e$10$2");
}
