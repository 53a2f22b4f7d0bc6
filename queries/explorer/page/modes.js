// The modes of a view: play, study, and a sheet to print.

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
  const strange = parts.find((part) => !Object.values(patterns).some((pattern) => pattern.test(part)));
  return { ...Object.fromEntries(found), strange };
}

/**
 * Make what every view does by the mode that is shown, which is `now()`. `makeModesOf(tools)` makes the modes, with
 * the tools of each: `changed(parts, how)` changes the address, `change(mode)` shows another mode at the place where this one
 * was, and `enter(mode)` another mode alone. `entered(mode, place, modesOf)` shows the place that the other mode showed.
 */
export function makeModeView(section, went, makeModesOf, entered) {
  const buttons = [...section.querySelectorAll(".modes button")];
  const described = section.querySelector("[data-study]");
  const now = () => modesOf[section.dataset.mode];

  /** Show a mode, without any content yet. */
  function enter(mode) {
    if (section.dataset.mode !== mode) now().leave?.();
    section.dataset.mode = mode;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
    // what screen readers say of the board is what is on view
    described?.setAttribute("aria-describedby", described.dataset[mode] ?? "");
    return now();
  }

  function change(mode) {
    const { place } = now();
    entered(enter(mode), place, modesOf);
  }

  function changed(parts, how) {
    const { mode } = section.dataset;
    went(mode === "study" ? parts : [mode, ...parts], how);
  }

  for (const button of buttons) {
    button.addEventListener("click", () => { if (button.dataset.mode !== section.dataset.mode) change(button.dataset.mode); });
  }
  const modesOf = makeModesOf({ changed, change, enter });
  return {
    now, enter, changed, modesOf,
    get mode() { return section.dataset.mode; },
    title: () => now().title(),
    leave: () => now().leave?.(),
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
