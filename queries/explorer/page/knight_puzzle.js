// The knight's tour: play, study, and sheets of boards to write the numbers of a tour in.
import { showChoices } from "#page/controls.js";
import { describeChess } from "#page/knight_board.js";
import { beginTour, notePlay, showPlay } from "#page/knight_play.js";
import { findLine, playOn, showStudy, studyTour } from "#page/knight_study.js";
import {
  BOARDS,
  boardProblem,
  completeTour,
  findTour,
  explainNoStart,
  explainNoTour,
  openKnight,
  readPath,
  writePath,
} from "#page/knight_tours.js";
import { makeSheetMode } from "#page/sheet.js";
import { pickOne, quote } from "#page/text.js";

const FIRST = { board: "8x8", start: "b1", end: "a3" };

/** Show a button for each board; `use(board)` shows the empty board. */
function showBoards(shown, use) {
  const boards = Object.values(BOARDS).map((board) => [
    board.name.replace("x", "×"),
    board === shown,
    () => use(board),
  ]);
  return showChoices("knight-boards", "Choose a board", boards);
}

const play = {
  read({ board = "5x5", path = "", hints }) {
    const bad = boardProblem(board);
    const used = BOARDS[bad ? "5x5" : board];
    const { squares, problem } = readPath(used, bad ? "" : path);
    return { ...beginTour(used, squares, Number(hints) || 0), problem: bad || problem };
  },
  write: ({ board, squares, hints }) => ({
    board: board.name,
    path: writePath(board, squares),
    hints,
  }),
  show: (state, go) => ({
    above: showBoards(state.board, (board) => go(beginTour(board))),
    ...showPlay(state, go),
  }),
  from: (state, mode) => (mode === "study" ? playOn(state) : beginTour(BOARDS[state.about.board])),
  note: notePlay,
  text: ({ board, squares }) => writePath(board, squares),
  title: ({ board, squares }) => `${squares.length} of ${board.count}`,
};

const study = {
  /** Read a start and an end, or the path of a whole tour. */
  read(params) {
    const { board, start, end, path, step } = Object.keys(params).length ? params : FIRST;
    const bad = boardProblem(board ?? "8x8");
    const used = BOARDS[bad ? "8x8" : (board ?? "8x8")];
    if (bad) return { ...studyTour(used), problem: bad };
    const { squares, problem } = readPath(used, path ?? `${start ?? ""}`);
    const from = squares[0] ?? null;
    const wrong =
      problem ||
      (end &&
        from !== null &&
        ((used.problem(end) && `${quote(end)} is not a square: ${used.problem(end)}.`) ||
          explainNoTour(used, from, used.parseSquare(end)))) ||
      "";
    const isWhole = squares.length === used.count;
    const tour = isWhole
      ? squares
      : end && from !== null && !wrong
        ? findTour(used, from, used.parseSquare(end))
        : null;
    const isStep = /^\d+$/.test(step ?? "") && Number(step) < used.count;
    return {
      ...studyTour(used, from, tour),
      step: isStep ? Number(step) : undefined,
      problem: wrong,
    };
  },
  write(state) {
    const { board, start, tour } = state;
    const { at, last } = findLine(state);
    const step = tour && at < last ? String(at) : "";
    if (!tour) return { board: board.name, start: start === null ? "" : board.nameSquare(start) };
    const isOwn = writePath(board, tour) !== writePath(board, findTour(board, start, tour.at(-1)));
    if (isOwn) return { board: board.name, path: writePath(board, tour), step };
    return {
      board: board.name,
      start: board.nameSquare(start),
      end: board.nameSquare(tour.at(-1)),
      step,
    };
  },
  show: (state, go) => ({
    above: showBoards(state.board, (board) => go(studyTour(board))),
    ...showStudy(state, go),
  }),
  from(state, mode) {
    if (mode === "sheet") return studyTour(BOARDS[state.about.board]);
    const { board, squares } = state;
    return studyTour(board, squares[0] ?? null, squares.length === board.count ? squares : null);
  },
  text: (state) => writePath(state.board, findLine(state).squares),
  title: ({ board, start, tour }) =>
    tour ? `${board.nameSquare(start)} to ${board.nameSquare(tour.at(-1))}` : "choose",
};

const withBoard =
  (use) =>
  ({ board }, ...words) =>
    use(BOARDS[board], ...words);
const sheets = {
  title: ({ board }) => `Knight’s tour on ${board.replace("x", "×")}`,
  task: "The knight stands on 1. Make it jump to every square once. Number the squares in the order in which you visit them.",
  key: "One of the tours from each start.",
  usual: 6,
  most: 8,
  ratio: () => 1,
  about: ({ board }) => ({ board: board.name }),
  read: ({ board = "" }) => ({ board }),
  levels: () => [],
  draw: withBoard((board) =>
    board.nameSquare(pickOne(board.squares.filter((square) => !explainNoStart(board, square)))),
  ),
  problem({ board: name }, start) {
    if (boardProblem(name)) return boardProblem(name);
    const board = BOARDS[name];
    const bad = board.problem(start);
    return bad
      ? `${quote(start)} is not a square: ${bad}.`
      : explainNoStart(board, board.parseSquare(start));
  },
  name: ({ board }, start) => `board of ${board}, the knight on ${start}`,
  board: withBoard((board, start) =>
    describeChess(board, [board.parseSquare(start)], { hasRider: false }),
  ),
  blanks: () => [],
  answer: withBoard((board, start) =>
    writePath(board, completeTour(board, [board.parseSquare(start)]).tour),
  ),
  drawAnswer: withBoard((board, start) =>
    describeChess(board, completeTour(board, [board.parseSquare(start)]).tour, { hasRider: false }),
  ),
};

export const KNIGHT = {
  name: "knight",
  title: "Knight’s tour",
  classes: "knight",
  rules:
    "A knight jumps two squares along a rank or a file and one across, over whatever stands there. A tour visits every " +
    "square once. It is closed if one more jump leads from its last square to its first.",
  open: openKnight,
  head: () => "Knight’s tour",
  play,
  study,
  sheets,
  sheet: makeSheetMode(() => KNIGHT),
};
