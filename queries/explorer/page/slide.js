// Sliding boards with tables: every answer is read from a record of the state.
import { pickOne } from "#page/dom.js";
import { makeRules } from "#page/slide_rules.js";

const OUT_OF_REACH = 255;
const LEVELS = [5, 10, 20];

/**
 * A game on a board: `layouts` are the goals that have tables, each with its `name`, `state` and `table`;
 * `rank(state)` is a state's record, and `unrank(rank, layout)` the state of a record that
 * reaches a layout; the records have `width` bytes, the distance first.
 */
export function makeGame({ rows, columns, layouts, rank, unrank, width, records }) {
  const rules = makeRules({ rows, columns, layouts });
  const { joined, layoutOf, moves, turned } = rules;

  /** Return the record of a state; null if the goal is unreachable. */
  function measured(view, state) {
    const seen = view.state(state);
    if (!joined(seen, view.layout.state)) return null;
    const at = width * rank(seen);
    const [distance, solutions] = records(view.layout.table).subarray(at, at + width);
    return { distance, solutions };
  }

  /** Return the answer for a state and a goal (default: the layout it reaches), keyed as the columns. */
  function facts(state, goal = layoutOf(state).state) {
    const view = turned(goal);
    const found = measured(view, state);
    if (!found) return { state, goal_state: goal, distance: null };
    const nearer = (from, distance) => moves(from)
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
      goal: layouts.find((layout) => layout.state === goal)?.name ?? goal,
      goal_state: goal,
      distance: found.distance,
      best_moves: best.map((move) => move.letter).join(""),
      best_tiles: best.map((move) => move.tile).join(""),
      ...(found.solutions === undefined ? {} : { solutions: found.solutions }),
      solution: line.map((move) => move.letter).join(""),
      tiles: line.map((move) => move.tile).join(""),
      path,
    };
  }

  /** Return the states farthest from a goal. */
  function hardest(goal) {
    const view = turned(goal);
    const all = records(view.layout.table);
    let most = 0;
    let found = [];
    for (let number = 0; width * number < all.length; number++) {
      const distance = all[width * number];
      if (distance < most || distance === OUT_OF_REACH) continue;
      const seen = unrank(number, view.layout.state);
      if (!joined(seen, view.layout.state)) continue;
      if (distance > most) found = [];
      most = distance;
      found.push(seen);
    }
    return found.map(view.undone);
  }

  /** Return a random state at a distance from a goal; undefined if there is none. */
  function drawAt(goal, distance) {
    const view = turned(goal);
    const all = records(view.layout.table);
    const numbers = [];
    for (let number = 0; width * number < all.length; number++) {
      if (all[width * number] === distance) numbers.push(number);
    }
    while (numbers.length) {
      // a table may have the states of another goal too
      const [number] = numbers.splice(Math.floor(Math.random() * numbers.length), 1);
      const seen = unrank(number, view.layout.state);
      if (seen && joined(seen, view.layout.state)) return view.undone(seen);
    }
    return undefined;
  }

  /** Return the levels of difficulty: some distances, and the largest of all. */
  function levels(goal) {
    const all = records(turned(goal).layout.table);
    const has = (distance) => {
      for (let at = 0; at < all.length; at += width) if (all[at] === distance) return true;
      return false;
    };
    return [
      ...LEVELS.filter(has).map((distance) => ({ name: String(distance), label: `${distance} moves` })),
      { name: "hardest", label: "hardest" },
    ];
  }

  return {
    ...rules, facts, hardest, levels,
    goalProblem: () => "",
    draw: (goal, level) => (level === "hardest" ? pickOne(hardest(goal)) : drawAt(goal, Number(level))),
    /** Return the fewest moves to the goal; null if it is unreachable. */
    distance: (state, goal) => measured(turned(goal), state)?.distance ?? null,
  };
}
