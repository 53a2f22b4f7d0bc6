// IDA* on 4x4 boards, with additive pattern databases. It has no imports, so that
// a page can start it as a worker, which has no import map. docs/fifteen.md describes the tables.
//
// An entry of a table is found by the cells of the pattern's tiles, four bits each. The heuristic is the larger
// of the board's and of its mirror image's; each is kept up to date by one entry a move.

const SIDE = 4;
const CELLS = SIDE * SIDE;
const ENTRIES = 2 ** 20;
const MAX_MOVES = 160;
/** The weight of the heuristic in weighted IDA*, which finds a solution that may be longer, but sooner. */
const WEIGHT = 1.5;
const NEIGHBOURS = Array.from({ length: CELLS }, (_, cell) =>
  [
    cell >= SIDE ? cell - SIDE : -1,
    cell + SIDE < CELLS ? cell + SIDE : -1,
    cell % SIDE ? cell - 1 : -1,
    (cell + 1) % SIDE ? cell + 1 : -1,
  ].filter((other) => other >= 0),
);
const MIRROR = Uint8Array.from(
  { length: CELLS },
  (_, cell) => (cell % SIDE) * SIDE + Math.floor(cell / SIDE),
);
const mirrorTile = (tile) => (tile ? MIRROR[tile - 1] + 1 : 0);

/** The name of a worker that does nothing but search. */
export const WORKER_NAME = "pattern search";

/**
 * Pattern databases, unpacked; by image and tile of the board: the pattern, and its bits of an entry's number.
 * @typedef {{entries: Uint8Array, slots: Uint8Array, shifts: Uint8Array}} Patterns
 */

function listPermutations(items) {
  if (!items.length) return [[]];
  return items.flatMap((item) =>
    listPermutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
  );
}

/**
 * Unpack tables: each has its pattern's tiles and a record for each of their placements.
 * @param {{tiles: number[], records: Uint8Array}[]} tables
 * @returns {Patterns}
 */
export function unpackPatterns(tables) {
  const entries = new Uint8Array(tables.length * ENTRIES);
  const slots = new Uint8Array(2 * CELLS);
  const shifts = new Uint8Array(2 * CELLS);
  tables.forEach(({ tiles, records }, pattern) => {
    const sets = [];
    for (let mask = 0; mask < 2 ** CELLS; mask++) {
      const cells = [];
      for (let left = mask; left && cells.length <= tiles.length; left &= left - 1)
        cells.push(31 - Math.clz32(left & -left));
      if (cells.length === tiles.length) sets.push(cells);
    }
    let rank = 0;
    for (const order of listPermutations(tiles.map((_, index) => index))) {
      for (const cells of sets) {
        let entry = pattern * ENTRIES;
        for (let at = 0; at < cells.length; at++) entry += cells[at] * 16 ** order[at];
        entries[entry] = records[rank++];
      }
    }
    tiles.forEach((tile, index) => {
      for (const [image, seen] of [
        [0, tile],
        [1, mirrorTile(tile)],
      ]) {
        slots[image * CELLS + seen] = pattern;
        shifts[image * CELLS + seen] = 4 * index;
      }
    });
  });
  return { entries, slots, shifts };
}

/**
 * Find a shortest solution of a board, given the tile on each cell, by iterative deepening; yield before each iteration a lower
 * bound of the moves. Return the cells of the blank, the first included, and the number of nodes expanded.
 * There are no cells if false distances lead to no solution.
 * With a weight above 1, find a solution sooner that may be longer, by up to this factor.
 * @param {Patterns} patterns
 * @param {number[]} given
 * @param {number} [weight]
 * @returns {Generator<number, {cells: number[], nodes: number}, void>}
 */
