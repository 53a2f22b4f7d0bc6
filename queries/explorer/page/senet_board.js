// Senet's board: 15 squares with pieces.
import { prefersReducedMotion } from "#page/text.js";
import { html } from "#page/html.js";
import { isGuarded, OPENING } from "#tables/senet.js";

const TRAVEL_MS = 450;
const SQUARES = OPENING.length;
const ROW = 5;
let seen = ""; // the position that was painted last

/** Describe the cells of a position: the squares of its last move are marked, and those of moves that can be chosen. */
export function describeSquares(position, { last = null, choices = [] } = {}) {
  const cells = [...position].map((piece, cell) => {
    const square = cell + 1;
    const isHeld = isGuarded(position, square);
    const from = choices.find(({ start }) => start === square);
    const to = choices.find(({ goal }) => goal === square);
    const marks = [
      last && [last.start, last.goal].includes(square) && "last",
      from && "open",
      to && "target",
    ];
    // in rows, the middle one goes backwards as on the old boards: neighbours stay neighbours
    const [column, row] = [cell % ROW, Math.floor(cell / ROW)];
    return {
      name: [
        `square ${square}: ${piece === "." ? "empty" : piece}`,
        isHeld && "guarded",
        from && `can move to ${from.goal}`,
      ]
        .filter(Boolean)
        .join(", "),
      classes: marks.filter(Boolean).join(" "),
      content: html`<span class="square">${square}</span>${
          piece !== "." &&
          html`<span class="piece ${piece.toLowerCase()}${isHeld ? " guarded" : ""}"
            >${piece}</span
          >`
        }`,
      attributes: {
        style: { "--area": `${row + 1} / ${(row % 2 ? ROW - 1 - column : column) + 1}` },
      },
    };
  });
  return { classes: "squares", columns: SQUARES, cells };
}

/** Animate the pieces of a move from their previous squares, if the position before it was painted last. */
export function animateMove(position, move) {
  const isMoved = move && seen === move.before && position !== seen;
  seen = position;
  if (!isMoved || prefersReducedMotion()) return;
  const { children } = document.getElementById("senet-board");
  const [one, other] = [children[move.start - 1], children[move.goal - 1]];
  for (const [cell, from] of move.swap
    ? [
        [other, one],
        [one, other],
      ]
    : [[other, one]]) {
    const shift = `translate(${from.offsetLeft - cell.offsetLeft}px, ${from.offsetTop - cell.offsetTop}px)`;
    const frames = [{ transform: shift }, { transform: "none" }];
    cell.querySelector(".piece").animate(frames, { duration: TRAVEL_MS, easing: "ease-in-out" });
  }
}

export function describeMove({ start, goal, swap }) {
  return swap ? `${start} swaps with ${goal}` : `${start} to ${goal}`;
}
