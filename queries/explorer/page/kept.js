// What the page keeps in the browser: results of the day, levels, the choice of keys. It is sent nowhere. Where a
// browser keeps nothing, it lasts as long as the page is open.

const NAME = "puzzle-explorer";
let values = {};

/** Read what is kept, which another window may have changed; whatever else has the name is ignored. */
function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(NAME) ?? "{}");
    if (kept && typeof kept === "object") values = kept;
  } catch {
    // what this page has kept itself
  }
  return values;
}

/** Return what is kept by a name, if it is of the same type as what is usual; otherwise that. */
export function getKept(name, usual) {
  const value = Object.hasOwn(read(), name) ? values[name] : usual;
  return value !== null && typeof value === typeof usual ? value : usual;
}

/** Keep a value by a name. */
export function keep(name, value) {
  values = { ...read(), [name]: value };
  try {
    localStorage.setItem(NAME, JSON.stringify(values));
  } catch {
    // it lasts until the page is closed
  }
}
