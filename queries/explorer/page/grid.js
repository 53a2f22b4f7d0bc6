// A board of buttons: one of them is in the tab order, and the arrow keys move between them.
import { make } from "#page/dom.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Make a board in an element; `picked(cell)` and `typed(cell, key)` are called on clicks and keys. */
export function makeGrid(place, picked, typed = () => false) {
  let cells = [];
  let columns = 0;
  const focus = (cell) => {
    cells.forEach((other, at) => {
      other.tabIndex = at === cell ? 0 : -1;
    });
    cells[cell].focus();
  };
  const cellOf = (event) => cells.indexOf(event.target.closest("button"));
  place.addEventListener("click", (event) => {
    const cell = cellOf(event);
    if (cell < 0) return;
    focus(cell);
    picked(cell);
  });
  place.addEventListener("keydown", (event) => {
    const cell = cellOf(event);
    if (cell < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = stepped(event.key, cell, cells.length, columns);
    if (next !== null) focus(next);
    if (next !== null || typed(cell, event.key)) event.preventDefault();
  });
  /** Fill the element with `count` buttons, row by row. */
  function lay(count, across) {
    columns = across;
    cells = Array.from({ length: count }, (_, cell) =>
      make("button", {
        type: "button",
        tabindex: cell ? "-1" : "0",
        "data-cell": cell,
      }),
    );
    place.replaceChildren(...cells);
    return cells;
  }
  return { lay };
}

function stepped(key, cell, count, columns) {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (!(key in ARROWS)) return null;
  const [right, down] = ARROWS[key];
  const column = (cell % columns) + right;
  const row = Math.floor(cell / columns) + down;
  const inside = column >= 0 && column < columns && row >= 0 && row < count / columns;
  return inside ? row * columns + column : cell;
}
