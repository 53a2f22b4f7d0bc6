// The drawing of boards: cells row by row, as buttons of which one is in the tab order, or as a picture.
import { html } from "#page/html.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const focused = new Map(); // by board: the cell in the tab order

/**
 * Draw a board of `cells`, each with its `name`, `content`, `classes` and other `attributes`; `more` nodes follow
 * them. `picked(cell)` is called on clicks, and `typed(key, cell)` on keys; it returns whether it took the key. Arrows
 * that it does not take go from cell to cell, and with Shift all do.
 */
export function showGrid({
  id,
  classes,
  label,
  columns,
  cells,
  more,
  picked,
  typed = () => false,
  attributes = {},
}) {
  const tab = Math.min(focused.get(id) ?? 0, cells.length - 1);
  const cellOf = ({ target }) => Number(target.closest("[data-cell]")?.dataset.cell ?? -1);
  function focus(board, cell) {
    focused.set(id, cell);
    [...board.querySelectorAll("[data-cell]")].forEach(
      (one, at) => (one.tabIndex = at === cell ? 0 : -1),
    );
    board.querySelector(`[data-cell="${cell}"]`).focus();
  }
  function click(event) {
    const cell = cellOf(event);
    if (cell < 0) return;
    focus(event.currentTarget, cell);
    picked(cell);
  }
  function press(event) {
    const { key, shiftKey, ctrlKey, metaKey, altKey, currentTarget } = event;
    const cell = cellOf(event);
    if (cell < 0 || ctrlKey || metaKey || altKey) return;
    const isTaken = !shiftKey && typed(key, cell);
    const next = isTaken ? null : stepTo(key, cell, cells.length, columns);
    if (next !== null) focus(currentTarget, next);
    if (isTaken || next !== null) event.preventDefault();
  }
  const [board] = html`<div
    id="${id}"
    class="board ${classes}"
    role="group"
    aria-label="${label}"
    style=${{ "--columns": columns }}
    onclick=${click}
    onkeydown=${press}
  >
    ${cells.map(({ name, content, classes: cellClasses, attributes: own }, at) => {
      const [button] = html`<button
        type="button"
        class="${cellClasses}"
        data-cell="${at}"
        aria-label="${name}"
        tabindex="${at === tab ? 0 : -1}"
      >
        ${content}
      </button>`;
      Object.assign(button.attributes, own);
      return button;
    })}${more}
  </div>`;
  Object.assign(board.attributes, attributes);
  return board;
}

/** Draw a board as a picture. */
export function showPicture({ id = null, classes, label, columns, cells, more }) {
  const drawn = cells.map(({ content, classes: cellClasses, attributes }) => {
    const [cell] = html`<span class="${cellClasses}">${content}</span>`;
    cell.attributes.style = attributes?.style;
    return cell;
  });
  return html`<div
    id=${id}
    class="board picture ${classes}"
    role="img"
    aria-label="${label}"
    style=${{ "--columns": columns }}
  >
    ${drawn}${more}
  </div>`;
}

function stepTo(key, cell, count, columns) {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (!(key in ARROWS)) return null;
  const [right, down] = ARROWS[key];
  const column = (cell % columns) + right;
  const row = Math.floor(cell / columns) + down;
  const isInside = column >= 0 && column < columns && row >= 0 && row < count / columns;
  return isInside ? row * columns + column : cell;
}
