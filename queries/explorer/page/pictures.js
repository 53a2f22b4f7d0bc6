// Pictures of boards as SVG elements that stand alone: they are saved, printed and sent.
import { drawn } from "#page/dom.js";

const CELL = 60;
const FONT = "Segoe UI, Roboto, DejaVu Sans, Arial, sans-serif";
const INK = "#22282c";
const EDGE = "#8a8478";

/** Make a picture of some cells across and down. */
export function makePicture(across, down, ...content) {
  const [width, height] = [across, down].map((cells) => CELL * cells + 4);
  return drawn(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `-2 -2 ${width} ${height}`,
      "font-family": FONT,
    },
    drawn("rect", { x: -2, y: -2, width, height, fill: "#ffffff" }),
    ...content,
  );
}

/** Draw a square in a cell. */
export function drawCell(column, row, fill) {
  return drawn("rect", {
    x: CELL * column,
    y: CELL * row,
    width: CELL,
    height: CELL,
    fill,
    stroke: EDGE,
    "stroke-width": 1.5,
  });
}

/** Draw a text in the middle of a cell. */
export function drawLabel(column, row, text, size = 26, fill = INK) {
  return drawn(
    "text",
    {
      x: CELL * (column + 0.5),
      y: CELL * (row + 0.5),
      "font-size": size,
      fill,
      "font-weight": 600,
      "text-anchor": "middle",
      "dominant-baseline": "central",
    },
    text,
  );
}

/** Draw a path whose unit is a cell. */
export function drawPath(d, attributes) {
  return drawn("path", {
    d,
    fill: "none",
    transform: `scale(${CELL})`,
    "stroke-linecap": "round",
    ...attributes,
  });
}
