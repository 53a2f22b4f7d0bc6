// The knight's board: squares seen from above, and the jumps of a tour as a thin line beneath their numbers.
import { html } from "#page/html.js";

/**
 * Describe the squares visited so far, the last of them with the knight. `marks(square)` lists what else a square may be:
 * whether it is that, the class by which it is drawn, and its description.
 */
export function describeChess(
  board,
  visited,
  { standing = visited.at(-1), marks = () => [], hasRider = true } = {},
) {
  const order = new Map(visited.map((square, step) => [square, step + 1]));
  const isClosed = visited.length === board.count && board.jump(visited.at(-1), visited[0]) > 0;
  const cells = board.squares.map((_, cell) => {
    const square = cellToSquare(board, cell);
    const step = order.get(square);
    const [file, rank] = board.nameSquare(square);
    const edge = `${rank === "1" ? file : ""}${file === "a" ? rank : ""}`;
    const [classes, words] = [1, 2].map((part) =>
      marks(square)
        .filter(([isMarked]) => isMarked)
        .map((mark) => mark[part]),
    );
    return {
      name: [board.nameSquare(square), ...words, step ? `number ${step}` : ""]
        .filter(Boolean)
        .join(", "),
      classes: [board.isLight(square) ? "light" : "dark", ...classes].join(" "),
      content: html`<span class="square">${edge}</span>
        <span class="number">${step && !(hasRider && square === standing) && step}</span>`,
    };
  });
  const [x, y] = standing === undefined ? [0, 0] : findMiddle(board, standing);
  const more = html`<svg class="tour" aria-hidden="true" viewBox="0 0 ${board.side} ${board.side}">
    <path class="path" d="${drawLine(board, visited)}" />
    <path class="way-back" d="${isClosed ? drawLine(board, [visited.at(-1), visited[0]]) : ""}" />
    <text class="rider" x="${x}" y="${y}" text-anchor="middle" dominant-baseline="central">
      ${hasRider && standing !== undefined ? "♞" : ""}
    </text>
  </svg>`;
  return { classes: "chess", columns: board.side, cells, more };
}

/** Return the square of a cell, or the cell of a square: the last rank is first. */
export function cellToSquare({ side }, cell) {
  return side * (side - 1 - Math.floor(cell / side)) + (cell % side);
}

function findMiddle({ side }, square) {
  return [(square % side) + 0.5, side - 0.5 - Math.floor(square / side)];
}

const drawLine = (board, squares) =>
  squares.length > 1
    ? `M${squares.map((square) => findMiddle(board, square).join(" ")).join("L")}`
    : "";
