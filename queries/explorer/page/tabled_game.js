// Sliding boards whose tables are inside the page, the 8-puzzle one of them: all answers are read at once.
import { pickOne } from "#page/text.js";
import { answerFrom, findMaximum, findRanks, once, openIndex } from "#page/reader.js";
import { describeBoard, Game } from "#page/slide_rules.js";
import { drawNumber } from "#page/today.js";
import { EIGHT as EIGHT_BOARD, listGoals } from "#tables/sliding.js";

const LEVELS = [5, 10, 20];

class TabledGame extends Game {
  tables = {};
  #hardest = new Map(); // by goal

  open = once(async () => {
    const names = [...new Set(this.goals.map(({ table }) => table))];
    const opened = await Promise.all(names.map((name) => openIndex(name)));
    names.forEach((name, at) => {
      this.tables[name] = opened[at];
    });
    return this.tables;
  });

  /** Return the distances of a view's table, by rank. */
  #listDistances({ tableGoal }) {
    return this.tables[tableGoal.table].planes[0];
  }

  /** Return the answer for a state and a goal, keyed as the columns; its distance is null if it is out of reach. */
  facts(state, goal = this.findGoal(state)) {
    if (!this.canReach(state, goal)) return { state, goal_state: goal, distance: null };
    return answerFrom(this.tables, this.answer(state, { goal }));
  }

  /** Return the fewest moves to the goal; null if it is out of reach. */
  distance(state, goal) {
    const view = this.viewGoal(goal);
    return this.canReach(state, goal)
      ? this.#listDistances(view)[this.rank(view.mapState(state))]
      : null;
  }

  /** Yield the states at a distance from a goal, in a random order. */
  *#drawStates(goal, distance) {
    const view = this.viewGoal(goal);
    const ranks = findRanks(this.#listDistances(view), distance);
    while (ranks.length) {
      const [rank] = ranks.splice(Math.floor(Math.random() * ranks.length), 1);
      const state = this.unrank(rank, view.tableGoal.state);
      // a table may have the states of another goal too
      if (state) yield view.restoreState(state);
    }
  }

  /** Return the states farthest from a goal. */
  hardest(goal) {
    let found = this.#hardest.get(goal) ?? [];
    if (found.length) return found;
    for (let most = findMaximum(this.#listDistances(this.viewGoal(goal))); !found.length; most--)
      found = [...this.#drawStates(goal, most)];
    this.#hardest.set(goal, found);
    return found;
  }

  /** Return the fewest moves from the states farthest from a goal. */
  most(goal) {
    return this.distance(this.hardest(goal)[0], goal);
  }

  findToday(number) {
    const rank = drawNumber(number, this.tables[this.goals[0].table].count);
    const state = this.goals.map((goal) => this.unrank(rank, goal.state)).find(Boolean);
    return { start: state, goal: this.findGoal(state) };
  }

  /** Return a random state of a level; undefined if there is none. */
  draw(goal, level) {
    return level === "hardest"
      ? pickOne(this.hardest(goal))
      : this.#drawStates(goal, Number(level)).next().value;
  }

  /** Return the levels of difficulty: some distances, and the largest of all. */
  levels(goal) {
    const distances = this.#listDistances(this.viewGoal(goal));
    return [
      ...LEVELS.filter((distance) => distances.includes(distance)).map(this.nameLevel),
      { name: "hardest", label: "hardest" },
    ];
  }
}

const LABELS = { corner: "Gap last", centre: "Gap in the centre", edge: "Gap at the edge" };

export const EIGHT = new TabledGame({
  ...EIGHT_BOARD,
  goals: EIGHT_BOARD.goals.map((goal) => ({ ...goal, label: LABELS[goal.name] })),
  title: "8-puzzle",
  name: "3x3",
  first: () => "378546201",
});

/** The sliding boards of the page, by board. */
export const SLIDING = Object.fromEntries(
  Object.entries(listGoals(Array.from(document.scripts, ({ id }) => id))).map(([board, goals]) => [
    board,
    new TabledGame({
      ...describeBoard(board, goals),
      first() {
        return this.hardest(goals[0].state)[0];
      },
    }),
  ]),
);
