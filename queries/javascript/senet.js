// Senet on 15 squares: a shortest line of play, followed back by the last moves in the index.
import { BAD_REQUEST, NO_ANSWER, TablebaseError } from "./errors.js";
import { swapCells } from "./sliding.js";

export const OPENING = "ABABABABAB.....";
export const PIECES = ".AB";
export const NEVER = 255;
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

/** Return in how many ways some empty squares and pieces can be arranged with one of them, by its number, first. */
function countArrangements(left, first) {
  if (!left[first]) return 0;
  const [empty, a, b] = left.map((count, piece) => (piece === first ? count - 1 : count));
  const factorial = (number) => (number < 2 ? 1 : number * factorial(number - 1));
  return factorial(empty + a + b) / (factorial(empty) * factorial(a) * factorial(b));
}

/** Return the rank of a position among all arrangements, where `.` < `A` < `B`. */
export function rankPosition(position) {
  const left = [5, 5, 5];
  let rank = 0;
  for (const letter of position) {
    const piece = PIECES.indexOf(letter);
    for (let smaller = 0; smaller < piece; smaller++) rank += countArrangements(left, smaller);
    left[piece]--;
  }
  return rank;
}

/** Return the position with a rank. */
export function unrankPosition(rank) {
  const left = [5, 5, 5];
  let position = "";
  let rest = rank;
  while (position.length < OPENING.length) {
    let piece = 0;
    for (; rest >= countArrangements(left, piece); piece++) rest -= countArrangements(left, piece);
    position += PIECES[piece];
    left[piece]--;
  }
  return position;
}

/** Return a move as text: `5-10` to an empty square, `4x7` for a swap. */
export function writeMove({ start, swap, goal }) {
  return `${start}${swap ? "x" : "-"}${goal}`;
}

/**
 * Follow the last moves in the records back from a position, for a number of plies; return the moves of that
 * line, each with the position before it.
 * @param {string} position
 * @param {number} plies
 * @param {(told: {moves: number, state: string}) => void} [onProgress]
 */
export function* followBack(position, plies, onProgress = () => {}) {
  const line = [];
  let before = position;
  for (let ply = plies; ply > 0; ply--) {
    const [record] = yield { ...TABLE, ranks: [rankPosition(before)] };
    const last = record[ply % 2 ? 3 : 1];
    const [start, goal] = [last & 15, (last & 15) + (last >> 4)];
    before = swapCells(before, start - 1, goal - 1);
    line.unshift({ mover: "BA"[ply % 2], throw: last >> 4, start, goal, swap: before[goal - 1] !== ".", before });
    onProgress({ moves: line.length, state: before });
  }
  return line;
}

/**
 * Answer for a position.
 * @param {string} position
 * @param {{onProgress?: (told: {moves: number, state: string}) => void}} [options]
 * @returns {Generator<import("./sliding.js").Need, SenetAnswer, Uint8Array[]>}
 */
export function* answerSenet(position, { onProgress } = {}) {
  if (typeof position !== "string" || [...position].sort().join("") !== ".....AAAAABBBBB") {
    throw new TablebaseError(BAD_REQUEST, `${JSON.stringify(position)} is not a position, `
      + `which has five each of A, B and ., such as ${OPENING}.`);
  }
  const [record] = yield { ...TABLE, ranks: [rankPosition(position)] };
  const [even, , odd] = record;
  const plies = Math.min(even, odd);
  if (plies === NEVER) throw new TablebaseError(NO_ANSWER, `${position} is never reached from the opening.`);
  const lines = new DataView(record.buffer, record.byteOffset).getUint32(4, true);
  const line = yield* followBack(position, plies, onProgress);
  const orNull = (number) => (number === NEVER ? null : number);
  return {
    position,
    plies,
    plies_even: orNull(even),
    plies_odd: orNull(odd),
    dice: line.map((move) => move.throw).join(""),
    moves: line.map(writeMove).join(" "),
    lines,
  };
}
