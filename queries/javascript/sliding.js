// Sliding boards: rules, ranks, and answers from tables with a byte or a bit for each state. Cells are
// numbered in reading order; a state has a character for each cell, 0 for the blank. A move's letter is
// the direction in which the blank goes.
import { BAD_REQUEST, makeUnusable, NO_ANSWER, TablebaseError } from "./errors.js";

const MARKS = "0123456789abcdef";
/** Boards of more cells have a bit for each state. */
const MAX_SMALL_CELLS = 10;
const ROW_STATES = 360;
const ROW_BYTES = 45;
const MAX_STEPS = 254;

/**
 * An answer, with the names of the tables' columns.
 * @typedef {object} BoardAnswer
 * @property {string} state
 * @property {string} goal the name of the goal, or its state
 * @property {string} goal_state
 * @property {number} distance fewest moves; for boards of over 10 cells known after the walk
 * @property {string} best_moves every optimal first move, in the order U D L R
 * @property {string} best_tiles the tile that each of them slides
 * @property {number} [solutions] number of shortest solutions: of the 8-puzzle
 * @property {string} [solution] a shortest solution
 * @property {string} [tiles] the tile that each of its moves slides
 * @property {string[]} [path] the states on its way
 *
 * @typedef {object} Layout a goal that has a table
 * @property {string} name
 * @property {string} state
 * @property {string} table
 *
 * @typedef {(told: {moves: number, state: string}) => void} OnProgress
 */

/** A board with the tables of some goals. */
export class Board {
  /**
   * @param {object} options
   * @param {number} options.rows
   * @param {number} options.columns
   * @param {Layout[]} options.layouts of the board that has no more rows than columns
   * @param {(name: string, width: number) => import("./index_file.js").IndexFile} options.open
   * @param {number} [options.width] bytes of a record, if they are those of the 8-puzzle
   */
  constructor({ rows, columns, layouts, open, width }) {
    this.rows = rows;
    this.columns = columns;
    /** The board whose tables have the answers of this one. @type {Board} */
    this.wide = rows <= columns ? this : new Board({ rows: columns, columns: rows, layouts, open, width });
    this.layouts = rows <= columns ? layouts : layouts.map(({ state, table }) => {
      const blank = state.indexOf("0");
      const goal = makeGoal(rows * columns, (blank % rows) * columns + Math.floor(blank / rows));
      return { name: goal, state: goal, table };
    });
    this.open = open;
    this.cells = rows * columns;
    this.marks = MARKS.slice(0, this.cells);
    this.isNotationOrder = width !== undefined;
    this.isPacked = !this.isNotationOrder && this.cells > MAX_SMALL_CELLS;
    this.width = width ?? (this.isPacked ? ROW_BYTES : 1);
    this.step = { U: -columns, D: columns, L: -1, R: 1 };
    const order = Array.from({ length: this.cells }, (_, cell) => cell);
    this.place = order.map((cell) => (cell % columns) * rows + Math.floor(cell / columns));
    this.cellAt = order.map((place) => this.place.indexOf(place));
    this.orders = 1; // half the number of all orders of the tiles
    for (let tile = 3; tile < this.cells; tile++) this.orders *= tile;
  }

  /** Throw an error if a text is no state. */
  requireState(text) {
    if (typeof text === "string" && [...text].sort().join("") === this.marks) return;
    const example = this.layouts[0]?.state ?? this.marks;
    throw new TablebaseError(BAD_REQUEST, `${JSON.stringify(text)} is not a state of ${this.rows}x${this.columns}, `
      + `which has each of ${this.marks} once, such as ${example}.`);
  }

  /** Return each legal move in the order U D L R: letter, tile that slides, state after it. */
  moves(state) {
    const blank = state.indexOf("0");
    const column = blank % this.columns;
    const isLegal = {
      U: blank >= this.columns, D: blank + this.columns < this.cells, L: column > 0, R: column + 1 < this.columns,
    };
    return [..."UDLR"].filter((letter) => isLegal[letter]).map((letter) => {
      const cells = [...state];
      const cell = blank + this.step[letter];
      [cells[blank], cells[cell]] = [cells[cell], "0"];
      return { letter, tile: state[cell], after: cells.join("") };
    });
  }

