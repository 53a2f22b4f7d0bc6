// The 15-puzzle: a game on 4x4 whose answers are searched, with tables of patterns inside the page.
import { makeSolver } from "#page/pattern_solver.js";
import { once, openIndex } from "#page/reader.js";
import { inOrder, makeRules } from "#page/slide_rules.js";
import { makeSolvedGame } from "#page/solved_game.js";

const PREFIX = "fifteen_";
const GOAL = inOrder(16, 15);
const LEVELS = [5, 10, 20, 30];

/** The tables of patterns that the page has. */
const TABLES = [...document.querySelectorAll(`script[id^='${PREFIX}']`)].map(({ id }) => (
  id.replace(/\.idx$/, "")
));

/** Whether the page can solve these boards. */
export const hasFifteen = TABLES.length > 0;

const openTables = once(() => Promise.all(TABLES.map(async (name) => {
  const tiles = [...name.slice(PREFIX.length)].map((tile) => Number.parseInt(tile, 16));
  const size = tiles.reduce((product, _, at) => product * (16 - at), 1);
  return { tiles, records: (await openIndex(name, 1, size)).records };
})));

function makeFifteen() {
  const rules = makeRules({ rows: 4, columns: 4, layouts: [{ name: GOAL, state: GOAL, label: "Gap last" }] });
  const { moves, turned } = rules;
  let solver = null;

  /** Search for a shortest solution. */
  async function find(state, goal) {
    const view = turned(goal);
    const { cells } = await solver.solve([...view.state(state)].map((tile) => Number.parseInt(tile, 16)));
    const path = [view.state(state)];
    for (const cell of cells.slice(1)) path.push(moves(path.at(-1)).find((move) => move.cell === cell).after);
    return { path: path.map(view.undone) };
  }

  return {
    ...makeSolvedGame({ rules, levels: LEVELS, find }),
    title: "15-puzzle",
    address: [],
    first: () => rules.random(GOAL),
    knows: "This page searches for a shortest solution: no table could hold all 10,461,394,944,000 boards.",
    open: once(async () => { solver = makeSolver(await openTables()); }),
    goalProblem: (goal) => (turned(goal) ? "" : "the gap of a goal must be in a corner of this board"),
  };
}

export const FIFTEEN = makeFifteen();
