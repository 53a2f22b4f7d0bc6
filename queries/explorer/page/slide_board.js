// A board of sliding tiles: tiles slide by click, drag or key.
import { showGrid } from "#page/grid.js";
import { nameTile } from "#page/slide_rules.js";
import { prefersReducedMotion } from "#page/text.js";

const ARROW_LETTERS = { ArrowUp: "D", ArrowDown: "U", ArrowLeft: "R", ArrowRight: "L" };
const SLIDE_MS = 150;
const CLICK_PIXELS = 6;
/** The part of its way that a tile must be dragged. */
const ENOUGH = 0.4;

/** The direction of the tile for each letter, which is the direction of the blank. */
export const TILE_DIRECTIONS = { U: "down", D: "up", L: "right", R: "left" };
export const TILE_ARROWS = { U: "↓", D: "↑", L: "→", R: "←" };

let drag = null; // the pointer that drags a tile, and how far
let seen = { id: "", state: "" }; // the board that was painted last

/** Describe the cells of a board. */
export function describeTiles(state, columns) {
  const cells = [...state].map((tile) => {
    const name = tile === "0" ? "" : nameTile(tile);
    return {
      name: name ? `tile ${name}` : "the gap",
      content: name,
      classes: name ? "tile" : "gap",
    };
  });
  return { classes: "tiles", columns, cells };
}

/** Return the letters that slide the tiles between the gap and a cell of its row or column; "" for other cells. */
function listLetters({ columns }, state, cell) {
  const gap = state.indexOf("0");
  const [across, down] = [
    (cell % columns) - (gap % columns),
    Math.floor(cell / columns) - Math.floor(gap / columns),
  ];
  if (across && down) return "";
  return (
    (across < 0 ? "L" : "R").repeat(Math.abs(across)) +
    (down < 0 ? "U" : "D").repeat(Math.abs(down))
  );
}

/** Show the board of a game, with its best moves marked; `slide(letters)` is called when the user slides tiles. */
export function showSlideBoard(view, { game, state, best = "", isOver = false, slide }) {
  const id = `${view}-board`;
  const moves = isOver ? [] : game.moves(state);
  const { cells, ...board } = describeTiles(state, game.columns);
  cells.forEach((cell, at) => {
    const letters = isOver ? "" : listLetters(game, state, at);
    const isBest = letters.length === 1 && best.includes(letters);
    if (letters)
      cell.name += `, slides ${TILE_DIRECTIONS[letters[0]]}${letters.length > 1 ? " with others" : ""}${isBest ? ", a best move" : ""}`;
    cell.classes +=
      letters.length === 1
        ? ` open ${"LR".includes(letters) ? "across" : "down"}${isBest ? " best" : ""}`
        : "";
    cell.attributes = {
      "aria-disabled": String(!letters),
      "data-mark": isBest ? TILE_ARROWS[letters] : null,
    };
  });
  const find = (wanted) => moves.find(wanted)?.letter;
  return showGrid({
    ...board,
    id,
    label: "Board",
    cells,
    picked(cell) {
      const letters = isOver || drag?.isMoved ? "" : listLetters(game, state, cell); // a drag ends with a click too
      if (letters) slide(letters);
    },
    typed(key) {
      const letter = find((move) => move.tile === key || move.letter === ARROW_LETTERS[key]);
      if (letter) slide(letter);
      return Boolean(letter) || key in ARROW_LETTERS;
    },
    attributes: {
      onpointerdown: (event) =>
        begin(event, (cell) => moves.find((move) => move.cell === cell), slide),
      onpointermove: follow,
      onpointerup: end,
      onpointercancel: end,
    },
  });
}

function begin({ target, currentTarget, button, pointerId, clientX, clientY }, findMove, slide) {
  if (drag && !drag.isDone) return; // a second finger
  const tile = target.closest("button");
  drag = null;
  if (!tile || button) return;
  const size = currentTarget.children[1].offsetLeft - currentTarget.children[0].offsetLeft;
  drag = {
    pointerId,
    tile,
    size,
    move: findMove(Number(tile.dataset.cell)),
    slide,
    x: clientX,
    y: clientY,
    part: 0,
  };
  tile.setPointerCapture(pointerId);
}

function follow({ pointerId, clientX, clientY }) {
  if (!drag || drag.isDone || drag.pointerId !== pointerId) return;
  const [right, down] = [clientX - drag.x, clientY - drag.y];
  if (Math.hypot(right, down) > CLICK_PIXELS) drag.isMoved = true;
  if (!drag.isMoved || !drag.move) return;
  // a tile follows the pointer only into the gap
  const ways = { L: [1, 0], R: [-1, 0], U: [0, 1], D: [0, -1] }[drag.move.letter];
  drag.part = Math.max(0, Math.min(1, (right * ways[0] + down * ways[1]) / drag.size));
  drag.tile.style.transform = `translate(${ways.map((way) => `${way * drag.part * drag.size}px`)})`;
}

function end({ type, pointerId }) {
  if (!drag || drag.isDone || drag.pointerId !== pointerId) return;
  drag.isDone = true;
  drag.tile.style.transform = "";
  if (type === "pointerup" && drag.part > ENOUGH) drag.slide(drag.move.letter);
  const ended = drag;
  setTimeout(() => {
    if (drag === ended) drag = null;
  });
}

/** Animate the slide of a tile, if the state that was painted before is a neighbour. A dragged tile goes on from where it is. */
export function animateSlide(view, game, state) {
  const before = seen.id === view && seen.game === game ? seen.state : "";
  seen = { id: view, game, state };
  if (!before || prefersReducedMotion() || !game.moves(before).some(({ after }) => after === state))
    return;
  const cells = document.getElementById(`${view}-board`).children;
  const [gap, came] = [cells[state.indexOf("0")], cells[before.indexOf("0")]];
  const left = 1 - (drag?.part ?? 0);
  const from = `translate(${(gap.offsetLeft - came.offsetLeft) * left}px, ${(gap.offsetTop - came.offsetTop) * left}px)`;
  came.animate([{ transform: from }, { transform: "none" }], {
    duration: SLIDE_MS * left,
    easing: "ease-out",
  });
}
