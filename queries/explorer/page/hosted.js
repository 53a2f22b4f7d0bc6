// Sliding boards whose tables are not inside the page but beside it, on the host that it came from: their
// answers are read in parts. A page that was opened from disk has none.
import { byId, counted } from "#page/dom.js";
import { once } from "#page/reader.js";
import { inOrder, makeRules } from "#page/slide_rules.js";
import { makeSolvedGame } from "#page/solved_game.js";
import { openTables } from "#tables/index.js";

const LEVELS = [5, 10, 20];
const MAX_CELLS = 16;

const isHosted = location.protocol.startsWith("http");

/** The boards of the host that the page does not have, by their names. */
async function findBoards() {
  if (!isHosted) return {};
  const tables = openTables("manifest.json", { retryDelays: [] });
  const boards = await tables.listBoards().catch(() => ({})); // a page may be hosted without tables
  const games = {};
  for (const [board, goals] of Object.entries(boards)) {
    const blanks = goals.map((goal) => goal.indexOf("0") + 1);
    const isInside = blanks.every((cell) => document.getElementById(`sliding_${board}_${cell}.idx`));
    if (!isInside && goals[0].length <= MAX_CELLS) games[board] = makeHostedBoard(board, goals);
  }
  return games;
}

function makeHostedBoard(board, goals) {
  const [rows, columns] = board.split("x").map(Number);
  const tables = openTables("manifest.json");
  const rules = makeRules({ rows, columns, layouts: goals.map((state) => {
    const cell = state.indexOf("0");
    const place = `Gap in row ${Math.floor(cell / columns) + 1}, column ${(cell % columns) + 1}`;
    return { name: state, state, label: cell === rows * columns - 1 ? "Gap last" : place };
  }) });
  let progressed = () => {};

  /** Read a shortest solution from the host's tables. */
  const find = (state, goal) => tables.sliding(board, state, {
    goal, onProgress: (told) => progressed(`${counted(told.moves, "move")} found in the tables beside this page`),
  });

  function failed(error) {
    byId("trouble").textContent = `This board cannot be answered: ${error.message}`;
    byId("trouble").hidden = false;
  }

  return {
    ...makeSolvedGame({ rules, levels: LEVELS, find, findsBestMoves: true, failed }),
    title: `Sliding board ${rows}×${columns}`,
    address: [board],
    first: () => inOrder(rules.cells, rules.cells - 1).replace(/(.)(.)0$/, "0$1$2"),
    knows: "This page reads the answer from the tables beside it, a few blocks for each move.",
    open: once(async () => {}),
    onProgress: (listener) => { progressed = listener; },
    goalProblem: (goal) => (rules.turned(goal) ? "" : "no table beside this page has the gap of a goal there"),
  };
}

export const HOSTED = await findBoards();
