// The rules of sliding boards of every size. Cells are numbered in reading order; a state has one
// character per cell in that order, 0 for the blank and a letter for each tile from 10 on. A move's letter
// is the direction in which the blank goes.
const CHARACTERS = "0123456789abcdef";

/** Return the state with the contents of two cells exchanged. */
export function exchanged(state, one, other) {
  const cells = [...state];
  [cells[one], cells[other]] = [cells[other], cells[one]];
  return cells.join("");
}

/** Return the state with the tiles in reading order and the blank on a cell. */
export function inOrder(cells, blank) {
  const tiles = CHARACTERS.slice(1, cells);
  return `${tiles.slice(0, blank)}0${tiles.slice(blank)}`;
}

/** Return a tile's number as people write it. */
export function nameTile(tile) {
  return String(Number.parseInt(tile, 16));
}

/** Return whether the number of pairs in another order than in the goal is odd. */
function oddSwaps(state, goal) {
  const order = [...state].map((tile) => goal.indexOf(tile));
  return order.filter((one, at) => order.slice(at).filter((later) => later < one).length % 2).length % 2 === 1;
}

/** Make the rules of a board. `layouts` are its named goals, each with its `name`, `state` and `label`. */
export function makeRules({ rows, columns, layouts }) {
  const cells = rows * columns;
  const step = { U: -columns, D: columns, L: -1, R: 1 };
  const tiles = inOrder(cells, cells - 1);
  const known = cells > 10 ? CHARACTERS : CHARACTERS.slice(0, 10);

  /** Return the state that a text means: characters or numbers, with or without separators. */
  function parse(text) {
    const words = text.trim().split(/[\s,]+/);
    const isNumbers = words.length === cells && words.every((word) => /^\d+$/.test(word) && Number(word) < cells);
    return isNumbers ? words.map((word) => CHARACTERS[Number(word)]).join("") : words.join("").toLowerCase();
  }

  /** Return the problem of a text that should be a state; "" if there is none. */
  function problem(text) {
    if (!text) return "it is empty";
    const foreign = [...text].find((letter) => !known.includes(letter));
    const last = CHARACTERS[cells - 1];
    if (foreign) return `“${foreign}” is not one of the ${cells > 10 ? "characters" : "digits"} 0–${last}`;
    const said = [];
    if (text.length !== cells) said.push(`it has ${text.length} digit${text.length > 1 ? "s" : ""}, not ${cells}`);
    const called = (digit) => (digit === "0" ? "the blank (0)" : `tile ${nameTile(digit)}`);
    for (const digit of `${known.slice(1)}0`) {
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

  /** Return the states on the way of some letters, the start first; it ends at a letter that is no move. */
  function follow(start, letters) {
    const states = [start];
    for (const letter of letters) {
      const move = moves(states.at(-1)).find((open) => open.letter === letter);
      if (!move) break;
      states.push(move.after);
    }
    return states;
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
    if (!way) return null;
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

  /** Return a random state that reaches the goal. */
  function random(goal) {
    const left = [...tiles];
    const state = tiles.replace(/./g, () => left.splice(Math.floor(Math.random() * left.length), 1)[0]);
    if (joined(state, goal)) return state;
    const [one, other] = [...state].filter((tile) => tile !== "0");
    return exchanged(state, state.indexOf(one), state.indexOf(other));
  }

  return {
    rows, columns, cells, layouts, parse, problem, moves, follow, parities, joined, layoutOf, turned, random,
  };
}
