// Senet in study: a position to set up, its plies, and the shortest line that leads to it.
import { isLoss, showChart } from "#page/chart.js";
import { showAnswer, showButton, showChoices } from "#page/controls.js";
import { showField } from "#page/field.js";
import { showGrid } from "#page/grid.js";
import { html } from "#page/html.js";
import { showPlayer } from "#page/player.js";
import { countLines, findMostPlies, listRanks, senetFacts, senetLine } from "#page/senet.js";
import { describeSquares, describeMove } from "#page/senet_board.js";
import { beginGame, countPlies, showLegend } from "#page/senet_play.js";
import { senetProblem } from "#page/senet_rules.js";
import { listBestMoves, measureLine } from "#page/senet_search.js";
import { pickOne, quote, refresh, formatNumber } from "#page/text.js";
import { applyMove, UNREACHABLE, OPENING, POSITIONS, unrankPosition } from "#tables/senet.js";
import { swapCells } from "#tables/sliding.js";

const SENET_MS = 1200;
let picked = null; // the first of two cells to swap
const counts = new Map(); // by position: the number of its shortest lines

/** Return the line of a state, of a game or the shortest to the side's move, its plies, and the position on view. */
export function findLine({ position, side, moves, step }) {
  const facts = senetFacts(position);
  const plies = { A: facts.plies_even, B: facts.plies_odd }[side] ?? facts.plies;
  const isGame = Boolean(moves?.length);
  const line = isGame ? moves : plies === null ? [] : senetLine(position, plies);
  const at = Math.min(step ?? line.length, line.length);
  const now = at < line.length ? line[at].before : line.length ? applyMove(line.at(-1)) : position;
  return { facts, line, at, now, isGame };
}

/** Return what is studied as a game: one that is looked at goes on, as after a hint; another position begins one. */
export function playOn(state) {
  const { line, at, now, isGame } = findLine(state);
  if (state.moves)
    return beginGame({
      target: state.position,
      moves: isGame ? line.slice(0, at) : [],
      hints: state.hints + 1,
    });
  return beginGame({ start: now, first: "AB"[at % 2] });
}

/** Return the number of shortest lines to a position, which is counted when it is first needed. */
function countShortest(position, plies) {
  if (counts.has(position)) return formatNumber(counts.get(position));
  setTimeout(() => {
    if (!counts.has(position)) counts.set(position, countLines(position, plies));
    refresh();
  });
  return "being counted…";
}

function listFacts({ position, plies, plies_even: even, plies_odd: odd, dice }) {
  if (plies === null) {
    const [unreachable, all] = [listRanks(UNREACHABLE).length, formatNumber(POSITIONS)];
    return [
      [
        "Why",
        `No line of play from the opening leads here. This is true of ${unreachable} of the ${all} positions.`,
      ],
    ];
  }
  const other = plies % 2 ? even : odd;
  const [first, second] = plies % 2 ? "BA" : "AB";
  return [
    [`${first} to move`, `after ${countPlies(plies)}`],
    [`${second} to move`, other === null ? "unreachable" : `after ${countPlies(other)}`],
    ["Shortest lines", countShortest(position, plies)],
    ...(dice ? [["Throws", [...dice].join(" ")]] : []),
  ];
}

export function checkPosition(text) {
  const bad = senetProblem(text);
  return bad && `${quote(text)} is not a position: ${bad}. Example: ${OPENING}`;
}

