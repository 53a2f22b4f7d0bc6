// A game on a sliding board: its rules, which are the package's, and what people type and read.
import { quote } from "#page/text.js";
import { Board, makeGoal, swapCells } from "#tables/sliding.js";

/** Return a tile's number as people write it. */
export function nameTile(tile) {
  return String(Number.parseInt(tile, 16));
}

/** Describe the game of a board, rows x columns, and its goals. */
export function describeBoard(board, goals) {
  const [rows, columns] = board.split("x").map(Number);
  const label = ({ state }) => {
    const cell = state.indexOf("0");
    const where = `row ${Math.floor(cell / columns) + 1}, column ${(cell % columns) + 1}`;
    return cell === state.length - 1 ? "Gap last" : `Gap in ${where}`;
  };
  return {
    rows,
    columns,
    goals: goals.map((goal) => ({ label: label(goal), ...goal })),
    title: `Sliding board ${rows}×${columns}`,
    name: board,
  };
}

/**
 * A game, described by a board's goals, each with a `label`, its `title`, its `name` in the address, `first()`,
 * the state that it begins with, `open()`, which makes it ready, and what the page says it `knows`.
 */
export class Game extends Board {
  constructor(described) {
    super(described);
    Object.assign(this, described);
  }

  /** Return the problem of a text that should be a state; "" if there is none. */
  problem(text) {
    if (!text) return "it is empty";
    const known = this.cells > 10 ? "0123456789abcdef" : "0123456789";
    const foreign = [...text].find((letter) => !known.includes(letter));
    if (foreign)
      return `“${foreign}” is not one of the ${this.cells > 10 ? "characters" : "digits"} 0–${this.marks.at(-1)}`;
    const problems = [];
    if (text.length !== this.cells)
      problems.push(`it has ${text.length} digit${text.length > 1 ? "s" : ""}, not ${this.cells}`);
    const called = (digit) => (digit === "0" ? "the blank (0)" : `tile ${nameTile(digit)}`);
    for (const digit of `${known.slice(1)}0`) {
      const count = text.split(digit).length - 1;
      if (!this.marks.includes(digit) && count) problems.push(`${called(digit)} does not exist`);
      else if (count > 1)
        problems.push(`${called(digit)} appears ${count === 2 ? "twice" : `${count} times`}`);
    }
    if (text.length >= this.cells) {
      const missing = [...makeGoal(this.cells, this.cells - 1)].filter(
        (digit) => !text.includes(digit),
      );
      problems.push(...missing.map((digit) => `${called(digit)} is missing`));
    }
    return problems.join(", ");
  }

  /** Return why the game has no answers for a goal; "" if it has. */
  goalProblem(goal) {
    return this.viewGoal(goal) ? "" : this.goalsHere;
  }

  /** Return the states on the way of some letters, the start first; it ends at a letter that is no move. */
  follow(start, letters) {
    const states = [start];
    for (const letter of letters) {
      const move = this.moves(states.at(-1)).find((open) => open.letter === letter);
      if (!move) break;
      states.push(move.after);
    }
    return states;
  }

  /** Return the letters of the moves that a text names, by letters or by tiles, and the problem of the first that is none. */
  readMoves(start, text) {
    const words = text.trim().split(/[\s,]+/);
    const steps =
      words.every((word) => /^\d+$/.test(word)) && words.length > 1
        ? words.map((word) => this.marks[Number(word)])
        : [...words.join("")];
    const isLetters = steps.every((step) => "UDLRudlr".includes(step));
    let [state, letters] = [start, ""];
    for (const step of steps) {
      const move = this.moves(state).find((one) =>
        isLetters ? one.letter === step.toUpperCase() : one.tile === step?.toLowerCase(),
      );
      if (!move)
        return {
          letters,
          problem: `Move ${letters.length + 1} of ${quote(text)} is not possible.`,
        };
      letters += move.letter;
      state = move.after;
    }
    return { letters, problem: "" };
  }

  /** Return a random state that reaches the goal. */
  random(goal) {
    const left = [...this.marks];
    const state = this.marks.replace(
      /./g,
      () => left.splice(Math.floor(Math.random() * left.length), 1)[0],
    );
    if (this.canReach(state, goal)) return state;
    const [one, other] = [...state].filter((tile) => tile !== "0");
    return swapCells(state, state.indexOf(one), state.indexOf(other));
  }

  /** Return the start and the goal of a day's board; null if there is none. */
  findToday() {
    return null;
  }

  /** Return a level of difficulty. */
  nameLevel(distance) {
    return { name: String(distance), label: `${distance} moves` };
  }
}
