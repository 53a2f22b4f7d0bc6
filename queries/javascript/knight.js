// The knight's tours of 8x8: one for each pair of squares that a tour can join.
import { BAD_REQUEST, NO_ANSWER, TablebaseError } from "./errors.js";

const FILES = "abcdefgh";

/**
 * @typedef {object} KnightAnswer
 * @property {string} board
 * @property {string} start
 * @property {string} finish
 * @property {boolean} closed whether the knight can jump from finish to start
 * @property {string} path the squares, two characters each
 */

function parseSquare(name) {
  if (typeof name !== "string" || !/^[a-h][1-8]$/.test(name)) {
    throw new TablebaseError(BAD_REQUEST, `${JSON.stringify(name)} is not a square, one of a1 to h8, such as b1.`);
  }
  return FILES.indexOf(name[0]) + 8 * (Number(name[1]) - 1);
}

/**
 * Return the tour between two squares.
 * @param {import("./index_file.js").IndexFile} index
 * @param {string} start
 * @param {string} finish
 * @returns {Promise<KnightAnswer>}
 */
export async function answerKnight(index, start, finish) {
  const [one, other] = [start, finish].map(parseSquare);
  const files = Math.abs((one % 8) - (other % 8));
  const ranks = Math.abs((one >> 3) - (other >> 3));
  if ((files + ranks) % 2 === 0) {
    throw new TablebaseError(NO_ANSWER, `No tour leads from ${start} to ${finish}: it ends on the other colour.`);
  }
  const squares = [...await index.record(32 * one + (other >> 1))];
  const path = squares.map((square) => FILES[square % 8] + (1 + (square >> 3))).join("");
  return { board: "8x8", start, finish, closed: files * ranks === 2, path };
}
