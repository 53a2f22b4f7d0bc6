// Senet's view: the board, in play or in study, and its address.
import { byId } from "#page/dom.js";
import { makeModeView } from "#page/modes.js";
import { openSenet } from "#page/senet.js";
import { drawSenet, makeSenetBoard } from "#page/senet_board.js";
import { makeSenetPlay } from "#page/senet_play.js";
import { makeSenetStudy } from "#page/senet_study.js";

/** Make the view; it calls `went(parts, how)` to change the address. */
export function makeSenetView(went) {
  const board = makeSenetBoard((square) => view.now().pick(square), (square, key) => view.now().typed(square, key));
  const view = makeModeView(byId("view-senet"), went, (changed) => (
    { play: makeSenetPlay({ board, changed }), study: makeSenetStudy({ board, changed }) }
  ), (mode, from, { play, study }) => {
    if (mode === study) study.begin(from.position, { side: from.mover });
    else if (from && JSON.stringify(from) !== JSON.stringify(play.place)) play.begin(from);
    else play.resume();
  });

  return {
    ...view,
    taken: () => {
      const { position, lines } = view.now().taken;
      return { text: [position, "", ...lines, ""].join("\n"), picture: drawSenet(position), name: `senet-${position}` };
    },
    name: "Senet",
    board: "senet-board",
    open: openSenet,
  };
}
