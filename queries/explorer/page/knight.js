// The knight's tour on 8x8: rules and answers. Square number = file + 8 * rank, a1 = 0, b1 = 1.
import { openIndex } from "./reader.js";

export const KNIGHT_SQUARES = 64;
const PER_START = 32;
/** The jumps 1-8 as (files, ranks downwards). */
const JUMPS = [[-1, -2], [1, -2], [2, -1], [2, 1], [1, 2], [-1, 2], [-2, 1], [-2, -1]];

let knightTable = null;

export async function openKnight() {
  knightTable ??= await openIndex("knight_tours_8x8", KNIGHT_SQUARES, KNIGHT_SQUARES * PER_START);
  return knightTable;
}

export function squareName(square) {
  return "abcdefgh"[square % 8] + (1 + Math.floor(square / 8));
}

/** What is wrong with a text that should be a square; empty if nothing is. */
export function squareProblem(text) {
  if (!text) return "it is empty";
  if (!/^[a-z][1-9]$/.test(text)) return "a square is a file’s letter and a rank’s digit";
  return /^[a-h][1-8]$/.test(text) ? "" : "the squares are a1 to h8";
}

export function squareNumber(name) {
  return "abcdefgh".indexOf(name[0]) + 8 * (Number(name[1]) - 1);
}

export function light(square) {
  return (square + Math.floor(square / 8)) % 2 === 1;
}

/** Which of the jumps 1-8 leads from a square to another; 0 if none does. */
export function jumpBetween(from, to) {
  const right = (to % 8) - (from % 8);
  const down = Math.floor(from / 8) - Math.floor(to / 8);
  return 1 + JUMPS.findIndex(([files, ranks]) => files === right && ranks === down);
}

/** Why no tour leads from one square to another; empty if one does. */
export function noTour(start, end) {
  if (start === end) return `A tour visits ${squareName(start)} once: it cannot end there.`;
  if (light(start) !== light(end)) return "";
  return `No tour leads from ${squareName(start)} to ${squareName(end)}: the knight changes colour `
    + "with every jump, so after 63 jumps it stands on the other colour.";
}

/** The tour for a pair of squares, keyed as the table's columns; null if none joins them. */
export function knightFacts(start, end) {
  if (noTour(start, end)) return null;
  const number = end >> 1; // two squares side by side differ in colour
  const at = KNIGHT_SQUARES * (PER_START * start + number);
  const squares = [...knightTable.records.subarray(at, at + KNIGHT_SQUARES)];
  const jumps = squares.slice(1).map((square, place) => jumpBetween(squares[place], square));
  return {
    start: squareName(start),
    end: squareName(end),
    number,
    closed: jumpBetween(end, start) > 0,
    path: squares.map(squareName).join(""),
    squares,
    jumps,
  };
}
