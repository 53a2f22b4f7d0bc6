// Senet's answers, from its table.
import { once, openIndex } from "#page/reader.js";
import { CHARACTERS, exchangedSenet, SENET_OPENING, SENET_SQUARES, writeMove } from "#page/senet_rules.js";

export const SENET_POSITIONS = 756756;
const WIDTH = 8;
const NEVER = 255;
const PLIES = [0, 2];
const LAST = [1, 3];
const LINES = 4;
const TAIL = 3 ** 8;

const SLICE = 60000;

let senetTable = null;

/** Open the table, at first without the numbers of lines. */
export const openSenet = once(async () => {
  senetTable = await openIndex("senet", WIDTH, SENET_POSITIONS, { unchecked: true });
});

/** Restore the numbers of lines, in slices so that the page stays responsive, and check all. */
export const wholeSenet = once(async () => {
  await openSenet();
  for (const slice of restoringLines(senetTable.records)) {
    slice();
    await new Promise((next) => { setTimeout(next); });
  }
  senetTable.check();
  senetTable.whole = true;
  return senetTable;
});

function arrangements(empty, a, b) {
  let total = 1;
  for (const [placed, count] of [[empty, empty], [empty + a, a], [empty + a + b, b]]) {
    for (let k = 1; k <= count; k++) total = (total * (placed - count + k)) / k;
  }
  return total;
}

function rankSenet(position) {
  const left = [5, 5, 5];
  let rank = 0;
  for (const piece of position) {
    const that = CHARACTERS.indexOf(piece);
    for (let smaller = 0; smaller < that; smaller++) {
      if (!left[smaller]) continue;
      left[smaller]--;
      rank += arrangements(...left);
      left[smaller]++;
    }
    left[that]--;
  }
  return rank;
}

export function unrankSenet(rank) {
  const left = [5, 5, 5];
  let position = "";
  while (position.length < SENET_SQUARES) {
    for (let piece = 0; piece < 3; piece++) {
      if (!left[piece]) continue;
      left[piece]--;
      const below = arrangements(...left);
      if (rank < below) {
        position += CHARACTERS[piece];
        break;
      }
      rank -= below;
      left[piece]++;
    }
  }
  return position;
}

/** Return the smallest line of a number of plies, by following the records' last moves backwards. */
export function senetLine(position, plies) {
  const line = [];
  for (let ply = plies; ply > 0; ply--) {
    const at = WIDTH * rankSenet(position);
    const last = senetTable.records[at + LAST[ply % 2]];
    const [throwOf, start] = [last >> 4, last & 15];
    position = exchangedSenet(position, start, start + throwOf);
    const swap = position[start + throwOf - 1] !== ".";
    line.unshift({ mover: "BA"[ply % 2], throw: throwOf, start, goal: start + throwOf, swap, before: position });
  }
  return line;
}

/**
 * Return the answer for a position, keyed as the table's columns. `plies` is null if it is never
 * reached, `lines` until the numbers of lines are restored.
 */
export function senetFacts(position) {
  const at = WIDTH * rankSenet(position);
  const record = senetTable.records.subarray(at, at + WIDTH);
  const [even, odd] = PLIES.map((field) => (record[field] === NEVER ? null : record[field]));
  const plies = even === null || odd === null ? even ?? odd : Math.min(even, odd);
  if (plies === null) return { position, plies };
  const line = senetLine(position, plies);
  return {
    position,
    plies,
    plies_even: even,
    plies_odd: odd,
    dice: line.map((move) => move.throw).join(""),
    moves: line.map(writeMove).join(" "),
    lines: senetTable.whole ? new DataView(record.buffer, record.byteOffset).getUint32(LINES, true) : null,
    path: [...line.map((move) => move.before), position],
  };
}

/** Return the positions with a number of fewest plies; null stands for those never reached. */
export function senetRanks(wanted) {
  const { records } = senetTable;
  const found = [];
  for (let rank = 0, at = 0; rank < SENET_POSITIONS; rank++, at += WIDTH) {
    const plies = Math.min(records[at + PLIES[0]], records[at + PLIES[1]]);
    if (plies === (wanted ?? NEVER)) found.push(rank);
  }
  return found;
}

/** Return the most plies that any position needs. */
export function senetFarthest() {
  const { records } = senetTable;
  let most = 0;
  for (let at = 0; at < records.length; at += WIDTH) {
    const plies = Math.min(records[at + PLIES[0]], records[at + PLIES[1]]);
    if (plies !== NEVER && plies > most) most = plies;
  }
  return most;
}

/**
 * Fill in the records' number of shortest lines, in slices. The page does not contain it: it is the
 * sum of that number over the positions one ply earlier, so one pass from the opening computes all.
 * Positions are base-3 numbers here, and a rank is the sum of two parts from tables.
 */
function* restoringLines(records) {
  const { head, rest, codes } = ranker();
  const weight = Array.from({ length: SENET_SQUARES + 1 }, (_, square) => 3 ** (SENET_SQUARES - square));
  // node = 2 * rank + parity: a position after an even and after an odd number of plies
  const depth = new Uint8Array(2 * SENET_POSITIONS);
  for (let node = 0; node < depth.length; node++) {
    depth[node] = records[WIDTH * (node >> 1) + PLIES[node & 1]];
  }
  const order = byDepth(depth);
  // sums over 32 bits wrap around; those of the fewest plies, which alone are stored, are smaller
  const ways = new Uint32Array(depth.length);
  ways[2 * rankSenet(SENET_OPENING)] = 1;
  const board = new Uint8Array(SENET_SQUARES + 2); // an empty square beyond either end
  const walk = (from, to) => {
    for (let place = from; place < to; place++) {
      const node = order[place];
      const parity = node & 1;
      const code = codes[node >> 1];
      for (let square = SENET_SQUARES, left = code; square > 0; square--) {
        const less = (left / 3) | 0;
        board[square] = left - 3 * less;
        left = less;
      }
      const mover = 1 + parity;
      const other = 3 - mover;
      const deeper = depth[node] + 1;
      for (let start = 1; start < SENET_SQUARES; start++) {
        if (board[start] !== mover) continue;
        const most = Math.min(start + 5, SENET_SQUARES);
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
    const fields = new DataView(records.buffer, records.byteOffset);
    for (let even = 0; even < depth.length; even += 2) {
      const fewest = depth[even + 1] < depth[even] ? even + 1 : even;
      fields.setUint32((WIDTH / 2) * even + LINES, ways[fewest], true);
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
function ranker() {
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
  const codes = new Int32Array(SENET_POSITIONS);
  let rank = 0;
  for (let code = 0; code < head.length; code++) {
    head[code] = rank;
    const left = counts(code, 7).map((count) => 5 - count);
    for (const end of ends.get(left.join()) ?? []) codes[rank++] = code * TAIL + end;
  }
  return { head, rest, codes };
}
