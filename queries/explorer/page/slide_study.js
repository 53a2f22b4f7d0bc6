// A sliding board in study: the distance, the best moves, and a shortest solution to step through.
import { drawChart, isLoss } from "#page/chart.js";
import {
  counted,
  make,
  makeButton,
  onTyped,
  pickOne,
  quoted,
  say,
  setFacts,
  setProblem,
  writeNumber,
} from "#page/dom.js";
import { makeGrid } from "#page/grid.js";
import { makePlayer } from "#page/player.js";
import { TILE_ARROW, TILE_WAY } from "#page/slide_board.js";
import { nameTile } from "#page/slide_rules.js";
import { joinLetters, swapCells } from "#tables/sliding.js";

const PLAY_MS = 450;

/**
 * Make the part of a sliding board's view that studies. `view` has the view's elements, its board, and
 * the functions that change the address and begin another board.
 */
export function makeSlideStudy(view) {
  const { mine, board, game, changed, begin } = view;
  const at = { start: "", goal: "", moves: "", hints: 0 }; // the user's moves; a shortest solution follows them
  let line = [""]; // the states of both
  let facts = null;
  let isLost = false; // whether the search for the answer has failed
  const player = makePlayer(mine("player"), {
    name: "Place on the way",
    step: "move",
    delay: PLAY_MS,
    show: shown,
    stopped: () => changed(parts(), { replace: true }),
  });
  const setups = [
    makeSetup(view, "start", {
      get: () => state(),
      set: (to) => begin(to, at.goal),
      check: (to) => game().problem(to),
    }),
    makeSetup(view, "goal", {
      get: () => at.goal,
      set: (to) => begin(state(), to),
      check: (to) => game().problem(to) || game().goalProblem(to),
    }),
  ];

  const state = () => line[player.at];

  /** Return the line that is shown as parts of an address. */
  function parts() {
    const isPlain = player.at === at.moves.length;
    return [at.start, at.goal, ...(at.moves ? [at.moves] : []), ...(isPlain ? [] : [player.at])];
  }

  /** Show a line: a start, a goal, the user's moves, and the number of the step to show. */
  function show({ start, goal, moves = "", step = 0, hints = 0 }) {
    Object.assign(at, { start, goal, moves, hints });
    lengthen();
    player.set(line.length - 1, Math.min(step, line.length - 1));
    paint(player.at, { sliding: false });
    tell();
  }

  /** Append a shortest solution to the user's moves. */
  function lengthen() {
    line = game().follow(at.start, at.moves);
    line.push(...(game().facts(line.at(-1), at.goal).path ?? []).slice(1));
  }

  /** Handle a tile slid by the user: the line's next step, or the beginning of another line. */
  function slid(move) {
    player.halt();
    const step = player.at + 1;
    if (line[step] !== move.after) {
      at.moves = lettersTo(player.at) + move.letter;
      lengthen();
    }
    player.set(line.length - 1, step);
    shown(step, { moved: true, playing: false });
    changed(parts(), { replace: true });
  }

  /** Return the letters of the line's first steps. */
  const lettersTo = (step) => joinLetters(game().trace(line.slice(0, step + 1)));

  function paint(step, { sliding }) {
    isLost = false;
    facts = game().facts(state(), at.goal);
    board.show(state(), facts.best_moves ?? "", { sliding });
    paintChange(step);
    paintAnswer();
    drawChart(
      mine("chart"),
      line.map((one) => game().distance(one, at.goal)),
      step,
    );
    // the text with the problem is no longer on view
    setProblem(mine("problem"), "");
    setups.forEach(({ refresh }) => refresh());
    if (document.activeElement !== mine("moves")) mine("moves").value = at.moves;
  }

  /** Show another place of the line; called by the player. */
  function shown(step, { moved, playing }) {
    paint(step, { sliding: moved });
    if (moved && !playing) tell();
  }

  function paintAnswer() {
    const words = wordAnswer();
    ["distance", "unit", "now"].forEach((part, at) => {
      mine(part).textContent = words[at];
    });
    mine("marks").textContent = !facts.best_moves
      ? ""
      : facts.has_one_best
        ? "A best move is marked."
        : "The best moves are marked.";
    mine("mend").hidden = facts.distance !== null;
    setFacts(
      mine("facts"),
      facts.distance === null ? listUnsolved() : facts.distance ? listSolved() : [],
    );
    const [one, other] = listExchange().map(nameTile);
    mine("exchange").textContent = `Swap tiles ${one} and ${other}`;
  }

  /** Return the distance as it is written, what follows it, and what is said above the board. */
  function wordAnswer() {
    const { distance } = facts;
    if (distance === undefined)
      return isLost
        ? ["…", "not known", "Not known."]
        : ["…", "searching for a shortest solution", "Searching…"];
    if (distance === null) return ["No solution", "for this goal", "Out of reach."];
    if (distance === 0) return [0, "moves: this is the goal", "Solved."];
    return [
      distance,
      `move${distance === 1 ? "" : "s"} to the goal`,
      `${counted(distance, "move")} to go.`,
    ];
  }

  function listSolved() {
    const tiles = [...facts.best_tiles].map(nameTile);
    const best = [...facts.best_moves].map((letter, place) =>
      make(
        "span",
        {
          class: "chip",
          "aria-label": `${tiles[place]} ${TILE_WAY[letter]}`,
          role: "img",
        },
        `${tiles[place]} ${TILE_ARROW[letter]}`,
      ),
    );
    const term = facts.has_one_best
      ? "A best move"
      : best.length === 1
        ? "Best move"
        : "Best moves";
    return [
      [term, ...best],
      ...(facts.solutions ? [["Shortest solutions", writeNumber(facts.solutions)]] : []),
      ["Tiles to move", make("span", { class: "tiles" }, [...facts.tiles].map(nameTile).join(" "))],
      [
        "As letters",
        make("span", { class: "tiles" }, facts.solution),
        " ",
        make("small", {}, "the gap goes up, down, left, right"),
      ],
    ];
  }

  function listUnsolved() {
    const odd = game().parities(state(), at.goal);
    const [moves, swaps] = [odd.moves, odd.swaps].map((one) => (one ? "odd" : "even"));
    return [
      [
        "Why",
        `A move swaps the gap with a tile. From this board to the goal the gap makes an ${moves} number ` +
          `of moves, but it takes an ${swaps} number of swaps. Swap any two tiles to make the goal reachable.`,
      ],
    ];
  }

  const listExchange = () => [...state()].filter((tile) => tile !== "0").slice(0, 2);

  function tell() {
    if (facts.distance === undefined) return;
    const ways = facts.solutions ? `, ${counted(facts.solutions, "shortest solution")}` : "";
    say(
      facts.distance === null
        ? `This goal cannot be reached: ${listUnsolved()[0][1]}`
        : facts.distance === 0
          ? "Solved: this is the goal."
          : `${counted(facts.distance, "move")} to the goal${ways}. Best: ${nameMoves(facts)}.`,
    );
  }

  /** Say what the move to a place of the line did, and what would have been better. */
  function paintChange(step) {
    const [before, after] = step
      ? [step - 1, step].map((place) => game().facts(line[place], at.goal))
      : [{}, {}];
    const lost = isLoss(before.distance, after.distance);
    const [move] = game().trace(line.slice(step - 1, step + 1));
    mine("change").textContent =
      !Number.isInteger(before.distance) || !Number.isInteger(after.distance)
        ? ""
        : `Tile ${nameTile(move.tile)} ${TILE_WAY[move.letter]}: one move ${lost ? "farther" : "nearer"}.${lost && before.best_moves ? ` Better: ${nameMoves(before)}.` : ""}`;
    mine("change").className = `change ${lost ? "farther" : "nearer"}`;
    mine("from").hidden = !lost;
  }

  /** Prepare for another board. */
  function lay() {
    mine("hardest").hidden = !game().hardest;
    setups.forEach((setup) => setup.lay());
    mine("typed").textContent =
      game().cells > 10 ? `${game().cells} numbers` : `${game().cells} digits`;
    const goals = game().goals.map(({ name, state: to, label }) =>
      makeButton(label, () => begin(state(), to), { "data-goal": name }),
    );
    mine("goals").replaceChildren(make("span", { class: "hint" }, "Goal:"), ...goals);
  }

  mine("hardest").addEventListener("click", () => begin(pickOne(game().hardest(at.goal)), at.goal));
  mine("from").addEventListener("click", () => {
    player.go(player.at - 1);
    view.change("play");
  });
  onTyped(mine("moves"), {
    read: (text) => text,
    check: (text) => game().readMoves(at.start, text).problem,
    set(text) {
      const moves = game().readMoves(at.start, text).letters;
      if (moves === at.moves) return;
      show({ ...at, moves, step: moves.length });
      changed(parts());
    },
  });
  mine("random").addEventListener("click", () => begin(game().random(at.goal), at.goal));
  mine("exchange").addEventListener("click", () => {
    const [one, other] = listExchange().map((tile) => state().indexOf(tile));
    begin(swapCells(state(), one, other), at.goal);
    mine("board").focus();
  });

  return {
    lay,
    show,
    parts,
    slid,
    get states() {
      return line;
    },
    /** Return the line up to the step that is shown, so that it can be played: who has seen it here has had a hint. */
    get place() {
      return { ...at, moves: lettersTo(player.at), step: player.at, hints: at.hints + 1 };
    },
    get taken() {
      const { distance, solution, tiles } = facts;
      const known = Number.isInteger(distance)
        ? [
            ["distance", counted(distance, "move")],
            ["solution", solution],
            ["tiles slid", tiles],
          ]
        : [["distance", distance === null ? "out of reach" : "not known yet"]];
      return { state: state(), facts: [["goal", at.goal], ...known] };
    },
    /** Show what a search has found out meanwhile. */
    learn() {
      const step = player.at;
      lengthen();
      player.set(line.length - 1, step);
      paint(step, { sliding: false });
      changed(parts(), { replace: true });
      tell();
    },
    /** Show that the search for the answer has failed. */
    lose() {
      isLost = true;
      paintAnswer();
    },
    title: () =>
      facts.distance === undefined
        ? "searching"
        : facts.distance === null
          ? "out of reach"
          : counted(facts.distance, "move"),
    leave: () => player.halt(),
  };
}

