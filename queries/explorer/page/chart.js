// The distances along a line of moves, as bars above the slider of a player.
import { html } from "#page/html.js";

const KNOB = 1.9; // half the slider's knob, in hundredths of its length

/** Return whether a move lost ground, by the distances before and after it: null is out of reach. */
export function isLoss(before, after) {
  return Number.isInteger(before) && (after === null || after >= before);
}

/** Show the distance at every step of a line; those before the one that is shown are dark. */
export function showChart(view, distances, shown) {
  const most = Math.max(...distances.map((distance) => distance ?? 0), 1);
  // each bar is above the slider's knob for the same step
  const step = (100 - 2 * KNOB) / Math.max(distances.length - 1, 1);
  const wide = Math.min(0.8 * step, 2 * KNOB);
  const labels = distances.map((distance) =>
    distance === null ? "out of reach" : (distance ?? "unknown"),
  );
  return html`<div id="${view}-chart" class="chart" hidden=${distances.length < 2}>
    <svg
      viewBox="0 0 100 30"
      preserveAspectRatio="none"
      role="img"
      aria-label="Distance after each move: ${labels.join(", ")}"
    >
      ${distances.map((distance, at) => {
        const height = 1 + (28 * (distance === null ? most : (distance ?? 0))) / most;
        const timing = at === shown ? "now" : at < shown ? "gone" : "ahead";
        const lost = isLoss(distances[at - 1], distance) ? " lost" : "";
        return html`<rect
          class="${timing}${lost}"
          x="${KNOB + at * step - wide / 2}"
          width="${wide}"
          y="${30 - height}"
          height="${height}"
        />`;
      })}
    </svg>
  </div>`;
}