/** Show a position in study; `go(state, how)` is called with what follows. */
export function showStudy(state, go) {
  const { position } = state;
  const { facts, line, at, now, isGame } = findLine(state);
  const { plies } = facts;
  const isUnreachable = plies === null;
  const distances = isGame ? measureLine(position, OPENING, "A", line) : [];
  const made = line[at - 1] ?? null;
  const describePlies = (to) => {
    const { plies: found } = senetFacts(to);
    return found === null
      ? "Unreachable from the opening."
      : `${countPlies(found)} from the opening, ${"AB"[found % 2]} to move.`;
  };
  const begin = (to, how = {}) => {
    picked = null;
    go({ position: to, hints: 0 }, { announcement: describePlies(to), ...how });
  };
  const describeLoss = (step) => {
    const [before, after] = distances.slice(step - 1, step + 1);
    if (!step || !isLoss(before, after)) return "";
    return after === null
      ? "put the position out of reach"
      : `lost ${countPlies(after - before + 1)}`;
  };
  const loss = describeLoss(at);
  const [better] = loss ? listBestMoves(position, made.before, made.mover) : [];
  const show = (step, { isTransient = false }) => {
    const move = line[step - 1];
    const announcement =
      !isTransient && move ? `${move.mover} throws ${move.throw}: ${describeMove(move)}.` : "";
    go({ ...state, step }, { isReplaced: true, isTransient, announcement });
  };
  function pick(cell) {
    const first = picked;
    picked = first === null ? cell : null;
    if (first !== null && now[first] !== now[cell]) begin(swapCells(now, first, cell));
    else refresh();
  }
  const board = describeSquares(now, { last: made });
  board.cells.forEach((cell, one) => (cell.attributes["aria-pressed"] = String(one === picked)));
  const known = isUnreachable
    ? []
    : [facts.plies_even, facts.plies_odd].filter((one) => one !== null);
  const lastMove = made
    ? `${made.mover} threw ${made.throw}: ${describeMove(made)}. `
    : "The opening. ";
  const random = () => [Math.floor(Math.random() * POSITIONS)];
  const tool = (id, label, ranks) =>
    showButton(`senet-${id}`, label, () => begin(unrankPosition(pickOne(ranks()))));
  const reach = () => go(beginGame({ target: position, hints: 1 }), { mode: "play" });
  const unit = isUnreachable
    ? "from the opening"
    : plies === 0
      ? "plies: this is the opening"
      : `${plies === 1 ? "ply" : "plies"} from the opening`;
  const parities = (isGame || known.length > 1 ? known : []).map((one) => [
    `${"AB"[one % 2]} to move: ${countPlies(one)}`,
    !isGame && one === line.length,
    () => go({ position, side: "AB"[one % 2], hints: 0 }, { isReplaced: true }),
  ]);
  const showPly = (move, index) => {
    const lost = describeLoss(index + 1);
    return html`<li>
      <button
        type="button"
        aria-current=${index === at - 1 ? "step" : null}
        onclick=${() => show(index + 1, {})}
      >
        <span class="who ${move.mover.toLowerCase()}">${move.mover}</span> throws
        <b class="die">${move.throw}</b> ${describeMove(move)}<span class="change farther"
          >${lost && `, ${lost}`}</span
        >
      </button>
    </li>`;
  };
  return {
    task: "Study shows how soon any position can arise from the opening, and a shortest line that leads there.",
    table: html`<p class="now">
        ${isUnreachable ? "Unreachable, so neither side is to move." : html`${lastMove}<strong>${"AB"[at % 2]} to move.</strong>`}${" "}
        <span id="senet-change" class="change farther"
          >${loss && `This ${loss}. Better: throw ${better.throw}, ${describeMove(better)}.`}</span
        >${" "}
        <button
          type="button"
          id="senet-from"
          class="quiet"
          hidden=${!loss}
          onclick=${() => go(playOn({ ...state, step: at - 1 }), { mode: "play" })}
        >
          Play from before it
        </button>
      </p>
      ${showGrid({ ...board, id: "senet-board", label: "Senet board", picked: pick })}
      ${showChart("senet", distances, at)}
      ${showPlayer("senet", { noun: "ply", at, last: line.length, delay: SENET_MS, show })}
      ${showLegend()}`,
    side: html`${showAnswer(
        "senet",
        ["plies", isUnreachable ? "Unreachable" : plies, unit],
        listFacts(facts),
        [
          parities.length > 0 && showChoices("senet-parity", "Line to play", parities),
          html`<ol id="senet-line" class="plies" aria-label="The line of play">
            ${line.map(showPly)}
          </ol>`,
        ],
      )}
      <div class="buttons">
        ${showButton("senet-reach", "Play to reach it", reach, { isHidden: isUnreachable })}
        ${tool("farthest", "Farthest position", () => listRanks(findMostPlies()))}
        ${tool("random", "Random position", random)}
        ${tool("unreachable", "Unreachable", () => listRanks(UNREACHABLE))}
        ${showButton("senet-opening", "Opening", () => begin(OPENING))}
      </div>
      <fieldset class="setup">
        <legend>Set up</legend>
        <p class="hint">Click two squares of the board to swap them, or type all 15.</p>
        ${showField("senet", {
          part: "position",
          label: "Position",
          value: position,
          length: OPENING.length,
          read: (text) => text.trim().toUpperCase(),
          check: checkPosition,
          set: (text) => text !== position && begin(text),
        })}
      </fieldset>`,
  };
}
