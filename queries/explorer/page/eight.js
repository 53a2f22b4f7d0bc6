// The 8-puzzle: rules and answers. Cells are numbered 0-8 in reading order; a state is nine digits
// in that order, 0 for the blank. A move's letter says which way the blank goes.
import { once, openIndex } from "#page/reader.js";

export const EIGHT_LAYOUTS = { corner: "123456780", centre: "123804765", edge: "123456708" };
const EIGHT_STATES = 362880;
const STEP = { U: -3, D: 3, L: -1, R: 1 };
const OUT_OF_REACH = 255;
const QUARTER = [6, 3, 0, 7, 4, 1, 8, 5, 2];
const TABLE_OF = { corner: "eight", centre: "eight", edge: "eight_edge" };

const eightTables = {};

export const openEight = once(async () => {
  const names = ["eight", "eight_edge"];
  const opened = await Promise.all(names.map((name) => openIndex(name, 2, EIGHT_STATES)));
  names.forEach((name, at) => { eightTables[name] = opened[at]; });
  return eightTables;
});

/** What is wrong with a text that should be a state; empty if nothing is. */
export function eightProblem(text) {
  if (!text) return "it is empty";
  const foreign = [...text].find((letter) => !"0123456789".includes(letter));
  if (foreign) return `“${foreign}” is not one of the digits 0–8`;
  const said = [];
  if (text.length !== 9) said.push(`it has ${text.length} digit${text.length > 1 ? "s" : ""}, not 9`);
  const called = (digit) => (digit === "0" ? "the blank (0)" : `tile ${digit}`);
  for (const digit of "123456780") {
    const count = text.split(digit).length - 1;
    if (count > 1) said.push(`${called(digit)} stands ${count === 2 ? "twice" : `${count} times`}`);
  }
  if (text.includes("9")) said.push("tile 9 does not exist");
  if (text.length >= 9) {
    for (const digit of "123456780") {
      if (!text.includes(digit)) said.push(`${called(digit)} is missing`);
    }
  }
  return said.join(", ");
}

function rankEight(state) {
  let rank = 0;
  for (let at = 0; at < 9; at++) {
    let smaller = 0;
    for (let later = at + 1; later < 9; later++) if (state[later] < state[at]) smaller++;
    rank = rank * (9 - at) + smaller;
  }
  return rank;
}

function unrankEight(rank) {
  const places = [];
  for (let left = 1; left <= 9; left++) {
    places.unshift(rank % left);
    rank = Math.floor(rank / left);
  }
  const digits = [..."012345678"];
  return places.map((place) => digits.splice(place, 1)[0]).join("");
}

/** Each legal move in the order U D L R: letter, the tile that slides, the cell it comes from. */
export function movesEight(state) {
  const blank = state.indexOf("0");
  const open = { U: blank > 2, D: blank < 6, L: blank % 3 > 0, R: blank % 3 < 2 };
  return [..."UDLR"].filter((letter) => open[letter]).map((letter) => {
    const cell = blank + STEP[letter];
    return { letter, tile: state[cell], cell, after: exchangedEight(state, blank, cell) };
  });
}

/** The state after two cells change places. */
export function exchangedEight(state, one, other) {
  const cells = [...state];
  [cells[one], cells[other]] = [cells[other], cells[one]];
  return cells.join("");
}

/** Pairs of tiles whose greater one stands first: no move changes whether that is odd. */
export function pairsOutOfOrder(state) {
  const tiles = state.replace("0", "");
  let pairs = 0;
  for (let one = 0; one < 8; one++) {
    for (let other = one + 1; other < 8; other++) if (tiles[one] > tiles[other]) pairs++;
  }
  return pairs;
}

function sameClass(one, other) {
  return (pairsOutOfOrder(one) - pairsOutOfOrder(other)) % 2 === 0;
}

/** The layout that a state reaches, of the two that share the first table. */
export function layoutOf(state) {
  return pairsOutOfOrder(state) % 2 ? "centre" : "corner";
}

/** Any goal seen as one of the three layouts: the board turned, the tiles renamed. */
function turned(goal) {
  let cells = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const layoutAt = () => Object.keys(EIGHT_LAYOUTS)
    .find((name) => EIGHT_LAYOUTS[name].indexOf("0") === cells.indexOf(goal.indexOf("0")));
  while (!layoutAt()) cells = QUARTER.map((cell) => cells[cell]);
  const layout = layoutAt();
  const names = {};
  cells.forEach((cell, at) => { names[goal[cell]] = EIGHT_LAYOUTS[layout][at]; });
  const back = Object.fromEntries(Object.entries(names).map(([tile, name]) => [name, tile]));
  return {
    layout,
    state: (state) => cells.map((cell) => names[state[cell]]).join(""),
    undone: (state) => {
      const found = [];
      cells.forEach((cell, at) => { found[cell] = back[state[at]]; });
      return found.join("");
    },
  };
}

function records(view) {
  return eightTables[TABLE_OF[view.layout]].records;
}

/** Distance and number of shortest solutions; null where the goal is out of reach. */
function measured(view, state) {
  const seen = view.state(state);
  if (layoutOf(seen) !== layoutOf(EIGHT_LAYOUTS[view.layout])) return null;
  const at = 2 * rankEight(seen);
  const [distance, solutions] = records(view).subarray(at, at + 2);
  return distance === OUT_OF_REACH ? null : { distance, solutions };
}

/** The answer for a state and a goal (else the layout it reaches), keyed as the tables' columns. */
export function eightFacts(state, goal = EIGHT_LAYOUTS[layoutOf(state)]) {
  const view = turned(goal);
  const found = measured(view, state);
  if (!found) return { state, goal_state: goal, distance: null };
  const nearer = (from, distance) => movesEight(from)
    .filter((move) => measured(view, move.after).distance === distance - 1);
  const best = nearer(state, found.distance);
  const path = [state];
  const line = [];
  for (let left = found.distance; left > 0; left--) {
    const [move] = nearer(path.at(-1), left);
    line.push(move);
    path.push(move.after);
  }
  return {
    state,
    goal: Object.keys(EIGHT_LAYOUTS).find((name) => EIGHT_LAYOUTS[name] === goal) ?? goal,
    goal_state: goal,
    distance: found.distance,
    best_moves: best.map((move) => move.letter).join(""),
    best_tiles: best.map((move) => move.tile).join(""),
    solutions: found.solutions,
    solution: line.map((move) => move.letter).join(""),
    tiles: line.map((move) => move.tile).join(""),
    path,
  };
}

/** Fewest moves to the goal; null where it is out of reach. */
export function eightDistance(state, goal) {
  return measured(turned(goal), state)?.distance ?? null;
}

/** The states farthest from a goal. */
export function hardestEight(goal) {
  const view = turned(goal);
  const wanted = layoutOf(EIGHT_LAYOUTS[view.layout]);
  let most = 0;
  let found = [];
  const all = records(view);
  for (let rank = 0; rank < EIGHT_STATES; rank++) {
    const distance = all[2 * rank];
    if (distance < most || distance === OUT_OF_REACH) continue;
    const seen = unrankEight(rank);
    if (layoutOf(seen) !== wanted) continue;
    if (distance > most) found = [];
    most = distance;
    found.push(seen);
  }
  return found.map(view.undone);
}

/** A state that reaches the goal, any of them. */
export function randomEight(goal) {
  const state = unrankEight(Math.floor(Math.random() * EIGHT_STATES));
  if (sameClass(state, goal)) return state;
  const [one, other] = [..."012345678"].filter((cell) => state[cell] !== "0");
  return exchangedEight(state, Number(one), Number(other));
}
