// The controls that play a line of steps: first, back, play, step, last, and a slider.
import { html } from "#page/html.js";

let timer = 0;
let current = null; // the line on view

/** Stop playing; the address is written then, as a line that plays would fill the history. */
export function stopPlaying() {
  if (timer) clearInterval(timer);
  timer = 0;
}

function startPlaying() {
  if (current.at === current.last) current.show(0, { isTransient: true });
  timer = setInterval(() => {
    if (current.at + 1 >= current.last) stopPlaying();
    current.show(Math.min(current.at + 1, current.last), { isTransient: timer > 0 });
  }, current.delay);
}

/**
 * Show the controls of a line with `last` steps, called by a `noun`, of which `at` is on view; `show(at, how)` shows
 * another one, and `isTransient` if the line plays.
 */
export function showPlayer(view, line) {
  const { noun, at, last } = (current = line);
  const leap = (to) => {
    stopPlaying();
    if (to !== at && to >= 0 && to <= last) line.show(to, {});
  };
  const toggle = () => {
    if (timer) leap(at);
    else startPlaying();
    line.show(current.at, { isTransient: timer > 0 });
  };
  const key = (icon, label, isDisabled, act) =>
    html`<button
      type="button"
      aria-label="${label}"
      title="${label}"
      aria-disabled="${isDisabled}"
      onclick=${act}
    >
      <svg class="icon" aria-hidden="true"><use href="#icon-${icon}" /></svg>
    </button>`;
  return html`<div id="${view}-player" class="player ${last ? "" : "empty"}">
    <input
      type="range"
      min="0"
      max="${last}"
      step="1"
      value="${at}"
      disabled=${!last}
      aria-label="Step of the line"
      aria-valuetext="${noun} ${at} of ${last}"
      oninput=${({ target }) => leap(Number(target.value))}
    />
    <div class="keys">
      ${key("first", "To the beginning", !at, () => leap(0))}
      ${key("back", `One ${noun} back`, !at, () => leap(at - 1))}
      ${key(timer ? "pause" : "play", timer ? "Pause" : "Play", !last, toggle)}
      ${key("step", `One ${noun} on`, at === last, () => leap(at + 1))}
      ${key("last", "To the end", at === last, () => leap(last))}
    </div>
    <p class="count">${noun} ${at} of ${last}</p>
  </div>`;
}
