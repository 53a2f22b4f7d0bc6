// Senet's answers, from its table.
import { answerFrom, findMaximum, findRanks, once, openIndex } from "#page/reader.js";
import { drawNumber } from "#page/today.js";
import {
  answerSenet,
  followBack,
  isGuarded,
  UNREACHABLE,
  OPENING,
  rankPosition,
  THROWS,
  unrankPosition,
} from "#tables/senet.js";

/** The planes of the records with the fewest even plies and the fewest odd ones. */
const PLIES = [0, 2];

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

/** Return the answer for a position, keyed as the table's columns; `plies` is null if it is unreachable. */
export function senetFacts(position) {
  const rank = rankPosition(position);
  if (PLIES.every((plane) => tables.senet.planes[plane][rank] === UNREACHABLE))
    return { position, plies: null };
  const answer = answerFrom(tables, answerSenet(position));
  delete answer.lines; // not in the page
  const line = senetLine(position, answer.plies);
  return { ...answer, path: [...line.map((move) => move.before), position] };
}

/** Return the fewest plies to each position, by rank. */
const listPlies = once(() => {
  const [even, odd] = PLIES.map((plane) => tables.senet.planes[plane]);
  const plies = even.slice();
  for (let rank = 0; rank < plies.length; rank++)
    if (odd[rank] < plies[rank]) plies[rank] = odd[rank];
  return plies;
});

/** Return the most plies that a position needs. */
export const findMostPlies = once(() => findMaximum(listPlies()));

/** Return the ranks of the positions with a number of fewest plies. */
export const listRanks = (plies) => findRanks(listPlies(), plies);

/**
 * Draw a position with a number of fewest plies, each equally likely: for a seed, which is a whole number, always the same
 * one. Neighbouring seeds draw positions that have nothing in common.
 */
export function drawTarget(plies, seed) {
  const ranks = listRanks(plies);
  return unrankPosition(ranks[drawNumber(seed, ranks.length)]);
}

/** Return the number of lines from the opening to a position, of a number of plies: the fewest, even or odd. */
export function countLines(position, plies) {
  let ways = new Map([[position, 1]]);
  for (let ply = plies - 1; ply >= 0; ply--) {
    const depths = tables.senet.planes[PLIES[ply % 2]];
    const earlier = new Map();
    for (const [after, count] of ways) {
      for (const before of listPredecessors(after, "AB"[ply % 2])) {
        if (earlier.has(before)) earlier.set(before, earlier.get(before) + count);
        else if (depths[rankPosition(before)] === ply) earlier.set(before, count);
      }
    }
    ways = earlier;
  }
  return ways.get(OPENING);
}

/** Yield a position's predecessors by a move of a side. */
function* listPredecessors(position, mover) {
  for (let goal = 2; goal <= OPENING.length; goal++) {
    if (position[goal - 1] !== mover) continue;
    for (let start = Math.max(goal - THROWS.length, 1); start < goal; start++) {
      const there = position[start - 1];
      const before =
        position.slice(0, start - 1) +
        mover +
        position.slice(start, goal - 1) +
        there +
        position.slice(goal);
      if (there === "." || (there !== mover && !isGuarded(before, goal))) yield before;
    }
  }
}
