// The knight's answers: a tour is identified by its board, its start and its number. For 8x8 the page
// has one tour for each end, read from its table; for 6x6 and 5x5 all, found by search when needed.
import { BOARDS } from "#page/knight.js";
import { carried, mustBe, once, openIndex } from "#page/reader.js";

const PAIRS = BOARDS["8x8"];
const PER_START = PAIRS.count / 2;
const BEGUN = 6;

/** The functions of each board: the number of tours from a start, the first to an end, one by number. */
const tours = {};

export const openKnight = once(async () => {
  const index = await openIndex(`knight_tours_${PAIRS.name}`, PAIRS.count, PAIRS.count * PER_START);
  tours[PAIRS.name] = pairTours(index.records);
  for (const board of Object.values(BOARDS)) tours[board.name] ??= await listedTours(board);
  return index;
});

/** Make the functions of a table with one tour for each pair of ends. */
function pairTours(records) {
  return {
    total: () => PER_START,
    // two squares side by side differ in colour
    numberTo: (start, end) => (PAIRS.joins(start, end) ? end >> 1 : null),
    squares(start, number) {
      const at = PAIRS.count * (PER_START * start + number);
      return [...records.subarray(at, at + PAIRS.count)];
    },
  };
}

/** Load the functions of a board whose tours are all numbered, in ascending order of their squares. */
async function listedTours(board) {
  const name = `knight_tours_${board.name}`;
  const starts = JSON.parse(new TextDecoder().decode(await carried(name)));
  const totals = starts.map(({ begun }) => begun.reduce((sum, count) => sum + count, 0));
  return {
    total: (start) => totals[start],
    numberTo: (start, end) => starts[start].first[board.nameOf(end)] ?? null,
    squares(start, number) {
      const { path, left } = beginning(board, start, starts[start].begun, number);
      const found = searched(board, path, left);
      mustBe(found, name, "damaged");
      return found;
    },
  };
}

/** Return the first squares of the tour with a number, and its number among those that begin so. */
function beginning(board, start, counts, number) {
  const path = [start];
  let left = number;
  let place = 0;
  const goOn = () => {
    if (path.length === BEGUN) {
      const count = counts[place++];
      if (left < count) return true;
      left -= count;
      return false;
    }
    return board.neighbours[path.at(-1)].some((next) => {
      if (path.includes(next)) return false;
      path.push(next);
      if (goOn()) return true;
      path.pop();
      return false;
    });
  };
  goOn();
  return { path, left };
}

/**
 * Find the tour with a number among those with a beginning, by a search in ascending order.
 *
 * A free square with one free neighbour is next, or else it is the end. With three of them there is
 * no tour; with two, one of them is next.
 */
function searched(board, begun, number) {
  const { count, neighbours } = board;
  const free = new Uint8Array(count).fill(1);
  const ways = Uint8Array.from(neighbours, (list) => list.length);
  const path = [];
  let pressed = 0;
  let left = number;
  const visit = (here) => {
    path.push(here);
    if (path.length === count && left-- === 0) return true;
    const before = pressed;
    let dead = false;
    free[here] = 0;
    if (ways[here] === 1) pressed--;
    for (const next of neighbours[here]) {
      ways[next]--;
      if (!free[next]) continue;
      if (ways[next] === 1) pressed++;
      else if (ways[next] === 0 && path.length < count - 1) dead = true;
    }
    if (!dead && pressed < 3) {
      const onward = path.length < begun.length ? [begun[path.length]] : neighbours[here];
      for (const next of onward) {
        if (free[next] && (pressed < 2 || ways[next] === 1) && visit(next)) return true;
      }
    }
    for (const next of neighbours[here]) ways[next]++;
    free[here] = 1;
    pressed = before;
    path.pop();
    return false;
  };
  return visit(begun[0]) ? path : null;
}

/** Return the number of tours from a square that the page contains. */
export function toursFrom(board, start) {
  return tours[board.name].total(start);
}

/** Return the number of the first tour between two squares; null if there is none. */
export function firstTour(board, start, end) {
  return tours[board.name].numberTo(start, end);
}

/** Return whether the page contains every tour of a board. */
export function listed(board) {
  return board !== PAIRS;
}

/** Return why no tour begins at a square; "" if one does. */
export function noStart(board, start) {
  if (toursFrom(board, start)) return "";
  const [most, fewest] = [Math.ceil(board.count / 2), Math.floor(board.count / 2)];
  return `No tour of ${board.name} starts at ${board.nameOf(start)}: a tour alternates in colour, and the board `
    + `has ${most} squares of a1’s colour and ${fewest} of the other, so a tour starts and ends on a1’s colour.`;
}

/** Return why no tour leads from one square to another; "" if one does. */
export function noTour(board, start, end) {
  const [from, to] = [start, end].map((square) => board.nameOf(square));
  if (start === end) return `A tour visits ${from} only once: it cannot end there.`;
  if (firstTour(board, start, end) !== null) return "";
  if (board.joins(start, end)) return `No tour of ${board.name} leads from ${from} to ${to}.`;
  return `No tour leads from ${from} to ${to}: the knight changes colour with every jump, so after `
    + `${board.count - 1} jumps it is on ${board.count % 2 ? "its start’s" : "the other"} colour.`;
}

/** Return why a start has no tour with a number; "" if it has. */
export function noNumber(board, start, number) {
  const total = toursFrom(board, start);
  if (number < total) return "";
  const [all, last] = [total, total - 1].map((count) => count.toLocaleString("en"));
  return `${listed(board) ? `${board.name} has` : "This page has"} ${all} tours from ${board.nameOf(start)}, `
    + `numbered 0 to ${last}.`;
}

/** Return the tour with a number, keyed as the table's columns. */
export function knightFacts(board, start, number) {
  const squares = tours[board.name].squares(start, number);
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
