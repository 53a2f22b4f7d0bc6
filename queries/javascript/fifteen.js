// The 15-puzzle: no table has its distances, so its shortest solutions are searched for.
import { makeUnusable, NO_ANSWER, TablebaseError } from "./errors.js";
import { searchSolution, unpackPatterns } from "./pattern_search.js";
import { Board, joinLetters, joinTiles, makeGoal } from "./sliding.js";

/** The pattern databases, whose names are their tiles. */
export const PATTERNS = ["fifteen_12356", "fifteen_478bc", "fifteen_9adef"];
const GOAL = makeGoal(16, 15);
/** The board, whose tables are for goals with the blank in a corner. */
export const FIFTEEN = {
  rows: 4,
  columns: 4,
  goals: [{ name: GOAL, state: GOAL, table: PATTERNS[0] }],
};

/**
 * An answer has the lower bound that the search began with, and the number of nodes expanded.
 * @typedef {Omit<Required<import("./sliding.js").BoardAnswer>, "best_moves" | "best_tiles" | "solutions">
 *   & {heuristic: number, nodes_expanded: number}} FifteenAnswer
 *
 * @typedef {(update: {least: number}) => void} OnProgress gets, before each iteration, a lower bound of the moves
 */

/** Return the tiles of a text, or of a pattern's name. */
export function readTiles(text) {
  return [...text.replace("fifteen_", "")].map((tile) => Number.parseInt(tile, 16));
}

/** Return the states on the way of the blank over some cells of a goal's view, to that goal. */
export function followBlank(board, view, state, cells) {
  const moves = cells.slice(1).map((cell) => ({ cell }));
  const fail = () => makeUnusable(`${PATTERNS[0]}.idx`, "its distances lead to no solution");
  return board
    .walk(view.mapState(state), moves, moves.length, view.tableGoal.state, fail)
    .map(view.restoreState);
}

/**
 * Answer for a state. The search blocks, for seconds for the hardest states: run it in a worker.
 * @param {string} text
 * @param {{goal?: string, onProgress?: OnProgress}} [options]
 * @returns {Generator<import("./sliding.js").RecordRequest, FifteenAnswer, any>}
 */
export function* answerFifteen(text, { goal = GOAL, onProgress = () => {} } = {}) {
  const board = new Board(FIFTEEN);
  const state = board.requireState(text);
  const goalState = board.findGoal(state, goal);
  const view = board.viewGoal(goalState);
  if (!view)
    throw new TablebaseError(
      NO_ANSWER,
      `The blank of ${goalState} is not in a corner, as a goal's must be.`,
    );
  board.requireReachable(state, goalState);
  const tables = [];
  for (const table of PATTERNS) {
    const records = yield { table, width: 1, isWhole: true, request: "fifteen_5-5-5" };
    tables.push({ tiles: readTiles(table), records });
  }
  const search = searchSolution(unpackPatterns(tables), readTiles(view.mapState(state)));
  let round = /** @type {any} */ (search.next());
  const heuristic = round.value;
  for (; !round.done; round = search.next()) onProgress({ least: round.value });
  const { cells, nodes } = round.value;
  const path = followBlank(board, view, state, cells);
  const steps = board.trace(path);
  return {
    state,
    goal: goalState,
    goal_state: goalState,
    distance: steps.length,
    heuristic,
    nodes_expanded: nodes,
    solution: joinLetters(steps),
    tiles: joinTiles(steps),
    path,
  };
}
