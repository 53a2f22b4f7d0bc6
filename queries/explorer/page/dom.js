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

/** Make a button; `clicked` is called on clicks. */
export function makeButton(content, clicked, attributes = {}) {
  const button = make("button", { type: "button", ...attributes }, content);
  button.addEventListener("click", clicked);
  return button;
}

/** Fill a list with options, of which one is chosen, if it is there. */
export function setOptions(list, options, chosen = list.value) {
  list.replaceChildren(...options.map(({ name, label }) => make("option", { value: name }, label)));
  if (options.some(({ name }) => name === chosen)) list.value = chosen;
}

export function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function icon(name) {
  return drawn(
    "svg",
    { class: "icon", "aria-hidden": "true" },
    drawn("use", { href: `#icon-${name}` }),
  );
}

/** Fill a description list with rows: a term and its descriptions. */
export function setFacts(list, rows) {
  list.replaceChildren(
    ...rows.flatMap(([term, ...said]) => [make("dt", {}, term), make("dd", {}, ...said)]),
  );
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

/**
 * Handle what is typed into a field, as `read` returns it: `set(text)` takes it unless `check(text)` returns its problem, which
 * is shown. While the user types, an incomplete text is neither: one of less than `length()` letters. It is entered
 * on leaving the field, or on Enter, even if it is unchanged.
 */
export function onTyped(
  field,
  { read = (text) => text.trim().toLowerCase(), length = () => Infinity, check, set },
) {
  const handle = (isEntered) => {
    const text = read(field.value);
    const isEarly = !isEntered && text.length < length();
    const problem = isEarly ? "" : check(text);
    setProblem(byId(field.getAttribute("aria-describedby")), problem, field);
    if (!problem && !isEarly) set(text);
  };
  field.addEventListener("input", () => handle(false));
  field.addEventListener("change", () => handle(true));
  field.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") handle(true);
  });
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
