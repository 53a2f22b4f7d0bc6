// A board in play: cells in reading order, tiles that slide by click, drag or key.
import { calm, make } from "#page/dom.js";
import { nameTile } from "#page/slide_rules.js";

const ARROW_LETTERS = { ArrowUp: "D", ArrowDown: "U", ArrowLeft: "R", ArrowRight: "L" };
const SLIDE_MS = 150;
const CLICK_PIXELS = 6;

/** The direction of the tile for each letter, which is the direction of the blank. */
export const TILE_WAY = { U: "down", D: "up", L: "right", R: "left" };
export const TILE_ARROW = { U: "↓", D: "↑", L: "→", R: "←" };

/** Make a board in an element; `slid(move)` is called when the user slides a tile. */
export function makeSlideBoard(place, slid) {
  let game = null;
  let cells = [];
  let state = "";
  let best = "";
  let drag = null;
  const moveAt = (cell) => game.moves(state).find((move) => move.cell === cell);

  /** Make the cells of a game's board. */
  function lay(other) {
    game = other;
    state = "";
    cells = Array.from({ length: game.cells }, (_, cell) => {
      const number = make("span", { class: "number" });
      const mark = make("span", { class: "mark", "aria-hidden": "true" });
      return make("button", { type: "button", tabindex: "-1", "data-cell": cell }, number, mark);
    });
    place.style.setProperty("--columns", game.columns);
    place.replaceChildren(...cells);
  }

  function draw() {
    const moves = game.moves(state);
    cells.forEach((button, cell) => {
      const tile = state[cell];
      const move = moves.find((open) => open.cell === cell);
      const isBest = Boolean(move) && best.includes(move.letter);
      button.className = tile === "0" ? "gap" : `tile${move ? " open" : ""}${isBest ? " best" : ""}`;
      button.firstChild.textContent = tile === "0" ? "" : nameTile(tile);
      button.lastChild.textContent = isBest ? TILE_ARROW[move.letter] : "";
      const way = move ? `, slides ${TILE_WAY[move.letter]}${isBest ? ", a best move" : ""}` : "";
      button.setAttribute("aria-label", tile === "0" ? "the gap" : `tile ${nameTile(tile)}${way}`);
      button.setAttribute("aria-disabled", String(!move));
    });
  }

  /** Show a state; if the previous one is its neighbour, the tile's slide is animated. */
  function show(to, bestLetters, { sliding = true } = {}) {
    const from = state;
    state = to;
    best = bestLetters;
    draw();
    const gap = to.indexOf("0");
    const came = from.indexOf("0");
    const joined = sliding && from && game.moves(from).some((move) => move.after === to);
    if (!joined || calm()) return;
    const size = cells[1].offsetLeft - cells[0].offsetLeft;
    // the animation of a dragged tile starts where it was released
    const left = drag?.rest ?? 1;
    const across = ((gap % game.columns) - (came % game.columns)) * size * left;
    const down = (Math.floor(gap / game.columns) - Math.floor(came / game.columns)) * size * left;
    cells[came].animate(
      [{ transform: `translate(${across}px, ${down}px)` }, { transform: "none" }],
      { duration: SLIDE_MS * left, easing: "ease-out" },
    );
  }

  function slide(move) {
    if (move) slid(move);
  }

  place.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = game.moves(state);
    const move = moves.find(({ letter, tile }) => letter === ARROW_LETTERS[event.key] || tile === event.key);
    if (event.key in ARROW_LETTERS || move) event.preventDefault();
    slide(move);
  });

  place.addEventListener("click", (event) => {
    const cell = cells.indexOf(event.target.closest("button"));
    // a drag ends with a click event too, but has already been handled
    if (cell >= 0 && !drag?.moved) slide(moveAt(cell));
    drag = null;
    place.focus();
  });

  place.addEventListener("pointerdown", (event) => {
    const cell = cells.indexOf(event.target.closest("button"));
    const move = cell < 0 || event.button ? null : moveAt(cell);
    drag = null;
    if (!move) return;
    const gap = state.indexOf("0");
    const button = cells[cell];
    drag = {
      button, move, moved: false, part: 0, x: event.clientX, y: event.clientY,
      across: (gap % game.columns) - (cell % game.columns), down: Math.floor(gap / game.columns) - Math.floor(cell / game.columns),
      size: cells[1].offsetLeft - cells[0].offsetLeft,
    };
    button.setPointerCapture(event.pointerId);
  });

  place.addEventListener("pointermove", (event) => {
    if (!drag || drag.done) return;
    const gone = (event.clientX - drag.x) * drag.across + (event.clientY - drag.y) * drag.down;
    if (Math.abs(gone) > CLICK_PIXELS) drag.moved = true;
    if (!drag.moved) return;
    drag.part = Math.max(0, Math.min(1, gone / drag.size));
    const [across, down] = [drag.across, drag.down].map((way) => way * drag.part * drag.size);
    drag.button.style.transform = `translate(${across}px, ${down}px)`;
  });

  function letGo(event) {
    if (!drag || drag.done) return;
    drag.done = true;
    drag.button.style.transform = "";
    if (!drag.moved) return;
    drag.rest = 1 - drag.part;
    if (event.type === "pointerup" && drag.part > 0.4) slide(drag.move);
    drag.rest = 1;
  }
  place.addEventListener("pointerup", letGo);
  place.addEventListener("pointercancel", letGo);

  return { lay, show };
}
