// Controls that views share: buttons, facts, and what stands beside the board of a game.
import { html } from "#page/html.js";
import { loadValue, saveValue } from "#page/storage.js";
import { showToday } from "#page/today.js";

/** Show a button; `key` is the key that presses it. */
export function showButton(
  id,
  label,
  act,
  { key = null, classes = "", isHidden, isDisabled } = {},
) {
  return html`<button
    type="button"
    id="${id}"
    class="${classes}"
    data-key=${key}
    hidden=${isHidden}
    disabled=${isDisabled}
    onclick=${act}
  >
    ${label}
  </button>`;
}

/** Show buttons of which one may be chosen, each as its text, whether it is (null: unknown) and what it does. */
export function showChoices(id, label, choices) {
  const buttons = choices.map(
    ([text, isChosen, act]) =>
      html`<button type="button" aria-pressed=${isChosen?.toString()} onclick=${act}>
        ${text}
      </button>`,
  );
  return html`<div id="${id}" class="buttons small" role="group" aria-label="${label}">
    ${buttons}
  </div>`;
}

/** Show rows of a term and its description. */
export function showFacts(id, rows) {
  const list = rows.map(
    ([term, text]) =>
      html`<dt>${term}</dt>
        <dd>${text}</dd>`,
  );
  return html`<dl id="${id}" class="facts">${list}</dl>`;
}

/** Show an answer: a large word, what follows it, facts, and `more`. */
export function showAnswer(view, [id, word, unit], facts, more) {
  return html`<div class="answer">
    <p class="big"><b id="${view}-${id}">${word}</b> <span id="${view}-unit">${unit}</span></p>
    ${showFacts(`${view}-facts`, facts)} ${more}
  </div>`;
}

/** Return which of the levels of a game is chosen for the next one: kept in the browser, at first the `usual` one. */
export function findLevel(title, levels, usual = levels[0].name) {
  const chosen = loadValue(`level of ${title}`, usual);
  return levels.some(({ name }) => name === chosen) ? chosen : usual;
}

function showLevels(view, title, { levels, chosen, deal, isUnfinished }) {
  return html`<div class="choice">
    <label for="${view}-level">Next game</label>
    <select
      id="${view}-level"
      onchange=${({ target }) => saveValue(`level of ${title}`, target.value)}
    >
      ${levels.map(({ name, label }) => html`<option value="${name}" selected=${name === chosen}>${label}</option>`)}
    </select>
    ${showButton(`${view}-another`, "Begin", deal, { classes: "quiet", key: isUnfinished ? null : "n" })}
  </div>`;
}

/**
 * Show what stands beside the board of a game: its count, its `aim`, its message (`word`), `tools`, `buttons`, each as its part,
 * its label, what it does and how it looks, the `levels` of the next game, if there are any, and the day's puzzle.
 */
export function showGame(
  view,
  { title, count, noun, word, isSolved, aim, tools, buttons, levels, today },
) {
  return html`<div class="status">
      <p class="big"><b id="${view}-count">${count}</b> <span>${noun}</span></p>
      ${aim}
      <p id="${view}-word" class="word ${isSolved ? "solved" : ""}">${word}</p>
    </div>
    <div class="play">
      ${tools}
      <div class="buttons">
        ${buttons.map(([part, label, act, how]) => showButton(`${view}-${part}`, label, act, how))}
      </div>
    </div>
    <div class="below">
      ${levels && showLevels(view, title, levels)} ${today && showToday(view, title, today)}
    </div>`;
}
