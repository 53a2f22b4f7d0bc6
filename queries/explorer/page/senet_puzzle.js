// Senet: games, study, and sheets of positions to reach from the opening.
import { makeSheetMode } from "#page/sheet.js";
import { listRanks, openSenet, senetFacts } from "#page/senet.js";
import { animateMove, describeSquares } from "#page/senet_board.js";
import {
  beginGame,
  countPlies,
  deal,
  evaluateGame,
  notePlay,
  reviewGame,
  showPlay,
} from "#page/senet_play.js";
import { readMoves, senetProblem } from "#page/senet_rules.js";
import { checkPosition, findLine, playOn, showStudy } from "#page/senet_study.js";
import { pickOne, quote } from "#page/text.js";
import { OPENING, THROWS, unrankPosition, formatMove } from "#tables/senet.js";

const FIRST = "ABAAABBB.B...A.";
/** Plies that leave a sheet room for its boards. */
const LEVELS = [2, 3, 4, 5, 6, 8, 10];
const ROW = 5; // squares of a row on paper
const ON_PAPER = { classes: "squares rows", columns: ROW };

/** Return a position of an address: programs omit the full stops at the end of a link. */
const readPosition = (text) => text?.padEnd(OPENING.length, ".");
const writeMoves = (moves) => (moves ?? []).map(formatMove).join(" ");

const play = {
  read(params) {
    const { to, start = OPENING } = {
      to: readPosition(params.to),
      start: readPosition(params.start),
    };
    const wrong = [to ?? OPENING, start].find(senetProblem);
    const bad = wrong
      ? `${quote(wrong)} is not a position: ${senetProblem(wrong)}.`
      : to && senetFacts(to).plies === null
        ? `${to} is unreachable from the opening.`
        : "";
    if (bad || !(to || params.start || params.moves || params.throw || params.free))
      return { ...deal(), problem: bad };
    const first = params.first === "B" && !to ? "B" : "A";
    const { moves, problem } = readMoves(to ? OPENING : start, first, params.moves ?? "");
    const game = beginGame({
      target: to ?? null,
      start: to ? OPENING : start,
      first,
      moves,
      hints: Number(params.hints) || 0,
    });
    const thrown = THROWS.includes(Number(params.throw)) && !problem ? Number(params.throw) : null;
    return { ...game, thrown, isHinted: params.hinted === "1", problem };
  },
  write: ({ target, start, first, moves, thrown, hints, isHinted }) => ({
    to: target,
    start: target || (start === OPENING && first === "A") ? "" : start,
    first: first === "A" ? "" : first,
    moves: writeMoves(moves),
    throw: thrown,
    hints,
    hinted: Number(isHinted),
    free: Number(!target && start === OPENING && !moves.length),
  }),
  show: showPlay,
  from: (state, mode) => (mode === "study" ? playOn(state) : deal()),
  note: notePlay,
  text: (state) => evaluateGame(state).position,
  title: (state) => (evaluateGame(state).isReached ? "reached" : countPlies(state.moves.length)),
};

const study = {
  read(params) {
    const given = readPosition(params.position);
    const bad = given === undefined ? "" : checkPosition(given);
    const position = given === undefined || bad ? FIRST : given;
    const { moves, problem } = readMoves(OPENING, "A", params.moves ?? "");
    const step = /^\d{1,3}$/.test(params.step ?? "") ? Number(params.step) : undefined;
    return {
      position,
      side: params.side,
      moves: params.moves ? moves : null,
      step,
      hints: 0,
      problem: bad || problem,
    };
  },
  write({ position, side, moves, step }) {
    return {
      position,
      moves: writeMoves(moves),
      step: step === findLine({ position, side, moves }).line.length ? "" : `${step ?? ""}`,
      side,
    };
  },
  show: showStudy,
  from: (state, mode) =>
    mode === "play" ? reviewGame(state) : { position: state.items[0], hints: 0 },
  text: (state) => findLine(state).now,
  title({ position }) {
    const { plies } = senetFacts(position);
    return plies === null ? "unreachable" : countPlies(plies);
  },
};

const sheets = {
  title: () => "Senet",
  task:
    "Reach each position from the opening, which is on the right: choose the throws, 1 to 5, and the moves of both " +
    "sides, A first. A piece goes forward to an empty square, or swaps squares with an opponent’s piece that has none " +
    "of its own beside it. Nobody wins: the sides work together.",
  key: "A shortest line to each: the throw, and the piece’s way; x is a swap.",
  usual: 6,
  most: 6,
  ratio: () => 5 / 3,
  about: () => ({}),
  read: () => ({}),
  levels: () => LEVELS.map((number) => ({ name: String(number), label: countPlies(number) })),
  range: () => [LEVELS[0], LEVELS.at(-1)],
  draw: (_, level) => unrankPosition(pickOne(listRanks(Number(level)))),
  problem(_, position) {
    const bad = senetProblem(position) || (senetFacts(position).plies ? "" : "no moves lead there");
    return bad && `${quote(position)} is not a position to reach: ${bad}.`;
  },
  name: (_, position) => position,
  aim: () => ({ ...describeSquares(OPENING), ...ON_PAPER }),
  board: (_, position) => ({ ...describeSquares(position), ...ON_PAPER }),
  blanks: (_, position) =>
    Array.from({ length: senetFacts(position).plies }, (__, ply) => `${ply + 1} ${"AB"[ply % 2]}`),
  answer(_, position) {
    const { dice, moves } = senetFacts(position);
    // a throw and its move stay on one line
    const line = moves
      .split(" ")
      .map((move, ply) => `${dice[ply]}:\u00a0${move.replace("-", "\u2011")}`)
      .join(", ");
    return `${countPlies(dice.length)}: ${line}`;
  },
};

export const SENET = {
  name: "senet",
  title: "Senet",
  classes: "wide",
  rules:
    "A moves first, then the sides take turns, and nobody may pass. A piece moves forward by a throw of 1–5 to an empty " +
    "square, or swaps squares with an opponent’s piece, unless one of its own colour stands beside it and guards it. Nobody wins: " +
    "the question is how soon a position can arise. Boards and pieces have come down to us from Egypt, but no rules: how it was played there is not known.",
  open: openSenet,
  head: () => "Senet",
  play,
  study,
  sheets,
  sheet: makeSheetMode(() => SENET),
  painted({ mode, state }) {
    if (mode === "sheet") return;
    const { line, at, now } =
      mode === "study"
        ? findLine(state)
        : { line: state.moves, at: state.moves.length, now: play.text(state) };
    animateMove(now, line[at - 1]);
  },
};
