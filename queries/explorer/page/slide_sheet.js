// A sheet of boards to print, with the answers on a second page.
import { counted, make } from "#page/dom.js";
import { drawCell, drawLabel, makePicture } from "#page/pictures.js";
import { nameTile } from "#page/slide_rules.js";

const TRIES = 40; // for each board: some distances have few
const MOST = 24;

/** Draw a board as a picture. */
export function drawSlide(state, columns) {
  const content = [...state].flatMap((tile, cell) => {
    const at = [cell % columns, Math.floor(cell / columns)];
    return tile === "0" ? [drawCell(...at, "#e7e2d7")] : [drawCell(...at, "#ffffff"), drawLabel(...at, nameTile(tile))];
  });
  return makePicture(columns, state.length / columns, ...content);
}

/** Make the part of a sliding board's view that shows a sheet; `changed(parts, how)` changes the address. */
export function makeSlideSheet({ mine, game, changed }) {
  const at = { goal: "", states: [] };

  function parts() {
    return [at.goal, at.states.join(",")];
  }

  function paint() {
    const picture = (state) => {
      const drawing = drawSlide(state, game().columns);
      drawing.setAttribute("role", "img");
      drawing.setAttribute("aria-label", [...state].map((tile) => (tile === "0" ? "gap" : nameTile(tile))).join(" "));
      return drawing;
    };
    mine("sheet-boards").replaceChildren(...at.states.map((state) => make("li", {}, picture(state))));
    mine("sheet-goal").replaceChildren(picture(at.goal));
    mine("sheet-answers").replaceChildren(...at.states.map((state) => make("li", {}, writeAnswer(state))));
  }

  function writeAnswer(state) {
    const { distance, tiles } = game().facts(state, at.goal);
    if (distance === undefined) return "being searched…";
    if (distance === null) return "This board cannot reach the goal.";
    return `${counted(distance, "move")}: ${[...tiles].map(nameTile).join(" ")}`;
  }

  /** Show a sheet of some random boards. */
  async function draw(goal, count, level, how = {}) {
    const states = new Set();
    for (let left = TRIES * count; left && states.size < count; left--) states.add(await game().draw(goal, level));
    show({ goal, states: [...states] });
    changed(parts(), how);
  }

  function show({ goal, states }) {
    Object.assign(at, { goal, states });
    mine("sheet-title").textContent = game().title;
    paint();
  }

  mine("sheet-print").addEventListener("click", () => print());

  return {
    show, parts, draw,
    /** Return the number of boards that the user chose. */
    get count() { return Math.max(1, Math.min(MOST, Math.round(Number(mine("sheet-count").value)) || 1)); },
    get game() { return { start: at.states[0] ?? at.goal, goal: at.goal, moves: "", step: 0 }; },
    get taken() {
      return { state: at.states[0], facts: at.states.map((state, number) => [`${number + 1}  ${state}`, `  ${writeAnswer(state)}`]) };
    },
    slid() {},
    learn: paint,
    title: () => `sheet of ${counted(at.states.length, "board")}`,
    leave: () => {},
  };
}
