// Senet in play: a position to reach, or a free game for two; throws, moves of both sides, hints, undo and the end.
import { writeAddress } from "#page/address.js";
import { findLevel, showGame } from "#page/controls.js";
import { showGrid, showPicture } from "#page/grid.js";
import { html } from "#page/html.js";
import { drawTarget, findMostPlies, senetFacts } from "#page/senet.js";
import { describeSquares, describeMove } from "#page/senet_board.js";
import { otherSide } from "#page/senet_rules.js";
import { listBestMoves, measureLine } from "#page/senet_search.js";
import { formatCount, pickOne, describeEnd } from "#page/text.js";
import { drawNumber, findDay, noteToday } from "#page/today.js";
import { applyMove, listMoves, OPENING, THROWS } from "#tables/senet.js";

const FREE = "free";
const FIRST_LEVEL = "3";
const TITLE = "Senet";
/** The plies of the day's positions. */
const TODAY_PLIES = [4, 5, 6, 7, 8];
const SEEDS = 2 ** 32;
export const countPlies = (plies) => formatCount(plies, "ply", "plies");

/** Return the state of a new game: to reach a position, or a free one, from a position with a side to move. */
export function beginGame({ target = null, start = OPENING, first = "A", moves = [], hints = 0 }) {
  return { target, start, first, moves, hints, thrown: null, isHinted: false };
}

function listLevels() {
  const plies = Array.from({ length: findMostPlies() }, (_, at) => at + 1);
  const levels = plies.map((ply) => ({
    name: String(ply),
    label: `a position in ${countPlies(ply)}`,
  }));
  return [...levels, { name: FREE, label: "a free game" }];
}

/** Return the state of a new game of the chosen level. */
export function deal(before = null) {
  const level = findLevel(TITLE, listLevels(), FIRST_LEVEL);
  if (level === FREE) return beginGame({});
  let target;
  do target = drawTarget(Number(level), Math.floor(Math.random() * SEEDS));
  while (target === before);
  return beginGame({ target });
}

/** Return the position of a game now, the side to move, whether the target is reached and the game is over. */
export function evaluateGame({ target, start, first, moves }) {
  const position = moves.length ? applyMove(moves.at(-1)) : start;
  const mover = moves.length % 2 ? otherSide(first) : first;
  const choices = Object.fromEntries(
    THROWS.map((value) => [value, listMoves(position, mover, value)]),
  );
  const isReached = position === target;
  const isOver = isReached || THROWS.every((value) => !choices[value].length);
  return { position, mover, choices, isReached, isOver };
}

/** Return a first move of a shortest line to the target, and its message, or how far to go back for one. */
function findHint({ target, start, first, moves }, { position, mover }) {
  const [move = null] = listBestMoves(target, position, mover);
  const plies = measureLine(target, start, first, moves);
  const last = plies.findLastIndex((one) => one !== null);
  return {
    move,
    text: move
      ? `Hint: throw ${move.throw}, ${describeMove(move)}. From here it takes ${countPlies(plies.at(-1))}.`
      : `The position cannot be reached from here any more: undo to ply ${last}.`,
  };
}

/** Return the message for a game. */
function describeGame(
  { target, moves, hints, thrown },
  { mover, choices, isReached, isOver },
  hint,
) {
  const last = moves.at(-1);
  const before = last ? `${last.mover} threw ${last.throw}: ${describeMove(last)}. ` : "";
  if (isReached)
    return describeEnd(
      `Reached in ${countPlies(moves.length)}`,
      moves.length,
      hints,
      senetFacts(target).plies,
    );
  if (hint) return hint.text;
  if (isOver)
    return `${before}${mover} cannot move with any throw: ${target ? "undo some plies" : `the game ends after ${countPlies(moves.length)}`}.`;
  if (!thrown) return `${before}${mover} ${target ? "is to move" : "throws"}.`;
  return choices[thrown].length
    ? `${mover} threw ${thrown}: tap a marked piece.`
    : `${mover} threw ${thrown}, and no piece can move ${thrown}: throw again.`;
}

const findToday = () => {
  const { number } = findDay();
  return drawTarget(TODAY_PLIES[drawNumber(number, TODAY_PLIES.length)], number);
};

/** Keep the hints and the result of today's game. */
export function notePlay(state) {
  if (state.target !== findToday()) return;
  const score = evaluateGame(state).isReached
    ? `${state.moves.length}/${senetFacts(state.target).plies}`
    : "";
  noteToday(TITLE, { hints: state.hints, score });
}

