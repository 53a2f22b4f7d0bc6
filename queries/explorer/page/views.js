// The registry of the page's views, by their names in the address.
import { FIFTEEN, hasFifteen } from "#page/fifteen.js";
import { findHosted } from "#page/hosted.js";
import { makeKnightView } from "#page/knight_view.js";
import { makeSenetView } from "#page/senet_view.js";
import { makeSlideView } from "#page/slide_view.js";
import { EIGHT, SLIDING } from "#page/tabled_game.js";

/** The sliding boards inside the page, and those beside it as soon as they are found. */
const SLIDES = { ...SLIDING };
const findMore = async () => {
  const { games, problem } = await findHosted();
  Object.assign(SLIDES, games);
  return problem;
};

/**
 * Each view has a title, and a function that makes it with the function that changes the address; or
 * the command that makes its tables, if the page has none. `findMore` finds out whether there are any
 * beside the page, and returns the problem of these.
 */
export const VIEWS = {
  eight: { title: "8-puzzle", make: (went) => makeSlideView("eight", { "3x3": EIGHT }, went) },
  sliding: {
    title: "Sliding",
    get make() {
      return Object.keys(SLIDES).length
        ? (went) => makeSlideView("sliding", SLIDES, went, findMore)
        : undefined;
    },
    command: "pipeline precompute sliding_2x3",
    findMore,
  },
  fifteen: hasFifteen
    ? { title: "15-puzzle", make: (went) => makeSlideView("fifteen", { "4x4": FIFTEEN }, went) }
    : { title: "15-puzzle", command: "pipeline precompute fifteen_5-5-5" },
  senet: { title: "Senet", make: makeSenetView },
  knight: { title: "Knight’s tour", make: makeKnightView },
};
