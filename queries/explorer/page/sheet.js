// A sheet of boards to print, with lines to write on, and the answers on a second page.
import { showPicture } from "#page/grid.js";
import { html } from "#page/html.js";
import { formatCount } from "#page/text.js";

const TRIES = 40; // for each board: some levels have few
/** The name of the level whose boards become harder and harder. */
const RISING = "rising";
/** The part of a page of A4 or Letter that the boards can have, and what lies between them, in centimetres. */
const [WIDTH, HEIGHT] = [18, 20];
const [BESIDE, BELOW] = [0.9, 0.5];
const BLANK = { width: 2.2, height: 0.7 };
const form = {}; // by puzzle: the number of boards and the level that are chosen

/** Return the levels of a puzzle's sheets, by name. */
function listLevels({ levels, range }, about) {
  const rising = range ? [{ name: RISING, label: "rising" }] : [];
  return [...levels(about), ...rising];
}

/**
 * Draw some random items, each a text: fewer than `count` if there are no more, none if they cannot be found. The
 * distances of rising ones are stratified over the range of the puzzle.
 */
async function drawItems({ draw, range }, about, count, level) {
  const [least, most] = level === RISING ? range(about) : [];
  const items = new Set();
  for (let left = TRIES * count; left && items.size < count; left--) {
    const distance = Math.round(least + ((most - least) * items.size) / Math.max(count - 1, 1));
    const item = await draw(about, level === RISING ? String(distance) : level);
    if (item === null) break;
    items.add(item);
  }
  return [...items];
}

/** Return a sheet of new boards, to be shown; null if there is none. */
async function dealSheet({ name, sheets }, about) {
  const { count, level } = form[name];
  const wanted = Math.max(1, Math.min(sheets.most, Math.round(Number(count)) || 1));
  const items = await drawItems(sheets, about, wanted, level);
  const many = formatCount(items.length, "board");
  const few =
    items.length < wanted
      ? `There ${items.length === 1 ? "is" : "are"} only ${many}${level && " of this difficulty"}.`
      : "";
  return items.length ? { about, items, few } : null;
}

/** Show what makes a sheet of a puzzle whose state is on view. */
export function showSheetForm(puzzle, state, go) {
  const { name, sheets } = puzzle;
  const about = sheets.about(state);
  const levels = listLevels(sheets, about);
  const chosen = (form[name] ??= {
    count: sheets.usual,
    level: levels[0]?.name ?? "",
    isBusy: false,
  });
  if (!levels.some((level) => level.name === chosen.level)) chosen.level = levels[0]?.name ?? "";
  async function make() {
    chosen.isBusy = true;
    go(state, { isTransient: true });
    const made = dealSheet(puzzle, about).finally(() => (chosen.isBusy = false));
    go(made, { mode: "sheet" });
  }
  return html`<details id="${name}-sheet">
    <summary>Sheet to print, for a class</summary>
    <div class="buttons small">
      <label for="${name}-sheet-count">Boards</label>
      <input
        id="${name}-sheet-count"
        type="number"
        min="1"
        max="${sheets.most}"
        value="${chosen.count}"
        oninput=${({ target }) => (chosen.count = target.value)}
      />
      <label for="${name}-sheet-level" hidden=${!levels.length}>Difficulty</label>
      <select
        id="${name}-sheet-level"
        hidden=${!levels.length}
        onchange=${({ target }) => (chosen.level = target.value)}
      >
        ${levels.map(({ name: level, label }) => html`<option value="${level}" selected=${level === chosen.level}>${label}</option>`)}
      </select>
      <button type="button" id="${name}-sheet-make" onclick=${make}>
        ${chosen.isBusy ? "Making the sheet…" : "Make a sheet"}
      </button>
    </div>
    <p class="hint">The answers are on a second page.</p>
  </details>`;
}

/**
 * Return how many boards stand side by side, and their width, so that they are as large as a page allows; the program's
 * `queries/sheet.py` does the same.
 */
function measure({ blanks, ratio, across: fixed }, { about, items }) {
  const most = Math.max(...items.map((item) => blanks(about, item).length));
  const choices = fixed ? [fixed] : items.map((_, beside) => beside + 1);
  const sizes = choices.map((across) => {
    const column = WIDTH / across - BESIDE;
    const rows = Math.ceil(most / Math.max(1, Math.floor(column / BLANK.width)));
    const row = HEIGHT / Math.ceil(items.length / across) - BELOW - rows * BLANK.height;
    return { across, width: Math.min(column, row * ratio(about)) };
  });
  return sizes.reduce((best, size) => (size.width > best.width ? size : best));
}

