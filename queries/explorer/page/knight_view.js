// The knight's view: the board, in play or in study, and its address.
import { byId } from "#page/dom.js";
import { drawKnight, makeKnightBoard } from "#page/knight_board.js";
import { makeKnightPlay } from "#page/knight_play.js";
import { makeKnightStudy } from "#page/knight_study.js";
import { BOARDS, openKnight } from "#page/knight_tours.js";
import { joinMode, makeModes, makeModeView } from "#page/modes.js";

/** Make the view; it calls `went(parts, how)` to change the address. */
export function makeKnightView(went) {
  const changed = (parts, how) => went(joinMode(modes.shown, parts), how);
  const drawing = makeKnightBoard((square) => now().pick(square));
  const modesOf = { play: makeKnightPlay({ drawing, changed }), study: makeKnightStudy({ drawing, changed }) };
  const modes = makeModes(byId("view-knight"), (mode) => {
    const { board, squares } = now().place;
    now().leave();
    modes.show(mode);
    if (mode === "play") modesOf.play.begin(board, squares, {});
    else modesOf.study.begin(board, squares[0] ?? null, modesOf.play.number);
  });
  const now = () => modesOf[modes.shown];

  for (const button of document.querySelectorAll("#view-knight [data-board]")) {
    button.addEventListener("click", () => now().use(BOARDS[button.dataset.board]));
  }

  return {
    ...makeModeView(modes, modesOf),
    taken: () => {
      const { board, squares } = now().place;
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
