// The few ways in which this page touches the document. Text goes in as text, never as markup.

export function byId(id) {
  return document.getElementById(id);
}

/** An element with attributes (null leaves one out) and children, of which strings become text. */
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

/** Fill a list of terms: rows of a term and what is said of it. */
export function setFacts(list, rows) {
  list.replaceChildren(...rows.flatMap(([term, ...said]) => [
    make("dt", {}, term), make("dd", {}, ...said),
  ]));
}

/** Show a problem in its place, or none; of the fields that the place describes, one has it. */
export function setProblem(place, text, wrong = null) {
  place.hidden = !text;
  place.textContent = text;
  for (const field of document.querySelectorAll(`[aria-describedby=${place.id}]`)) {
    if (text && field === wrong) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
}

/** When a field's text is entered: by leaving it, or by Enter, also the same text once more. */
export function onEntered(field, done) {
  field.addEventListener("change", done);
  field.addEventListener("keydown", (event) => { if (event.key === "Enter") done(event); });
}

/** Foreign text made short enough to be shown. */
export function quoted(text) {
  const letters = [...text];
  return letters.length > 60 ? `“${letters.slice(0, 60).join("")}…”` : `“${text}”`;
}

export function counted(count, noun, nouns = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : nouns}`;
}

/** Tell those who listen. */
export function say(text) {
  byId("say").textContent = text;
}

export function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

export function pickOne(list) {
  return list[Math.floor(Math.random() * list.length)];
}
