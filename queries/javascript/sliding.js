// Sliding boards: rules, ranks, and answers from tables with a byte or a bit for each state. Cells are
// numbered in reading order; a state has a character for each cell, 0 for the blank. A move's letter is
// the direction in which the blank goes.
import { BAD_REQUEST, makeMissing, makeUnusable, NO_ANSWER, TablebaseError } from "./errors.js";
import { walkSolution } from "./solution.js";

const MARKS = "0123456789abcdef";
/** Boards of more cells have a bit for each state. */
const MAX_SMALL_CELLS = 10;
const ROW_STATES = 360;
const ROW_BYTES = 45;
const MAX_STEPS = 254;
/** What may stand between the cells of a board. */
export const SEPARATORS = /[\s,;/|[\](){}]+/;
/** The board of the 8-puzzle. */
export const EIGHT = {
  rows: 3,
  columns: 3,
  width: 2,
  goals: [
    { name: "corner", state: "123456780", table: "eight" },
    { name: "centre", state: "123804765", table: "eight" },
    { name: "edge", state: "123456708", table: "eight_edge" },
  ],
};

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
 * @typedef {object} Goal a goal that has a table
 * @property {string} name
 * @property {string} state
 * @property {string} table
 *
 * @typedef {(update: {moves: number, state: string}) => void} OnProgress
 *
 * A request of a question: records of a table by rank, or all of them. The caller reads them and passes them to the generator.
 * @typedef {{table: string, width: number, ranks?: number[], isWhole?: boolean, request?: string}} RecordRequest
 */

/** A board with the tables of some goals. */
export class Board {
  /**
   * `goals` are those of the board that has no more rows than columns, `width` the bytes of a record, if they are those of
   * the 8-puzzle, and `locate` says where a file is, for messages.
   * @param {{rows: number, columns: number, goals: Goal[], width?: number, locate?: (file: string) => string}} described
   */
  constructor({ rows, columns, goals, width, locate = (file) => file }) {
    this.rows = rows;
    this.columns = columns;
    /** The board whose tables have the answers of this one. @type {Board} */
    this.wide =
      rows <= columns ? this : new Board({ rows: columns, columns: rows, goals, width, locate });
    this.goals =
      rows <= columns
        ? goals
        : goals.map(({ state, table }) => {
            const blank = state.indexOf("0");
            const goal = makeGoal(
              rows * columns,
              (blank % rows) * columns + Math.floor(blank / rows),
            );
            return { name: goal, state: goal, table };
          });
    this.locate = locate;
    this.cells = rows * columns;
    this.marks = MARKS.slice(0, this.cells);
    this.isNotationOrder = width !== undefined;
    this.isPacked = !this.isNotationOrder && this.cells > MAX_SMALL_CELLS;
    this.width = width ?? (this.isPacked ? ROW_BYTES : 1);
    this.step = { U: -columns, D: columns, L: -1, R: 1 };
    const order = Array.from({ length: this.cells }, (_, cell) => cell);
    this.place = order.map((cell) => (cell % columns) * rows + Math.floor(cell / columns));
    this.cellAt = order.map((place) => this.place.indexOf(place));
    this.evenPermutations = 1; // the number of even permutations of the tiles
    for (let tile = 3; tile < this.cells; tile++) this.evenPermutations *= tile;
  }

  /** Return the state that a text means: a character or a number for each cell, with or without separators. */
  parse(text) {
    const words = text.toLowerCase().replace(/[._]/g, "0").split(SEPARATORS).filter(Boolean);
    const isNumbers =
      words.length === this.cells &&
      words.every((word) => /^\d+$/.test(word) && Number(word) < this.cells);
    return isNumbers ? words.map((word) => this.marks[Number(word)]).join("") : words.join("");
  }

  /** Return the state that a text means; throw an error if it means none. */
  requireState(text) {
    const state = typeof text === "string" ? this.parse(text) : "";
    if ([...state].sort().join("") === this.marks) return state;
    const example = this.goals[0]?.state ?? this.marks;
    throw new TablebaseError(
      BAD_REQUEST,
      `${JSON.stringify(text)} is not a state of ${this.rows}x${this.columns}, ` +
        `which has each of ${this.marks} once, such as ${example}.`,
    );
  }

