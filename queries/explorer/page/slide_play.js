// A sliding board in play: the moves so far, hints, and the end.
import { counted, make, say, wordEnd } from "#page/dom.js";
import { makeLevels, OWN } from "#page/own_level.js";
import { makeRound } from "#page/round.js";
import { TILE_WAY } from "#page/slide_board.js";
import { nameTile } from "#page/slide_rules.js";
import { makeGoal } from "#tables/sliding.js";

const TRIES = 20;
/** The levels of the user's own, in moves. */
const OWN_LEVELS = { first: 5, least: 2, step: 2 };

/**
 * Make the part of a sliding board's view that plays. `view` has the view's elements, its board, and
 * the functions that change the address and begin another board.
 */
export function makeSlidePlay({ name: view, mine, board, game, changed, begin, change }) {
  const at = { start: "", goal: "", moves: "", hints: 0 };
  let states = [""];
  let hint = "";
  let best;
  let asked = false; // whether a hint is being searched for
  let isLost = false; // whether a search has failed
  const title = () => game().title;
  const levels = makeLevels(mine, OWN_LEVELS, {
    title,
    deal,
    most: () => game().most(at.goal),
    levels: () => game().levels(at.goal),
    write: (level) => counted(level, "move"),
  });
  const round = makeRound({ name: view, mine }, title, (number) => game().findToday(number));

  /** Return the moves of this game as parts of its address. */
  function parts() {
    const isHinted = Boolean(hint || asked);
    return [
      at.start,
      at.goal,
      ...(at.moves ? [at.moves] : []),
      ...(at.hints === Number(isHinted) ? [] : [`hints=${at.hints}`]),
      ...(isHinted ? ["hint"] : []),
    ];
  }

  const isSolved = () => states.at(-1) === at.goal;
  const isPossible = () => game().joins(at.start, at.goal);

  /** Show a game: its start, its goal, the moves and the number of hints so far. */
  function show({ start, goal, moves = "", hints = 0, hinted = false, isRead = false }) {
    Object.assign(at, { start, goal, moves, hints });
    isLost = false;
    states = game().follow(start, moves);
    round.begin([...game().address, start, goal], Boolean(moves || hints));
    hint = "";
    best = game().facts(start, goal).distance;
    paintAim();
    levels.begin(isSolved());
    if (isRead) levels.follow(best, findLevel());
    asked = hinted && isPossible() && !isSolved() && !help();
    paint({ sliding: false });
  }

  function paint({ sliding = true } = {}) {
    const solved = isSolved();
    if (solved) levels.count({ best, moves: at.moves.length, hints: at.hints });
    board.show(states.at(-1), solved ? "" : hint, { sliding });
    round.show({
      count: at.moves.length,
      noun: at.moves.length === 1 ? "move" : "moves",
      word: word(),
      isSolved: solved,
      hidden: {
        help: solved || !isPossible(),
        next: !solved && isPossible(),
        undo: !at.moves,
        again: !at.moves,
        back: !solved || !at.moves,
      },
      hints: at.hints,
      score: solved && best !== undefined ? `${at.moves.length}/${best}` : "",
    });
  }

  /** Return what is said of the game now. */
  function word() {
    if (!isPossible())
      return "This board cannot reach the goal: two of its tiles would have to be swapped.";
    if (!isSolved()) return hint ? hinted() : asked ? "Searching for the best move…" : "";
    const done = `Solved! ${counted(at.moves.length, "move")}`;
    return (
      wordEnd(done, at.moves.length, at.hints, best, isLost ? "" : " The best is being searched…") +
      levels.wordNext("board")
    );
  }

  function hinted() {
    const move = game()
      .moves(states.at(-1))
      .find(({ letter }) => letter === hint);
    return `Hint: slide tile ${nameTile(move.tile)} ${TILE_WAY[move.letter]}.`;
  }

  /** Show one move of a shortest solution. */
  function help() {
    const facts = game().facts(states.at(-1), at.goal);
    hint = facts.best_moves?.[0] ?? "";
    return facts.distance !== undefined;
  }

  function slid(move) {
    if (isSolved() || !isPossible()) return;
    at.moves += move.letter;
    states.push(move.after);
    step(`Tile ${nameTile(move.tile)} ${TILE_WAY[move.letter]}.`);
  }

  /** Show the game after a change of its moves. */
  function step(said) {
    hint = "";
    asked = false;
    paint();
    say(isSolved() ? word() : `${said} ${counted(at.moves.length, "move")}.`);
    changed(parts(), { replace: true });
  }

  function paintAim() {
    const tiles = [...at.goal].map((tile) => (tile === "0" ? "" : nameTile(tile)));
    mine("aim").style.setProperty("--columns", game().columns);
    mine("aim").replaceChildren(
      ...tiles.map((tile) => make("span", { class: tile ? "" : "gap" }, tile)),
    );
    mine("aim").setAttribute("aria-label", `Goal: ${tiles.map((tile) => tile || "gap").join(" ")}`);
    const isOrdered = at.goal === makeGoal(game().cells, game().cells - 1);
    mine("task").textContent = isOrdered
      ? `Tap a tile beside the gap to slide it, and put the numbers in order, 1 to ${game().cells - 1}.`
      : "Tap a tile beside the gap to slide it, and make the board look like the small one.";
  }

  /** Return the name of the level of the board; undefined if it is of none. */
  function findLevel() {
    const named = game()
      .levels(at.goal)
      .find(({ name }) => Number(name) === best);
    return named
      ? named.name
      : best > 0 && game().hardest && best === game().most(at.goal)
        ? "hardest"
        : undefined;
  }

  /** Return a random board of the chosen difficulty, if the game has that; null if none can be found. */
  async function draw(goal, from = game()) {
    const names = from.levels(goal).map(({ name }) => name);
    const chosen = levels.choose();
    const level =
      chosen === OWN
        ? levels.find(from.title, from.most(goal))
        : (names.find((name) => name === chosen) ?? names[0]);
    let state = at.start;
    // another board, if there is one: some levels have only two
    for (let tries = TRIES; tries && state === at.start; tries--)
      state = await from.draw(goal, level);
    return state;
  }

  /** Begin a random board, unless the user goes elsewhere meanwhile. */
  async function deal() {
    const address = location.hash;
    const state = await draw(at.goal);
    if (state !== null && location.hash === address) begin(state, at.goal);
  }

  mine("help").addEventListener("click", () => {
    if (!hint && !asked) at.hints++;
    asked = !help();
    paint({ sliding: false });
    say(word());
    changed(parts(), { replace: true });
  });
  mine("undo").addEventListener("click", () => {
    at.moves = at.moves.slice(0, -1);
    states.pop();
    step("Undone.");
    if (!at.moves) mine("help").focus();
  });
  mine("back").addEventListener("click", () => change("study"));
  mine("again").addEventListener("click", () => {
    begin(at.start, at.goal, { replace: true });
    mine("board").focus({ preventScroll: true });
  });

  return {
    show,
    parts,
    draw,
    slid,
    get states() {
      return states;
    },
    /** Return the game, so that it can be studied. */
    get place() {
      return { ...at, step: at.moves.length };
    },
    get taken() {
      return {
        state: states.at(-1),
        facts: [
          ["goal", at.goal],
          ["start", at.start],
          ["moves", `${at.moves.length} ${at.moves}`.trim()],
        ],
      };
    },
    /** Show what a search has found out meanwhile. */
    learn() {
      best = game().distance(at.start, at.goal);
      if (asked && help()) asked = false;
      paint({ sliding: false });
    },
    /** Show that a search has failed. */
    lose() {
      isLost = true;
      if (asked) {
        asked = false;
        at.hints--;
        changed(parts(), { replace: true });
      }
      paint({ sliding: false });
    },
    title: () => (isSolved() ? "solved" : counted(at.moves.length, "move")),
  };
}
