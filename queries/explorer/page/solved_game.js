// A game of sliding boards without a table inside the page: each answer is a solution that is found when it is
// first needed, by a search or on a host.

import { byId } from "#page/dom.js";

const UNANSWERED = "This board cannot be answered:";
/** By how many steps a random walk is longer than the distance that it should reach, more for each further try. */
const EXTRA_STEPS = 4;

/**
 * Make the game of a board's rules. `find(state, goal)` finds the states of a shortest solution, as `path`, and the
 * letters of all best moves, as `best_moves`, where it `findsBestMoves`.
 */
export function makeSolvedGame({ rules, levels, find, findsBestMoves = false }) {
  const { joined, moves } = rules;
  const paths = new Map(); // by goal and state: the states of a shortest solution
  const bestMoves = new Map(); // by goal and state
  const asked = new Set();
  let [learned, lost] = [() => {}, () => {}];

  function failed(error) {
    byId("trouble").textContent = `${UNANSWERED} ${error.message}`;
    byId("trouble").hidden = false;
  }

  /** Find a shortest solution: its states, the first included. */
  async function solve(state, goal) {
    const { path, best_moves } = await find(state, goal);
    if (byId("trouble").textContent.startsWith(UNANSWERED)) byId("trouble").hidden = true;
    if (findsBestMoves) bestMoves.set(goal + state, best_moves);
    path.forEach((one, at) => {
      if (!paths.has(goal + one)) paths.set(goal + one, path.slice(at));
    });
    return paths.get(goal + state);
  }

  function ask(state, goal) {
    if (asked.has(goal + state)) return;
    asked.add(goal + state);
    solve(state, goal).then(() => learned(), (error) => {
      asked.delete(goal + state); // it may be found later
      lost();
      failed(error);
    });
  }

  /** Return the answer for a state; its distance is undefined while it is searched for, and null if it is out of reach. */
  function facts(state, goal = rules.layoutOf(state).state) {
    if (!joined(state, goal)) return { state, goal_state: goal, distance: null };
    if (!(findsBestMoves ? bestMoves : paths).has(goal + state)) ask(state, goal);
    const path = paths.get(goal + state);
    if (!path) return { state, goal_state: goal, distance: undefined };
    const line = path.slice(1).map((after, at) => moves(path[at]).find((move) => move.after === after));
    const letters = bestMoves.get(goal + state);
    const best = letters === undefined ? line.slice(0, 1) : moves(state).filter((move) => letters.includes(move.letter));
    return {
      state,
      goal,
      goal_state: goal,
      distance: line.length,
      best_moves: best.map((move) => move.letter).join(""),
      best_tiles: best.map((move) => move.tile).join(""),
      has_one_best: letters === undefined,
      solution: line.map((move) => move.letter).join(""),
      tiles: line.map((move) => move.tile).join(""),
      path,
    };
  }

  /** Return the state after a random walk from the goal that never turns back. */
  function walk(goal, steps) {
    let [state, before] = [goal, ""];
    for (let left = steps; left > 0; left--) {
      const onward = moves(state).filter(({ after }) => after !== before);
      before = state;
      state = onward[Math.floor(Math.random() * onward.length)].after;
    }
    return state;
  }

  /**
   * Return a random board at a distance from the goal, or, if the level is no distance, any board; null if
   * none can be found. The board is on a shortest solution of a farther one, so that one search suffices.
   */
  async function draw(goal, level) {
    if (level === "any") return rules.random(goal);
    const distance = Number(level);
    try {
      for (let tries = 1; ; tries++) {
        const path = await solve(walk(goal, distance + EXTRA_STEPS * tries), goal);
        if (path.length > distance) return path[path.length - 1 - distance];
      }
    } catch (error) {
      failed(error);
      return null;
    }
  }

  return {
    ...rules, facts, draw, solve,
    onLearned: (listener) => { learned = listener; },
    onLost: (listener) => { lost = listener; },
    levels: () => [
      ...levels.map((distance) => ({ name: String(distance), label: `${distance} moves` })), { name: "any", label: "any board" },
    ],
    /** Return the fewest moves to the goal, as far as they are known already. */
    distance(state, goal) {
      if (!joined(state, goal)) return null;
      const path = paths.get(goal + state);
      return path && path.length - 1;
    },
  };
}
