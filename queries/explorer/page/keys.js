// The keys of the page: a button has its key as `data-key`, and is pressed by it when it can be seen.

/** Handle keys; `board()` returns what of the view on show has the arrows and digits that nothing else takes. */
export function handleKeys(board) {
  addEventListener("keydown", (event) => {
    const { target, ctrlKey, metaKey, altKey } = event;
    const isUndo = event.key === "z" && (ctrlKey || metaKey);
    const key = isUndo ? "u" : event.key;
    const isTyping = target.matches("input:not([type=range]), select, textarea");
    if (event.defaultPrevented || isTyping || ((ctrlKey || metaKey || altKey) && !isUndo)) return;
    const button = [...document.querySelectorAll("[data-key]")].find(
      (one) => one.dataset.key === key && one.checkVisibility(),
    );
    if (button) {
      button.click();
      if (key === "?") button.focus(); // it may be out of view
    } else if (
      /^(Arrow.*|\d)$/.test(key) &&
      (target === document.body || target.matches("[data-key], .game button, .modes button"))
    ) {
      board().focus();
      board().dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    } else return;
    event.preventDefault();
  });
}
