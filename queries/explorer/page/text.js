// Words and small choices that all views share.

/** Shorten a text of the user's for a message. */
export function quote(text) {
  const letters = [...text];
  return letters.length > 60 ? `“${letters.slice(0, 60).join("")}…”` : `“${text}”`;
}

/** Write a whole number with commas; the browser's own way would load all its languages first. */
export function formatNumber(number) {
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

export function formatCount(count, noun, nouns = `${noun}s`) {
  return `${formatNumber(count)} ${count === 1 ? noun : nouns}`;
}

/** Return the message at the end of a game: what is `done`, in how many moves, and the best; `unknown` if that is not known. */
export function describeEnd(done, made, hints, best, unknown) {
  const took = done + (hints ? ` with ${formatCount(hints, "hint")}` : "");
  if (best === undefined) return `${took}.${unknown}`;
  return `${took}; the best is ${best}.${made === best && !hints ? " Nobody can do better." : ""}`;
}

/** Announce a text to screen readers. */
export function announce(text) {
  document.getElementById("say").textContent = text;
}

/** Copy a text; return whether the browser did: it refuses pages that are not secure. */
export async function copyText(text) {
  const isDone = () => true;
  return navigator.clipboard?.writeText(text).then(isDone, () => false) ?? false;
}

export function prefersReducedMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

export function pickOne(list) {
  return list[Math.floor(Math.random() * list.length)];
}

/** Show what has been learned since the page was painted; `problem` tells what went wrong. */
export function refresh(problem) {
  dispatchEvent(new CustomEvent("refresh", { detail: problem }));
}
