// What a sheet of sliding boards has: the boards of a goal, and the tiles to slide.
import { counted, quoted } from "#page/dom.js";
import { drawCell, drawLabel, makePicture } from "#page/pictures.js";
import { nameTile } from "#page/slide_rules.js";

/** Draw a board as a picture. */
export function drawSlide(state, columns) {
  const content = [...state].flatMap((tile, cell) => {
    const at = [cell % columns, Math.floor(cell / columns)];
    return tile === "0" ? [drawCell(...at, "#e7e2d7")] : [drawCell(...at, "#ffffff"), drawLabel(...at, nameTile(tile))];
  });
  return makePicture(columns, state.length / columns, ...content);
}

/** Describe a game's sheets; the boards of one have their goal in common, for a new one that of `place()`. */
export function describeSlideSheet(game, place) {
  const draw = (state) => drawSlide(state, game().columns);
  return {
    title: () => game().title,
    task: "Slide tiles into the gap until the board looks like the one on the right. Count your moves.",
    key: "The fewest moves, and the tiles to slide, one after the other.",
    usual: 12,
    most: 24,
    ratio: () => game().columns / game().rows,
    about: () => place().goal,
    expand: (goal) => game().goals.find(({ name }) => name === goal)?.state ?? goal,
    levels: (goal) => game().levels(goal),
    draw: (goal, level) => game().draw(goal, level),
    problem(goal, state) {
      const bad = [goal, state].find((text) => game().problem(text));
      if (bad !== undefined) return `${quoted(bad)} is not an arrangement: ${game().problem(bad)}.`;
      return game().goalProblem(goal) && `${quoted(goal)} is not a goal: ${game().goalProblem(goal)}.`;
    },
    name: (_, state) => [...state].map((tile) => (tile === "0" ? "gap" : nameTile(tile))).join(" "),
    aim: draw,
    picture: (_, state) => draw(state),
    blanks: () => ["Moves"],
    answer(goal, state) {
      const { distance, tiles } = game().facts(state, goal);
      if (distance === undefined) return "being searched…";
      if (distance === null) return "This board cannot reach the goal.";
      return `${counted(distance, "move")}: ${[...tiles].map(nameTile).join(" ")}`;
    },
    place: (goal, [start]) => ({ start, goal }),
  };
}
