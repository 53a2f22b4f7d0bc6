// The controls that play a line of steps: first, back, play, step, last, and a slider.
import { icon, make, makeButton } from "#page/dom.js";

/**
 * Make controls in an element. `show(at, how)` is called whenever the place in the line changes;
 * `how` has whether one step was made (so that it can be animated) and whether the line is playing. `stopped()` is called
 * where it stays: a line being played would fill the browser's history.
 */
export function makePlayer(place, { name, step, delay, show, stopped }) {
  let last = 0;
  let at = 0;
  let timer = 0;
  const key = (symbol, label, clicked) =>
    makeButton(icon(symbol), clicked, { "aria-label": label, title: label });
  const leap = (symbol, label, to) =>
    key(symbol, label, () => {
      stop();
      go(to());
    });
  const first = leap("first", "To the beginning", () => 0);
  const back = leap("back", `One ${step} back`, () => at - 1);
  const play = key("play", "Play", () => (timer ? halt() : start()));
  const next = leap("step", `One ${step} on`, () => at + 1);
  const end = leap("last", "To the end", () => last);
  const slider = make("input", {
    type: "range",
    min: 0,
    max: 0,
    step: 1,
    value: 0,
    "aria-label": name,
  });
  const count = make("p", { class: "count" });
  place.append(make("div", { class: "keys" }, first, back, play, next, end), slider, count);

  function refresh() {
    const playing = timer > 0;
    const label = playing ? "Pause" : "Play";
    play.replaceChildren(icon(playing ? "pause" : "play"));
    play.setAttribute("aria-label", label);
    play.title = label;
    place.classList.toggle("empty", last === 0);
    // a disabled button loses the focus, so these stay enabled and do nothing at the ends
    for (const [button, dead] of [
      [first, at === 0],
      [back, at === 0],
      [next, at === last],
      [end, at === last],
    ]) {
      button.setAttribute("aria-disabled", String(dead));
    }
    play.setAttribute("aria-disabled", String(last === 0));
    slider.max = last;
    slider.value = at;
    slider.disabled = last === 0;
    slider.setAttribute("aria-valuetext", `${step} ${at} of ${last}`);
    count.textContent = `${step} ${at} of ${last}`;
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
  }

  function go(to) {
    const from = at;
    at = Math.max(0, Math.min(last, to));
    if (at === last) stop();
    refresh();
    if (at === from) return;
    show(at, { moved: Math.abs(at - from) === 1, playing: timer > 0, from });
    if (!timer) stopped();
  }

  function start() {
    if (last === 0) return;
    if (at === last) go(0);
    timer = setInterval(() => go(at + 1), delay);
    refresh();
  }

  function halt() {
    if (!timer) return;
    stop();
    refresh();
    show(at, { moved: false, playing: false, from: at });
    stopped();
  }

  slider.addEventListener("input", () => {
    stop();
    go(Number(slider.value));
  });
  refresh();

  return {
    /** Set the number of steps of a line and the one that is shown, for which `show` is not called. */
    set(steps, from) {
      stop();
      last = steps;
      at = from;
      refresh();
    },
    go,
    start,
    halt,
    get at() {
      return at;
    },
    get last() {
      return last;
    },
  };
}
