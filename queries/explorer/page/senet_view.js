// Senet's view: the board, in play or in study, and its address.
import { byId } from "#page/dom.js";
import { joinMode, makeModes, makeModeView } from "#page/modes.js";
import { openSenet } from "#page/senet.js";
import { drawSenet, makeSenetBoard } from "#page/senet_board.js";
import { makeSenetPlay } from "#page/senet_play.js";
import { makeSenetStudy } from "#page/senet_study.js";

/** Make the view; it calls `went(parts, how)` to change the address. */
export function makeSenetView(went) {
  const changed = (parts, how) => went(joinMode(modes.shown, parts), how);
  const board = makeSenetBoard((square) => now().pick(square), (square, key) => now().typed(square, key));
  const modesOf = { play: makeSenetPlay({ board, changed }), study: makeSenetStudy({ board, changed }) };
  const modes = makeModes(byId("view-senet"), (mode) => {
    const from = now().place;
    now().leave();
    modes.show(mode);
    if (mode === "study") modesOf.study.begin(from.position, { side: from.mover });
    else if (!from || isSame(from, modesOf.play.place)) modesOf.play.resume();
    else modesOf.play.begin(from);
  });
  const now = () => modesOf[modes.shown];

  return {
    ...makeModeView(modes, modesOf),
    taken: () => {
      const { position, lines } = now().taken;
      return { text: [position, "", ...lines, ""].join("\n"), picture: drawSenet(position), name: `senet-${position}` };
    },
    name: "Senet",
    board: "senet-board",
    open: openSenet,
  };
}

function isSame(one, other) {
  return one.position === other.position && one.mover === other.mover;
}
