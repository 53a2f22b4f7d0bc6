// Sliding boards whose tables are not inside the page but beside it, on the host that it came from: their
// answers are read in parts. A page that was opened from disk has none.
import { describeBoard } from "#page/slide_rules.js";
import { SolvedGame } from "#page/solved_game.js";
import { SLIDING } from "#page/tabled_game.js";
import { formatCount, refresh } from "#page/text.js";
import { openTables } from "#tables/index.js";
import { makeGoal } from "#tables/sliding.js";

/** Statuses of a host that has no such file: a page may be hosted without tables. */
const ABSENT = [403, 404, 410];
const FROM_DISK =
  "Boards of more than 10 cells are not inside a page: it reads them from the tables beside it, which browsers " +
  "allow only over HTTP, and this page was opened from disk. In its folder run: python3 -m http.server, and open " +
  "localhost:8000/ followed by the page’s name and the part of this address from # on.";

const tables = location.protocol.startsWith("http") ? openTables("manifest.json") : null;
let finding = null;

/** The sliding boards inside the page, and those beside it as soon as they are found. */
export const SLIDES = { ...SLIDING };

/**
 * Add the boards of the host that the page does not have; return the `boards` that it adds, the `problem` of its
 * tables if they cannot be read, and whether the host has none (`isAbsent`). After a problem, a later call tries again.
 */
export async function findMore() {
  if (!tables) return { boards: [], problem: FROM_DISK, isAbsent: true };
  finding ??= listGames();
  try {
    const games = await finding;
    Object.assign(SLIDES, games);
    return { boards: Object.keys(games), problem: "", isAbsent: false };
  } catch (error) {
    finding = null;
    return { boards: [], problem: error.message, isAbsent: ABSENT.includes(error.status) };
  }
}

async function listGames() {
  const games = {};
  for (const [board, goals] of Object.entries(await tables.listBoards())) {
    const blanks = goals.map((goal) => goal.indexOf("0") + 1);
    const isInside = blanks.every((cell) =>
      document.getElementById(`sliding_${board}_${cell}.idx`),
    );
    if (!isInside) games[board] = makeHostedBoard(board, goals);
  }
  return games;
}

function makeHostedBoard(board, goals) {
  const onProgress = ({ moves }) => {
    game.progress = `${formatCount(moves, "move")} found in the tables beside this page`;
    refresh();
  };
  const game = new SolvedGame({
    ...describeBoard(
      board,
      goals.map((state) => ({ name: state, state })),
    ),
    distances: [5, 10, 20],
    first: () => makeGoal(game.cells, game.cells - 1).replace(/(.)(.)0$/, "0$1$2"),
    knows: "This page reads the answer from the tables beside it, a few blocks for each move.",
    goalsHere: "no table beside this page has the gap of a goal there",
    findsBestMoves: true,
    /** Read a shortest solution from the host's tables. */
    find: (state, goal) => tables.sliding(board, state, { goal, onProgress }),
  });
  return game;
}