export function* searchSolution({ entries, slots, shifts }, given, weight = 1) {
  const board = [...given];
  const patterns = entries.length / ENTRIES;
  const entryOf = new Int32Array(2 * patterns); // by image and pattern: the entry
  for (let pattern = 0; pattern < patterns; pattern++)
    entryOf[pattern] = entryOf[patterns + pattern] = pattern * ENTRIES;
  board.forEach((tile, cell) => {
    if (!tile) return;
    entryOf[slots[tile]] += cell << shifts[tile];
    entryOf[patterns + slots[CELLS + tile]] += MIRROR[cell] << shifts[CELLS + tile];
  });
  const heuristics = [0, 1].map((image) =>
    entryOf
      .slice(image * patterns, (image + 1) * patterns)
      .reduce((sum, entry) => sum + entries[entry], 0),
  );
  const path = new Uint8Array(MAX_MOVES);
  // for each depth, up to four children: the cell, both entries and both heuristics
  const children = new Int32Array(MAX_MOVES * 4 * 5);
  let nodes = 0;
  let limit = Math.floor(weight * Math.max(...heuristics));
  let moves = 0;

  /** Return whether a node has a solution within the limit. */
  function visit(depth, blank, previous, one, other) {
    path[depth] = blank;
    if (!one) {
      moves = depth;
      return true;
    }
    nodes++;
    const room = (limit - depth) / weight;
    const first = depth * 20;
    let end = first;
    for (const cell of NEIGHBOURS[blank]) {
      if (cell === previous) continue;
      const tile = board[cell];
      const here = entryOf[slots[tile]];
      const mirrored = entryOf[patterns + slots[CELLS + tile]];
      const entry = here + ((blank - cell) << shifts[tile]);
      const entryMirrored = mirrored + ((MIRROR[blank] - MIRROR[cell]) << shifts[CELLS + tile]);
      const heuristic = one - entries[here] + entries[entry];
      const heuristicMirrored = other - entries[mirrored] + entries[entryMirrored];
      const most = heuristic > heuristicMirrored ? heuristic : heuristicMirrored;
      // a move changes the distance by one: if this heuristic is larger by more, the last one was too small
      if (most > room + 1) return false;
      if (most >= room) continue;
      let at = end;
      while (at > first && children[at - 2] + children[at - 1] > heuristic + heuristicMirrored) {
        children.copyWithin(at, at - 5, at);
        at -= 5;
      }
      children[at] = cell;
      children[at + 1] = entry;
      children[at + 2] = entryMirrored;
      children[at + 3] = heuristic;
      children[at + 4] = heuristicMirrored;
      end += 5;
    }
    for (let at = first; at < end; at += 5) {
      const cell = children[at];
      const tile = board[cell];
      const slot = slots[tile];
      const slotMirrored = patterns + slots[CELLS + tile];
      const here = entryOf[slot];
      const mirrored = entryOf[slotMirrored];
      entryOf[slot] = children[at + 1];
      entryOf[slotMirrored] = children[at + 2];
      board[blank] = tile;
      board[cell] = 0;
      if (visit(depth + 1, cell, blank, children[at + 3], children[at + 4])) return true;
      board[cell] = tile;
      board[blank] = 0;
      entryOf[slot] = here;
      entryOf[slotMirrored] = mirrored;
    }
    return false;
  }

  const blank = board.indexOf(0);
  for (; limit < MAX_MOVES; limit += 2) {
    yield limit;
    if (visit(0, blank, -1, ...heuristics)) return { cells: [...path.slice(0, moves + 1)], nodes };
  }
  return { cells: [], nodes };
}

if (/** @type {any} */ (globalThis).name === WORKER_NAME) {
  let patterns = null;
  globalThis.onmessage = ({ data }) => {
    if (data.tables) {
      patterns = unpackPatterns(data.tables);
      return;
    }
    let quick = { value: null };
    for (const rounds = searchSolution(patterns, data.board, WEIGHT); !quick.done;)
      quick = rounds.next();
    postMessage({ most: quick.value.cells });
    const search = searchSolution(patterns, data.board);
    let round = search.next();
    for (; !round.done; round = search.next()) postMessage({ least: round.value });
    postMessage(round.value);
  };
}
