// Senet's answers, from its table.
import { answerFrom, once, openIndex } from "#page/reader.js";
import { answerSenet, followBack, NEVER, OPENING, rankPosition } from "#tables/senet.js";

const SQUARES = OPENING.length;
/** The planes of the records: the fewest even plies and the fewest odd ones; the number of lines, four bytes. */
const PLIES = [0, 2];
const LINES = 4;
const TAIL = 3 ** 8;
const SLICE = 60000;

const tables = {};

/** Open the table, at first without the numbers of lines. */
export const openSenet = once(async () => {
  tables.senet = await openIndex("senet", { unchecked: true });
});

/** Restore the numbers of lines, in slices so that the page stays responsive, and check all. */
export const wholeSenet = once(async () => {
  await openSenet();
  for (const slice of restoringLines(tables.senet)) {
    slice();
    await new Promise((next) => { setTimeout(next); });
  }
  tables.senet.check();
  tables.senet.isWhole = true;
  return tables.senet;
});

/** Return the smallest line of a number of plies. */
export function senetLine(position, plies) {
  return answerFrom(tables, followBack(position, plies));
}

/**
 * Return the answer for a position, keyed as the table's columns. `plies` is null if it is never
 * reached, `lines` until the numbers of lines are restored.
 */
export function senetFacts(position) {
  const rank = rankPosition(position);
  if (PLIES.every((plane) => tables.senet.planes[plane][rank] === NEVER)) return { position, plies: null };
  const answer = answerFrom(tables, answerSenet(position));
  const line = senetLine(position, answer.plies);
  return {
    ...answer,
    lines: tables.senet.isWhole ? answer.lines : null,
    path: [...line.map((move) => move.before), position],
  };
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

/**
 * Fill in the table's numbers of shortest lines, in slices. The page does not contain it: it is the
 * sum of that number over the positions one ply earlier, so one pass from the opening computes all.
 * Positions are base-3 numbers here, and a rank is the sum of two parts from tables.
 */
function* restoringLines({ planes, count }) {
  const { head, rest, codes } = ranker(count);
  const weight = Array.from({ length: SQUARES + 1 }, (_, square) => 3 ** (SQUARES - square));
  // node = 2 * rank + parity: a position after an even and after an odd number of plies
  const depth = new Uint8Array(2 * count);
  for (let node = 0; node < depth.length; node++) depth[node] = planes[PLIES[node & 1]][node >> 1];
  const order = byDepth(depth);
  // sums over 32 bits wrap around; those of the fewest plies, which alone are stored, are smaller
  const ways = new Uint32Array(depth.length);
  ways[2 * rankPosition(OPENING)] = 1;
  const board = new Uint8Array(SQUARES + 2); // an empty square beyond either end
  const walk = (from, to) => {
    for (let place = from; place < to; place++) {
      const node = order[place];
      const parity = node & 1;
      const code = codes[node >> 1];
      for (let square = SQUARES, left = code; square > 0; square--) {
        const less = (left / 3) | 0;
        board[square] = left - 3 * less;
        left = less;
      }
      const mover = 1 + parity;
      const other = 3 - mover;
      const deeper = depth[node] + 1;
      for (let start = 1; start < SQUARES; start++) {
        if (board[start] !== mover) continue;
        const most = Math.min(start + 5, SQUARES);
        for (let goal = start + 1; goal <= most; goal++) {
          const there = board[goal];
          if (there === mover) continue;
          if (there === other && (board[goal - 1] === other || board[goal + 1] === other)) continue;
          const after = code + (mover - there) * (weight[goal] - weight[start]);
          const first = (after / TAIL) | 0;
          const next = 2 * (head[first] + rest[after - TAIL * first]) + 1 - parity;
          if (depth[next] === deeper) ways[next] += ways[node];
        }
      }
    }
  };
  for (let from = 0; from < order.length; from += SLICE) {
    yield () => walk(from, Math.min(from + SLICE, order.length));
  }
  yield () => {
    for (let byte = 0; byte < 4; byte++) {
      planes[LINES + byte] = Uint8Array.from({ length: count }, (_, rank) => {
        const even = 2 * rank;
        return ways[depth[even + 1] < depth[even] ? even + 1 : even] >>> (8 * byte);
      });
    }
  };
}

/** Return the nodes that are reached, those of fewer plies first. */
function byDepth(depth) {
  const ends = new Int32Array(NEVER + 2);
  for (const plies of depth) ends[plies + 1]++;
  for (let plies = 0; plies <= NEVER; plies++) ends[plies + 1] += ends[plies];
  const found = new Int32Array(ends[NEVER]);
  for (let node = 0; node < depth.length; node++) {
    if (depth[node] !== NEVER) found[ends[depth[node]]++] = node;
  }
  return found;
}

/** Return the parts of a rank for a position's first seven squares and its last eight; codes by rank. */
function ranker(count) {
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
  const codes = new Int32Array(count);
  let rank = 0;
  for (let code = 0; code < head.length; code++) {
    head[code] = rank;
    const left = counts(code, 7).map((count) => 5 - count);
    for (const end of ends.get(left.join()) ?? []) codes[rank++] = code * TAIL + end;
  }
  return { head, rest, codes };
}
