// A view: its modes, which are play, study, and a sheet to print, and its address.
import { byId } from "#page/dom.js";
import { makeSheet } from "#page/sheet.js";

const MODES = ["play", "study", "sheet"];

/** Return the mode that the parts of an address name, and the other parts; without any part it is play. */
export function splitMode(parts) {
  if (MODES.includes(parts[0])) return [parts[0], parts.slice(1)];
  return [parts.length ? "study" : "play", parts];
}

/** Return the first part of an address that each pattern is for, by name, and the first one that is `strange` to all. */
export function readParts(parts, patterns) {
  const found = Object.entries(patterns).map(([name, pattern]) => {
    const [all, inside = all] = parts.map((part) => pattern.exec(part)).find(Boolean) ?? [];
    return [name, inside];
  });
  const strange = parts.find(
    (part) => !Object.values(patterns).some((pattern) => pattern.test(part)),
  );
  return { ...Object.fromEntries(found), strange };
}

/**
 * Make the view of a name; it calls `went(parts, how)` to change the address. A `puzzle` has
 *
 * - `name()`, for the window, `open(parts)`, which makes it ready, and the first parts of its `address()`, if there are any;
 * - `makeModes(tools)`, which makes `play` and `study`: `now()` is the mode that is shown, `mine(part)` an element of the
 *   view, `changed(parts, how)` changes the address, `change(mode)` shows another mode at the place where this one was,
 *   and `enter(mode)` another mode alone;
 * - its `sheet`, and `entered(mode, place, modesOf)`, which shows in a mode the place that another one showed;
 * - what can be `taken(mode)` away: `rows` of text, `facts`, a `picture` and the `name` of its files.
 */
export function makeView(name, went, puzzle) {
  const mine = (part) => byId(`${name}-${part}`);
  const section = byId(`view-${name}`);
  const buttons = [...section.querySelectorAll(".modes button")];
  const described = section.querySelector("[data-study]");
  const now = () => modesOf[section.dataset.mode];

  /** Show a mode, without any content yet. */
  function enter(mode) {
    if (section.dataset.mode !== mode) now().leave?.();
    section.dataset.mode = mode;
    for (const button of buttons)
      button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
    // what screen readers say of the board is what is on view
    described?.setAttribute("aria-describedby", described.dataset[mode] ?? "");
    return now();
  }

  function change(mode) {
    const { place } = now();
    puzzle.entered(enter(mode), place, modesOf);
  }

  function changed(parts, how) {
    const { mode } = section.dataset;
    went([...(mode === "study" ? [] : [mode]), ...(puzzle.address?.() ?? []), ...parts], how);
  }

  for (const button of buttons) {
    button.addEventListener("click", () => {
      if (button.dataset.mode !== section.dataset.mode) change(button.dataset.mode);
    });
  }
  const tools = { name, mine, now, changed, change, enter };
  const modesOf = { ...puzzle.makeModes(tools), sheet: makeSheet(puzzle.sheet, tools) };
  return {
    ...tools,
    section,
    modesOf,
    name: puzzle.name,
    board: `${name}-board`,
    title: () => now().title(),
    open: puzzle.open,
    leave: () => now().leave?.(),
    taken() {
      if (now().whole) return now().whole;
      const { rows, facts, ...file } = puzzle.taken(now());
      return {
        ...file,
        text: [...rows, "", ...facts.map(([term, said]) => `${term.padEnd(12)}${said}`), ""].join(
          "\n",
        ),
      };
    },
    /** Show the contents of an address; return its problem. */
    show(parts) {
      const [mode, rest] = splitMode(parts);
      modesOf.sheet.lay();
      const problem = mode === "sheet" ? modesOf.sheet.problem(rest) : "";
      if (!problem) return enter(mode).show(mode === "sheet" ? modesOf.sheet.read(rest) : rest);
      enter("play").show([]);
      return problem;
    },
  };
}
