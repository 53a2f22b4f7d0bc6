// The puzzles of a day: they follow from the date alone, so that they are the same for all who have the page. The first
// result of a day is kept, and its hints count even after a restart.
import { html } from "#page/html.js";
import { loadValue, saveValue } from "#page/storage.js";
import { copyText, formatCount, announce } from "#page/text.js";

const DAY_MS = 86400000;
/** The factors by which MurmurHash3 mixes its last bits. */
const MIXERS = [0x85ebca6b, 0xc2b2ae35];

/** Return a number below `count`: always the same one for a seed, and one that has nothing in common for its neighbours. */
export function drawNumber(seed, count) {
  let mixed = seed;
  for (const factor of MIXERS) mixed = Math.imul(mixed ^ (mixed >>> 16), factor);
  return ((mixed ^ (mixed >>> 16)) >>> 0) % count;
}

/** Return the visitor's day: its name, such as 2026-11-25, and its number since 1970. */
export function findDay(now = new Date()) {
  const midnight = new Date(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()));
  return { name: midnight.toISOString().slice(0, 10), number: midnight / DAY_MS };
}

/** Return what is kept of today's game. */
function readRecord(title) {
  const { name: day } = findDay();
  const kept = loadValue(`today ${title}`, {});
  return kept.day === day ? kept : { day, hints: 0 };
}

/** Keep the hints of today's game so far, and its result if it has a `score`, such as `24/24`. */
export function noteToday(title, { hints, score }) {
  const kept = readRecord(title);
  kept.hints = Math.max(hints, Number(kept.hints) || 0);
  if (score)
    kept.result ??= `${score}, ${kept.hints ? formatCount(kept.hints, "hint") : "no hint"}`;
  saveValue(`today ${title}`, kept);
}

/** Show the button that leads to today's puzzle, at an `address`, or its day if it is on view, with its result. */
export function showToday(view, title, { address, isToday }) {
  const { day, result } = readRecord(title);
  const text = `${title} ${day}: ${result}`;
  const copy = async () =>
    announce((await copyText(text)) ? "Copied." : "Select the line to copy it.");
  return html`<div class="today">
    <button
      type="button"
      id="${view}-today"
      class="quiet"
      onclick=${() => (location.hash = address)}
    >
      Today’s puzzle${isToday && `, ${day}`}
    </button>
    <p id="${view}-result" class="result" hidden=${!isToday || !result}>
      <span>${text}</span> <button type="button" class="quiet" onclick=${copy}>Copy result</button>
    </p>
  </div>`;
}
