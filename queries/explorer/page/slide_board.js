// A board in play: cells in reading order, tiles that slide by click, drag, swipe or key.
import { calm, make } from "#page/dom.js";
import { nameTile } from "#page/slide_rules.js";

const ARROW_LETTERS = { ArrowUp: "D", ArrowDown: "U", ArrowLeft: "R", ArrowRight: "L" };
const SLIDE_MS = 150;
const CLICK_PIXELS = 6;
const SWIPE_PIXELS = 24;

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
    cells.forEach((button, cell) => {
      const tile = state[cell];
      const towards = moveTowards(cell);
      const move = towards?.cell === cell ? towards : null;
      const isBest = Boolean(move) && best.includes(move.letter);
      button.className =
        tile === "0" ? "gap" : `tile${move ? " open" : ""}${isBest ? " best" : ""}`;
      button.firstChild.textContent = tile === "0" ? "" : nameTile(tile);
      button.lastChild.textContent = isBest ? TILE_ARROW[move.letter] : "";
      const way = towards
        ? `, slides ${TILE_WAY[towards.letter]}${move ? "" : " with others"}${isBest ? ", a best move" : ""}`
        : "";
      button.setAttribute("aria-label", tile === "0" ? "the gap" : `tile ${nameTile(tile)}${way}`);
      button.setAttribute("aria-disabled", String(!towards));
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

  /** Return the move of the tile between the gap and a cell of its row or column; undefined for other cells. */
  function moveTowards(cell) {
    const gap = state.indexOf("0");
    const isAcross = Math.floor(gap / game.columns) === Math.floor(cell / game.columns);
    const isDown = (cell - gap) % game.columns === 0;
    const step = Math.sign(cell - gap) * (isAcross ? 1 : isDown ? game.columns : 0);
    return game.moves(state).find((move) => step && move.cell === gap + step);
  }

  /** Slide the tiles between the gap and a cell; a game that is over takes none. */
  function slideTo(cell) {
    let before = "";
    while (state !== before && state[cell] !== "0") {
      before = state;
      const move = moveTowards(cell);
      if (move) slid(move);
    }
  }

  /** Slide the tile that goes a way: an arrow key's. */
  function slideAlong(key) {
    const move = game.moves(state).find(({ letter }) => letter === ARROW_LETTERS[key]);
    if (move) slid(move);
  }

  place.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const move = game.moves(state).find(({ tile }) => tile === event.key);
    if (event.key in ARROW_LETTERS || move) event.preventDefault();
    if (move) slid(move);
    else slideAlong(event.key);
  });

  place.addEventListener("click", (event) => {
    const cell = cells.indexOf(event.target.closest("button"));
    // a drag ends with a click event too, but has already been handled
    if (cell >= 0 && !drag?.moved) slideTo(cell);
    drag = null;
    place.focus();
  });

  place.addEventListener("pointerdown", (event) => {
    const cell = cells.indexOf(event.target.closest("button"));
    drag = null;
    if (cell < 0 || event.button) return;
    drag = {
      button: cells[cell],
      move: game.moves(state).find((move) => move.cell === cell),
      part: 0,
      moved: false,
      x: event.clientX,
      y: event.clientY,
    };
    drag.button.setPointerCapture(event.pointerId);
  });

  /** Return the way of a drag, as the key of an arrow, and its length. */
  function measureDrag(event) {
    const [right, down] = [event.clientX - drag.x, event.clientY - drag.y];
    if (Math.abs(right) > Math.abs(down))
      return [right > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(right)];
    return [down > 0 ? "ArrowDown" : "ArrowUp", Math.abs(down)];
  }

  place.addEventListener("pointermove", (event) => {
    if (!drag || drag.done) return;
    const [key, length] = measureDrag(event);
    if (length > CLICK_PIXELS) drag.moved = true;
    if (!drag.moved) return;
    // a tile follows the pointer only into the gap
    const size =
      drag.move?.letter === ARROW_LETTERS[key] ? cells[1].offsetLeft - cells[0].offsetLeft : 0;
    drag.part = size && Math.min(1, length / size);
    const shift = drag.part * size * (/Right|Down/.test(key) ? 1 : -1);
    drag.button.style.transform = `translate${/Right|Left/.test(key) ? "X" : "Y"}(${shift}px)`;
  });

  function letGo(event) {
    if (!drag || drag.done) return;
    drag.done = true;
    drag.button.style.transform = "";
    if (!drag.moved || event.type !== "pointerup") return;
    const [key, length] = measureDrag(event);
    drag.rest = 1 - drag.part;
    if (drag.part ? drag.part > 0.4 : length > SWIPE_PIXELS) slideAlong(key);
    drag.rest = 1;
  }
  place.addEventListener("pointerup", letGo);
  place.addEventListener("pointercancel", letGo);

  return { lay, show };
}
