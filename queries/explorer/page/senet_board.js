// Senet's board: 15 squares with pieces.
import { byId, calm, make } from "#page/dom.js";
import { makeGrid } from "#page/grid.js";
import { drawCell, drawLabel, drawPath, makePicture } from "#page/pictures.js";
import { guarded, OPENING } from "#tables/senet.js";

const TRAVEL_MS = 450;
const SQUARES = OPENING.length;

/** Show a position on elements of squares; call `each(element, square, words)` with what is said of each. */
function fill(squares, position, each = () => {}) {
  squares.forEach((element, cell) => {
    const square = cell + 1;
    const piece = position[cell];
    const held = guarded(position, square);
    // in a narrow window three rows, the middle one backwards as on the old boards: neighbours stay neighbours
    const [column, row] = placeSquare(cell, 5);
    element.style.setProperty("--place", `${row + 1} / ${column + 1}`);
    element.replaceChildren(make("span", { class: "square" }, String(square)));
    if (piece !== ".")
      element.append(
        make("span", { class: `piece ${piece.toLowerCase()}${held ? " guarded" : ""}` }, piece),
      );
    each(element, square, [
      `square ${square}: ${piece === "." ? "empty" : piece}`,
      ...(held ? ["guarded"] : []),
    ]);
  });
}

/** Show a position as a picture in an element. */
export function paintPosition(place, position) {
  const squares = [...position].map(() => make("span"));
  fill(squares, position);
  place.replaceChildren(...squares);
  place.setAttribute(
    "aria-label",
    `The position to reach: ${[...position].map((piece) => (piece === "." ? "empty" : piece)).join(" ")}`,
  );
}

/** Make the board; `picked(square)` and `typed(square, key)` are called on clicks and keys. */
export function makeSenetBoard(picked, typed) {
  const cells = makeGrid(
    byId("senet-board"),
    (cell) => picked(cell + 1),
    (cell, key) => typed(cell + 1, key),
  ).lay(SQUARES, SQUARES);

  /** Show a position, the squares of its last move, and the moves that can be chosen. */
  function paint(position, last = null, choices = []) {
    fill(cells, position, (button, square, words) => {
      const from = choices.find(({ start }) => start === square);
      const to = choices.find(({ goal }) => goal === square);
      button.className = [
        last && (last.start === square || last.goal === square) && "last",
        from && "open",
        to && "target",
      ]
        .filter(Boolean)
        .join(" ");
      button.setAttribute(
        "aria-label",
        [...words, ...(from ? [`can move to ${from.goal}`] : [])].join(", "),
      );
    });
  }

  /** Animate the pieces of a move from their previous squares. */
  function travel({ start, goal, swap }) {
    if (calm()) return;
    const [one, other] = [start, goal].map((square) => cells[square - 1]);
    for (const [cell, from] of swap
      ? [
          [other, one],
          [one, other],
        ]
      : [[other, one]]) {
      const across = from.offsetLeft - cell.offsetLeft;
      const down = from.offsetTop - cell.offsetTop;
      cell
        .querySelector(".piece")
        .animate([{ transform: `translate(${across}px, ${down}px)` }, { transform: "none" }], {
          duration: TRAVEL_MS,
          easing: "ease-in-out",
        });
    }
  }

  return { paint, travel };
}

export function wordMove({ start, goal, swap }) {
  return swap ? `${start} swaps with ${goal}` : `${start} to ${goal}`;
}

/** Return the column and the row of a square, from 0, in rows of which every second one goes backwards. */
function placeSquare(cell, across) {
  const [row, column] = [Math.floor(cell / across), cell % across];
  return [row % 2 ? across - 1 - column : column, row];
}

/** Draw a position as a picture, with some squares across. */
export function drawSenet(position, across = SQUARES) {
  const shapes = {
    A: { d: "m0.2 0.5a0.3 0.3 0 1 0 0.6 0a0.3 0.3 0 1 0 -0.6 0", fill: "#0b6b67", ink: "#ffffff" },
    B: { d: "m0.22 0.22h0.56v0.56h-0.56z", fill: "#f6e5c8", ink: "#9a5b00" },
  };
  return makePicture(
    across,
    SQUARES / across,
    ...[...position].flatMap((piece, square) => {
      const at = placeSquare(square, across);
      const corner = at.map((place) => place - 0.36);
      const cell = [
        drawCell(...at, "#fffefb"),
        drawLabel(...corner, String(square + 1), 11, "#5b636a"),
      ];
      if (piece === ".") return cell;
      const { d, fill, ink } = shapes[piece];
      return [
        ...cell,
        drawPath(`M${at.join(" ")}${d}`, { fill }),
        drawLabel(...at, piece, 22, ink),
      ];
    }),
  );
}
