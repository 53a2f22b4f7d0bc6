// The knight's rules. Square number = file + side * rank: a1 = 0, b1 = 1.
const FILE_LETTERS = "abcdefgh";
/** The jumps 1-8 as (files, ranks downwards). */
const JUMPS = [[-1, -2], [1, -2], [2, -1], [2, 1], [1, 2], [-1, 2], [-2, 1], [-2, -1]];

class Board {
  constructor(side) {
    this.side = side;
    this.name = `${side}x${side}`;
    this.files = FILE_LETTERS.slice(0, side);
    this.count = side * side;
    this.squares = Array.from({ length: this.count }, (_, square) => square);
    /** The squares a jump away from each, ascending. */
    this.neighbours = this.squares.map((from) => this.squares.filter((to) => this.jump(from, to)));
  }

  nameOf(square) {
    return this.files[square % this.side] + (1 + Math.floor(square / this.side));
  }

  numberOf(name) {
    return this.files.indexOf(name[0]) + this.side * (Number(name[1]) - 1);
  }

  /** Return the problem of a text that should be a square; "" if there is none. */
  problem(text) {
    if (!text) return "it is empty";
    if (!/^[a-z][1-9]$/.test(text)) return "a square is a letter and a digit (file and rank)";
    const inside = this.files.includes(text[0]) && Number(text[1]) <= this.side;
    return inside ? "" : `the squares are a1 to ${this.nameOf(this.count - 1)}`;
  }

  light(square) {
    return (square + (this.side + 1) * Math.floor(square / this.side)) % 2 === 1;
  }

  /** Return which of the jumps 1-8 leads from a square to another; 0 if none does. */
  jump(from, to) {
    const right = (to % this.side) - (from % this.side);
    const down = Math.floor(from / this.side) - Math.floor(to / this.side);
    return 1 + JUMPS.findIndex(([files, ranks]) => files === right && ranks === down);
  }

  /** Return whether the colours, which alternate along a tour, allow one between two squares. */
  joins(start, end) {
    return (this.light(start) === this.light(end)) === (this.count % 2 === 1);
  }
}

export const BOARDS = Object.fromEntries([8, 6, 5].map((side) => [`${side}x${side}`, new Board(side)]));