/** Name the best moves of an answer in words. */
function nameMoves({ best_moves = "", best_tiles }) {
  return [...best_moves]
    .map((letter, place) => `tile ${nameTile(best_tiles[place])} ${TILE_WAY[letter]}`)
    .join(" or ");
}

/**
 * Make a field `part` of a view, for the state that `get` returns and `set` changes. `check(text)`
 * returns the problem of a text.
 */
function makeSetup({ mine, game }, part, { get, set, check }) {
  const field = mine(part);
  let first = null;
  let cells = [];
  const grid = makeGrid(mine(`${part}-cells`), (cell) => {
    const picked = first;
    first = picked === null ? cell : null;
    if (picked === null || picked === cell) refresh();
    else exchange(picked, cell);
  });

  function exchange(picked, cell) {
    const to = swapCells(get(), picked, cell);
    const bad = word(to);
    setProblem(mine("problem"), bad, field);
    if (bad) refresh();
    else set(to);
  }

  function word(text) {
    const bad = check(text);
    return (
      bad && `${quoted(text)} is not an arrangement: ${bad}. Example: ${game().goals[0].state}.`
    );
  }

  function lay() {
    first = null;
    field.dataset.cells = game().cells;
    field.inputMode = game().cells > 10 ? "text" : "numeric";
    mine(`${part}-cells`).style.setProperty("--columns", game().columns);
    cells = grid.lay(game().cells, game().columns);
  }

  function refresh() {
    cells.forEach((button, cell) => {
      const tile = get()[cell];
      button.textContent = tile === "0" ? "" : nameTile(tile);
      button.classList.toggle("gap", tile === "0");
      button.setAttribute("aria-label", tile === "0" ? "gap" : `tile ${nameTile(tile)}`);
      button.setAttribute("aria-pressed", String(cell === first));
    });
    if (document.activeElement !== field) field.value = get();
  }

  onTyped(field, {
    read: (text) => game().parse(text),
    length: () => game().cells,
    check: word,
    set: (text) => {
      if (text !== get()) set(text);
    },
  });
  return { lay, refresh };
}
