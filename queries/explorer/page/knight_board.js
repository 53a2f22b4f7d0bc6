// The knight's board: squares as buttons, seen from above, and the jumps of a tour as lines.
import { byId, drawn, make } from "#page/dom.js";
import { makeGrid } from "#page/grid.js";
import { drawCell, drawLabel, drawPath, makePicture } from "#page/pictures.js";

/** The free space around the middle of a square, in squares: lines end there, and numbers stand inside. */
const GAP = 0.3;

/** Make the board; `picked(square)` is called on clicks. */
export function makeKnightBoard(picked) {
  let board = null;
  let cells = []; // by square
  const place = byId("knight-board");
  /** Map a button to its square, or back: the last rank is first. */
  const flipped = (cell) =>
    board.side * (board.side - 1 - Math.floor(cell / board.side)) + (cell % board.side);
  const grid = makeGrid(place, (cell) => picked(flipped(cell)));
  const path = drawn("path", { class: "path" });
  const back = drawn("path", { class: "way-back" });
  const rider = drawn(
    "text",
    { class: "rider", "text-anchor": "middle", "dominant-baseline": "central" },
    "♞",
  );
  const tour = drawn("svg", { class: "tour", "aria-hidden": "true" }, back, path, rider);

  /** Change to another board. */
  function lay(to) {
    board = to;
    const buttons = grid.lay(board.count, board.side);
    cells = board.squares.map((square) => buttons[flipped(square)]);
    byId("knight-frame").style.setProperty("--side", board.side);
    place.setAttribute("aria-label", `Chess board of ${board.name}`);
    tour.setAttribute("viewBox", `0 0 ${board.side} ${board.side}`);
    place.append(tour);
    const label = (id, texts) =>
      byId(id).replaceChildren(...texts.map((text) => make("span", {}, text)));
    label(
      "knight-ranks",
      board.squares.slice(0, board.side).map((rank) => String(board.side - rank)),
    );
    label("knight-files", [...board.files]);
    for (const button of document.querySelectorAll("#view-knight [data-board]")) {
      button.setAttribute("aria-pressed", String(button.dataset.board === board.name));
    }
  }

  /**
   * Show the squares visited so far, the last of them with the knight. `marks(square)` lists what else a square may be: whether
   * it is that, the class by which it is drawn, and what is said of it.
   */
  function paint({ visited, standing = visited.at(-1), isClosed = false, marks }) {
    const order = new Map(visited.map((square, step) => [square, step + 1]));
    for (const square of board.squares) {
      const step = order.get(square);
      const [classes, words] = [1, 2].map((part) =>
        marks(square)
          .filter(([isMarked]) => isMarked)
          .map((mark) => mark[part]),
      );
      cells[square].className = [board.isLight(square) ? "light" : "dark", ...classes].join(" ");
      cells[square].replaceChildren(
        make("span", { class: "place" }, step && square !== standing ? String(step) : ""),
      );
      const said = [board.nameOf(square), ...words, step ? `number ${step}` : ""];
      cells[square].setAttribute("aria-label", said.filter(Boolean).join(", "));
    }
    path.setAttribute("d", drawJumps(board, visited));
    back.setAttribute("d", isClosed ? drawJumps(board, [visited.at(-1), visited[0]]) : "");
    rider.toggleAttribute("hidden", standing === undefined);
    if (standing === undefined) return;
    const [x, y] = findMiddle(board, standing);
    rider.setAttribute("x", x);
    rider.setAttribute("y", y);
  }

  return { lay, paint };
}

function findMiddle(board, square) {
  return [(square % board.side) + 0.5, board.side - 0.5 - Math.floor(square / board.side)];
}

/** Return the jumps between squares as an SVG path: a line each, which leaves the numbers free. */
function drawJumps(board, squares) {
  return squares
    .slice(1)
    .map((to, at) => {
      const [[x1, y1], [x2, y2]] = [squares[at], to].map((square) => findMiddle(board, square));
      const part = GAP / Math.hypot(x2 - x1, y2 - y1);
      const point = (share) => `${round(x1 + share * (x2 - x1))} ${round(y1 + share * (y2 - y1))}`;
      return `M${point(part)}L${point(1 - part)}`;
    })
    .join("");
}

/** Draw a tour, or the first squares of one, as a picture. */
export function drawKnight(board, squares) {
  const at = (square) => [square % board.side, board.side - 1 - Math.floor(square / board.side)];
  const isClosed = squares.length === board.count && board.jump(squares.at(-1), squares[0]) > 0;
  const line = { stroke: "#0b6b67", "stroke-width": 0.05 };
  return makePicture(
    board.side,
    board.side,
    ...board.squares.map((square) =>
      drawCell(...at(square), board.isLight(square) ? "#f7f3ea" : "#d5dfd9"),
    ),
    drawPath(drawJumps(board, squares), line),
    drawPath(isClosed ? drawJumps(board, [squares.at(-1), squares[0]]) : "", {
      ...line,
      "stroke-dasharray": "0.12 0.1",
    }),
    ...squares.map((square, step) => drawLabel(...at(square), String(step + 1), 20)),
  );
}

function round(number) {
  return Math.round(1000 * number) / 1000;
}
