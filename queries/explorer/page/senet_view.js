// Senet's view: the board, in play or in study, and its address.
import { byId } from "#page/dom.js";
import { makeModeView } from "#page/modes.js";
import { openSenet } from "#page/senet.js";
import { drawSenet, makeSenetBoard } from "#page/senet_board.js";
import { makeSenetPlay } from "#page/senet_play.js";
import { describeSenetSheet } from "#page/senet_sheet.js";
import { makeSenetStudy } from "#page/senet_study.js";
import { makeSheet } from "#page/sheet.js";

/** Make the view; it calls `went(parts, how)` to change the address. */
export function makeSenetView(went) {
  const board = makeSenetBoard((square) => view.now().pick(square), (square, key) => view.now().typed(square, key));
  const view = makeModeView(byId("view-senet"), went, (tools) => ({
    play: makeSenetPlay({ board, ...tools }),
    study: makeSenetStudy({ board, ...tools }),
    sheet: makeSheet("senet", describeSenetSheet(), tools),
  }), (mode, shown, { play, study }) => {
    const { place } = play;
    const from = shown ?? place;
    if (mode === study) study.begin(from.target ?? from.position, { side: from.mover, played: from.target && from });
    else if (from.played) play.begin(from.played);
    // who has seen the answer has had a hint
    else if (place.target && from.studied === place.target) play.begin({ ...place, hints: place.hints + 1 });
    else if (from === place || (from.position === place.position && from.mover === place.mover)) play.resume();
    else play.begin(from);
  });

  return {
    ...view,
    taken: () => {
      if (view.now().whole) return view.now().whole;
      const { position, lines } = view.now().taken;
      return { text: [position, "", ...lines, ""].join("\n"), picture: drawSenet(position), name: `senet-${position}` };
    },
    name: "Senet",
    board: "senet-board",
    open: openSenet,
  };
}
