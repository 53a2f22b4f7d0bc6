// A level of the user's own: how far from its aim a game begins, which follows from the games before.
import { getKept, keep } from "#page/kept.js";

/** What a list of levels calls it. */
export const OWN = "own";
const IS_OWN = "isOwnLevel";

/** Make the level for a list of levels: it begins at `first`, goes up and down by `step`, and is never below `least`. */
export function makeOwnLevel(select, { first, least, step }) {
  let isCounted = false; // whether the game has changed the level

  /** Return the level in a puzzle, which has at most `most`. */
  function find(puzzle, most) {
    return Math.max(least, Math.min(most, getKept(`level of ${puzzle}`, first)));
  }

  return {
    find,
    /** Return what the list has chosen; before it has levels, the choice that is kept. */
    choose: () => select.value || (getKept(IS_OWN, false) && OWN),
    /** Keep whether the level is chosen. */
    keepChoice: () => keep(IS_OWN, select.value === OWN),
    /** Begin a game, which may be over. */
    begin(isOver) { isCounted = isOver; },
    /** Change the level after its game: up after few moves without a hint, down after hints; return whether it was counted. */
    count(puzzle, most, { best, moves, hints }) {
      const level = find(puzzle, most);
      if (isCounted || select.value !== OWN || best !== level) return false;
      isCounted = true;
      keep(`level of ${puzzle}`, level + (hints ? -step : moves <= best + step ? step : 0));
      return true;
    },
  };
}
