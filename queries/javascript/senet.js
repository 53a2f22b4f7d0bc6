// Senet on 15 squares: a shortest line of play, followed back by the last moves in the index.
import { BAD_REQUEST, makeUnusable, NO_ANSWER, TablebaseError } from "./errors.js";
import { SEPARATORS, swapCells } from "./sliding.js";
import { walkSolution } from "./solution.js";

export const OPENING = "ABABABABAB.....";
export const PIECES = ".AB";
export const UNREACHABLE = 255;
export const THROWS = [1, 2, 3, 4, 5];
const SQUARES = OPENING.length;
/** The number of arrangements. */
export const POSITIONS = 756756;
/** What needs records of Senet. */
const TABLE = { table: "senet", width: 8 };

/**
 * @typedef {object} SenetAnswer
 * @property {string} position
 * @property {number} plies fewest plies from the opening
 * @property {number | null} plies_even
 * @property {number | null} plies_odd
 * @property {string} dice the throws of a shortest line
 * @property {string} moves the moves of that line, such as `5-10 4x7`
 * @property {number} lines number of shortest lines
 */

/**
 * Return the rank of a position among all arrangements, where `.` < `A` < `B`. Of the ways to go on from a square, those
 * that put a piece there are as many as its share of the pieces left.
 */
export function rankPosition(position) {
  const left = [5, 5, 5];
  let [rank, ways] = [0, POSITIONS];
  for (let square = 0; square < OPENING.length; square++) {
    const piece = PIECES.indexOf(position[square]);
    const total = OPENING.length - square;
    for (let smaller = 0; smaller < piece; smaller++) rank += (ways * left[smaller]) / total;
    ways = (ways * left[piece]--) / total;
  }
  return rank;
}

/** Return the position with a rank. */
export function unrankPosition(rank) {
  const left = [5, 5, 5];
  let [position, rest, ways] = ["", rank, POSITIONS];
  while (position.length < OPENING.length) {
    const total = OPENING.length - position.length;
    let piece = 0;
    for (; rest >= (ways * left[piece]) / total; piece++) rest -= (ways * left[piece]) / total;
    position += PIECES[piece];
    ways = (ways * left[piece]--) / total;
  }
  return position;
}

/** Return a move as text: `5-10` to an empty square, `4x7` for a swap. */
export function formatMove({ start, swap, goal }) {
  return `${start}${swap ? "x" : "-"}${goal}`;
}

/** Return whether the piece on a square (1-15) has one of its colour on a neighbouring square. */
export function isGuarded(position, square) {
  const piece = position[square - 1];
  return piece !== "." && (position[square - 2] === piece || position[square] === piece);
}

/** Return a side's legal moves with a throw, by their start squares. */
export function listMoves(position, mover, throwOf) {
  const moves = [];
  for (let start = 1; start + throwOf <= SQUARES; start++) {
    const goal = start + throwOf;
    const there = position[goal - 1];
    if (position[start - 1] !== mover || there === mover) continue;
    const swap = there !== ".";
    if (swap && isGuarded(position, goal)) continue;
    moves.push({ mover, throw: throwOf, start, goal, swap, before: position });
  }
  return moves;
}

/** Return the position after a move. */
export function applyMove({ before, start, goal }) {
  return swapCells(before, start - 1, goal - 1);
}

/**
 * Follow the last moves in the records back from a position, for a number of plies; return the moves of that
 * line, each with the position before it.
 * @param {string} position
 * @param {number} plies
 * @param {(update: {moves: number, state: string}) => void} [onProgress]
 * @returns {Generator<import("./sliding.js").RecordRequest, any[], Uint8Array[]>}
 */
export function* followBack(position, plies, onProgress = () => {}) {
  const line = [];
  let before = position;
  for (let ply = plies; ply > 0; ply--) {
    const [record] = yield { ...TABLE, ranks: [rankPosition(before)] };
    const last = record[ply % 2 ? 3 : 1];
    const [start, goal] = [last & 15, (last & 15) + (last >> 4)];
    before = swapCells(before, start - 1, goal - 1);
    line.unshift({
      mover: "BA"[ply % 2],
      throw: last >> 4,
      start,
      goal,
      swap: before[goal - 1] !== ".",
      before,
    });
    onProgress({ moves: line.length, state: before });
  }
  walkSolution({
    start: OPENING,
    moves: line,
    step: (here, { mover, throw: throwOf, start }) => {
      const legal = THROWS.includes(throwOf) ? listMoves(here, mover, throwOf) : [];
      const move = legal.find((one) => one.start === start);
      return move && applyMove(move);
    },
    isGoal: (here) => here === position,
    fail: () => makeUnusable("senet.idx", `no line of ${plies} plies leads to ${position}`),
  });
  return line;
}

/**
 * Answer for a position.
 * @param {string} text
 * @param {{onProgress?: (update: {moves: number, state: string}) => void}} [options]
 * @returns {Generator<import("./sliding.js").RecordRequest, SenetAnswer, Uint8Array[]>}
 */
export function* answerSenet(text, { onProgress } = {}) {
  const position =
    typeof text === "string"
      ? text.toUpperCase().replaceAll("_", ".").split(SEPARATORS).join("")
      : "";
  if ([...position].sort().join("") !== ".....AAAAABBBBB") {
    throw new TablebaseError(
      BAD_REQUEST,
      `${JSON.stringify(text)} is not a position, ` +
        `which has five each of A, B and ., such as ${OPENING}.`,
    );
  }
  const [record] = yield { ...TABLE, ranks: [rankPosition(position)] };
  const [even, , odd] = record;
  const plies = Math.min(even, odd);
  if (plies === UNREACHABLE)
    throw new TablebaseError(NO_ANSWER, `${position} is unreachable from the opening.`);
  const lines = new DataView(record.buffer, record.byteOffset).getUint32(4, true);
  const line = yield* followBack(position, plies, onProgress);
  const orNull = (number) => (number === UNREACHABLE ? null : number);
  return {
    position,
    plies,
    plies_even: orNull(even),
    plies_odd: orNull(odd),
    dice: line.map((move) => move.throw).join(""),
    moves: line.map(formatMove).join(" "),
    lines,
  };
}
