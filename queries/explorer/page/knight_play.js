// The knight in play: a tour of one's own, square by square.
import { writeAddress } from "#page/address.js";
import { showGame } from "#page/controls.js";
import { showGrid } from "#page/grid.js";
import { cellToSquare, describeChess } from "#page/knight_board.js";
import { BOARDS, completeTour, explainNoStart } from "#page/knight_tours.js";
import { drawNumber, findDay, noteToday } from "#page/today.js";

const TITLE = "Knight’s tour";
const TODAY = BOARDS["6x6"]; // each of its squares begins tours

export const beginTour = (board, squares = [], hints = 0) => ({
  board,
  squares,
  hints,
  hint: null,
  message: "",
});

const isWhole = ({ board, squares }) => squares.length === board.count;

function listOpen({ board, squares }) {
  if (squares.length)
    return board.neighbours[squares.at(-1)].filter((square) => !squares.includes(square));
  return board.squares.filter((square) => !explainNoStart(board, square));
}

/** Return the message for a tour. */
function describeGame(state) {
  const { board, squares, message } = state;
  if (isWhole(state))
    return `You made a tour! It is ${board.jump(squares.at(-1), squares[0]) ? "closed" : "open"}.`;
  if (message) return message;
  return squares.length && !listOpen(state).length
    ? "The knight is stuck: undo some jumps, or start again."
    : "";
}

/** Return the hint for a tour: the next square of one that begins like this. */
function findHint(state) {
  const { board, squares } = state;
  const name = (square) => board.nameSquare(square);
  if (!squares.length)
    return { hint: listOpen(state)[0], message: `Hint: start at ${name(listOpen(state)[0])}.` };
  const { tour, isProven } = completeTour(board, squares);
  if (tour)
    return { hint: tour[squares.length], message: `Hint: jump to ${name(tour[squares.length])}.` };
  return {
    hint: null,
    message: isProven ? "No tour begins like this: undo some jumps." : "This page does not know.",
  };
}

function answerQuestion({ board, squares }) {
  const { tour, isProven } = completeTour(board, squares);
  if (tour) return "Yes, it can still be completed.";
  return isProven ? "No: no tour begins like this. Undo some jumps." : "This page does not know.";
}

const findToday = () => TODAY.squares[drawNumber(findDay().number, TODAY.count)];
const isToday = ({ board, squares }) => board === TODAY && squares[0] === findToday();

/** Keep the hints and the result of today's tour. */
export function notePlay(state) {
  const { board, hints } = state;
  if (isToday(state))
    noteToday(TITLE, {
      hints,
      score: isWhole(state) ? `${board.count}/${board.count}` : "",
    });
}

/** Show a tour in play; `go(state, how)` is called with what follows. */
export function showPlay(state, go) {
  const { board, squares, hints, hint, message } = state;
  const isBegun = squares.length > 0;
  const isOver = isWhole(state);
  const open = listOpen(state);
  const act = (change, how) => {
    const next = { ...state, ...change };
    const last = next.squares.length
      ? `${next.squares.length}: ${board.nameSquare(next.squares.at(-1))}. `
      : "";
    go(next, { isReplaced: true, announcement: last + describeGame(next), ...how });
  };
  const set = (to) =>
    act({ squares: to, hint: null, message: "", hints: to.length < 2 ? 0 : hints });
  function pick(cell) {
    const square = cellToSquare(board, cell);
    if (squares.at(-1) === square) return set(squares.slice(0, -1));
    if (open.includes(square)) return set([...squares, square]);
    const name = board.nameSquare(square);
    if (!isBegun) return act({ message: explainNoStart(board, square) });
    return act({
      message: squares.includes(square)
        ? `The knight has been on ${name}.`
        : `${name} is not a jump from ${board.nameSquare(squares.at(-1))}.`,
    });
  }
  const marks = (square) => [
    [
      open.includes(square),
      isBegun ? "reachable" : "",
      isBegun ? "can be reached" : "can be the start",
    ],
    [square === hint, "hinted", "the hint"],
    [square === squares[0], "start", ""],
    [!isBegun && !open.includes(square), "barred", "cannot start here"],
  ];
  const help = () => act({ ...findHint(state), hints: hint === null ? hints + 1 : hints });
  const undo = () => set(squares.slice(0, -1));
  const again = () => go(beginTour(board), { announcement: "Begun again." });
  const checkTour = () =>
    act({ message: answerQuestion(state), hints: message ? hints : hints + 1 });
  return {
    task: "Tap a square to put the knight there, then make it jump on every square once.",
    table: showGrid({
      ...describeChess(board, squares, { marks }),
      id: "knight-board",
      label: `Chess board of ${board.name}`,
      picked: pick,
    }),
    side: showGame("knight", {
      title: TITLE,
      count: squares.length,
      noun: `of ${board.count} squares`,
      word: describeGame(state),
      isSolved: isOver,
      buttons: [
        [
          "help",
          "Hint",
          help,
          { key: "h", classes: "main", isHidden: isOver || (isBegun && !open.length) },
        ],
        ["undo", "Undo", undo, { key: "u", isHidden: !isBegun }],
        [
          "again",
          "Again",
          again,
          { key: isOver ? "n" : null, classes: isOver ? "main" : "", isHidden: !isBegun },
        ],
        ["completable", "Can it still be completed?", checkTour, { isHidden: !isBegun || isOver }],
      ],
      today: {
        isToday: isToday(state),
        address: writeAddress("knight", "play", {
          board: TODAY.name,
          path: TODAY.nameSquare(findToday()),
        }),
      },
    }),
  };
}
