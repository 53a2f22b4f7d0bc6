// The 8-puzzle's view: the board in play, its answer, and two small boards to set up.
import {
  byId, counted, drawn, make, onEntered, pickOne, quoted, say, setFacts, setProblem,
} from "#page/dom.js";
import {
  EIGHT_LAYOUTS, eightDistance, eightFacts, eightProblem, exchangedEight, hardestEight, layoutOf,
  openEight, pairsOutOfOrder, randomEight,
} from "#page/eight.js";
import { makeEightBoard, TILE_ARROW, TILE_WAY } from "#page/eight_board.js";
import { makeGrid } from "#page/grid.js";
import { makePlayer } from "#page/player.js";

const EIGHT_FIRST = "378546201";
const PLAY_MS = 450;
const KNOB = 1.9; // half the slider's knob, in hundredths of its length

/** The view; `went(parts, how)` tells what the address should hold. */
export function makeEightView(went) {
  let goal = EIGHT_LAYOUTS.corner;
  let line = [EIGHT_FIRST]; // the states gone through, then a shortest way on
  let facts = null;
  const board = makeEightBoard(byId("eight-board"), slide);
  const player = makePlayer(byId("eight-player"), {
    name: "Place on the way", step: "move", delay: PLAY_MS, show: shown,
  });
  const setups = [
    setup("eight-start", () => state(), (to) => begin(to, goal)),
    setup("eight-goal", () => goal, (to) => begin(state(), to)),
  ];

  function state() {
    return line[player.at];
  }

  /** A new board and goal to look at. */
  function begin(from, to, how = {}) {
    goal = to;
    line = eightFacts(from, to).path ?? [from];
    player.set(line.length - 1, 0, { quiet: true });
    change("");
    paint(0, { sliding: false });
    told();
    went([from, goal], how);
  }

  /** A tile slid by hand: a step on the way, or the beginning of another way. */
  function slide(move) {
    const before = eightDistance(state(), goal);
    player.halt();
    const at = player.at + 1;
    if (line[at] !== move.after) {
      line = [...line.slice(0, at), ...(eightFacts(move.after, goal).path ?? [move.after])];
    }
    player.set(line.length - 1, at, { quiet: true });
    shown(at, { moved: true, playing: false });
    const after = eightDistance(state(), goal);
    if (after !== null) {
      const nearer = after < before;
      change(`Tile ${move.tile} ${TILE_WAY[move.letter]}: ${nearer ? "one move nearer" : "one move farther"}.`, nearer);
    }
  }

  function paint(at, { sliding }) {
    facts = eightFacts(state(), goal);
    board.show(state(), facts.best_moves ?? "", { sliding });
    answer();
    chart(at);
    // what was wrong is no longer looked at
    setProblem(byId("eight-problem"), "");
    setups.forEach((refresh) => refresh());
  }

  /** The player has come to another place of the line. */
  function shown(at, { moved, playing }) {
    change("");
    paint(at, { sliding: moved });
    // a line being played would fill the browser's history: it is noted when it stops
    if (!playing) {
      went([state(), goal], { replace: true });
      if (moved) told();
    }
  }

  function answer() {
    const reached = facts.distance !== null;
    byId("eight-distance").textContent = reached ? facts.distance : "No solution";
    byId("eight-unit").textContent = !reached ? "for this goal"
      : facts.distance === 0 ? "moves: this is the goal"
        : facts.distance === 1 ? "move to the goal" : "moves to the goal";
    byId("eight-now").textContent = !reached ? "Out of reach."
      : facts.distance === 0 ? "Solved." : `${counted(facts.distance, "move")} to go.`;
    byId("eight-mend").hidden = reached;
    setFacts(byId("eight-facts"), reached ? solved() : unsolved());
    if (!reached) {
      const [one, other] = mending();
      byId("eight-exchange").textContent = `Swap tiles ${one} and ${other}`;
    }
  }

  function solved() {
    if (facts.distance === 0) return [];
    const best = [...facts.best_moves].map((letter, at) => `${facts.best_tiles[at]} ${TILE_ARROW[letter]}`);
    return [
      [best.length === 1 ? "Best move" : "Best moves", ...best.map((text, at) => make("span", {
        class: "chip", "aria-label": `${facts.best_tiles[at]} ${TILE_WAY[facts.best_moves[at]]}`, role: "img",
      }, text))],
      ["Shortest solutions", facts.solutions.toLocaleString("en")],
      ["Tiles to move", make("span", { class: "tiles" }, [...facts.tiles].join(" "))],
      ["As letters", make("span", { class: "tiles" }, facts.solution), " ",
        make("small", {}, "the gap goes up, down, left, right")],
    ];
  }

  function unsolved() {
    const [here, there] = [state(), goal].map(pairsOutOfOrder);
    const parity = (pairs) => (pairs % 2 ? "odd" : "even");
    return [["Why", `Count the pairs of tiles with the greater tile first: ${here} on this board, which is `
      + `${parity(here)}, and ${there} in the goal, which is ${parity(there)}. No move changes `
      + "that. Swap any two tiles to make the goal reachable."]];
  }

  function mending() {
    return [...state()].filter((tile) => tile !== "0").slice(0, 2);
  }

  function told() {
    const best = [...(facts.best_moves ?? "")].map((letter, at) => `tile ${facts.best_tiles[at]} ${TILE_WAY[letter]}`);
    if (facts.distance === null) say(`This goal cannot be reached: ${unsolved()[0][1]}`);
    else if (facts.distance === 0) say("Solved: this is the goal.");
    else say(`${counted(facts.distance, "move")} to the goal, ${counted(facts.solutions, "shortest solution")}. Best: ${best.join(", ")}.`);
  }

  function change(text, nearer) {
    byId("eight-change").textContent = text;
    byId("eight-change").className = `change ${nearer ? "nearer" : "farther"}`;
  }

  /** The distance at every place of the line as bars; those gone through are dark. */
  function chart(at) {
    const distances = line.map((one) => eightDistance(one, goal) ?? 0);
    const most = Math.max(...distances, 1);
    // each bar stands over the slider's knob when that is at its place
    const step = (100 - 2 * KNOB) / Math.max(line.length - 1, 1);
    const wide = Math.min(0.8 * step, 2 * KNOB);
    const bars = distances.map((distance, place) => drawn("rect", {
      x: KNOB + place * step - wide / 2, width: wide, y: 30 - (28 * distance) / most - 1,
      height: (28 * distance) / most + 1,
      class: place === at ? "now" : place < at ? "gone" : "ahead",
    }));
    byId("eight-chart").replaceChildren(drawn("svg", {
      viewBox: "0 0 100 30", preserveAspectRatio: "none", role: "img",
      "aria-label": `Distance after each move: ${distances.join(", ")}`,
    }, ...bars));
    byId("eight-chart").hidden = line.length < 2;
  }

  /** A small board and a text field that hold the same state; returns what shows it again. */
  function setup(id, get, set) {
    const field = byId(id);
    let first = null;
    const cells = makeGrid(byId(`${id}-cells`), (cell) => {
      const picked = first;
      first = picked === null ? cell : null;
      if (picked === null || picked === cell) refresh();
      else set(exchangedEight(get(), picked, cell));
    }).lay(9, 3);
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
    field.addEventListener("input", () => {
      const text = field.value.replace(/\s/g, "");
      // while it is being typed it is not wrong yet
      if (text.length < 9) return problem("");
      if (problem(text && eightProblem(text), text)) return undefined;
      return text === get() ? undefined : set(text);
    });
    onEntered(field, () => {
      const text = field.value.replace(/\s/g, "");
      const bad = eightProblem(text);
      problem(bad, text);
      if (!bad && text !== get()) set(text);
    });
    function problem(bad, text) {
      setProblem(byId("eight-problem"), bad && `${quoted(text)} is not an arrangement: ${bad}. Example: 123456780.`, field);
      return bad;
    }
    return refresh;
  }

  byId("eight-hardest").addEventListener("click", () => begin(pickOne(hardestEight(goal)), goal));
  byId("eight-random").addEventListener("click", () => begin(randomEight(goal), goal));
  byId("eight-exchange").addEventListener("click", () => {
    const [one, other] = mending().map((tile) => state().indexOf(tile));
    begin(exchangedEight(state(), one, other), goal);
    byId("eight-board").focus();
  });
  for (const button of document.querySelectorAll("[data-goal]")) {
    button.addEventListener("click", () => begin(state(), EIGHT_LAYOUTS[button.dataset.goal]));
  }

  return {
    name: "8-puzzle",
    board: "eight-board",
    open: openEight,
    title: () => (facts.distance === null ? "out of reach" : counted(facts.distance, "move")),
    leave: () => player.halt(),
    /** Show what an address names. */
    show([from, to]) {
      const problems = [];
      const good = (text, otherwise) => {
        const bad = text === undefined ? "" : eightProblem(text);
        if (bad) problems.push(`${quoted(text)} is not an arrangement: ${bad}.`);
        return text === undefined || bad ? otherwise : text;
      };
      const start = good(from, EIGHT_FIRST);
      const end = good(Object.hasOwn(EIGHT_LAYOUTS, to ?? "") ? EIGHT_LAYOUTS[to] : to, EIGHT_LAYOUTS[layoutOf(start)]);
      begin(start, end, { replace: true });
      setProblem(byId("eight-problem"), problems.join(" "));
    },
  };
}
