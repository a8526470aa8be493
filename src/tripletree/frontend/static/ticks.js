// Round numbers along an axis, and how they are written: as scenes/guides.py has them, for the part that is seen.

const STEPS = [1, 2, 2.5, 5, 10];
const MOST_TICKS = 5;

/**
 * Two or more round numbers from `low` to `high`, if possible with at most `most` intervals.
 * @param {number} low @param {number} high @param {number} [most]
 * @returns {number[]}
 */
export function roundNumbers(low, high, most = MOST_TICKS) {
  const width = (high - low) / most;
  if (!(width > 1e-300 && width < Infinity)) return [low];
  const exponent = Math.floor(Math.log10(width));
  const steps = [exponent - 1, exponent].flatMap((power) => STEPS.map((step) => step * 10 ** power));
  const wide = steps.findIndex((step) => step >= width * 0.999);
  let [first, last, step] = [0, 0, 1];
  for (step of steps.slice(0, wide + 1).reverse()) {
    const hair = (0.02 * (high - low)) / step;
    [first, last] = [Math.ceil(low / step - hair), Math.floor(high / step + hair)];
    if (first < last) break;
  }
  const places = 10 ** Math.min(2 - exponent, 300);
  return Array.from({ length: last - first + 1 }, (_, k) => Math.round((first + k) * step * places) / places + 0);
}

/**
 * The ticks of an axis between two numbers, with their texts: all with as few decimals as show them exactly.
 * @param {number} low @param {number} high @param {number} [most]
 * @returns {[number, string][]}
 */
export function ticksBetween(low, high, most = MOST_TICKS) {
  const numbers = roundNumbers(low, high, most);
  const power = powerOfTen(low, high);
  const shown = numbers.map((number) => number / 10 ** power);
  const near = 1e-3 * Math.min(...shown.slice(1).map((number, k) => number - shown[k]), Infinity);
  let decimals = 0;
  const isExact = (/** @type {number} */ number) => Math.abs(Number(number.toFixed(decimals)) - number) <= near;
  while (decimals < 17 && !shown.every(isExact)) decimals++;
  return numbers.map((number, k) => [number, (shown[k] + 0).toFixed(decimals).replace(/^-(?=0\.?0*$)/, "").replace("-", "−")]);
}

/**
 * The power of ten that very large or small numbers are divided by; the axis then names it.
 * @param {number} low @param {number} high
 */
export function powerOfTen(low, high) {
  const largest = Math.max(Math.abs(low), Math.abs(high));
  if (largest === 0 || (largest >= 1e-3 && largest < 1e5)) return 0;
  return Math.max(Math.floor(Math.log10(largest)), -300);
}