  /** Return each legal move in the order U D L R: letter, tile that slides, cell that it comes from, state after it. */
  moves(state) {
    const blank = state.indexOf("0");
    const column = blank % this.columns;
    const isLegal = {
      U: blank >= this.columns,
      D: blank + this.columns < this.cells,
      L: column > 0,
      R: column + 1 < this.columns,
    };
    return [..."UDLR"]
      .filter((letter) => isLegal[letter])
      .map((letter) => {
        const cell = blank + this.step[letter];
        return { letter, tile: state[cell], cell, after: swapCells(state, blank, cell) };
      });
  }

  /** Return the parities of the blank's moves, and of the permutation of the marks, between two states. */
  parities(state, goal) {
    // the blank's cells alternate in colour, as those of a chess board
    const [from, to] = [state, goal]
      .map((one) => one.indexOf("0"))
      .map((cell) => Math.floor(cell / this.columns) + (cell % this.columns));
    const order = [...state].map((tile) => goal.indexOf(tile));
    const swaps = countSmaller(order).reduce((sum, count) => sum + count, 0);
    return { moves: Math.abs(from - to) % 2, swaps: swaps % 2 };
  }

  /** Return whether moves lead from a state to another: whether the two parities agree. */
  canReach(state, goal) {
    const { moves, swaps } = this.parities(state, goal);
    return moves === swaps;
  }

  /** Throw an error if no moves lead from a state to another. */
  requireReachable(state, goal) {
    if (this.canReach(state, goal)) return;
    throw new TablebaseError(
      NO_ANSWER,
      `${goal} cannot be reached from ${state}: swap any two tiles.`,
    );
  }

  rank(state) {
    if (this.isNotationOrder) return rankPermutation([...state]);
    const cells = this.cellAt.map((cell) => state[cell]);
    const order = rankPermutation(cells.filter((tile) => tile !== "0"));
    return cells.indexOf("0") * this.evenPermutations + Math.floor(order / 2);
  }

  /** Return the state with a rank that reaches a goal; undefined if it reaches another one. */
  unrank(rank, goal) {
    const states = this.isNotationOrder
      ? [unrankPermutation([...this.marks], rank).join("")]
      : [0, 1].map((last) => {
          const tiles = unrankPermutation(
            [...this.marks.slice(1)],
            2 * (rank % this.evenPermutations) + last,
          );
          tiles.splice(Math.floor(rank / this.evenPermutations), 0, "0");
          return this.place.map((place) => tiles[place]).join("");
        });
    return states.find((state) => this.canReach(state, goal));
  }

