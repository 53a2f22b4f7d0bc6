// The knight's view: the board, in play or in study, and its address.
import { byId } from "#page/dom.js";
import { drawKnight, makeKnightBoard } from "#page/knight_board.js";
import { makeKnightPlay } from "#page/knight_play.js";
import { describeKnightSheet } from "#page/knight_sheet.js";
import { makeKnightStudy } from "#page/knight_study.js";
import { BOARDS, openKnight } from "#page/knight_tours.js";
import { makeModeView } from "#page/modes.js";
import { makeSheet } from "#page/sheet.js";

/** Make the view; it calls `went(parts, how)` to change the address. */
export function makeKnightView(went) {
  const drawing = makeKnightBoard((square) => view.now().pick(square));
  const view = makeModeView(byId("view-knight"), went, (tools) => ({
    play: makeKnightPlay({ drawing, ...tools }),
    study: makeKnightStudy({ drawing, ...tools }),
    sheet: makeSheet("knight", describeKnightSheet(() => view.now().place), tools),
  }), (mode, { board, squares }, { play, study }) => {
    if (mode === study) study.begin(board, squares[0] ?? null, play.number);
    else if (!squares.length && board === play.place.board) play.begin(board, play.place.squares, {});
    else play.begin(board, squares, { hints: 1 });
  });

  for (const button of document.querySelectorAll("#view-knight [data-board]")) {
    button.addEventListener("click", () => view.now().use(BOARDS[button.dataset.board]));
  }

  return {
    ...view,
    taken: () => {
      if (view.now().whole) return view.now().whole;
      const { board, squares } = view.now().place;
      const rows = board.squares.filter((square) => square % board.side === 0).reverse().map((first) => (
        Array.from({ length: board.side }, (_, file) => String(squares.indexOf(first + file) + 1 || ".").padStart(3)).join("")
      ));
      const names = squares.map((square) => board.nameOf(square));
      const text = [...rows, "", `board       ${board.name}`, `squares     ${names.join(" ")}`, ""].join("\n");
      return { text, picture: drawKnight(board, squares), name: `knight-${board.name}-${names[0] ?? ""}${names.at(-1) ?? ""}` };
    },
    name: "Knight’s tour",
    board: "knight-board",
    open: openKnight,
  };
}
