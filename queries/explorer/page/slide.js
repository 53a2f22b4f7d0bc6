// Sliding boards of every size: rules, and answers from tables. Cells are numbered in reading order;
// a state has one digit per cell in that order, 0 for the blank. A move's letter is the direction in
// which the blank goes.
const OUT_OF_REACH = 255;

/** Return the state with the contents of two cells exchanged. */
export function exchanged(state, one, other) {
  const cells = [...state];
  [cells[one], cells[other]] = [cells[other], cells[one]];
  return cells.join("");
}

/** Return the state with the tiles in reading order and the blank on a cell. */
export function inOrder(cells, blank) {
  const tiles = "123456789".slice(0, cells - 1);
  return `${tiles.slice(0, blank)}0${tiles.slice(blank)}`;
}

/** Return whether the number of pairs in another order than in the goal is odd. */
function oddSwaps(state, goal) {
  const order = [...state].map((tile) => goal.indexOf(tile));
  return order.filter((one, at) => order.slice(at).filter((later) => later < one).length % 2).length % 2 === 1;
}

/**
 * A game on a board: `layouts` are the goals that have tables, each with its `name`, `state` and `table`;
 * `rank(state)` is a state's record, and `unrank(rank, layout)` the state of a record that
 * reaches a layout; the records have `width` bytes, the distance first.
 */
export function makeGame({ rows, columns, layouts, rank, unrank, width, records }) {
  const cells = rows * columns;
  const step = { U: -columns, D: columns, L: -1, R: 1 };
  const tiles = inOrder(cells, cells - 1);

  /** Return the problem of a text that should be a state; "" if there is none. */
  function problem(text) {
    if (!text) return "it is empty";
    const foreign = [...text].find((letter) => !"0123456789".includes(letter));
    if (foreign) return `“${foreign}” is not one of the digits 0–${cells - 1}`;
    const said = [];
    if (text.length !== cells) said.push(`it has ${text.length} digit${text.length > 1 ? "s" : ""}, not ${cells}`);
    const called = (digit) => (digit === "0" ? "the blank (0)" : `tile ${digit}`);
    for (const digit of "1234567890") {
      const count = text.split(digit).length - 1;
      if (!tiles.includes(digit) && count) said.push(`${called(digit)} does not exist`);
      else if (count > 1) said.push(`${called(digit)} stands ${count === 2 ? "twice" : `${count} times`}`);
    }
    if (text.length >= cells) {
      for (const digit of tiles) if (!text.includes(digit)) said.push(`${called(digit)} is missing`);
    }
    return said.join(", ");
  }

  /** Return each legal move in the order U D L R: letter, tile that slides, cell that it comes from. */
  function moves(state) {
    const blank = state.indexOf("0");
    const column = blank % columns;
    const open = { U: blank >= columns, D: blank + columns < cells, L: column > 0, R: column + 1 < columns };
    return [..."UDLR"].filter((letter) => open[letter]).map((letter) => {
      const cell = blank + step[letter];
      return { letter, tile: state[cell], cell, after: exchanged(state, blank, cell) };
    });
  }

  /** Return the parities of the blank's moves, and of the exchanges of tiles, between two states. */
  function parities(state, goal) {
    const [from, to] = [state, goal].map((one) => one.indexOf("0"));
    const steps = Math.abs((from % columns) - (to % columns))
      + Math.abs(Math.floor(from / columns) - Math.floor(to / columns));
    return { moves: steps % 2 === 1, swaps: oddSwaps(state, goal) };
  }

  function joined(state, goal) {
    const odd = parities(state, goal);
    return odd.moves === odd.swaps;
  }

  /** Return the first layout that a state reaches; the first of all if it reaches none. */
  function layoutOf(state) {
    return layouts.find((layout) => joined(state, layout.state)) ?? layouts[0];
  }

  /** Return the view of any goal as one of the layouts: the board turned or mirrored, tiles renamed. */
  function turned(goal) {
    const ways = [0, 1, 2, 3].map((flip) => Array.from({ length: cells }, (_, cell) => {
      const [row, column] = [Math.floor(cell / columns), cell % columns];
      return (flip & 1 ? rows - 1 - row : row) * columns + (flip & 2 ? columns - 1 - column : column);
    }));
    if (rows === columns) {
      ways.push(...ways.map((way) => way.map((cell) => (cell % columns) * columns + Math.floor(cell / columns))));
    }
    const blank = goal.indexOf("0");
    const seen = (way) => layouts.find(({ state }) => state.indexOf("0") === way.indexOf(blank));
    const way = ways.find(seen);
    const layout = seen(way);
    const names = {};
    way.forEach((cell, at) => { names[goal[cell]] = layout.state[at]; });
    const back = Object.fromEntries(Object.entries(names).map(([tile, name]) => [name, tile]));
    return {
      layout,
      state: (state) => way.map((cell) => names[state[cell]]).join(""),
      undone: (state) => {
        const found = [];
        way.forEach((cell, at) => { found[cell] = back[state[at]]; });
        return found.join("");
      },
    };
  }

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

  /** Return a random state that reaches the goal. */
  function random(goal) {
    const left = [...tiles];
    const state = tiles.replace(/./g, () => left.splice(Math.floor(Math.random() * left.length), 1)[0]);
    if (joined(state, goal)) return state;
    const [one, other] = [...state].filter((tile) => tile !== "0");
    return exchanged(state, state.indexOf(one), state.indexOf(other));
  }

  return {
    rows, columns, cells, layouts, problem, moves, parities, joined, layoutOf, facts, hardest, random,
    /** Return the fewest moves to the goal; null if it is unreachable. */
    distance: (state, goal) => measured(turned(goal), state)?.distance ?? null,
  };
}
