// The view of sliding boards: the board in play, its answer, and two small boards to set up.
import {
  byId, counted, drawn, make, onEntered, pickOne, quoted, say, setFacts, setProblem,
} from "#page/dom.js";
import { makeGrid } from "#page/grid.js";
import { makePlayer } from "#page/player.js";
import { exchanged } from "#page/slide.js";
import { makeSlideBoard, TILE_ARROW, TILE_WAY } from "#page/slide_board.js";

const PLAY_MS = 450;
const KNOB = 1.9; // half the slider's knob, in hundredths of its length

/**
 * Make the view of a name; it calls `went(parts, how)` to change the address. `games` has the games
 * that it shows, by their names in the address; a single one needs no name there.
 */
export function makeSlideView(name, games, went) {
  const mine = (part) => byId(`${name}-${part}`);
  let game = null;
  let goal = "";
  let line = [""]; // the states so far, then a shortest solution
  let facts = null;
  const board = makeSlideBoard(mine("board"), slide);
  const player = makePlayer(mine("player"), {
    name: "Place on the way", step: "move", delay: PLAY_MS, show: shown,
  });
  const setups = [
    setup("start", () => state(), (to) => begin(to, goal)),
    setup("goal", () => goal, (to) => begin(state(), to)),
  ];

  /** Change to another board. */
  function use(other) {
    game = other;
    board.lay(game);
    setups.forEach(({ lay }) => lay());
    const arrangements = Array.from({ length: game.cells }, (_, at) => at + 1).reduce((a, b) => a * b);
    mine("title").textContent = game.title;
    mine("known").textContent = arrangements.toLocaleString("en");
    mine("typed").textContent = game.cells;
    mine("goals").replaceChildren(make("span", { class: "hint" }, "Goal:"), ...game.layouts
      .map(({ name: key, state: to, label }) => {
        const button = make("button", { type: "button", "data-goal": key }, label);
        button.addEventListener("click", () => begin(state(), to));
        return button;
      }));
    for (const button of mine("boards").querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(games[button.dataset.board] === game));
    }
  }

  function state() {
    return line[player.at];
  }

  /** Show a new state and goal. */
  function begin(from, to, how = {}) {
    goal = to;
    line = game.facts(from, to).path ?? [from];
    player.set(line.length - 1, 0, { quiet: true });
    change("");
    paint(0, { sliding: false });
    told();
    went([...game.address, from, goal], how);
  }

  /** Handle a tile slid by the user: the line's next step, or the beginning of another line. */
  function slide(move) {
    const before = game.distance(state(), goal);
    player.halt();
    const at = player.at + 1;
    if (line[at] !== move.after) {
      line = [...line.slice(0, at), ...(game.facts(move.after, goal).path ?? [move.after])];
    }
    player.set(line.length - 1, at, { quiet: true });
    shown(at, { moved: true, playing: false });
    const after = game.distance(state(), goal);
    if (after !== null) {
      const nearer = after < before;
      change(`Tile ${move.tile} ${TILE_WAY[move.letter]}: ${nearer ? "one move nearer" : "one move farther"}.`, nearer);
    }
  }

  function paint(at, { sliding }) {
    facts = game.facts(state(), goal);
    board.show(state(), facts.best_moves ?? "", { sliding });
    answer();
    chart(at);
    // the text with the problem is no longer on view
    setProblem(mine("problem"), "");
    setups.forEach(({ refresh }) => refresh());
  }

  /** Show another place of the line; called by the player. */
  function shown(at, { moved, playing }) {
    change("");
    paint(at, { sliding: moved });
    // a line being played would fill the browser's history: the address changes when it stops
    if (!playing) {
      went([...game.address, state(), goal], { replace: true });
      if (moved) told();
    }
  }

  function answer() {
    const reached = facts.distance !== null;
    mine("distance").textContent = reached ? facts.distance : "No solution";
    mine("unit").textContent = !reached ? "for this goal"
      : facts.distance === 0 ? "moves: this is the goal"
        : facts.distance === 1 ? "move to the goal" : "moves to the goal";
    mine("now").textContent = !reached ? "Out of reach."
      : facts.distance === 0 ? "Solved." : `${counted(facts.distance, "move")} to go.`;
    mine("mend").hidden = reached;
    setFacts(mine("facts"), reached ? solved() : unsolved());
    if (!reached) {
      const [one, other] = mending();
      mine("exchange").textContent = `Swap tiles ${one} and ${other}`;
    }
  }

  function solved() {
    if (facts.distance === 0) return [];
    const best = [...facts.best_moves].map((letter, at) => `${facts.best_tiles[at]} ${TILE_ARROW[letter]}`);
    return [
      [best.length === 1 ? "Best move" : "Best moves", ...best.map((text, at) => make("span", {
        class: "chip", "aria-label": `${facts.best_tiles[at]} ${TILE_WAY[facts.best_moves[at]]}`, role: "img",
      }, text))],
      ...(facts.solutions ? [["Shortest solutions", facts.solutions.toLocaleString("en")]] : []),
      ["Tiles to move", make("span", { class: "tiles" }, [...facts.tiles].join(" "))],
      ["As letters", make("span", { class: "tiles" }, facts.solution), " ",
        make("small", {}, "the gap goes up, down, left, right")],
    ];
  }

  function unsolved() {
    const odd = game.parities(state(), goal);
    const [moves, swaps] = [odd.moves, odd.swaps].map((one) => (one ? "odd" : "even"));
    return [["Why", `A move swaps the gap with a tile. From this board to the goal the gap makes an ${moves} number `
      + `of moves, but it takes an ${swaps} number of swaps. Swap any two tiles to make the goal reachable.`]];
  }

  function mending() {
    return [...state()].filter((tile) => tile !== "0").slice(0, 2);
  }

  function told() {
    const best = [...(facts.best_moves ?? "")].map((letter, at) => `tile ${facts.best_tiles[at]} ${TILE_WAY[letter]}`);
    if (facts.distance === null) say(`This goal cannot be reached: ${unsolved()[0][1]}`);
    else if (facts.distance === 0) say("Solved: this is the goal.");
    else {
      const ways = facts.solutions ? `, ${counted(facts.solutions, "shortest solution")}` : "";
      say(`${counted(facts.distance, "move")} to the goal${ways}. Best: ${best.join(", ")}.`);
    }
  }

  function change(text, nearer) {
    mine("change").textContent = text;
    mine("change").className = `change ${nearer ? "nearer" : "farther"}`;
  }

  /** Draw the distance at every place of the line as bars; those of past states are dark. */
  function chart(at) {
    const distances = line.map((one) => game.distance(one, goal) ?? 0);
    const most = Math.max(...distances, 1);
    // each bar is above the place of the slider's knob for the same step
    const step = (100 - 2 * KNOB) / Math.max(line.length - 1, 1);
    const wide = Math.min(0.8 * step, 2 * KNOB);
    const bars = distances.map((distance, place) => drawn("rect", {
      x: KNOB + place * step - wide / 2, width: wide, y: 30 - (28 * distance) / most - 1,
      height: (28 * distance) / most + 1,
      class: place === at ? "now" : place < at ? "gone" : "ahead",
    }));
    mine("chart").replaceChildren(drawn("svg", {
      viewBox: "0 0 100 30", preserveAspectRatio: "none", role: "img",
      "aria-label": `Distance after each move: ${distances.join(", ")}`,
    }, ...bars));
    mine("chart").hidden = line.length < 2;
  }

  /** Make a small board and a text field for the same state; return the functions that update them. */
  function setup(part, get, set) {
    const field = mine(part);
    let first = null;
    let cells = [];
    const grid = makeGrid(mine(`${part}-cells`), (cell) => {
      const picked = first;
      first = picked === null ? cell : null;
      if (picked === null || picked === cell) refresh();
      else set(exchanged(get(), picked, cell));
    });
    function lay() {
      first = null;
      mine(`${part}-cells`).style.setProperty("--columns", game.columns);
      cells = grid.lay(game.cells, game.columns);
    }
    function refresh() {
      cells.forEach((button, cell) => {
        const tile = get()[cell];
        button.textContent = tile === "0" ? "" : tile;
        button.classList.toggle("gap", tile === "0");
        button.setAttribute("aria-label", tile === "0" ? "gap" : `tile ${tile}`);
        button.setAttribute("aria-pressed", String(cell === first));
      });
      if (document.activeElement !== field) field.value = get();
    }
    const typed = () => field.value.replace(/[\s,]/g, "");
    field.addEventListener("input", () => {
      const text = typed();
      // an incomplete text is not an error while the user types
      if (text.length < game.cells) return problem("");
      if (problem(text && game.problem(text), text)) return undefined;
      return text === get() ? undefined : set(text);
    });
    onEntered(field, () => {
      const text = typed();
      const bad = game.problem(text);
      problem(bad, text);
      if (!bad && text !== get()) set(text);
    });
    function problem(bad, text) {
      setProblem(mine("problem"), bad && `${quoted(text)} is not an arrangement: ${bad}. Example: ${game.layouts[0].state}.`, field);
      return bad;
    }
    return { lay, refresh };
  }

  mine("hardest").addEventListener("click", () => begin(pickOne(game.hardest(goal)), goal));
  mine("random").addEventListener("click", () => begin(game.random(goal), goal));
  mine("exchange").addEventListener("click", () => {
    const [one, other] = mending().map((tile) => state().indexOf(tile));
    begin(exchanged(state(), one, other), goal);
    mine("board").focus();
  });
  const names = Object.keys(games);
  mine("boards").hidden = names.length < 2;
  for (const each of names) {
    const button = make("button", { type: "button", "data-board": each }, each.replace("x", "×"));
    button.addEventListener("click", () => { location.hash = `#${name}/${each}`; });
    mine("boards").append(button);
  }

  /** Return the game that an address names, and the rest of the address. */
  function addressed(parts) {
    const [usual] = Object.values(games);
    if (!usual.address.length) return [usual, parts];
    return [Object.hasOwn(games, parts[0] ?? "") ? games[parts[0]] : usual, parts.slice(1)];
  }

  return {
    get name() { return game.title; },
    board: `${name}-board`,
    open: (parts) => addressed(parts)[0].open(),
    title: () => (facts.distance === null ? "out of reach" : counted(facts.distance, "move")),
    leave: () => player.halt(),
    /** Show the contents of an address. */
    show(parts) {
      const [wanted, [from, to]] = addressed(parts);
      if (wanted !== game) use(wanted);
      const problems = [];
      const good = (text, otherwise) => {
        const bad = text === undefined ? "" : game.problem(text);
        if (bad) problems.push(`${quoted(text)} is not an arrangement: ${bad}.`);
        return text === undefined || bad ? otherwise() : text;
      };
      const start = good(from, game.first);
      const layout = game.layouts.find((one) => one.name === to);
      const end = good(layout?.state ?? to, () => game.layoutOf(start).state);
      begin(start, end, { replace: true });
      setProblem(mine("problem"), problems.join(" "));
    },
  };
}
