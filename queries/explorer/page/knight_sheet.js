// What a sheet of the knight has: boards to write the numbers of a tour in, and a tour from each start.
import { pickOne, quoted } from "#page/dom.js";
import { drawKnight } from "#page/knight_board.js";
import { BOARDS, knightFacts, noStart } from "#page/knight_tours.js";

/** Describe the sheets; the boards of one have their size in common, for a new one that of `place()`. */
export function describeKnightSheet(place) {
  const tour = (name, start) => knightFacts(BOARDS[name], BOARDS[name].numberOf(start), 0);
  return {
    title: (name) => `Knight’s tour on ${name.replace("x", "×")}`,
    task: "The knight stands on 1. Make it jump to every square once, and write the number of each jump’s square: 2, 3, …",
    key: "One of the tours from each start.",
    usual: 6,
    most: 8,
    ratio: () => 1,
    about: () => place().board.name,
    expand: (name) => name,
    levels: () => [],
    draw(name) {
      const board = BOARDS[name];
      return board.nameOf(pickOne(board.squares.filter((square) => !noStart(board, square))));
    },
    problem(name, start) {
      if (!Object.hasOwn(BOARDS, name)) return `${quoted(name)} is not a board of this page. Boards: ${Object.keys(BOARDS).join(", ")}.`;
      const bad = BOARDS[name].problem(start);
      return bad ? `${quoted(start)} is not a square: ${bad}.` : noStart(BOARDS[name], BOARDS[name].numberOf(start));
    },
    name: (name, start) => `board of ${name}, the knight on ${start}`,
    picture: (name, start) => drawKnight(BOARDS[name], [BOARDS[name].numberOf(start)]),
    blanks: () => [],
    answer: (name, start) => tour(name, start).path,
    place: (name) => ({ board: BOARDS[name], squares: [] }),
    drawAnswer: (name, start) => drawKnight(BOARDS[name], tour(name, start).squares),
  };
}
