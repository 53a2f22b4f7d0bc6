// The knight's view: the board, in play or in study, and its address.
import { byId } from "#page/dom.js";
import { drawKnight, makeKnightBoard } from "#page/knight_board.js";
import { makeKnightPlay } from "#page/knight_play.js";
import { makeKnightStudy } from "#page/knight_study.js";
import { BOARDS, openKnight } from "#page/knight_tours.js";
import { makeModeView } from "#page/modes.js";

/** Make the view; it calls `went(parts, how)` to change the address. */
export function makeKnightView(went) {
  const drawing = makeKnightBoard((square) => view.now().pick(square));
  const view = makeModeView(byId("view-knight"), went, (changed) => (
    { play: makeKnightPlay({ drawing, changed }), study: makeKnightStudy({ drawing, changed }) }
  ), (mode, { board, squares }, { play, study }) => {
    if (mode === play) play.begin(board, squares, {});
    else study.begin(board, squares[0] ?? null, play.number);
  });

  for (const button of document.querySelectorAll("#view-knight [data-board]")) {
    button.addEventListener("click", () => view.now().use(BOARDS[button.dataset.board]));
  }

  return {
    ...view,
    taken: () => {
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
