// The page. The address says which puzzle is shown, in which mode, and what of it: the mode reads that as a state.
// What the user does makes another state, which is painted and written into the address.
import { readAddress, writeAddress } from "#page/address.js";
import { clearProblem } from "#page/field.js";
import { html, paint } from "#page/html.js";
import { findMore } from "#page/hosted.js";
import { loadValue, saveValue } from "#page/storage.js";
import { handleKeys, LETTER_KEYS } from "#page/keys.js";
import { IS_ON_DISK, showView } from "#page/layout.js";
import { stopPlaying } from "#page/player.js";
import { findPuzzle, listPuzzles } from "#page/puzzles.js";
import { announce } from "#page/text.js";

let shown = null; // the puzzle, the mode and its state
let isPainting = false; // a field that is removed reports its change: nobody has made one
let turns = 0; // how many states were requested
const addresses = {}; // by puzzle: where a link back to it leads

/** Show what the address describes. */
async function route() {
  const turn = ++turns;
  const { name, mode, params } = readAddress();
  try {
    const { puzzle, problem: unknown } = await findPuzzle(name);
    await puzzle.open();
    const { problem, ...state } = await puzzle[mode].read(unknown ? {} : params);
    if (turn !== turns) return; // the user has gone elsewhere meanwhile
    enter({ puzzle, mode: state.mode ?? mode, state }, { isReplaced: true });
    showError(unknown || problem);
    performance.mark(puzzle.name);
    document.body.dataset.ready = puzzle.name;
  } catch (error) {
    if (turn !== turns) return;
    const remedy = "Make it again with: pipeline explore";
    showError(
      error.name === "TablebaseError"
        ? error.message
        : `This page is damaged: ${error.message} ${remedy}`,
    );
  }
}

/**
 * Show another state after an act of the user, or as soon as it is found: in another `mode`, with an `announcement`.
 * `isReplaced`: instead of this entry of the history. `isTransient`: it is not written into the address.
 */
function go(state, { mode = shown.mode, announcement = "", ...how } = {}) {
  if (isPainting) return false;
  const turn = ++turns;
  if (state instanceof Promise)
    return state.then(
      (found) => found && turn === turns && go(found, { mode, announcement, ...how }),
    );
  shown.puzzle[mode].note?.(state);
  enter({ ...shown, mode, state }, how);
  if (announcement) announce(announcement);
  return true;
}

function enter(next, { isReplaced = false, isTransient = false }) {
  if (shown?.puzzle !== next.puzzle || shown.mode !== next.mode) stopPlaying();
  shown = next;
  clearProblem();
  repaint();
  if (isTransient) return;
  const { puzzle, mode, state } = shown;
  const address = writeAddress(puzzle.name, mode, puzzle[mode].write(state));
  if (location.hash !== address) {
    showError("");
    history[isReplaced ? "replaceState" : "pushState"](null, "", address);
  }
  addresses[puzzle.name] = address;
  document.title = `${puzzle[mode].title(state)} · ${puzzle.head(state)}`;
  listLinks();
}

/** Paint what is shown; the focus goes to the board if what had it is no longer there. */
function repaint() {
  if (!shown || isPainting) return;
  const { activeElement } = document;
  isPainting = true;
  try {
    paint(document.getElementById("view"), showView(shown, go));
  } finally {
    isPainting = false;
  }
  shown.puzzle.painted?.(shown);
  if (activeElement !== document.body && !activeElement.checkVisibility())
    findBoard()?.focus({ preventScroll: true });
}

/** Return the cell of the board on view that can have the focus. */
const findBoard = () => document.querySelector("#view .board [tabindex='0']");

function showError(text) {
  const trouble = document.getElementById("trouble");
  trouble.textContent = text ?? "";
  trouble.hidden = !text;
}

function listLinks() {
  paint(
    document.querySelector("nav"),
    listPuzzles().map(({ name, title }) => {
      const isCurrent = shown?.puzzle.name === name;
      return html`<a
        href="${addresses[name] ?? `#${name}`}"
        data-view="${name}"
        aria-current=${isCurrent ? "page" : null}
        >${title}</a
      >`;
    }),
  );
}

/** Add what the tables beside the page have, and say what is wrong with them; the page does not wait for them. */
async function addHosted() {
  const { boards, problem, isAbsent } = await findMore();
  document.getElementById("beside").textContent = boards.length
    ? `The answers of ${boards.join(", ").replaceAll("x", "×")} are read from the tables beside this page.`
    : problem && !isAbsent
      ? `The tables beside this page cannot be used. ${problem}`
      : "";
  listLinks();
  repaint();
}

function choose(id, name, apply) {
  const box = document.getElementById(id);
  box.checked = loadValue(name, box.checked);
  const use = () => apply(box.checked);
  box.addEventListener("change", () => {
    saveValue(name, box.checked);
    use();
  });
  use();
}

choose("letters", LETTER_KEYS, () => {});
choose("large", "isLarge", (isLarge) => document.body.classList.toggle("large", isLarge));
// the address of a file means nothing elsewhere
if (IS_ON_DISK)
  document.getElementById("share").textContent =
    ": its end, from # on, works in every copy of this page";
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  findBoard().focus();
});
handleKeys(findBoard);
addEventListener("refresh", ({ detail }) => {
  if (typeof detail === "string") showError(detail);
  repaint();
});
addEventListener("hashchange", route);
listLinks();
route();
addHosted();
