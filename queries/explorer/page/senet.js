// Senet's answers, from its table.
import { answerFrom, once, openIndex } from "#page/reader.js";
import { answerSenet, followBack, NEVER, OPENING, rankPosition } from "#tables/senet.js";

const SQUARES = OPENING.length;
/** The planes of the records with the fewest even plies and the fewest odd ones. */
const PLIES = [0, 2];
const TAIL = 3 ** 8;
/** The values of the squares in a position's number to base 3: empty 0, A 1, B 2, square 1 first. */
const WEIGHTS = Array.from({ length: SQUARES + 1 }, (_, square) => 3 ** (SQUARES - square));

const tables = {};

/** Open the table, which has no numbers of lines here: they are counted. */
export const openSenet = once(async () => {
  tables.senet = await openIndex("senet");
  return tables.senet;
});

/** Return the smallest line of a number of plies. */
export function senetLine(position, plies) {
  return answerFrom(tables, followBack(position, plies));
}

/** Return the answer for a position, keyed as the table's columns; `plies` is null if it is never reached. */
export function senetFacts(position) {
  const rank = rankPosition(position);
  if (PLIES.every((plane) => tables.senet.planes[plane][rank] === NEVER)) return { position, plies: null };
  const answer = answerFrom(tables, answerSenet(position));
  delete answer.lines; // not in the page
  const line = senetLine(position, answer.plies);
  return { ...answer, path: [...line.map((move) => move.before), position] };
}

/** Return the ranks of the positions with a number of fewest plies. */
export function listRanks(plies) {
  const [even, odd] = PLIES.map((plane) => tables.senet.planes[plane]);
  const found = [];
  for (let rank = 0; rank < even.length; rank++) {
    if (Math.min(even[rank], odd[rank]) === plies) found.push(rank);
  }
  return found;
}

/** Return the ranks of the positions that need most plies. */
export function listFarthest() {
  let farthest = [];
  for (let plies = 0, found = listRanks(plies); found.length; found = listRanks(++plies)) farthest = found;
  return farthest;
}

/** Return the number of lines from the opening to a position, of a number of plies: the fewest, even or odd. */
export function countLines(position, plies) {
  return listWays(position, plies)[0].get(rankPosition(OPENING));
}

/**
 * Return for each ply of the lines that `countLines` counts the ranks of the positions there, each with the number of
 * ways that lead on from it.
 */
export function listWays(position, plies) {
  const numbers = openNumbers();
  const ways = [new Map([[rankPosition(position), 1]])];
  for (let ply = plies - 1; ply >= 0; ply--) {
    const depths = tables.senet.planes[PLIES[ply % 2]];
    const before = new Map();
    for (const [rank, count] of ways[0]) {
      for (const earlier of listBefore(numbers, rank, 1 + (ply % 2))) {
        if (depths[earlier] === ply) before.set(earlier, (before.get(earlier) ?? 0) + count);
      }
    }
    ways.unshift(before);
  }
  return ways;
}

/** Yield the ranks of the positions from which a side, 1 for A or 2 for B, can move to one. */
function* listBefore({ head, rest, codes }, rank, mover) {
  const code = codes[rank];
  const other = 3 - mover;
  const board = [0, ...WEIGHTS.slice(1).map((weight) => Math.floor(code / weight) % 3), 0]; // an empty square beyond either end
  for (let goal = 2; goal <= SQUARES; goal++) {
    if (board[goal] !== mover) continue;
    for (let start = goal - 1; start >= Math.max(goal - 5, 1); start--) {
      const there = board[start];
      const left = start === goal - 1 ? mover : board[goal - 1];
      const isGuarded = there === other && (left === other || board[goal + 1] === other);
      if (there === mover || isGuarded) continue;
      const before = code + (there - mover) * (WEIGHTS[goal] - WEIGHTS[start]);
      const first = Math.floor(before / TAIL);
      yield head[first] + rest[before - TAIL * first];
    }
  }
}

/** Return the parts of a rank for a position's first seven squares and its last eight; the positions' numbers by rank. */
const openNumbers = once(() => {
  const counts = (code, squares) => {
    const found = [0, 0, 0];
    for (let square = 0; square < squares; square++, code = Math.floor(code / 3)) found[code % 3]++;
    return found;
  };
  const rest = new Int32Array(TAIL);
  const ends = new Map(); // by their numbers of pieces: the ends in order
  for (let code = 0; code < TAIL; code++) {
    const key = counts(code, 8).join();
    if (!ends.has(key)) ends.set(key, []);
    rest[code] = ends.get(key).push(code) - 1;
  }
  const head = new Int32Array(3 ** 7);
  const codes = new Int32Array(tables.senet.count);
  let rank = 0;
  for (let code = 0; code < head.length; code++) {
    head[code] = rank;
    const left = counts(code, 7).map((count) => 5 - count);
    for (const end of ends.get(left.join()) ?? []) codes[rank++] = code * TAIL + end;
  }
  return { head, rest, codes };
});
