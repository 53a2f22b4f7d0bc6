// Retrograde searches of Senet, from a position backwards. A side's pieces are a mask with a bit for each square, the first one lowest.
import { once } from "#page/reader.js";
import { otherSide } from "#page/senet_rules.js";
import { applyMove, listMoves, OPENING, THROWS } from "#tables/senet.js";

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

/** Return the rank of a position, given the masks of the side to move and of the other. */
function rankPieces(own, other) {
  const { numbers, placements } = numberMasks();
  return placements * numbers[own] + numbers[other];
}

/** Return the mask of a side's pieces. */
function makeMask(position, side) {
  return [...position].reduce((mask, piece, at) => mask | (Number(piece === side) << at), 0);
}

/** Call `found` for each predecessor of a position, as the masks of the side that moves and of the other. */
function forEachPredecessor(moved, other, found) {
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

/** A retrograde search: the fewest plies to a position from all others, layer by layer as far as needed; either side may be to move there. */
class Target {
  /** By the side to move, its pieces and the other's. */
  #plies = [0, 1].map(() => new Uint8Array(numberMasks().placements ** 2).fill(UNKNOWN));
  /** The positions of the last distance found, by the side to move. */
  #layers = [[], []];
  #depth = 0;

  constructor(position) {
    this.position = position;
    [..."AB"].forEach((side, at) =>
      this.#add(at, makeMask(position, side), makeMask(position, otherSide(side))),
    );
  }

  #add(side, own, other) {
    const rank = rankPieces(own, other);
    if (this.#plies[side][rank] !== UNKNOWN) return;
    this.#plies[side][rank] = this.#depth;
    this.#layers[side].push(own | (other << BITS));
  }

  /** Find the positions one ply farther; return whether there are any. */
  #expandLayer() {
    const layers = this.#layers;
    this.#layers = [[], []];
    this.#depth++;
    layers.forEach((layer, side) => {
      const add = (own, other) => this.#add(1 - side, own, other);
      // the other side has moved last
      for (const pieces of layer) forEachPredecessor(pieces >> BITS, pieces & (MASKS - 1), add);
    });
    return this.#layers.some((layer) => layer.length);
  }

  measure(position, mover, most) {
    const plies = this.#plies["AB".indexOf(mover)];
    const rank = rankPieces(makeMask(position, mover), makeMask(position, otherSide(mover)));
    while (plies[rank] === UNKNOWN && this.#depth < most && this.#expandLayer());
    return plies[rank] === UNKNOWN ? null : plies[rank];
  }
}

let target = null;

/** Return the fewest plies to a target from a position with a side to move; null if no line of at most `most` plies leads there. */
export function measure(to, position, mover, most = UNKNOWN) {
  if (target?.position !== to) target = new Target(to);
  return target.measure(position, mover, most);
}

/** Return the fewest plies to a target after every move of a line of moves from a position with a side to move. */
export function measureLine(to, position, mover, moves) {
  return [
    measure(to, position, mover),
    ...moves.map((move) => measure(to, applyMove(move), otherSide(move.mover))),
  ];
}

/** Return the first moves of shortest lines to a target; none if it is out of reach. */
export function listBestMoves(to, position, mover) {
  const plies = measure(to, position, mover);
  const moves = THROWS.flatMap((value) => listMoves(position, mover, value));
  return plies
    ? moves.filter(
        (move) => measure(to, applyMove(move), otherSide(mover), plies - 1) === plies - 1,
      )
    : [];
}
