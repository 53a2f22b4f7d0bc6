// The knight in play: a tour of one's own, square by square.
import { quoted, say, writeNumber } from "#page/dom.js";
import { BOARDS, boardProblem, listed, noStart, toursOf } from "#page/knight_tours.js";
import { makeRound } from "#page/round.js";
import { drawNumber } from "#page/today.js";

const USUAL = "5x5";
const TODAY = BOARDS["6x6"]; // each of its squares begins tours

/** Make the part of the view that plays; `changed(parts, how)` changes the address. */
export function makeKnightPlay({ drawing, mine, name: view, changed }) {
  let board = BOARDS[USUAL];
  let squares = [];
  let hint = null;
  let told = ""; // the answer to the last question
  let hints = 0;
  const findToday = (number) => [TODAY.name, TODAY.nameOf(drawNumber(number, TODAY.count))];
  const round = makeRound({ name: view, mine }, () => "Knight’s tour", findToday);

  const name = (square) => board.nameOf(square);
  const isWhole = () => squares.length === board.count;
  const isOpen = (square) =>
    !squares.includes(square) &&
    (squares.length ? board.neighbours[squares.at(-1)].includes(square) : !noStart(board, square));
  const listOpen = () => board.squares.filter(isOpen);

  /** Return the tour so far as parts of its address. */
  function parts() {
    return [board.name, ...(squares.length ? [squares.map(name).join("")] : [])];
  }

  function paint() {
    const open = new Set(listOpen());
    const isBegun = squares.length > 0;
    drawing.paint({
      visited: squares,
      isClosed: isWhole() && isClosed(),
      marks: (square) => [
        [
          open.has(square),
          isBegun ? "reachable" : "",
          isBegun ? "can be reached" : "can be the start",
        ],
        [square === hint, "hinted", "the hint"],
        [square === squares[0], "start", ""],
        [!isBegun && !open.has(square), "barred", "cannot start here"],
      ],
    });
    mine("again").classList.toggle("main", isWhole());
    round.show({
      count: squares.length,
      noun: `of ${board.count} squares`,
      word: word(open.size),
      isSolved: isWhole(),
      hidden: {
        help: isWhole() || (squares.length && !open.size),
        ask: !squares.length || isWhole(),
        undo: !squares.length,
        again: !squares.length,
      },
      hints,
      score: isWhole() ? `${board.count}/${board.count}` : "",
    });
  }

  const isClosed = () => board.jump(squares.at(-1), squares[0]) > 0;

  /** Return what is said of the tour now. */
  function word(open) {
    if (isWhole())
      return `You made a tour! It is ${isClosed() ? "closed" : "open"}. ${wordNumber()}`;
    if (told) return told;
    return squares.length && !open ? "The knight is stuck: undo some jumps, or start again." : "";
  }

  function wordNumber() {
    const number = toursOf(board).numberOf(squares);
    if (number === null)
      return "This page does not know its number: it has too few of the board’s tours.";
    const [place, all] = [number, toursOf(board).total(squares[0])].map(writeNumber);
    return `Of the ${all} tours from ${name(squares[0])}, numbered from 0, it is number ${place}.`;
  }

  /** Answer whether the squares so far can become a tour. */
  function ask() {
    const { tour, isSure } = toursOf(board).complete(squares);
    const count = tour && toursOf(board).count(squares);
    const ways = count
      ? ` ${count === 1 ? "One tour begins" : `${writeNumber(count)} tours begin`} like this.`
      : "";
    if (tour) return `Yes, it can still be completed.${ways}`;
    return isSure ? "No: no tour begins like this. Undo some jumps." : "This page does not know.";
  }

  /** Mark the next square of a tour that begins like this. */
  function help() {
    if (!squares.length) {
      hint = listOpen()[0];
      return `Hint: start at ${name(hint)}.`;
    }
    const { tour, isSure } = toursOf(board).complete(squares);
    hint = tour ? tour[squares.length] : null;
    if (tour) return `Hint: jump to ${name(hint)}.`;
    return isSure ? "No tour begins like this: undo some jumps." : "This page does not know.";
  }

  function pick(square) {
    if (squares.at(-1) === square) return undo();
    if (isOpen(square)) return set([...squares, square]);
    told = squares.length
      ? squares.includes(square)
        ? `The knight has been on ${name(square)}.`
        : `${name(square)} is not a jump from ${name(squares.at(-1))}.`
      : noStart(board, square);
    return refresh();
  }

  function undo() {
    set(squares.slice(0, -1));
  }

  function set(to, how = { replace: true }) {
    squares = to;
    hints = how.hints ?? (squares.length < 2 ? 0 : hints);
    round.begin([board.name, ...squares.slice(0, 1).map(name)], squares.length > 1 || hints > 0);
    hint = null;
    told = "";
    refresh(how);
  }

  function refresh(how = { replace: true }) {
    paint();
    const last = squares.length ? `${squares.length}: ${name(squares.at(-1))}. ` : "";
    say(last + mine("word").textContent);
    changed(parts(), how);
  }

  mine("help").addEventListener("click", () => {
    if (hint === null) hints++;
    told = help();
    refresh();
  });
  mine("ask").addEventListener("click", () => {
    if (!told) hints++;
    told = ask();
    refresh();
  });
  mine("undo").addEventListener("click", undo);
  mine("again").addEventListener("click", () => set([], { replace: false }));

  /** Show a game; `how` has its hints too, if who plays has seen a tour. */
  function begin(to, path, how) {
    board = to;
    drawing.lay(board);
    set(path, how);
  }

  return {
    use: (to) => begin(to, [], {}),
    pick,
    begin,
    get place() {
      return { board, squares };
    },
    title: () => `${squares.length} of ${board.count}`,
    /** Show the contents of an address: a board, and the squares so far; return its problem. */
    show([text = USUAL, path = ""]) {
      const bad = boardProblem(text);
      board = BOARDS[bad ? USUAL : text];
      const { squares: read, problem } = readPath(board, bad ? "" : path);
      begin(board, read, { replace: true });
      return bad || problem;
    },
    /** Return the number of the tour, if it is whole and has one. */
    get number() {
      return isWhole() && listed(board) ? toursOf(board).numberOf(squares) : null;
    },
  };
}

/** Return the squares that a text names, up to the first that is no jump, and its problem. */
function readPath(board, text) {
  const squares = [];
  for (const word of text.match(/.{1,2}/gu) ?? []) {
    const bad = board.problem(word);
    if (bad) return { squares, problem: `${quoted(word)} is not a square: ${bad}.` };
    const square = board.numberOf(word);
    if (squares.includes(square)) return { squares, problem: `${word} is visited twice.` };
    if (!squares.length && noStart(board, square))
      return { squares, problem: noStart(board, square) };
    if (squares.length && !board.jump(squares.at(-1), square)) {
      return {
        squares,
        problem: `${word} is not a knight’s jump from ${board.nameOf(squares.at(-1))}.`,
      };
    }
    squares.push(square);
  }
  return { squares, problem: "" };
}
