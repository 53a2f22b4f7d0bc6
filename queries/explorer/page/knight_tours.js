// The knight's answers: a tour is identified by its board, its start and its number. For 8x8 the page
// has one tour for each end, read from its table; for 6x6 and 5x5 all, found by search when needed.
import { quoted, writeNumber } from "#page/dom.js";
import { beginsWith, listBeginnings, searchTour } from "#page/knight_search.js";
import { carried, mustBe, once, openIndex } from "#page/reader.js";
import { KnightBoard } from "#tables/knight.js";

export const BOARDS = Object.fromEntries(
  [8, 6, 5].map((side) => [`${side}x${side}`, new KnightBoard(side)]),
);
const PAIRS = BOARDS["8x8"];
const PER_START = PAIRS.count / 2;
const BEGUN = 6;
const MOST_VISITS = 200000;

/**
 * The functions of each board: the number of tours from a start (`total`), the number of the first to an end (`numberTo`;
 * null: there is none) and the squares of a number; and for some squares the number of the tour (`numberOf`), how many
 * tours begin with them (`count`; null: the page cannot know), and one of these or null, and whether that is sure (`complete`).
 */
const tours = {};

export const openKnight = once(async () => {
  const index = await openIndex(`knight_tours_${PAIRS.name}`);
  tours[PAIRS.name] = pairTours(index);
  for (const board of Object.values(BOARDS)) tours[board.name] ??= await listedTours(board);
  return index;
});

/** Make the functions of a table with one tour for each pair of ends. */
function pairTours(index) {
  return {
    total: () => PER_START,
    // two squares side by side differ in colour
    numberTo: (start, end) => (PAIRS.joins(start, end) ? end >> 1 : null),
    squares: (start, number) => [...index.record(PER_START * start + number)],
    numberOf: () => null,
    count: () => null,
    complete: (path) => searchTour(PAIRS, path, () => true, { quick: true, most: MOST_VISITS }),
  };
}

/** Load the functions of a board whose tours are all numbered, in ascending order of their squares. */
async function listedTours(board) {
  const name = `knight_tours_${board.name}`;
  const starts = JSON.parse(new TextDecoder().decode(await carried(name)));
  const totals = starts.map(({ begun }) => begun.reduce((sum, count) => sum + count, 0));

  /** Yield each beginning that has tours, their number, and the number of the first. */
  function* branches(start) {
    let place = 0;
    let first = 0;
    for (const path of listBeginnings(board, [start], BEGUN)) {
      const count = starts[start].begun[place++];
      if (count) yield { path, count, first };
      first += count;
    }
  }

  return {
    total: (start) => totals[start],
    numberTo: (start, end) => starts[start].first[board.nameOf(end)] ?? null,
    squares(start, number) {
      const branch = branches(start).find(({ count, first }) => number < first + count);
      let left = number - branch.first;
      const { tour } = searchTour(board, branch.path, () => left-- === 0);
      mustBe(tour, name, "damaged");
      return tour;
    },
    numberOf(squares) {
      const branch = branches(squares[0]).find(({ path }) => beginsWith(squares, path));
      let earlier = 0;
      const { tour } = searchTour(
        board,
        branch?.path ?? squares,
        (path) => beginsWith(path, squares) || !++earlier,
      );
      mustBe(branch && tour, name, "damaged");
      return branch.first + earlier;
    },
    count(squares) {
      if (squares.length > BEGUN) return null;
      return [...branches(squares[0])].reduce(
        (sum, { path, count }) => sum + (beginsWith(path, squares) ? count : 0),
        0,
      );
    },
    complete(squares) {
      const branch = branches(squares[0]).find(({ path }) =>
        squares.length < BEGUN ? beginsWith(path, squares) : beginsWith(squares, path),
      );
      if (!branch) return { tour: null, isSure: true };
      return searchTour(board, squares.length < BEGUN ? branch.path : squares, () => true);
    },
  };
}

/** Return the functions of a board's tours. */
export function toursOf(board) {
  return tours[board.name];
}

/** Return whether the page contains every tour of a board. */
export function listed(board) {
  return board !== PAIRS;
}

/** Return the problem of a board's name; "" if there is none. */
export function boardProblem(name) {
  return Object.hasOwn(BOARDS, name)
    ? ""
    : `${quoted(name)} is not a board of this page. Boards: ${Object.keys(BOARDS).join(", ")}.`;
}

/** Return why no tour begins at a square; "" if one does. */
export function noStart(board, start) {
  if (toursOf(board).total(start)) return "";
  const [most, fewest] = [Math.ceil(board.count / 2), Math.floor(board.count / 2)];
  return (
    `No tour of ${board.name} starts at ${board.nameOf(start)}: a tour alternates in colour, and the board ` +
    `has ${most} squares of a1’s colour and ${fewest} of the other, so a tour starts and ends on a1’s colour.`
  );
}

/** Return why no tour leads from one square to another; "" if one does. */
export function noTour(board, start, end) {
  const [from, to] = [start, end].map((square) => board.nameOf(square));
  if (start === end) return `A tour visits ${from} only once: it cannot end there.`;
  if (toursOf(board).numberTo(start, end) !== null) return "";
  if (board.joins(start, end)) return `No tour of ${board.name} leads from ${from} to ${to}.`;
  return (
    `No tour leads from ${from} to ${to}: the knight changes colour with every jump, so after ` +
    `${board.count - 1} jumps it is on ${board.count % 2 ? "its start’s" : "the other"} colour.`
  );
}

/** Return why a start has no tour with a number; "" if it has. */
export function noNumber(board, start, number) {
  const total = toursOf(board).total(start);
  if (number < total) return "";
  const [all, last] = [total, total - 1].map(writeNumber);
  return (
    `${listed(board) ? `${board.name} has` : "This page has"} ${all} tours from ${board.nameOf(start)}, ` +
    `numbered 0 to ${last}.`
  );
}

/** Return the tour with a number, keyed as the table's columns. */
export function knightFacts(board, start, number) {
  const squares = toursOf(board).squares(start, number);
  const end = squares.at(-1);
  return {
    board: board.name,
    start: board.nameOf(start),
    finish: board.nameOf(end),
    number,
    closed: board.jump(end, start) > 0,
    path: squares.map((square) => board.nameOf(square)).join(""),
    squares,
    jumps: squares.slice(1).map((square, place) => board.jump(squares[place], square)),
  };
}
