// The registry of the page's puzzles, by their names in the address.
import { FIFTEEN, hasFifteen } from "#page/fifteen.js";
import { findMore, SLIDES } from "#page/hosted.js";
import { KNIGHT } from "#page/knight_puzzle.js";
import { SENET } from "#page/senet_puzzle.js";
import { makeSlidePuzzle } from "#page/slide_puzzle.js";
import { EIGHT } from "#page/tabled_game.js";
import { quote } from "#page/text.js";

/**
 * A puzzle has a `name` and a `title`, `open()`, which makes it ready, the modes `play`, `study` and `sheet`, the `head` of a
 * state, and its `rules`. A mode reads the parameters of an address as a state, with a `problem` if there is one, writes
 * them, and shows the state; `from(state)` makes one of the other mode's. Without tables there is only the `command`
 * that makes them.
 */
const PUZZLES = [
  makeSlidePuzzle("eight", "8-puzzle", { "3x3": EIGHT }),
  makeSlidePuzzle("sliding", "Sliding", SLIDES),
  makeSlidePuzzle("fifteen", "15-puzzle", hasFifteen ? { "4x4": FIFTEEN } : {}),
  SENET,
  KNIGHT,
];
const COMMANDS = {
  sliding: "pipeline precompute sliding_2x3",
  fifteen: "pipeline precompute fifteen_5-5-5",
};

/** Return the puzzles that the page can show. */
export function listPuzzles() {
  return PUZZLES.filter(({ games }) => !games || Object.keys(games).length);
}

/** Return the puzzle of a name, or the first one with the problem of the name. */
export async function findPuzzle(name) {
  const find = () => listPuzzles().find((one) => one.name === name);
  if (name && find()) return { puzzle: find() };
  if (!name) return { puzzle: listPuzzles()[0] };
  // tables beside the page may have it
  const { problem } = name === "sliding" ? await findMore() : { problem: "" };
  if (find()) return { puzzle: find() };
  const titles = listPuzzles().map(({ title }) => title);
  const add = COMMANDS[name] ? ` To add it: ${COMMANDS[name]}, then pipeline explore.` : "";
  return {
    puzzle: listPuzzles()[0],
    problem:
      `This page has no puzzle ${quote(name)}. It has ${titles.join(", ")}.${add} ${problem}`.trim(),
  };
}