/**
 * Make the mode of a puzzle that shows sheets. What all boards of a sheet have in common is its `about`, parameters of the
 * address; each board is an item, a text. The puzzle's `sheets` describe
 *
 * - `title(about, items)`, the `task` of its boards and the `key` to their answers, how many boards a sheet has (`usual`, `most`),
 *   how many stand side by side (`across`; none: as many as make them largest), and the width of a board divided by its height
 *   (`ratio(about)`);
 * - `about(state)` of a new sheet, and `read(params)` of one in an address; the `levels(about)` of difficulty, the `range(about)`
 *   of distances of rising boards, and `draw(about, level)`, a random item, null if none can be found;
 * - of an item: its `problem`, its `name`, the `board` to draw, `blanks` to write in, and its `answer`, a text, which is drawn
 *   if there is `drawAnswer`; and the board beside the task, `aim(about)`, if there is one.
 */
export function makeSheetMode(getPuzzle) {
  function read(params) {
    const { sheets, play } = getPuzzle();
    const about = sheets.read(params);
    const items = (params.boards ?? "").split(" ").filter(Boolean);
    const bad =
      items.map((item) => sheets.problem(about, item)).find(Boolean) ??
      (items.length && items.length <= sheets.most
        ? ""
        : `A sheet has 1 to ${sheets.most} boards, not ${items.length}.`);
    return bad
      ? Promise.resolve(play.read({})).then((state) => ({ ...state, mode: "play", problem: bad }))
      : { about, items, few: "" };
  }

  function show(state, go) {
    const puzzle = getPuzzle();
    const { name, sheets } = puzzle;
    const { about, items, few } = state;
    const { across, width } = measure(sheets, state);
    const sized = { "--across": across, "--width": `${width.toFixed(2)}cm` };
    const answer = (item) => {
      const text = sheets.answer(about, item);
      return sheets.drawAnswer
        ? showPicture({ ...sheets.drawAnswer(about, item), label: text })
        : text;
    };
    return {
      task: "",
      table: html`<div class="sheet">
        <div class="buttons">
          <button type="button" id="${name}-sheet-print" class="main" onclick=${() => print()}>
            Print
          </button>
          <button
            type="button"
            id="${name}-sheet-other"
            onclick=${() => go(dealSheet(puzzle, about))}
          >
            Other boards
          </button>
          <button
            type="button"
            id="${name}-sheet-close"
            onclick=${() => go(puzzle.play.from(state, "sheet"), { mode: "play" })}
          >
            Close
          </button>
        </div>
        <p id="${name}-sheet-few" class="hint" role="status">${few}</p>
        <div class="sheet-page">
          <div class="sheet-aim">
            ${sheets.aim ? showPicture({ ...sheets.aim(about), label: "The board to reach" }) : ""}
          </div>
          <h2 id="${name}-sheet-title">${sheets.title(about, items)}</h2>
          <p>${sheets.task}</p>
          <p>Name: <span class="line"></span></p>
          <ol id="${name}-sheet-boards" class="sheet-boards" style=${sized}>
            ${items.map(
              (item) =>
                html`<li>
                  ${showPicture({ ...sheets.board(about, item), label: sheets.name(about, item) })}
                  <p class="blanks">
                    ${sheets.blanks(about, item).map((label) => html`<span>${label}</span>`)}
                  </p>
                </li>`,
            )}
          </ol>
        </div>
        <div class="sheet-page">
          <h2>Answers</h2>
          <p>${sheets.key}</p>
          <ol
            id="${name}-sheet-answers"
            class="${sheets.drawAnswer ? "sheet-boards" : "sheet-answers"}"
            style=${sized}
          >
            ${items.map((item) => html`<li>${answer(item)}</li>`)}
          </ol>
        </div>
      </div>`,
    };
  }

  return {
    read,
    show,
    write: ({ about, items }) => ({ ...about, boards: items.join(" ") }),
    title: ({ items }) => `sheet of ${formatCount(items.length, "board")}`,
  };
}