  /** Return whether moves lead from a state to another. */
  joins(state, goal) {
    return (this.#steps(state, goal) + countSwaps(state, goal)) % 2 === 0;
  }

  /** Return the number of rows and columns between the blanks of two states. */
  #steps(state, goal) {
    const [from, to] = [state.indexOf("0"), goal.indexOf("0")];
    return Math.abs((from % this.columns) - (to % this.columns))
      + Math.abs(Math.floor(from / this.columns) - Math.floor(to / this.columns));
  }

  rank(state) {
    const cells = this.isNotationOrder ? [...state] : this.cellAt.map((cell) => state[cell]);
    if (this.isNotationOrder) {
      return countSmaller(cells).reduce((sum, count, at) => sum * (this.cells - at) + count, 0);
    }
    const tiles = cells.filter((tile) => tile !== "0");
    const order = countSmaller(tiles).reduce((sum, count, at) => sum * (tiles.length - at) + count, 0);
    return cells.indexOf("0") * this.orders + Math.floor(order / 2);
  }

  /** Return the view of any goal as one that has a table: the board turned or mirrored, tiles renamed. */
  turn(goal) {
    const { rows, columns, cells, wide } = this;
    // each way has, for each cell of the wide board, the cell of this one
    const straight = [0, 1, 2, 3].map((flip) => Array.from({ length: cells }, (_, at) => {
      const [row, column] = [Math.floor(at / wide.columns), at % wide.columns];
      return [flip & 1 ? wide.rows - 1 - row : row, flip & 2 ? wide.columns - 1 - column : column];
    }));
    const ways = rows > columns ? [] : straight.map((way) => way.map(([row, column]) => row * columns + column));
    if (rows >= columns) ways.push(...straight.map((way) => way.map(([row, column]) => column * columns + row)));
    for (const way of ways) {
      const layout = wide.layouts.find(({ state }) => state.indexOf("0") === way.indexOf(goal.indexOf("0")));
      if (!layout) continue;
      const names = {};
      way.forEach((cell, at) => { names[goal[cell]] = layout.state[at]; });
      return { layout, state: (state) => way.map((cell) => names[state[cell]]).join("") };
    }
    return null;
  }

  /** Return the goal of a name or a state; without one, the first that a state reaches. */
  findGoal(state, goal) {
    if (goal !== undefined && goal !== null) {
      const named = this.layouts.find(({ name }) => name === goal)?.state ?? goal;
      this.requireState(named);
      return named;
    }
    return (this.layouts.find((layout) => this.joins(state, layout.state)) ?? this.layouts[0]).state;
  }

  /**
   * Answer for a state.
   * @param {string} state
   * @param {{goal?: string, solution?: boolean, onProgress?: OnProgress}} [options] `solution: false`:
   *   distance and best moves alone, where the table has distances
   * @returns {Promise<BoardAnswer>}
   */
  async answer(state, { goal, solution = true, onProgress = () => {} } = {}) {
    this.requireState(state);
    const goalState = this.findGoal(state, goal);
    const view = this.turn(goalState);
    if (!view) throw new TablebaseError(NO_ANSWER, `No table has the goal ${goalState}, nor one that turns into it.`);
    if (!this.joins(state, goalState)) {
      throw new TablebaseError(NO_ANSWER, `${goalState} cannot be reached from ${state}: swap any two tiles.`);
    }
    const walk = new Walk(this, view, this.open(view.layout.table, this.width));
    const first = await walk.begin(state);
    const steps = [];
    const path = [state];
    for (let best = first.best; best.length && (solution || this.isPacked);) {
      if (steps.length === MAX_STEPS) throw walk.fail();
      steps.push(best[0]);
      path.push(best[0].after);
      onProgress({ moves: steps.length, state: best[0].after });
      best = await walk.next(best[0].after, goalState);
    }
    if (steps.length && path.at(-1) !== goalState) throw walk.fail();
    const letters = (moves) => moves.map((move) => move.letter).join("");
    const tiles = (moves) => moves.map((move) => move.tile).join("");
    const { distance = steps.length, solutions } = first;
    return {
      state,
      goal: this.layouts.find((layout) => layout.state === goalState)?.name ?? goalState,
      goal_state: goalState,
      distance,
      best_moves: letters(first.best),
      best_tiles: tiles(first.best),
      ...(solutions === undefined ? {} : { solutions }),
      ...(solution ? { solution: letters(steps), tiles: tiles(steps), path } : {}),
    };
  }
}

