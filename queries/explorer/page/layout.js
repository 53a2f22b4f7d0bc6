// What all views have: the title, the modes, the board with what stands beside it, sharing, sheets and rules.
import { html } from "#page/html.js";
import { showProblem } from "#page/field.js";
import { showSheetForm } from "#page/sheet.js";
import { copyText, announce } from "#page/text.js";

/** Whether the page's address means nothing on another computer. */
export const IS_ON_DISK = location.protocol === "file:";

/**
 * Show a puzzle in a mode. The mode's `show(state, go)` returns its `task`, what stands `above` the board, the board (`table`)
 * and what stands beside or below it (`side`); `go` is what acts of the user call.
 */
export function showView({ puzzle, mode, state }, go) {
  const { name } = puzzle;
  const { task, above, table, side } = puzzle[mode].show(state, go);
  const change = (to) => mode !== to && go(puzzle[to].from(state, mode), { mode: to });
  const tab = (to, label) =>
    html`<button
      type="button"
      data-mode="${to}"
      aria-pressed="${mode === to}"
      onclick=${() => change(to)}
    >
      ${label}
    </button>`;
  return html`<section
    id="view-${name}"
    class="view ${puzzle.classes}"
    data-mode="${mode}"
    aria-labelledby="${name}-title"
  >
    <div class="intro">
      <div class="heading">
        <h1 id="${name}-title">${puzzle.head(state)}</h1>
        <div class="modes" role="group" aria-label="Play or study">
          ${tab("play", "Play")}${tab("study", "Study")}
        </div>
      </div>
      <p id="${name}-task">${task}</p>
    </div>
    ${
      mode === "sheet"
        ? table
        : html`<div id="${name}-stage" class="stage">
              <div class="table">${above}${table}</div>
              <div class="side">${side}${showProblem(name)}</div>
            </div>
            <div id="${name}-more" class="more">
              <details id="${name}-sharing">
                <summary>Share</summary>
                <div class="buttons small">
                  <button
                    type="button"
                    onclick=${() => copy(IS_ON_DISK ? location.hash : location.href)}
                  >
                    Copy link
                  </button>
                  <button type="button" onclick=${() => copy(puzzle[mode].text(state))}>
                    Copy board
                  </button>
                </div>
                <p class="hint">
                  The link contains what you see. The board can be pasted into
                  <code>pipeline query</code>.
                </p>
              </details>
              ${showSheetForm(puzzle, state, go)}
              <details id="${name}-rules">
                <summary>Rules</summary>
                <p class="hint">${puzzle.rules}</p>
              </details>
            </div>`
    }
  </section>`;
}

async function copy(text) {
  announce((await copyText(text)) ? "Copied." : text);
}
