// The 15-puzzle: a game on 4x4 whose answers are searched, with pattern databases inside the page.
import { makeSolver } from "#page/pattern_solver.js";
import { once, openIndex } from "#page/reader.js";
import { SolvedGame } from "#page/solved_game.js";
import { refresh } from "#page/text.js";
import { FIFTEEN as BOARD, followBlank, PATTERNS, readTiles } from "#tables/fifteen.js";

const [GOAL] = BOARD.goals;

/** Whether the page can solve these boards. */
export const hasFifteen = PATTERNS.every((name) => document.getElementById(`${name}.idx`));

let solver = null;

export const FIFTEEN = new SolvedGame({
  ...BOARD,
  goals: [{ ...GOAL, label: "Gap last" }],
  title: "15-puzzle",
  name: "4x4",
  distances: [5, 10, 20, 30],
  first: () => FIFTEEN.random(GOAL.state),
  knows:
    "This page searches for a shortest solution: no table could hold all 10,461,394,944,000 boards.",
  goalsHere: "the gap of a goal must be in a corner of this board",
  open: once(async () => {
    solver = makeSolver(
      await Promise.all(
        PATTERNS.map(async (name) => ({
          tiles: readTiles(name),
          records: (await openIndex(name)).planes[0],
        })),
      ),
    );
  }),
  /** Search for a shortest solution. */
  async find(state, goal) {
    const view = FIFTEEN.viewGoal(goal);
    const tell = ({ least = 0, most }) => {
      if (!most) return;
      FIFTEEN.search = { state, least, path: followBlank(FIFTEEN, view, state, most) };
      refresh();
    };
    const { cells } = await solver.solve(readTiles(view.mapState(state)), tell);
    return { path: followBlank(FIFTEEN, view, state, cells) };
  },
  stop: () => solver.stop(),
});