/** A walk to a goal, that reads the neighbours of each state at the same time. */
class Walk {
  /**
   * @param {Board} board
   * @param {{layout: Layout, state: (state: string) => string}} view
   * @param {import("./index_file.js").IndexFile} index
   */
  constructor(board, view, index) {
    this.board = board;
    this.view = view;
    this.index = index;
    /** The distance of the state where the walk is, of bits: modulo 4. */
    this.value = 0;
  }

  /** Return the moves that lead nearer, and what the record says of the state. */
  async begin(state) {
    const moves = this.board.moves(state);
    const [own, ...others] = await this.#read([state, ...moves.map((move) => move.after)]);
    this.value = own.value;
    const best = this.#choose(moves, others);
    const isGoal = this.view.state(state) === this.view.layout.state;
    if (!isGoal && !best.length) throw this.fail();
    if (this.board.isPacked) return { best: isGoal ? [] : best };
    if ((own.value === 0) !== isGoal) throw this.fail();
    return { best, distance: own.value, solutions: own.solutions };
  }

  /** Go on to a state that is one move nearer; return the moves from there that lead nearer. */
  async next(state, goal) {
    this.value = this.board.isPacked ? (this.value + 3) % 4 : this.value - 1;
    if (state === goal) return [];
    const moves = this.board.moves(state);
    const best = this.#choose(moves, await this.#read(moves.map((move) => move.after)));
    if (!best.length) throw this.fail();
    return best;
  }

  #choose(moves, records) {
    const wanted = this.board.isPacked ? (this.value + 3) % 4 : this.value - 1;
    return moves.filter((_, at) => records[at].value === wanted);
  }

  /** @returns {Promise<{value: number, solutions?: number}[]>} */
  async #read(states) {
    const seen = states.map(this.view.state);
    const ranks = seen.map((state) => this.board.wide.rank(state));
    if (!this.board.isPacked) {
      const records = await this.index.records(ranks);
      return records.map(([value, solutions]) => ({ value, solutions }));
    }
    const records = await this.index.records(ranks.map((rank) => Math.floor(rank / ROW_STATES)));
    const [goal, { columns }] = [this.view.layout.state, this.board.wide];
    const cell = (state) => [Math.floor(state.indexOf("0") / columns), state.indexOf("0") % columns];
    const [row, column] = cell(goal);
    return records.map((record, at) => {
      const place = ranks[at] % ROW_STATES;
      const [ownRow, ownColumn] = cell(seen[at]);
      const parity = (Math.abs(ownRow - row) + Math.abs(ownColumn - column)) % 2;
      return { value: parity + 2 * ((record[place >> 3] >> (place & 7)) & 1) };
    });
  }

  fail() {
    return makeUnusable(this.index.source.locate(this.index.file), "no walk leads from a state to the goal");
  }
}

/** Return the state with the tiles in reading order and the blank on a cell, counted from 0. */
export function makeGoal(cells, blank) {
  const tiles = MARKS.slice(1, cells);
  return `${tiles.slice(0, blank)}0${tiles.slice(blank)}`;
}

/** Return for each item the number of later ones that are smaller. */
function countSmaller(items) {
  return items.map((item, at) => items.slice(at).filter((later) => later < item).length);
}

/** Return the number of pairs in another order than in the goal. */
function countSwaps(state, goal) {
  return countSmaller([...state].map((tile) => goal.indexOf(tile))).reduce((sum, count) => sum + count, 0);
}
