// The knight's answers: a tour between two squares. For 8x8 the page has one for each pair that a tour can join, read from
// its table; on 6x6 and 5x5 it is searched for, which takes some milliseconds.
import { searchTour } from "#page/knight_search.js";
import { once, openIndex } from "#page/reader.js";
import { quote } from "#page/text.js";
import { KnightBoard } from "#tables/knight.js";

export const BOARDS = Object.fromEntries(
  [8, 6, 5].map((side) => [`${side}x${side}`, new KnightBoard(side)]),
);
const LISTED = BOARDS["8x8"];
const MAX_VISITS = 200000;
const found = new Map(); // by board and squares: the tour, or null
let index = null;

export const openKnight = once(async () => {
  index = await openIndex(`knight_tours_${LISTED.name}`);
  return index;
});

/** Return the tour from a square to another, as squares; null if there is none. */
export function findTour(board, start, end) {
  if (start === end || !board.canJoin(start, end)) return null;
  // of two squares side by side, a tour can end on one
  if (board === LISTED) return [...index.record((LISTED.count / 2) * start + (end >> 1))];
  const key = `${board.name} ${start} ${end}`;
  if (!found.has(key)) found.set(key, searchTour(board, [start], { end }).tour);
  return found.get(key);
}

/** Return a tour that begins with some squares, null if there is none, and whether that is sure. */
export function completeTour(board, squares) {
  return searchTour(board, squares, { most: board === LISTED ? MAX_VISITS : Infinity });
}

/** Return the problem of a board's name; "" if there is none. */
export function boardProblem(name) {
  const known = Object.keys(BOARDS).join(", ");
  return Object.hasOwn(BOARDS, name)
    ? ""
    : `${quote(name)} is not a board of this page. Boards: ${known}.`;
}

/** Return why no tour begins at a square; "" if one does. */
export function explainNoStart(board, start) {
  if (board.count % 2 === 0 || board.isLight(start) === board.isLight(0)) return "";
  const [most, fewest] = [Math.ceil(board.count / 2), Math.floor(board.count / 2)];
  return (
    `No tour of ${board.name} starts at ${board.nameSquare(start)}: a tour alternates in colour, and the board ` +
    `has ${most} squares of a1’s colour and ${fewest} of the other, so a tour starts and ends on a1’s colour.`
  );
}

/** Return why no tour leads from one square to another; "" if one does. */
export function explainNoTour(board, start, end) {
  const [from, to] = [start, end].map((square) => board.nameSquare(square));
  if (start === end) return `A tour visits ${from} only once: it cannot end there.`;
  if (findTour(board, start, end)) return "";
  if (board.canJoin(start, end)) return `No tour of ${board.name} leads from ${from} to ${to}.`;
  return (
    `No tour leads from ${from} to ${to}: the knight changes colour with every jump, so after ` +
    `${board.count - 1} jumps it is on ${board.count % 2 ? "its start’s" : "the other"} colour.`
  );
}

/** Return the squares that a text names, up to the first that is no jump, and its problem. */
export function readPath(board, text) {
  const squares = [];
  for (const word of text.match(/.{1,2}/gu) ?? []) {
    const bad = board.problem(word);
    if (bad) return { squares, problem: `${quote(word)} is not a square: ${bad}.` };
    const square = board.parseSquare(word);
    if (squares.includes(square)) return { squares, problem: `${word} is visited twice.` };
    if (!squares.length && explainNoStart(board, square))
      return { squares, problem: explainNoStart(board, square) };
    if (squares.length && !board.jump(squares.at(-1), square)) {
      return {
        squares,
        problem: `${word} is not a knight’s jump from ${board.nameSquare(squares.at(-1))}.`,
      };
    }
    squares.push(square);
  }
  return { squares, problem: "" };
}

export const writePath = (board, squares) =>
  squares.map((square) => board.nameSquare(square)).join("");
