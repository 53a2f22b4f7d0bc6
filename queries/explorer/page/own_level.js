// The levels of a puzzle, one of them the user's own: how far from its aim a game begins, which follows from the games before.
import { setOptions } from "#page/dom.js";
import { getKept, keep } from "#page/kept.js";

/** What a list of levels calls the own one. */
export const OWN = "own";
const IS_OWN = "isOwnLevel";

/**
 * Make the levels of a view, by which its next game begins. The own one begins at `first`, goes up and down by `step`, and is never below `least`. A
 * `game` has a `title()`, the `most()` of its own level, its other `levels()`, `write(level)`, and `deal()`, which begins another.
 */
export function makeLevels(mine, { first, least, step }, game) {
  const list = mine("level");
  let isCounted = false; // whether the game has changed the level

  /** Return the own level in a puzzle, which has at most `most`. */
  function find(title = game.title(), most = game.most()) {
    return Math.max(least, Math.min(most, getKept(`level of ${title}`, first)));
  }

  /** Return what is chosen; before there are levels, the choice that is kept. */
  const choose = () => list.value || (getKept(IS_OWN, false) && OWN);

  function paint() {
    setOptions(
      list,
      [...game.levels(), { name: OWN, label: `yours: ${game.write(find())}` }],
      choose(),
    );
  }

  list.addEventListener("change", () => {
    keep(IS_OWN, list.value === OWN);
    game.deal();
  });
  for (const part of ["next", "another"]) {
    mine(part).addEventListener("click", async () => {
      await game.deal();
      mine("board").focus({ preventScroll: true });
    });
  }
  return {
    find,
    choose,
    /** Begin a game, which may be over. */
    begin(isOver) {
      isCounted = isOver;
      paint();
    },
    /** Choose the level with a name, if there is one, for a game whose `best` is not that of the own level. */
    follow(best, name) {
      if (name !== undefined && (list.value !== OWN || best !== find())) list.value = name;
    },
    /** Change the own level after its game: up after few moves without a hint, down after hints. */
    count({ best, moves, hints }) {
      const level = find();
      if (isCounted || list.value !== OWN || best !== level) return;
      isCounted = true;
      keep(`level of ${game.title()}`, level + (hints ? -step : moves <= best + step ? step : 0));
      paint();
    },
    /** Say what the next game of the own level is; "" for other levels. */
    wordNext: (noun) =>
      list.value === OWN ? ` Your next ${noun} takes ${game.write(find())}.` : "",
  };
}
