// Senet on 15 squares: a shortest line of play, followed back by the last moves in the index.
import { BAD_REQUEST, NO_ANSWER, TablebaseError } from "./errors.js";

const NEVER = 255;
const EXAMPLE = "ABABABABAB.....";

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

function factorial(number) {
  return number < 2 ? 1 : number * factorial(number - 1);
}

/** Return the rank of a position among all arrangements, where `.` < `A` < `B`. */
export function rankPosition(squares) {
  const remaining = { ".": 5, A: 5, B: 5 };
  let rank = 0;
  for (const piece of squares) {
    for (const smaller of ".AB".slice(0, ".AB".indexOf(piece))) {
      if (!remaining[smaller]) continue;
      const [empty, a, b] = Object.values({ ...remaining, [smaller]: remaining[smaller] - 1 });
      rank += factorial(empty + a + b) / (factorial(empty) * factorial(a) * factorial(b));
    }
    remaining[piece]--;
  }
  return rank;
}

/**
 * Answer for a position.
 * @param {import("./index_file.js").IndexFile} index
 * @param {string} position
 * @param {{onProgress?: (told: {moves: number, state: string}) => void}} [options]
 * @returns {Promise<SenetAnswer>}
 */
export async function answerSenet(index, position, { onProgress = () => {} } = {}) {
  if (typeof position !== "string" || [...position].sort().join("") !== ".....AAAAABBBBB") {
    throw new TablebaseError(BAD_REQUEST, `${JSON.stringify(position)} is not a position, `
      + `which has five each of A, B and ., such as ${EXAMPLE}.`);
  }
  let record = await index.record(rankPosition(position));
  const [even, , odd] = record;
  const plies = Math.min(even, odd);
  if (plies === NEVER) throw new TablebaseError(NO_ANSWER, `${position} is never reached from the opening.`);
  const lines = new DataView(record.buffer, record.byteOffset).getUint32(4, true);
  const squares = [...position];
  const throws = [];
  const moves = [];
  for (let ply = plies; ply > 0; ply--) {
    const last = record[ply % 2 ? 3 : 1];
    const [start, goal] = [last & 15, (last & 15) + (last >> 4)];
    [squares[start - 1], squares[goal - 1]] = [squares[goal - 1], squares[start - 1]];
    throws.unshift(last >> 4);
    moves.unshift(`${start}${squares[goal - 1] === "." ? "-" : "x"}${goal}`);
    onProgress({ moves: moves.length, state: squares.join("") });
    if (ply > 1) record = await index.record(rankPosition(squares));
  }
  const orNull = (number) => (number === NEVER ? null : number);
  return {
    position, plies, plies_even: orNull(even), plies_odd: orNull(odd), dice: throws.join(""), moves: moves.join(" "), lines,
  };
}
