// What a game in play has beside its board: what is said of it, a timer, and on the puzzle of the day a result to share.
import { counted } from "#page/dom.js";
import { getKept, keep } from "#page/kept.js";
import { copyText } from "#page/take_away.js";
import { findDay } from "#page/today.js";

const IS_HIDDEN = "isTimerHidden";
const SECOND_MS = 1000;

/**
 * Make the part of a view in play. `title()` is what results call the puzzle, and `findToday(number)` returns the first
 * parts of the address of a day's puzzle; null if there is none.
 */
export function makeRound({ name: view, mine }, title, findToday) {
  let name = ""; // of the puzzle: the first parts of the address of a game
  let day = ""; // whose puzzle it is
  let seconds = 0;
  let isRunning = false;

  const record = () => `today ${title()}`;
  /** Return what is kept of the day's game. */
  function readRecord() {
    const kept = getKept(record(), {});
    return kept.day === day ? kept : { day, seconds: 0, hints: 0 };
  }

  function paintTime() {
    const isHidden = getKept(IS_HIDDEN, false);
    mine("time").textContent = isHidden ? "" : writeTime(seconds);
    mine("clock").textContent = isHidden ? "Show timer" : "Hide timer";
  }

  /** Begin a game, or go on with the one of the same name, if it `isBegun`. The day's game goes on in any case. */
  function begin(parts, isBegun) {
    const today = findDay();
    const isSame = parts.join("/") === name;
    name = parts.join("/");
    day = findToday(today.number)?.join("/") === name ? today.name : "";
    if (day) seconds = Number(readRecord().seconds) || 0;
    else if (!isSame || !isBegun) seconds = 0;
    if (!isSame) isRunning = false;
  }

  /**
   * Show the game as it is: how many moves it has, what they are called, what is said of it and whether it is solved, what is
   * `hidden` now, its hints so far, and its score if it is over, such as `24/24`.
   */
  function show({ count, noun, word, isSolved, hidden, hints, score = "" }) {
    mine("count").textContent = count;
    mine("counted").textContent = noun;
    mine("word").textContent = word;
    mine("word").classList.toggle("solved", isSolved);
    for (const [part, isHidden] of Object.entries(hidden)) mine(part).hidden = Boolean(isHidden);
    const kept = readRecord();
    const isEnd = isRunning && Boolean(score);
    isRunning = !score;
    if (day) {
      kept.hints = Math.max(hints, Number(kept.hints) || 0);
      const said = [
        score,
        kept.hints ? counted(kept.hints, "hint") : "no hint",
        getKept(IS_HIDDEN, false) ? "" : writeTime(seconds),
      ];
      if (isEnd) kept.result ??= said.filter(Boolean).join(", ");
      keep(record(), kept);
    }
    mine("result").hidden = !day || !kept.result;
    mine("result").firstElementChild.textContent = `${title()} ${day}: ${kept.result}`;
    mine("today").hidden = !findToday(findDay().number);
    mine("today").textContent = day ? `Today’s puzzle, ${day}` : "Today’s puzzle";
    paintTime();
  }

  setInterval(() => {
    if (!isRunning || document.hidden || !mine("clock").checkVisibility()) return;
    seconds++;
    if (day) keep(record(), { ...readRecord(), seconds });
    paintTime();
  }, SECOND_MS);
  mine("clock").addEventListener("click", () => {
    keep(IS_HIDDEN, !getKept(IS_HIDDEN, false));
    paintTime();
  });
  mine("today").addEventListener("click", () => {
    location.hash = `#${view}/play/${findToday(findDay().number).join("/")}`;
  });
  mine("result").lastElementChild.addEventListener("click", async ({ target }) => {
    target.textContent = (await copyText(mine("result").firstElementChild.textContent))
      ? "Copied"
      : "Select the line to copy it";
  });

  return { begin, show };
}

function writeTime(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