/** Show a game; `go(state, how)` is called with what follows. */
export function showPlay(state, go) {
  const { target, moves, hints, thrown, isHinted } = state;
  const known = evaluateGame(state);
  const { position, choices, isReached, isOver } = known;
  const hint = isHinted && target && !isOver ? findHint(state, known) : null;
  const open = hint?.move ? [hint.move] : thrown && !isOver ? choices[thrown] : [];
  const message = describeGame(state, known, hint);
  const step = (change, how) => {
    const next = { ...state, thrown: null, isHinted: false, ...change };
    const after = evaluateGame(next);
    go(next, {
      isReplaced: true,
      announcement: describeGame(next, after, next.isHinted ? findHint(next, after) : null),
      ...how,
    });
  };
  const cast = (value) => !isOver && choices[value].length && step({ thrown: value });
  const another = () => go(deal(target), { announcement: "Another game." });
  function pick(cell) {
    const made = open.find(({ start, goal }) => start === cell + 1 || goal === cell + 1);
    if (made) step({ moves: [...moves, made] });
  }
  const throwAny = () => step({ thrown: pickOne(THROWS) });
  const help = () => step({ hints: isHinted ? hints : hints + 1, isHinted: true });
  const undo = () => step({ moves: thrown ? moves : moves.slice(0, -1) });
  const again = () => step({ moves: [], hints: 0 });
  const look = () => go(reviewGame(state), { mode: "study" });
  const label = `The position to reach: ${[...(target ?? "")].join(" ").replaceAll(".", "empty")}`;
  return {
    task: target
      ? "Choose throws and move both sides until the board looks like the position to reach."
      : "Throw, then move one of your pieces forward that many squares.",
    above:
      target &&
      html`<figure class="aim">
        <figcaption>Reach</figcaption>
        ${showPicture({ ...describeSquares(target), id: "senet-aim", label })}
      </figure>`,
    table: showGrid({
      ...describeSquares(position, { last: moves.at(-1), choices: open }),
      id: "senet-board",
      label: "Senet board",
      picked: pick,
      typed: (key) => THROWS.includes(Number(key)) && (cast(Number(key)), true),
    }),
    side: [
      showGame("senet", {
        title: TITLE,
        count: moves.length,
        noun: moves.length === 1 ? "ply" : "plies",
        word: message,
        isSolved: isReached,
        tools: html`<div
          id="senet-dice"
          class="buttons small"
          role="group"
          aria-label="Choose a throw"
        >
          <span class="label" aria-hidden="true">Throw</span>
          ${THROWS.map(
            (value) =>
              html`<button
                type="button"
                aria-label="Choose ${value}"
                aria-disabled="${isOver || !choices[value].length}"
                aria-pressed="${value === (hint?.move?.throw ?? thrown)}"
                onclick=${() => cast(value)}
              >
                ${value}
              </button>`,
          )}
        </div>`,
        buttons: [
          [
            "next",
            "Next",
            another,
            { key: "n", classes: "main", isHidden: target ? !isReached : !isOver },
          ],
          [
            "throw",
            "Throw",
            throwAny,
            { key: "t", classes: "main", isHidden: target || isOver || open.length },
          ],
          ["help", "Hint", help, { key: "h", classes: "main", isHidden: !target || isOver }],
          ["undo", "Undo", undo, { key: "u", isHidden: !moves.length && !thrown }],
          ["again", "Again", again, { isHidden: !target || !moves.length }],
          ["back", "Look back", look, { key: "b", isHidden: !isReached || !moves.length }],
        ],
        levels: {
          levels: listLevels(),
          chosen: findLevel(TITLE, listLevels(), FIRST_LEVEL),
          deal: another,
          isUnfinished: moves.length && !isOver,
        },
        today: {
          isToday: target === findToday(),
          address: writeAddress("senet", "play", { to: findToday() }),
        },
      }),
      showLegend(),
    ],
  };
}

/** Return a game as it is studied. */
export function reviewGame(state) {
  const { target, moves, hints } = state;
  const { position, mover } = evaluateGame(state);
  return target
    ? { position: target, moves, hints, step: moves.length || undefined }
    : { position, side: mover, hints: 0 };
}

export function showLegend() {
  return html`<ul class="legend" aria-label="Legend">
    <li><span class="piece a" aria-hidden="true">A</span> moves first</li>
    <li><span class="piece b" aria-hidden="true">B</span> moves second</li>
    <li>
      <span class="piece a guarded" aria-hidden="true">A</span> guarded by a neighbour: cannot be
      swapped
    </li>
  </ul>`;
}
