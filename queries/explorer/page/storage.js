// What the page stores in the browser: results of the day, levels, the choice of keys. It is sent nowhere. If the
// browser stores nothing, it lasts as long as the page is open.

const NAME = "puzzle-explorer";
let values = {};

/** Read the stored values, which another window may have changed; invalid data is ignored. */
function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(NAME) ?? "{}");
    if (kept && typeof kept === "object") values = kept;
  } catch {
    // what this page has kept itself
  }
  return values;
}

/** Return the stored value of a name; the default if there is none, or one of another type. */
export function loadValue(name, fallback) {
  const value = Object.hasOwn(read(), name) ? values[name] : fallback;
  return value !== null && typeof value === typeof fallback ? value : fallback;
}

/** Store a value by a name. */
export function saveValue(name, value) {
  values = { ...read(), [name]: value };
  try {
    localStorage.setItem(NAME, JSON.stringify(values));
  } catch {
    // it lasts until the page is closed
  }
}
