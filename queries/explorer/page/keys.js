// The keys of the page: a button has its key as `data-key`, and is pressed by it when it is visible.
import { loadValue } from "#page/storage.js";

/** The name of the stored choice to use letters. */
export const LETTER_KEYS = "hasLetterKeys";

/** Handle keys; `findBoard()` returns the cell of the board that has the arrows and digits that nothing else takes. */
export function handleKeys(findBoard) {
  addEventListener("keydown", (event) => {
    const { target, ctrlKey, metaKey, altKey } = event;
    const isUndo = event.key === "z" && (ctrlKey || metaKey);
    const key = isUndo ? "u" : event.key;
    const isTyping = target.matches("input:not([type=range], [type=checkbox]), select, textarea");
    if (event.defaultPrevented || isTyping || ((ctrlKey || metaKey || altKey) && !isUndo)) return;
    const buttons = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)];
    const button =
      (isUndo || loadValue(LETTER_KEYS, true)) && buttons.find((one) => one.checkVisibility());
    if (button) {
      button.click();
      if (key === "?") button.focus(); // it may be out of view
    } else if (
      /^(Arrow.*|\d)$/.test(key) &&
      (target === document.body || target.matches(".side button, .modes button, [data-key]"))
    ) {
      const cell = findBoard();
      cell?.focus();
      cell?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    } else return;
    event.preventDefault();
  });
}
