// The knight on square boards, and its tours of 8x8: one for each pair of squares that a tour can join.
// Square number = file + side * rank: a1 = 0, b1 = 1.
import { BAD_REQUEST, makeUnusable, NO_ANSWER, TablebaseError } from "./errors.js";
import { walkSolution } from "./solution.js";

/** The jumps 1-8 as (files, ranks downwards). */
const JUMPS = [
  [-1, -2],
  [1, -2],
  [2, -1],
  [2, 1],
  [1, 2],
  [-1, 2],
  [-2, 1],
  [-2, -1],
];

/**
 * @typedef {object} KnightAnswer
 * @property {string} board
 * @property {string} start
 * @property {string} finish
 * @property {boolean} closed whether the knight can jump from finish to start
 * @property {string} path the squares, two characters each
 */

/** A square board. */
export class KnightBoard {
  /** @param {number} side */
  constructor(side) {
    this.side = side;
    this.name = `${side}x${side}`;
    this.files = "abcdefgh".slice(0, side);
    this.count = side * side;
    this.squares = Array.from({ length: this.count }, (_, square) => square);
    /** The squares a jump away from each, ascending. */
    this.neighbours = this.squares.map((from) =>
      JUMPS.map(([files, ranks]) => [(from % side) + files, Math.floor(from / side) - ranks])
        .filter((position) => position.every((at) => at >= 0 && at < side))
        .map(([file, rank]) => file + side * rank)
        .sort((one, other) => one - other),
    );
  }

  nameSquare(square) {
    return this.files[square % this.side] + (1 + Math.floor(square / this.side));
  }

  parseSquare(name) {
    return this.files.indexOf(name[0]) + this.side * (Number(name[1]) - 1);
  }

  /** Return the problem of a text that should be a square; "" if there is none. */
  problem(text) {
    if (!text) return "it is empty";
    if (!/^[a-z][1-9]$/.test(text)) return "a square is a letter (file) and a digit (rank)";
    const isInside = this.files.includes(text[0]) && Number(text[1]) <= this.side;
    return isInside ? "" : `the squares are a1 to ${this.nameSquare(this.count - 1)}`;
  }

  isLight(square) {
    return (square + (this.side + 1) * Math.floor(square / this.side)) % 2 === 1;
  }

  /** Return which of the jumps 1-8 leads from a square to another; 0 if none does. */
  jump(from, to) {
    const right = (to % this.side) - (from % this.side);
    const down = Math.floor(from / this.side) - Math.floor(to / this.side);
    return 1 + JUMPS.findIndex(([files, ranks]) => files === right && ranks === down);
  }

  /** Return whether the colours, which alternate along a tour, allow one between two squares. */
  canJoin(start, end) {
    return (this.isLight(start) === this.isLight(end)) === (this.count % 2 === 1);
  }
}

const BOARD = new KnightBoard(8);

/**
 * Return the tour between two squares.
 * @param {...string} texts its start and its finish
 * @returns {Generator<import("./sliding.js").RecordRequest, KnightAnswer, Uint8Array[]>}
 */
export function* answerKnight(...texts) {
  const [start, finish] = texts.map((text) => {
    const name = typeof text === "string" ? text.trim().toLowerCase() : "";
    if (!BOARD.problem(name)) return name;
    throw new TablebaseError(
      BAD_REQUEST,
      `${JSON.stringify(text)} is not a square, one of a1 to h8, such as b1.`,
    );
  });
  const [from, to] = [start, finish].map((name) => BOARD.parseSquare(name));
  if (!BOARD.canJoin(from, to)) {
    throw new TablebaseError(
      NO_ANSWER,
      `No tour leads from ${start} to ${finish}: it ends on the other colour.`,
    );
  }
  const table = "knight_tours_8x8";
  const [squares] = yield { table, width: BOARD.count, ranks: [32 * from + (to >> 1)] };
  const path = walkSolution({
    start: "",
    moves: [...squares],
    step: (before, square) => {
      const near = before ? BOARD.neighbours[BOARD.parseSquare(before.slice(-2))] : [from];
      const name = BOARD.nameSquare(square);
      return near.includes(square) && !before.includes(name) ? before + name : undefined;
    },
    isGoal: (here) => here.endsWith(finish),
    fail: () => makeUnusable(`${table}.idx`, `the tour from ${start} to ${finish} is invalid`),
  }).at(-1);
  return { board: BOARD.name, start, finish, closed: BOARD.jump(to, from) > 0, path };
}
