// Senet's view: the board, in play or in study, and sheets of positions to reach from the opening.
import { counted, pickOne, quoted } from "#page/dom.js";
import { listRanks, openSenet, senetFacts } from "#page/senet.js";
import { drawSenet, makeSenetBoard } from "#page/senet_board.js";
import { makeSenetPlay } from "#page/senet_play.js";
import { senetProblem } from "#page/senet_rules.js";
import { makeSenetStudy } from "#page/senet_study.js";
import { makeView } from "#page/view.js";
import { OPENING, unrankPosition } from "#tables/senet.js";

const ROW = 5; // squares of a row on paper
/** Plies that leave a sheet room for its boards. */
const LEVELS = [2, 3, 4, 5, 6, 8, 10];
const SHEET = {
  title: () => "Senet",
  task:
    "Reach each position from the opening, which is on the right: choose the throws, 1 to 5, and the moves of both " +
    "sides, A first. A piece goes forward to an empty square, or swaps places with an opponent’s piece that has none " +
    "of its own beside it.",
  key: "A shortest line to each: the throw, and the piece’s way; x is a swap.",
  usual: 6,
  most: 6,
  ratio: () => 5 / 3,
  about: () => "",
  levels: () =>
    LEVELS.map((number) => ({ name: String(number), label: counted(number, "ply", "plies") })),
  draw: (_, level) => unrankPosition(pickOne(listRanks(Number(level)))),
  problem(_, position) {
    const bad = senetProblem(position) || (senetFacts(position).plies ? "" : "no moves lead there");
    return bad && `${quoted(position)} is not a position to reach: ${bad}.`;
  },
  name: (_, position) => position,
  aim: () => drawSenet(OPENING, ROW),
  picture: (_, position) => drawSenet(position, ROW),
  blanks: (_, position) =>
    Array.from({ length: senetFacts(position).plies }, (__, ply) => `${ply + 1} ${"AB"[ply % 2]}`),
  answer(_, position) {
    const { dice, moves } = senetFacts(position);
    // a throw and its move stay on one line
    const line = moves
      .split(" ")
      .map((move, ply) => `${dice[ply]}:\u00a0${move.replace("-", "\u2011")}`)
      .join(", ");
    return `${counted(dice.length, "ply", "plies")}: ${line}`;
  },
};

/** Make the view; it calls `went(parts, how)` to change the address. */
export function makeSenetView(went) {
  const board = makeSenetBoard(
    (square) => view.now().pick(square),
    (square, key) => view.now().typed(square, key),
  );
  const view = makeView("senet", went, {
    name: () => "Senet",
    open: openSenet,
    makeModes: (tools) => ({
      play: makeSenetPlay({ board, ...tools }),
      study: makeSenetStudy({ board, ...tools }),
    }),
    sheet: SHEET,
    entered(mode, shown, { play, study }) {
      const { place } = play;
      const from = shown ?? place;
      if (mode === study)
        study.begin(from.target ?? from.position, {
          side: from.mover,
          played: from.target && from,
        });
      else if (from.played) play.begin(from.played);
      // who has seen the answer has had a hint
      else if (place.target && from.studied === place.target)
        play.begin({ ...place, hints: place.hints + 1 });
      else if (from === place || (from.position === place.position && from.mover === place.mover))
        play.resume();
      else play.begin(from);
    },
    taken({ taken: { position, facts } }) {
      return { rows: [position], facts, picture: drawSenet(position), name: `senet-${position}` };
    },
  });
  return view;
}
