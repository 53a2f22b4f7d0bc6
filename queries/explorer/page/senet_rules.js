// Senet's rules on 15 squares. A position is 15 characters of A, B and ".", square 1 first. A moves
// first, then the sides alternate; passing is not allowed.
import { applyMove, listMoves, OPENING, PIECES, THROWS, formatMove } from "#tables/senet.js";

const SQUARES = OPENING.length;
/** Return the problem of a text that should be a position; "" if there is none. */
export function senetProblem(text) {
  if (!text) return "it is empty";
  const foreign = [...text].find((letter) => !PIECES.includes(letter));
  if (foreign) return `“${foreign}” is not one of A, B and “.”`;
  if (text.length !== SQUARES) {
    return `it has ${text.length} square${text.length > 1 ? "s" : ""}, not ${SQUARES}`;
  }
  return [..."AB."]
    .map((piece) => [piece, text.split(piece).length - 1])
    .filter(([, count]) => count !== 5)
    .map(([piece, count]) => {
      const things = piece === "." ? "empty squares" : `${piece}${count === 1 ? "" : "s"}`;
      return `it has ${count} ${things}, not 5`;
    })
    .join(", ");
}

/** Return the side that moves after another. */
export function otherSide(side) {
  return side === "A" ? "B" : "A";
}

/** Return the moves that a text names, from a position, and the problem of the first illegal one. */
export function readMoves(position, mover, text) {
  const moves = [];
  let at = position;
  let side = mover;
  for (const word of text.split(" ").filter(Boolean)) {
    const [start, goal] = word.split(/[-x]/).map(Number);
    const legal = THROWS.includes(goal - start) ? listMoves(at, side, goal - start) : [];
    const move = legal.find((one) => formatMove(one) === word);
    if (!move) return { moves, problem: `${word} is not a legal move of ${side} in ${at}.` };
    moves.push(move);
    at = applyMove(move);
    side = otherSide(side);
  }
  return { moves, problem: "" };
}
