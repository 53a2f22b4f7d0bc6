// The functions by which this page changes the document. Text is inserted as text, never as markup.

export function byId(id) {
  return document.getElementById(id);
}

/** Make an element with attributes (null omits one) and children; strings become text. */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function icon(name) {
  return drawn("svg", { class: "icon", "aria-hidden": "true" }, drawn("use", { href: `#icon-${name}` }));
}

/** Fill a description list with rows: a term and its descriptions. */
export function setFacts(list, rows) {
  list.replaceChildren(...rows.flatMap(([term, ...said]) => [
    make("dt", {}, term), make("dd", {}, ...said),
  ]));
}

/** Show a problem in its place, or hide it; `wrong` is the field that has it, of those described. */
export function setProblem(place, text, wrong = null) {
  place.hidden = !text;
  place.textContent = text;
  for (const field of document.querySelectorAll(`[aria-describedby=${place.id}]`)) {
    if (text && field === wrong) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
}

/** Call `done` when a field's text is entered: on leaving it, or on Enter, even if it is unchanged. */
export function onEntered(field, done) {
  field.addEventListener("change", done);
  field.addEventListener("keydown", (event) => { if (event.key === "Enter") done(event); });
}

/** Shorten a text of the user's for a message. */
export function quoted(text) {
  const letters = [...text];
  return letters.length > 60 ? `“${letters.slice(0, 60).join("")}…”` : `“${text}”`;
}

/** Write a whole number with commas; the browser's own way would load all its languages first. */
export function writeNumber(number) {
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

export function counted(count, noun, nouns = `${noun}s`) {
  return `${writeNumber(count)} ${count === 1 ? noun : nouns}`;
}

/** Return what is said at the end of a game: what is `done`, in how many moves, and the best; `unknown` if that is not known. */
export function wordEnd(done, made, hints, best, unknown) {
  const took = done + (hints ? ` with ${counted(hints, "hint")}` : "");
  if (best === undefined) return `${took}.${unknown}`;
  return `${took}; the best is ${best}.${made === best && !hints ? " Nobody can do better." : ""}`;
}

/** Announce a text to screen readers. */
export function say(text) {
  byId("say").textContent = text;
}

export function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

export function pickOne(list) {
  return list[Math.floor(Math.random() * list.length)];
}
