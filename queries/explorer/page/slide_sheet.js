// A sheet of boards to print, with the answers on a second page.
import { counted, make } from "#page/dom.js";
import { drawCell, drawLabel, makePicture } from "#page/pictures.js";
import { nameTile } from "#page/slide_rules.js";

const TRIES = 40; // for each board: some distances have few
const MOST = 24;
const FEW = 16;

/** Draw a board as a picture. */
export function drawSlide(state, columns) {
  const content = [...state].flatMap((tile, cell) => {
    const at = [cell % columns, Math.floor(cell / columns)];
    return tile === "0" ? [drawCell(...at, "#e7e2d7")] : [drawCell(...at, "#ffffff"), drawLabel(...at, nameTile(tile))];
  });
  return makePicture(columns, state.length / columns, ...content);
}

/** Make the part of a sliding board's view that shows a sheet. */
export function makeSlideSheet({ mine, game }) {
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
    const across = at.states.length > FEW ? 5 : 4; // on paper
    mine("sheet-boards").style.setProperty("--across", across);
    mine("sheet-boards").style.setProperty("--down", Math.ceil(at.states.length / across));
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

  /** Return some random boards: fewer than asked for if there are no more, none if they cannot be found. */
  async function draw(goal, count, level) {
    const states = new Set();
    for (let left = TRIES * count; left && states.size < count; left--) {
      const state = await game().draw(goal, level);
      if (state === null) break;
      states.add(state);
    }
    return [...states];
  }

  /** Show a sheet; `wanted` is the number of boards that it should have. */
  function show({ goal, states, wanted = states.length }) {
    Object.assign(at, { goal, states });
    mine("sheet-title").textContent = game().title;
    mine("sheet-few").textContent = states.length < wanted
      ? `There are only ${counted(states.length, "board")} of this difficulty.`.replace("are only 1", "is only 1") : "";
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
    learn: paint,
    title: () => `sheet of ${counted(at.states.length, "board")}`,
  };
}
