// Senet in play: a position to reach, or a free game; throws, moves of either side, hints, undo and the end.
import { calm, counted, makeButton, pickOne, quoted, say, wordEnd } from "#page/dom.js";
import { drawTarget, findMostPlies, senetFacts } from "#page/senet.js";
import { paintPosition, wordMove } from "#page/senet_board.js";
import { MOVES, otherSide, readMoves, senetProblem } from "#page/senet_rules.js";
import { makeLevels, OWN } from "#page/own_level.js";
import { makeRound } from "#page/round.js";
import { listBest, measureLine } from "#page/senet_search.js";
import { drawNumber } from "#page/today.js";
import { readParts } from "#page/view.js";
import { afterMove, listMoves, OPENING, THROWS, writeMove } from "#tables/senet.js";

const WAIT_MS = 700;
const FIRST_LEVEL = "3";
/** The levels of the user's own, in plies. */
const OWN_LEVELS = { first: 3, least: 1, step: 1 };
const FREE = "free";
/** The plies of the day's positions. */
const TODAY_PLIES = [4, 5, 6, 7, 8];
/** What an address of a game can have. */
const PARTS = {
  aim: /^to=(.*)$/,
  text: /^[AB.]{2,}$/,
  side: /^[AB]$/,
  line: MOVES,
  value: /^[1-5]$/,
  hinted: /^hints=(\d{1,4})$/,
  page: /^page$/,
  free: /^free$/,
};
const SEEDS = 2 ** 32;
/** What results call the puzzle, and what is kept of it. */
const PUZZLE = "Senet";
const count = (plies) => counted(plies, "ply", "plies");

