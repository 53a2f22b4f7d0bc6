// A small board and a text field in which the user sets up a state.
import { onEntered, quoted, setProblem } from "#page/dom.js";
import { makeGrid } from "#page/grid.js";
import { nameTile } from "#page/slide_rules.js";
import { swapCells } from "#tables/sliding.js";

/**
 * Make a field `part` of a view, for the state that `get` returns and `set` changes. `check(text)`
 * returns the problem of a text.
 */
export function makeSetup({ mine, game }, part, { get, set, check }) {
  const field = mine(part);
  let first = null;
  let cells = [];
  const grid = makeGrid(mine(`${part}-cells`), (cell) => {
    const picked = first;
    first = picked === null ? cell : null;
    if (picked === null || picked === cell) refresh();
    else exchange(picked, cell);
  });

  function exchange(picked, cell) {
    const to = swapCells(get(), picked, cell);
    if (problem(check(to), to)) refresh();
    else set(to);
  }

  function lay() {
    first = null;
    field.dataset.cells = game().cells;
    field.inputMode = game().cells > 10 ? "text" : "numeric";
    mine(`${part}-cells`).style.setProperty("--columns", game().columns);
    cells = grid.lay(game().cells, game().columns);
  }

  function refresh() {
    cells.forEach((button, cell) => {
      const tile = get()[cell];
      button.textContent = tile === "0" ? "" : nameTile(tile);
      button.classList.toggle("gap", tile === "0");
      button.setAttribute("aria-label", tile === "0" ? "gap" : `tile ${nameTile(tile)}`);
      button.setAttribute("aria-pressed", String(cell === first));
    });
    if (document.activeElement !== field) field.value = get();
  }

  function problem(bad, text) {
    const example = game().goals[0].state;
    setProblem(mine("problem"), bad && `${quoted(text)} is not an arrangement: ${bad}. Example: ${example}.`, field);
    return bad;
  }

  field.addEventListener("input", () => {
    const text = game().parse(field.value);
    // an incomplete text is not an error while the user types
    if (text.length < game().cells) return problem("");
    if (problem(text && check(text), text)) return undefined;
    return text === get() ? undefined : set(text);
  });
  onEntered(field, () => {
    const text = game().parse(field.value);
    const bad = check(text);
    problem(bad, text);
    if (!bad && text !== get()) set(text);
  });
  return { lay, refresh };
}