  /** Return the symmetries that map this board to the wide one: for each cell of that, the cell of this one. */
  #listSymmetries() {
    const { rows, columns, cells, wide } = this;
    const straight = [0, 1, 2, 3].map((flip) =>
      Array.from({ length: cells }, (_, at) => {
        const [row, column] = [Math.floor(at / wide.columns), at % wide.columns];
        return [
          flip & 1 ? wide.rows - 1 - row : row,
          flip & 2 ? wide.columns - 1 - column : column,
        ];
      }),
    );
    const symmetries =
      rows > columns
        ? []
        : straight.map((symmetry) => symmetry.map(([row, column]) => row * columns + column));
    if (rows >= columns)
      symmetries.push(
        ...straight.map((symmetry) => symmetry.map(([row, column]) => column * columns + row)),
      );
    return symmetries;
  }

  /**
   * Return the view of any goal as one that has a table: the board turned or mirrored, tiles renamed. `restoreState`
   * leads back from it.
   */
  viewGoal(goal) {
    const { wide } = this;
    for (const symmetry of this.#listSymmetries()) {
      const tableGoal = wide.goals.find(
        ({ state }) => state.indexOf("0") === symmetry.indexOf(goal.indexOf("0")),
      );
      if (!tableGoal) continue;
      const rename = (state, names, others) =>
        [...state].map((tile) => others[names.indexOf(tile)]);
      const named = symmetry.map((cell) => goal[cell]);
      return {
        tableGoal,
        mapState: (state) =>
          rename(
            symmetry.map((cell) => state[cell]),
            named,
            tableGoal.state,
          ).join(""),
        restoreState: (state) => {
          const tiles = rename(state, tableGoal.state, named);
          return tiles.map((_, cell) => tiles[symmetry.indexOf(cell)]).join("");
        },
      };
    }
    return null;
  }

  /** Return the table that is missing for a goal: that of the last cell that its blank can be turned to. */
  #nameTable(goal) {
    const cells = this.#listSymmetries().map((symmetry) => symmetry.indexOf(goal.indexOf("0")) + 1);
    return `sliding_${this.wide.rows}x${this.wide.columns}_${Math.max(...cells)}`;
  }

  /** Return the moves along a path of states. */
  trace(path) {
    return path
      .slice(1)
      .map((after, at) => this.moves(path[at]).find((move) => move.after === after));
  }

  /** Return the states on the way of a solution, given as moves; see `walkSolution`. */
  walk(start, moves, distance, goal, fail) {
    const step = (here, move) => this.moves(here).find(({ cell }) => cell === move.cell)?.after;
    return walkSolution({ start, moves, distance, step, isGoal: (here) => here === goal, fail });
  }

  /** Return the goal of a name or a state; without one, the first that a state reaches. */
  findGoal(state, goal) {
    if (goal !== undefined && goal !== null) {
      const corner = goal === "corner" ? makeGoal(this.cells, this.cells - 1) : goal;
      const named = this.goals.find(({ name }) => name === goal)?.state ?? corner;
      return this.requireState(named);
    }
    return (this.goals.find((one) => this.canReach(state, one.state)) ?? this.goals[0]).state;
  }

  /**
   * Answer for a state.
   * @param {string} text
   * @param {{goal?: string | null, solution?: boolean, onProgress?: OnProgress}} [options] `solution: false`:
   *   distance and best moves alone, where the table has distances
   * @returns {Generator<RecordRequest, BoardAnswer, Uint8Array[]>}
   */
  *answer(text, { goal, solution = true, onProgress = () => {} } = {}) {
    const state = this.requireState(text);
    const goalState = this.findGoal(state, goal);
    const view = this.viewGoal(goalState);
    if (!view) {
      const table = this.#nameTable(goalState);
      throw makeMissing(this.locate(`${table}.idx`), table);
    }
    this.requireReachable(state, goalState);
    const walk = new Walk(this, view);
    const first = yield* walk.begin(state);
    const steps = [];
    const isWalked = solution || this.isPacked;
    for (let best = first.best; best.length && isWalked;) {
      if (steps.length === MAX_STEPS) throw walk.fail();
      steps.push(best[0]);
      onProgress({ moves: steps.length, state: best[0].after });
      best = yield* walk.next(best[0].after, goalState);
    }
    const { distance = steps.length, solutions } = first;
    const path = isWalked ? this.walk(state, steps, distance, goalState, walk.fail) : [];
    return {
      state,
      goal: this.goals.find((one) => one.state === goalState)?.name ?? goalState,
      goal_state: goalState,
      distance,
      best_moves: joinLetters(first.best),
      best_tiles: joinTiles(first.best),
      ...(solutions === undefined ? {} : { solutions }),
      ...(solution ? { solution: joinLetters(steps), tiles: joinTiles(steps), path } : {}),
    };
  }
}

/** Return the letters of moves. */
export const joinLetters = (moves) => moves.map(({ letter }) => letter).join("");

/** Return the tiles that moves slide. */
export const joinTiles = (moves) => moves.map(({ tile }) => tile).join("");

/** A walk to a goal, which requests the records of all neighbours of a state together. */
class Walk {
  constructor(board, view) {
    this.board = board;
    this.view = view;
    /** The distance of the state where the walk is, of bits: modulo 4. */
    this.value = 0;
  }

  /** Return the moves that lead nearer, and what the record says of the state. */
  *begin(state) {
    const moves = this.board.moves(state);
    const [own, ...others] = yield* this.#read([state, ...moves.map((move) => move.after)]);
    this.value = own.value;
    const best = this.#choose(moves, others);
    const isGoal = this.view.mapState(state) === this.view.tableGoal.state;
    if (!isGoal && !best.length) throw this.fail();
    if (this.board.isPacked) return { best: isGoal ? [] : best };
    if ((own.value === 0) !== isGoal) throw this.fail();
    return { best, distance: own.value, solutions: own.solutions };
  }

