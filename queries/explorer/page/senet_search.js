// Searches of Senet, back from a position. A side's pieces are a mask with a bit for each square, the first one lowest.
import { once } from "#page/reader.js";
import { otherSide } from "#page/senet_rules.js";
import { afterMove, listMoves, OPENING, THROWS } from "#tables/senet.js";

const UNKNOWN = 255;
const PIECES = 5;
/** The bits of the mask of one side. */
const BITS = OPENING.length;
const MASKS = 2 ** BITS;

/** Return the number of each mask among those with all pieces, and how many there are. */
const numberMasks = once(() => {
  const numbers = new Uint16Array(MASKS);
  let placements = 0;
  for (let mask = 0; mask < MASKS; mask++) {
    if (mask.toString(2).replaceAll("0", "").length === PIECES) numbers[mask] = placements++;
  }
  return { numbers, placements };
});

/** Return the rank of the pieces of the side to move and of the other. */
function rankOf(own, other) {
  const { numbers, placements } = numberMasks();
  return placements * numbers[own] + numbers[other];
}

/** Return the mask of a side's pieces. */
function maskOf(position, side) {
  return [...position].reduce((mask, piece, at) => mask | (Number(piece === side) << at), 0);
}

/** Call `found` for each position from which a move leads to one, each as the pieces of the side that moves and of the other. */
function findBefore(moved, other, found) {
  for (let left = moved; left; left &= left - 1) {
    const goal = left & -left;
    for (const value of THROWS) {
      const start = goal >> value;
      if (!start) break;
      if (moved & start) continue;
      const isSwap = other & start;
      const swapped = isSwap ? other ^ start ^ goal : other;
      // a guarded piece is not swapped
      if (!isSwap || !(swapped & ((goal << 1) | (goal >> 1)))) found(moved ^ goal ^ start, swapped);
    }
  }
}

/** The fewest plies to a position from all others, found as far back as they are asked for; it does not matter who is to move there. */
class Target {
  /** By the side to move, its pieces and the other's. */
  #plies = [0, 1].map(() => new Uint8Array(numberMasks().placements ** 2).fill(UNKNOWN));
  /** The positions of the last distance found, by the side to move. */
  #layers = [[], []];
  #depth = 0;

  constructor(position) {
    this.position = position;
    [..."AB"].forEach((side, at) =>
      this.#add(at, maskOf(position, side), maskOf(position, otherSide(side))),
    );
  }

  #add(side, own, other) {
    const rank = rankOf(own, other);
    if (this.#plies[side][rank] !== UNKNOWN) return;
    this.#plies[side][rank] = this.#depth;
    this.#layers[side].push(own | (other << BITS));
  }

  /** Find the positions one ply farther; return whether there are any. */
  #goBack() {
    const layers = this.#layers;
    this.#layers = [[], []];
    this.#depth++;
    layers.forEach((layer, side) => {
      const add = (own, other) => this.#add(1 - side, own, other);
      // the other side has moved last
      for (const pieces of layer) findBefore(pieces >> BITS, pieces & (MASKS - 1), add);
    });
    return this.#layers.some((layer) => layer.length);
  }

  measure(position, mover, most) {
    const plies = this.#plies["AB".indexOf(mover)];
    const rank = rankOf(maskOf(position, mover), maskOf(position, otherSide(mover)));
    while (plies[rank] === UNKNOWN && this.#depth < most && this.#goBack());
    return plies[rank] === UNKNOWN ? null : plies[rank];
  }
}

let target = null;

/** Return the fewest plies to a target from a position with a side to move; null if no line of at most so many leads there. */
export function measure(to, position, mover, most = UNKNOWN) {
  if (target?.position !== to) target = new Target(to);
  return target.measure(position, mover, most);
}

/** Return the fewest plies to a target after every move of a line of moves from a position with a side to move. */
export function measureLine(to, position, mover, moves) {
  return [
    measure(to, position, mover),
    ...moves.map((move) => measure(to, afterMove(move), otherSide(move.mover))),
  ];
}

/** Return the first moves of shortest lines to a target; none if it is out of reach. */
export function listBest(to, position, mover) {
  const plies = measure(to, position, mover);
  const moves = THROWS.flatMap((value) => listMoves(position, mover, value));
  return plies
    ? moves.filter(
        (move) => measure(to, afterMove(move), otherSide(mover), plies - 1) === plies - 1,
      )
    : [];
}
