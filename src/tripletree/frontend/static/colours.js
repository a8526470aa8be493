// Values to colours, on a scale that scenes/pictured.py computed.

export function colourOf(scale, value) {
  if (scale.kind === "categories") return scale.stops[value];
  const share =
    scale.kind === "log"
      ? Math.log(value / scale.low) / Math.log(scale.high / scale.low)
      : (value - scale.low) / (scale.high - scale.low);
  const place = Math.min(Math.max(share, 0), 1) * (scale.stops.length - 1);
  const first = Math.min(Math.floor(place), scale.stops.length - 2);
  const [a, b] = [rgb(scale.stops[first]), rgb(scale.stops[first + 1])];
  const mixed = a.map((part, i) => Math.round(part + (place - first) * (b[i] - part)));
  return `rgb(${mixed.join(",")})`;
}

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}
