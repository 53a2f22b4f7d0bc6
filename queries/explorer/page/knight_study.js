// The knight in study: two squares to choose, and a tour between them, step by step.
import { showAnswer, showButton } from "#page/controls.js";
import { showFieldError, showField } from "#page/field.js";
import { showGrid } from "#page/grid.js";
import { html } from "#page/html.js";
import { cellToSquare, describeChess } from "#page/knight_board.js";
import { beginTour } from "#page/knight_play.js";
import { findTour, explainNoStart, explainNoTour } from "#page/knight_tours.js";
import { showPlayer } from "#page/player.js";
import { pickOne, quote } from "#page/text.js";

const KNIGHT_MS = 130;

/** Return the state of a tour, or of a start alone, or of nothing chosen on a board. */
export const studyTour = (board, start = null, tour = null) => ({ board, start, tour });

/** Return the squares on view, the last step and the step that is shown. */
export function findLine({ board, start, tour, step }) {
  const last = tour ? board.count - 1 : 0;
  const at = Math.min(step ?? last, last);
  return { at, last, squares: tour ? tour.slice(0, at + 1) : start === null ? [] : [start] };
}

/** Return what is studied as a game, as after a hint. */
export const playOn = (state) =>
  beginTour(state.board, findLine(state).squares, state.start === null ? 0 : 1);

/** Return the text above the board, whether the tour is closed, and a line about it. */
function describeTour({ board, start, tour }, at) {
  if (start === null)
    return ["Choose the square where the tour starts.", "Start?", "choose a square"];
  const from = board.nameSquare(start);
  if (!tour) return [`From ${from}: now choose where it ends.`, "End?", "choose another square"];
  const to = board.nameSquare(tour.at(-1));
  const now = `${from} to ${to}: square ${at + 1} of ${board.count} is ${board.nameSquare(tour[at])}.`;
  return [now, board.jump(tour.at(-1), start) ? "Closed" : "Open", `tour from ${from} to ${to}`];
}

function listFacts({ board, tour }) {
  const isClosed = board.jump(tour.at(-1), tour[0]) > 0;
  const jumps = tour.slice(1).map((square, index) => board.jump(tour[index], square));
  return [
    ["Why", `its end is ${isClosed ? "" : "not "}one jump from its start`],
    ["Squares", tour.map((square) => board.nameSquare(square)).join(" ")],
    [
      "Jumps",
      html`<details id="knight-jumps">
        <summary>as numbers from 1 to 8</summary>
        ${jumps.join(" ")}
        <small>numbered clockwise from 1, two up and one left, to 8, one up and two left</small>
      </details>`,
    ],
  ];
}

/** Show a tour in study; `go(state, how)` is called with what follows. */
export function showStudy(state, go) {
  const { board, start, tour } = state;
  const end = tour?.at(-1) ?? null;
  const { at, last, squares } = findLine(state);
  const [now, closing, ends] = describeTour(state, at);
  const isChoosing = start !== null && !tour;
  const begin = (from, to = null) => {
    const next = studyTour(board, from, to === null ? null : findTour(board, from, to));
    go(next, {
      announcement: describeTour(next, board.count - 1)
        .slice(1)
        .join(" "),
    });
  };
  const show = (step, { isTransient = false }) =>
    go(
      { ...state, step },
      {
        isReplaced: true,
        isTransient,
        announcement: isTransient ? "" : `${step + 1}: ${board.nameSquare(tour[step])}.`,
      },
    );
  function pick(cell) {
    const square = cellToSquare(board, cell);
    const none =
      isChoosing && square !== start
        ? explainNoTour(board, start, square)
        : isChoosing
          ? ""
          : explainNoStart(board, square);
    if (none) showFieldError("", none);
    else if (square === start && isChoosing) begin(null);
    else if (isChoosing) begin(start, square);
    else begin(square);
  }
  const isBarred = (square) =>
    Boolean(
      isChoosing
        ? square !== start && explainNoTour(board, start, square)
        : start === null && explainNoStart(board, square),
    );
  const marks = (square) => [
    [square === start, "start", "start"],
    [square === end, "end", "end"],
    [isBarred(square), "barred", isChoosing ? "cannot end here" : "cannot start here"],
    [
      isChoosing && !isBarred(square) && board.jump(start, square) > 0,
      "closing",
      "ends a closed tour",
    ],
  ];
  const squareProblem = (text) =>
    board.problem(text) && `${quote(text)} is not a square: ${board.problem(text)}.`;
  const anyStart = () => pickOne(board.squares.filter((square) => !explainNoStart(board, square)));
  const pickEnd = (from, among) =>
    pickOne(among.filter((square) => square !== end && !explainNoTour(board, from, square)));
  function beginRandom() {
    const from = anyStart();
    begin(from, pickEnd(from, board.squares));
  }
  function beginClosed() {
    const from = start ?? anyStart();
    const to = pickEnd(from, board.neighbours[from]);
    if (to === undefined)
      showFieldError("", `No tour of ${board.name} from ${board.nameSquare(from)} is closed.`);
    else begin(from, to);
  }
  const legend =
    isChoosing &&
    html`<ul class="legend" aria-label="Legend">
      <li><span class="swatch closing" aria-hidden="true"></span> ends here: a closed tour</li>
      <li><span class="swatch barred" aria-hidden="true"></span> cannot end here</li>
    </ul>`;
  return {
    task: "Choose two squares: study shows a tour from the first to the second.",
    table: html`<p id="knight-now" class="now">${now}</p>
      ${showGrid({ ...describeChess(board, tour ? squares : [], { standing: squares.at(-1), marks }), id: "knight-board", label: `Chess board of ${board.name}`, picked: pick })}
      ${showPlayer("knight", { noun: "jump", at, last, delay: KNIGHT_MS, show })}`,
    side: html`${showAnswer("knight", ["closing", closing, ends], tour ? listFacts(state) : [], legend)}
      <div class="buttons">
        ${showButton("knight-random", "Random tour", beginRandom)}
        ${showButton("knight-closed", "Closed tour", beginClosed)}
        ${showButton("knight-turn", "Swap start and end", () => begin(end, start), { isDisabled: !tour })}
        ${showButton("knight-other", "Choose another end", () => begin(start), { isDisabled: !tour })}
      </div>
      <fieldset class="setup">
        <legend>Set up</legend>
        <p class="hint">Click two squares of the board, or type them: a1 is at the bottom left.</p>
        <div class="ends">
          <div>
            ${showField("knight", {
              part: "start",
              label: "Start",
              value: start === null ? "" : board.nameSquare(start),
              length: 2,
              check: (text) =>
                text && (squareProblem(text) || explainNoStart(board, board.parseSquare(text))),
              set(text) {
                const square = board.parseSquare(text);
                if (text && square !== start)
                  begin(square, tour && !explainNoTour(board, square, end) ? end : null);
              },
            })}
          </div>
          <div>
            ${showField("knight", {
              part: "end",
              label: "End",
              value: tour ? board.nameSquare(end) : "",
              length: 2,
              check: (text) =>
                text &&
                (start === null
                  ? "Choose the start first."
                  : squareProblem(text) || explainNoTour(board, start, board.parseSquare(text))),
              set: (text) =>
                text && board.parseSquare(text) !== end && begin(start, board.parseSquare(text)),
            })}
          </div>
        </div>
      </fieldset>`,
  };
}