  /** Go on to a state that is one move nearer; return the moves from there that lead nearer. */
  *next(state, goal) {
    this.value = this.board.isPacked ? (this.value + 3) % 4 : this.value - 1;
    if (state === goal) return [];
    const moves = this.board.moves(state);
    const best = this.#choose(moves, yield* this.#read(moves.map((move) => move.after)));
    if (!best.length) throw this.fail();
    return best;
  }

  #choose(moves, records) {
    const wanted = this.board.isPacked ? (this.value + 3) % 4 : this.value - 1;
    return moves.filter((_, at) => records[at].value === wanted);
  }

  *#read(states) {
    const {
      board: { wide },
      view: { tableGoal },
    } = this;
    const need = { table: tableGoal.table, width: wide.width };
    const seen = states.map(this.view.mapState);
    const ranks = seen.map((state) => wide.rank(state));
    if (!wide.isPacked) {
      const records = yield { ...need, ranks };
      return records.map(([value, solutions]) => ({ value, solutions }));
    }
    const records = yield { ...need, ranks: ranks.map((rank) => Math.floor(rank / ROW_STATES)) };
    return records.map((record, at) => {
      const offset = ranks[at] % ROW_STATES;
      const bit = (record[offset >> 3] >> (offset & 7)) & 1;
      return { value: wide.parities(seen[at], tableGoal.state).moves + 2 * bit };
    });
  }

  fail = () =>
    makeUnusable(
      this.board.locate(`${this.view.tableGoal.table}.idx`),
      "no walk leads from a state to the goal",
    );
}

/** Return the state with the tiles in reading order and the blank on a cell. */
export function makeGoal(cells, blank) {
  const tiles = MARKS.slice(1, cells);
  return `${tiles.slice(0, blank)}0${tiles.slice(blank)}`;
}

/**
 * Return the goals of the sliding boards that have tables among some files, by board: rows x columns. The first is
 * nearest to the last corner, which is meant where none is named.
 */
export function listGoals(files) {
  /** @type {Record<string, Goal[]>} */
  const boards = {};
  for (const file of files) {
    const [, table, board, rows, columns, number] =
      /^(sliding_((\d+)x(\d+))_(\d+))\.idx$/.exec(file) ?? [];
    const [cells, cell] = [Number(rows) * Number(columns), Number(number)];
    // a state has a digit or letter for each cell, and a goal has its blank on one of them
    if (!(cells <= MARKS.length && cell >= 1 && cell <= cells)) continue;
    const state = makeGoal(cells, cell - 1);
    (boards[board] ??= []).push({ name: state, state, table });
  }
  for (const goals of Object.values(boards))
    goals.sort((one, other) => other.state.indexOf("0") - one.state.indexOf("0"));
  return boards;
}

/** Return the numbers of rows and columns of a board, given as text. */
export function parseBoard(text) {
  const [, rows, columns] = (typeof text === "string" && /^([2-9])x([2-9])$/.exec(text)) || [];
  if (Number(rows) * Number(columns) <= MARKS.length) return [Number(rows), Number(columns)];
  throw new TablebaseError(
    BAD_REQUEST,
    `${JSON.stringify(text)} is not a sliding board, ` +
      `rows x columns of at most ${MARKS.length} cells, such as 3x4.`,
  );
}

/** Return the state with the contents of two cells swapped. */
export function swapCells(state, one, other) {
  const cells = [...state];
  [cells[one], cells[other]] = [cells[other], cells[one]];
  return cells.join("");
}

/** Return the Lehmer code of a permutation: for each item, the number of later ones that are smaller. */
function countSmaller(items) {
  return items.map((item, at) => items.slice(at).filter((later) => later < item).length);
}

/** Return the rank of a permutation in lexical order. */
function rankPermutation(items) {
  return countSmaller(items).reduce((sum, count, at) => sum * (items.length - at) + count, 0);
}

/** Return the permutation of ascending items with a rank. */
function unrankPermutation(items, rank) {
  const positions = [];
  let rest = rank;
  for (let left = 1; left <= items.length; left++) {
    positions.unshift(rest % left);
    rest = Math.floor(rest / left);
  }
  const remaining = [...items];
  return positions.map((position) => remaining.splice(position, 1)[0]);
}
