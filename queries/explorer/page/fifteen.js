// The 15-puzzle: a game on 4x4 whose answers are searched, with tables of patterns inside the page.
import { makeSolver } from "#page/pattern_solver.js";
import { once, openIndex } from "#page/reader.js";
import { SolvedGame } from "#page/solved_game.js";
import { makeGoal } from "#tables/sliding.js";

const PREFIX = "fifteen_";
const GOAL = makeGoal(16, 15);
const LEVELS = [5, 10, 20, 30];

/** The tables of patterns that the page has. */
const TABLES = [...document.querySelectorAll(`script[id^='${PREFIX}']`)].map(({ id }) => (
  id.replace(/\.idx$/, "")
));

/** Whether the page can solve these boards. */
export const hasFifteen = TABLES.length > 0;

let solver = null;

export const FIFTEEN = new SolvedGame({
  rows: 4,
  columns: 4,
  goals: [{ name: GOAL, state: GOAL, label: "Gap last" }],
  title: "15-puzzle",
  address: [],
  distances: LEVELS,
  first: () => FIFTEEN.random(GOAL),
  knows: "This page searches for a shortest solution: no table could hold all 10,461,394,944,000 boards.",
  goalsHere: "the gap of a goal must be in a corner of this board",
  open: once(async () => {
    solver = makeSolver(await Promise.all(TABLES.map(async (name) => ({
      tiles: [...name.slice(PREFIX.length)].map((tile) => Number.parseInt(tile, 16)),
      records: (await openIndex(name)).planes[0],
    }))));
  }),
  /** Search for a shortest solution. */
  async find(state, goal) {
    const view = FIFTEEN.turn(goal);
    const { cells } = await solver.solve([...view.state(state)].map((tile) => Number.parseInt(tile, 16)));
    const path = [view.state(state)];
    for (const cell of cells.slice(1)) path.push(FIFTEEN.moves(path.at(-1)).find((move) => move.cell === cell).after);
    return { path: path.map(view.undo) };
  },
});
