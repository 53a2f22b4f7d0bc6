// The knight's view: the board, in play or in study, and sheets of boards to write the numbers of a tour in.
import { pickOne, quoted } from "#page/dom.js";
import { drawKnight, makeKnightBoard } from "#page/knight_board.js";
import { makeKnightPlay } from "#page/knight_play.js";
import { makeKnightStudy } from "#page/knight_study.js";
import { BOARDS, boardProblem, knightFacts, noStart, openKnight } from "#page/knight_tours.js";
import { makeView } from "#page/view.js";

const findTour = (name, start) => knightFacts(BOARDS[name], BOARDS[name].numberOf(start), 0);
/** The boards of a sheet have their size in common, and on its second page a tour from each start. */
const SHEET = {
  title: (name) => `Knight’s tour on ${name.replace("x", "×")}`,
  task: "The knight stands on 1. Make it jump to every square once, and write the number of each jump’s square: 2, 3, …",
  key: "One of the tours from each start.",
  usual: 6,
  most: 8,
  ratio: () => 1,
  about: ({ board }) => board.name,
  expand: (name) => name,
  levels: () => [],
  draw(name) {
    const board = BOARDS[name];
    return board.nameOf(pickOne(board.squares.filter((square) => !noStart(board, square))));
  },
  problem(name, start) {
    if (boardProblem(name)) return boardProblem(name);
    const bad = BOARDS[name].problem(start);
    return bad
      ? `${quoted(start)} is not a square: ${bad}.`
      : noStart(BOARDS[name], BOARDS[name].numberOf(start));
  },
  name: (name, start) => `board of ${name}, the knight on ${start}`,
  picture: (name, start) => drawKnight(BOARDS[name], [BOARDS[name].numberOf(start)]),
  blanks: () => [],
  answer: (name, start) => findTour(name, start).path,
  place: (name) => ({ board: BOARDS[name], squares: [] }),
  drawAnswer: (name, start) => drawKnight(BOARDS[name], findTour(name, start).squares),
};

/** Make the view; it calls `went(parts, how)` to change the address. */
export function makeKnightView(went) {
  const drawing = makeKnightBoard((square) => view.now().pick(square));
  const view = makeView("knight", went, {
    name: () => "Knight’s tour",
    open: openKnight,
    makeModes: (tools) => ({
      play: makeKnightPlay({ drawing, ...tools }),
      study: makeKnightStudy({ drawing, ...tools }),
    }),
    sheet: SHEET,
    entered(mode, { board, squares }, { play, study }) {
      if (mode === study) study.begin(board, squares[0] ?? null, play.number);
      else if (!squares.length && board === play.place.board)
        play.begin(board, play.place.squares, {});
      else play.begin(board, squares, { hints: 1 });
    },
    taken({ place: { board, squares } }) {
      const rows = board.squares
        .filter((square) => square % board.side === 0)
        .reverse()
        .map((first) =>
          Array.from({ length: board.side }, (_, file) =>
            String(squares.indexOf(first + file) + 1 || ".").padStart(3),
          ).join(""),
        );
      const names = squares.map((square) => board.nameOf(square));
      return {
        rows,
        facts: [
          ["board", board.name],
          ["squares", names.join(" ")],
        ],
        picture: drawKnight(board, squares),
        name: `knight-${board.name}-${names[0] ?? ""}${names.at(-1) ?? ""}`,
      };
    },
  });

  for (const button of document.querySelectorAll("#view-knight [data-board]")) {
    button.addEventListener("click", () => view.now().use(BOARDS[button.dataset.board]));
  }
  return view;
}
