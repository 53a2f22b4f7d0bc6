// The switch of a view between playing and studying.

export const MODES = ["play", "study"];

/** Make the switch in a view's section; `chosen(mode)` is called when the user presses one of its buttons. */
export function makeModes(section, chosen) {
  const buttons = [...section.querySelectorAll(".modes button")];
  const described = section.querySelector("[data-study]");
  for (const button of buttons) {
    button.addEventListener("click", () => { if (button.dataset.mode !== section.dataset.mode) chosen(button.dataset.mode); });
  }
  return {
    get shown() { return section.dataset.mode; },
    show(mode) {
      section.dataset.mode = mode;
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
      // what screen readers say of the board is what is on view
      described?.setAttribute("aria-describedby", described.dataset[mode] ?? "");
    },
  };
}

/** Return the first parts of an address in a mode. */
export function joinMode(mode, parts) {
  return mode === "study" ? parts : [mode, ...parts];
}

/** Return the mode that the parts of an address name, and the other parts; without any part it is play. */
export function splitMode(parts, modes = MODES) {
  if (modes.includes(parts[0])) return [parts[0], parts.slice(1)];
  return [parts.length ? "study" : "play", parts];
}

/**
 * Make what every view with two modes does by the one that is shown, which is `now()`: its title, leaving it, and showing
 * an address. `makeModesOf(changed)` makes the modes; `entered(mode, place, modesOf)` shows
 * the place that the other mode showed.
 */
export function makeModeView(section, went, makeModesOf, entered) {
  const now = () => modesOf[modes.shown];
  const modesOf = makeModesOf((parts, how) => went(joinMode(modes.shown, parts), how));
  const modes = makeModes(section, (mode) => {
    const { place } = now();
    now().leave?.();
    modes.show(mode);
    entered(now(), place, modesOf);
  });
  return {
    now,
    title: () => now().title(),
    leave: () => now().leave?.(),
    /** Show the contents of an address; return its problem. */
    show(parts) {
      const [mode, rest] = splitMode(parts);
      modes.show(mode);
      return now().show(rest);
    },
  };
}