/** Make the part of the view that plays; `change(mode)` changes to another one, `changed(parts, how)` the address. */
export function makeSenetPlay({ board, mine, name, change, changed }) {
  let target = null; // the position to reach, if the game is not a free one
  let best = null; // the fewest plies to it
  let start = OPENING;
  let first = "A";
  let moves = [];
  let thrown = null;
  let hint = null;
  let hints = 0;
  let told = ""; // the answer to the last question
  let timer = 0;
  const round = makeRound(
    { name, mine },
    () => PUZZLE,
    (number) => [`to=${drawTarget(TODAY_PLIES[drawNumber(number, TODAY_PLIES.length)], number)}`],
  );
  const other = mine("other");
  const levels = makeLevels(mine, OWN_LEVELS, {
    title: () => PUZZLE,
    deal,
    most: findMostPlies,
    write: count,
    levels: () => [
      ...Array.from({ length: findMostPlies() }, (_, at) => ({
        name: String(at + 1),
        label: `a position in ${count(at + 1)}`,
      })),
      { name: FREE, label: "none: a free game" },
    ],
  });
  const dice = THROWS.map((value) =>
    makeButton(String(value), () => cast(value), { "aria-label": `Choose ${value}` }),
  );
  mine("dice").append(...dice);

  const position = () => (moves.length ? afterMove(moves.at(-1)) : start);
  const mover = () => (moves.length % 2 ? otherSide(first) : first);
  const choices = (value) => listMoves(position(), mover(), value);
  const isReached = () => position() === target;
  const isOver = () => isReached() || THROWS.every((value) => !choices(value).length);
  const isPageToMove = () => !target && other.value === "page" && mover() !== first && !isOver();
  const listOpen = () => (hint ? [hint] : thrown && !isPageToMove() ? choices(thrown) : []);

  /** Return the game as parts of its address. */
  function parts() {
    const isUsual = start === OPENING && first === "A";
    const said = [
      ...(target ? [`to=${target}`] : []),
      ...(isUsual ? [] : [start, first]),
      ...(moves.length ? [moves.map(writeMove).join(",")] : []),
      ...(thrown ? [thrown] : []),
      ...(hints ? [`hints=${hints}`] : []),
      ...(!target && other.value === "page" ? ["page"] : []),
    ];
    return said.length ? said : [FREE];
  }

  function paint() {
    if (isReached()) levels.count({ best, moves: moves.length, hints });
    const open = listOpen();
    const waits = isPageToMove();
    board.paint(position(), moves.at(-1) ?? null, open);
    dice.forEach((button, at) => {
      const dead = waits || isOver() || !choices(THROWS[at]).length;
      button.setAttribute("aria-disabled", String(dead));
      button.setAttribute("aria-pressed", String(THROWS[at] === thrown));
    });
    round.show({
      count: moves.length,
      noun: moves.length === 1 ? "ply" : "plies",
      word: word(open),
      isSolved: isReached(),
      hidden: {
        throw: target || isOver() || waits || open.length,
        help: !target || isOver(),
        next: target ? !isReached() : !isOver(),
        undo: !moves.length && !thrown,
        again: !target || !moves.length,
        back: !isReached() || !moves.length,
        aim: !target,
        opponent: target,
        other: target,
      },
      hints,
      score: isReached()
        ? `${moves.length}/${best}`
        : !target && isOver()
          ? String(moves.length)
          : "",
    });
  }

  /** Show what does not change during a game. */
  function paintGame() {
    mine("task").textContent = target
      ? "Choose throws and move both sides until the board looks like the small one."
      : "Throw, then move one of your pieces forward that many squares.";
    mine("next").textContent = mine("another").textContent = target
      ? "Another position"
      : "New game";
    if (target) paintPosition(mine("aim-board"), target);
  }

  /** Return what is said of the game now. */
  function word(open) {
    const side = mover();
    const last = moves.at(-1);
    const before = last ? `${last.mover} threw ${last.throw}: ${wordMove(last)}. ` : "";
    if (isReached())
      return (
        wordEnd(`Reached in ${count(moves.length)}`, moves.length, hints, best) +
        levels.wordNext("position")
      );
    if (told) return told;
    if (isOver())
      return `${before}${side} cannot move with any throw: ${target ? "undo some plies" : `the game ends after ${count(moves.length)}`}.`;
    if (isPageToMove()) return `${before}${side} is about to throw.`;
    if (!thrown) return `${before}${side} ${target ? "is to move" : "throws"}.`;
    return open.length
      ? `${side} threw ${thrown}: tap a marked piece.`
      : `${side} threw ${thrown}, and no piece can move ${thrown}: throw again.`;
  }

  /** Show a first move of a shortest line to the target, or say how far to go back for one. */
  function help() {
    [hint = null] = listBest(target, position(), mover());
    const plies = measureLine(target, start, first, moves);
    if (!hint) {
      const last = plies.findLastIndex((one) => one !== null);
      told = `The position cannot be reached from here any more: undo to ply ${last}.`;
      return;
    }
    thrown = hint.throw;
    told = `Hint: throw ${thrown}, ${wordMove(hint)}. From here it takes ${count(plies.at(-1))}.`;
  }

  function forget() {
    [thrown, hint, told] = [null, null, ""];
  }

  function cast(value) {
    if (isPageToMove() || isOver() || !choices(value).length) return;
    forget();
    thrown = value;
    refresh();
  }

  /** Show the game after a change of it, and let the page move if it is its turn. */
  function refresh({ replace = true } = {}) {
    clearTimeout(timer);
    paint();
    say(mine("word").textContent);
    changed(parts(), { replace });
    if (isPageToMove()) timer = setTimeout(movePage, calm() ? 0 : WAIT_MS);
  }

  function move(made) {
    moves.push(made);
    mine("rules").open = false;
    forget();
    paint();
    board.travel(made);
    refresh();
  }

  /** Throw and move for the other side, at random. */
  function movePage() {
    const open = THROWS.filter((value) => choices(value).length);
    move(pickOne(choices(pickOne(open))));
  }

  function pick(square) {
    const made = listOpen().find(({ start: from, goal }) => from === square || goal === square);
    if (made) move(made);
  }

  /** Show a game: the position to reach or null, where it starts, its moves so far, and a throw. */
  function begin(game, how = {}) {
    forget();
    const isSame = mine("level").length && (game.target ?? null) === target;
    ({
      target = null,
      position: start = OPENING,
      mover: first = "A",
      moves = [],
      hints = 0,
      thrown = null,
    } = game);
    best = target && senetFacts(target).plies;
    round.begin(target ? [`to=${target}`] : [FREE], moves.length || hints);
    paintGame();
    levels.begin(isReached());
    if (!isSame) levels.follow(best, best ?? FREE);
    mine("rules").open = !moves.length;
    refresh({ replace: false, ...how });
  }

  /** Begin a game of the chosen level. */
  function deal(how) {
    const chosen = levels.choose() || FIRST_LEVEL;
    const plies = chosen === OWN ? levels.find() : Number(chosen);
    let to = null;
    if (chosen !== FREE) {
      do to = drawTarget(plies, Math.floor(Math.random() * SEEDS));
      while (to === target);
    }
    begin({ target: to }, how);
  }

  mine("throw").addEventListener("click", () => {
    thrown = pickOne(THROWS);
    refresh();
    if (choices(thrown).length) mine("board").querySelector(".open").focus({ preventScroll: true });
  });
  mine("help").addEventListener("click", () => {
    if (!told) hints++;
    help();
    refresh();
  });
  mine("undo").addEventListener("click", () => {
    if (!thrown) moves.pop();
    forget();
    // the page's own move is undone with the one before it
    if (isPageToMove()) moves.pop();
    refresh();
  });
  mine("again").addEventListener("click", () => begin({ target }));
  mine("back").addEventListener("click", () => change("study"));
  other.addEventListener("change", () => refresh());

  return {
    begin,
    pick,
    /** Show the game as it was left. */
    resume: () => refresh({ replace: false }),
    typed(_, key) {
      if (!THROWS.includes(Number(key))) return false;
      cast(Number(key));
      return true;
    },
    get place() {
      return target ? { target, moves, hints } : { position: position(), mover: mover() };
    },
    get taken() {
      return {
        position: position(),
        facts: [
          ...(target ? [["target", target]] : []),
          ["to move", `${mover()}, after ${count(moves.length)}`],
          ...(start === OPENING ? [] : [["start", `${start}, ${first} to move`]]),
          ["dice", moves.map((one) => one.throw).join(" ")],
          ["moves", moves.map(writeMove).join(" ")],
        ],
      };
    },
    title: () => (isReached() ? "reached" : count(moves.length)),
    leave: () => clearTimeout(timer),
    /** Show the contents of an address; return its problem. */
    show(given) {
      const { text, side = "A", line, value, aim, hinted, page, strange } = readParts(given, PARTS);
      const [to, from = OPENING] = [aim, text].map((part) => part?.padEnd(OPENING.length, "."));
      const wrong = [to ?? OPENING, from].find(senetProblem);
      const bad = wrong
        ? `${quoted(wrong)} is not a position: ${senetProblem(wrong)}.`
        : to && senetFacts(to).plies === null
          ? `${to} is never reached from the opening.`
          : "";
      other.value = page ? "page" : "friend";
      if (!given.length || (bad && to)) {
        deal({ replace: true });
        return bad;
      }
      const read =
        line && !bad ? readMoves(to ? OPENING : from, side, line) : { moves: [], problem: "" };
      begin(
        {
          ...(bad ? {} : to ? { target: to } : { position: from, mover: side }),
          moves: read.moves,
          hints: Number(hinted ?? 0),
          thrown: value && !read.problem ? Number(value) : null,
        },
        { replace: true },
      );
      return (
        bad ||
        read.problem ||
        (strange === undefined
          ? ""
          : `${quoted(strange)} is neither a position, moves nor a throw.`)
      );
    },
  };
}
