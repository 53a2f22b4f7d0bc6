// A game of sliding boards without a table inside the page: each answer is a solution that is found when it is
// first needed, by a search or on a host. When it is found, the page is painted again.
import { Game } from "#page/slide_rules.js";
import { pickOne, refresh } from "#page/text.js";
import { joinLetters, joinTiles } from "#tables/sliding.js";

/** By how many steps a random walk is longer than the distance that it should reach, more for each further try. */
const EXTRA_STEPS = 4;

/**
 * A game, also described by the `distances` of its levels and `find(state, goal)`, which finds the states of a shortest
 * solution, as `path`, and the letters of all best moves, as `best_moves`, where it `findsBestMoves`. What it knows
 * meanwhile is its `progress`, a text, or its `search` for a `state`: no solution has less than `least` moves, and `path` is
 * one that may be longer than need be. Such a search can be ended by `stop()`.
 */
export class SolvedGame extends Game {
  /** Whether the last search has failed. */
  hasFailed = false;
  #paths = new Map(); // by goal and state: the states of a shortest solution
  #bestMoves = new Map(); // by goal and state
  #pending = new Set();

  #fail(error) {
    this.hasFailed = true;
    refresh(error.isStopped ? undefined : `This board cannot be answered: ${error.message}`);
  }

  /** Find a shortest solution: its states, the first included. */
  async solve(state, goal) {
    const { path, best_moves } = await this.find(state, goal);
    if (this.hasFailed) refresh("");
    [this.hasFailed, this.progress] = [false, ""];
    if (this.findsBestMoves) this.#bestMoves.set(goal + state, best_moves);
    path.forEach((one, at) => {
      if (!this.#paths.has(goal + one)) this.#paths.set(goal + one, path.slice(at));
    });
    return this.#paths.get(goal + state);
  }

  async #request(state, goal) {
    if (this.#pending.has(goal + state)) return;
    this.#pending.add(goal + state);
    try {
      await this.solve(state, goal);
      refresh();
    } catch (error) {
      this.#pending.delete(goal + state); // it may be found later
      this.#fail(error);
    }
  }

  /** Return the answer for a state; its distance is undefined while it is searched for, and null if it is out of reach. */
  facts(state, goal = this.findGoal(state)) {
    if (!this.canReach(state, goal)) return { state, goal_state: goal, distance: null };
    if (!(this.findsBestMoves ? this.#bestMoves : this.#paths).has(goal + state))
      this.#request(state, goal);
    const path = this.#paths.get(goal + state);
    if (!path) return { state, goal_state: goal, distance: undefined };
    const line = this.trace(path);
    const letters = this.#bestMoves.get(goal + state);
    const best =
      letters === undefined
        ? line.slice(0, 1)
        : this.moves(state).filter((move) => letters.includes(move.letter));
    return {
      state,
      goal,
      goal_state: goal,
      distance: line.length,
      best_moves: joinLetters(best),
      best_tiles: joinTiles(best),
      has_one_best: letters === undefined,
      solution: joinLetters(line),
      tiles: joinTiles(line),
      path,
    };
  }

  /** Return the state after a random walk from the goal that never turns back. */
  #walk(goal, steps) {
    let [state, before] = [goal, ""];
    for (let left = steps; left > 0; left--) {
      const onward = this.moves(state).filter(({ after }) => after !== before);
      before = state;
      state = pickOne(onward).after;
    }
    return state;
  }

  /**
   * Return a random board at a distance from the goal, or, if the level is no distance, any board; null if
   * none can be found. The board is on a shortest solution of a farther one, so that one search suffices.
   */
  async draw(goal, level) {
    if (level === "any") return this.random(goal);
    const distance = Number(level);
    try {
      for (let tries = 1; ; tries++) {
        const path = await this.solve(this.#walk(goal, distance + EXTRA_STEPS * tries), goal);
        if (path.length > distance) return path[path.length - 1 - distance];
      }
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  most() {
    return this.distances.at(-1);
  }

  levels() {
    return [...this.distances.map(this.nameLevel), { name: "any", label: "any board" }];
  }

  /** Return the fewest moves to the goal; undefined if they are not known yet, null if it is unreachable. */
  distance(state, goal) {
    if (!this.canReach(state, goal)) return null;
    const path = this.#paths.get(goal + state);
    return path && path.length - 1;
  }
}
