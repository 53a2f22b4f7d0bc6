// The knight in study: two squares or a number to choose, and the tour, which is animated.
import {
  calm,
  make,
  onTyped,
  pickOne,
  quoted,
  say,
  setFacts,
  setProblem,
  writeNumber,
} from "#page/dom.js";
import {
  BOARDS,
  boardProblem,
  knightFacts,
  listed,
  noNumber,
  noStart,
  noTour,
  toursOf,
} from "#page/knight_tours.js";
import { makePlayer } from "#page/player.js";

const KNIGHT_MS = 130;
const KNIGHT_FIRST = ["b1", "a3"];
const BOARD_NAME = /^[0-9]+x[0-9]+$/;
const WHOLE_NUMBER = /^[0-9]+$/;

/** Make the part of the view that studies; `changed(parts, how)` changes the address. */
export function makeKnightStudy({ drawing, mine, changed }) {
  let board = null;
  let start = null;
  let facts = null;
  const fields = { start: mine("start"), end: mine("end"), number: mine("number") };
  const player = makePlayer(mine("player"), {
    name: "Jumps made",
    step: "jump",
    delay: KNIGHT_MS,
    show: shown,
    stopped: () => changed(parts(), { replace: true }),
  });

  const end = () => facts?.squares.at(-1) ?? null;
  const name = (square) => board.nameOf(square);

  /** Show a board with no square chosen. */
  function lay(to) {
    [board, start, facts] = [to, null, null];
    drawing.lay(board);
  }

  /** Return what is shown as parts of an address: a board, a start, a tour and the step if it is not the last. */
  function parts() {
    return [
      ...(listed(board) ? [board.name] : []),
      ...(start === null ? [] : [name(start)]),
      ...(facts ? [listed(board) ? facts.number : facts.finish] : []),
      ...(facts && player.at < player.last ? [player.at] : []),
    ];
  }

  /** Choose a start and its tour with a number, the start alone, or nothing. `draw` animates the tour. */
  function begin(from, number = null, { draw = true, step, ...how } = {}) {
    start = from;
    facts = number === null ? null : knightFacts(board, start, number);
    const texts = {
      start: start === null ? "" : name(start),
      end: facts?.finish ?? "",
      number: facts?.number ?? "",
    };
    for (const [key, field] of Object.entries(fields)) {
      if (document.activeElement !== field) field.value = texts[key];
    }
    problem("");
    const isAnimated = draw && facts && !calm();
    const last = facts ? board.count - 1 : 0;
    player.set(last, isAnimated ? 0 : Math.min(step ?? last, last));
    paint(player.at);
    answer();
    tell();
    if (!isAnimated) return changed(parts(), how);
    // the address is that of the whole tour
    changed(parts().slice(0, -1), how);
    return player.start();
  }

  function picked(square) {
    if (start === null || facts) {
      const none = noStart(board, square);
      if (none) problem(none);
      else begin(square);
    } else if (square === start) {
      begin(null);
    } else if (noTour(board, start, square)) {
      problem(noTour(board, start, square));
    } else {
      begin(start, toursOf(board).numberTo(start, square));
    }
  }

  function shown(at, { moved, playing }) {
    paint(at);
    if (moved && !playing) say(`${at + 1}: ${name(facts.squares[at])}.`);
  }

  function paint(at) {
    const visited = facts ? facts.squares.slice(0, at + 1) : [];
    const isChoosing = start !== null && !facts;
    const isBarred = (square) =>
      isChoosing
        ? square !== start && Boolean(noTour(board, start, square))
        : start === null && Boolean(noStart(board, square));
    const isClosing = (square) => isChoosing && !isBarred(square) && board.jump(start, square) > 0;
    drawing.paint({
      visited,
      standing: visited.at(-1) ?? start ?? undefined,
      isClosed: facts?.closed && at === board.count - 1,
      marks: (square) => [
        [square === start, "start", "start"],
        [square === end(), "end", "end"],
        [isBarred(square), "barred", isChoosing ? "cannot end here" : "cannot start here"],
        [isClosing(square), "closing", "ends a closed tour"],
      ],
    });
    const words = wordTour(at);
    ["now", "kind", "ends"].forEach((part, place) => {
      mine(part).textContent = words[place];
    });
  }

  /** Return what is said above the board at a step of the tour, of what kind the tour is, and what follows that. */
  function wordTour(at) {
    if (facts) {
      const { start: from, finish, closed } = facts;
      const now = `${from} to ${finish}: square ${at + 1} of ${board.count} is ${name(facts.squares[at])}.`;
      return [now, closed ? "Closed" : "Open", `tour from ${from} to ${finish}`];
    }
    if (start === null)
      return ["Choose the square where the tour starts.", "Start?", "choose a square"];
    const [from, total] = [name(start), writeNumber(toursOf(board).total(start))];
    return listed(board)
      ? [
          `From ${from}: now choose where it ends, or a number.`,
          "End?",
          `${total} tours start at ${from}`,
        ]
      : [
          `From ${from}: now choose where it ends.`,
          "End?",
          `${total} squares can end a tour from ${from}`,
        ];
  }

  function answer() {
    const total = start === null ? 0 : toursOf(board).total(start);
    mine("legend").hidden = start === null || facts !== null;
    mine("turn").disabled = !facts;
    mine("other").disabled = start === null;
    mine("next").disabled = !facts || facts.number + 1 === total;
    const spaced = (list) => make("span", { class: "tiles" }, list.join(" "));
    setFacts(
      mine("facts"),
      !facts
        ? []
        : [
            ["Why", `its end is ${facts.closed ? "" : "not "}one jump from its start`],
            [
              "Number",
              writeNumber(facts.number),
              " ",
              make(
                "small",
                {},
                listed(board)
                  ? `from 0, of all ${writeNumber(total)} from ${facts.start}`
                  : `from 0, of the ${total} from ${facts.start} on this page, one for each end`,
              ),
            ],
            ["Squares", spaced(facts.squares.map(name))],
            [
              "Jumps",
              make(
                "details",
                {},
                make("summary", {}, "as numbers from 1 to 8"),
                spaced(facts.jumps),
                " ",
                make(
                  "small",
                  {},
                  "numbered clockwise from 1, two up and one left, to 8, one up and two left",
                ),
              ),
            ],
          ],
    );
  }

  function tell() {
    if (facts)
      say(`${facts.closed ? "A closed" : "An open"} tour from ${facts.start} to ${facts.finish}.`);
    else say(mine("now").textContent);
  }

  const problem = (text, field) => setProblem(mine("problem"), text, field);

  /** Return the square that a text names, or its problem. */
  function squareOf(text) {
    const bad = board.problem(text);
    return bad ? [null, `${quoted(text)} is not a square: ${bad}.`] : [board.numberOf(text), ""];
  }

  /** Return the number of the tour from a start that a text names, by its number or its end. */
  function tourOf(from, text) {
    if (WHOLE_NUMBER.test(text)) {
      const none = noNumber(board, from, Number(text));
      return none ? [null, none] : [Number(text), ""];
    }
    const [square, bad] = squareOf(text);
    const none = bad || noTour(board, from, square);
    return none ? [null, none] : [toursOf(board).numberTo(from, square), ""];
  }

  /** Return the number of the tour that the text of a field, not empty, is for, or its problem. */
  function numberFor(key, text) {
    if (start === null) return [null, "Choose the start first."];
    if (key === "end" && WHOLE_NUMBER.test(text)) return squareOf(text);
    if (key === "end" || WHOLE_NUMBER.test(text)) return tourOf(start, text);
    return [null, `${quoted(text)} is not a tour’s number: it must be a whole number from 0.`];
  }

  onTyped(fields.start, {
    length: () => 2,
    check: (text) => text && (squareOf(text)[1] || noStart(board, board.numberOf(text))),
    set(text) {
      const square = board.numberOf(text);
      if (!text || square === start) return;
      begin(
        square,
        facts && !noTour(board, square, end()) ? toursOf(board).numberTo(square, end()) : null,
      );
    },
  });
  for (const [key, length] of [
    ["end", 2],
    ["number", Infinity],
  ]) {
    onTyped(fields[key], {
      length: () => length,
      check: (text) => (text && text !== facts?.finish ? numberFor(key, text)[1] : ""),
      set(text) {
        const number = text && text !== facts?.finish ? numberFor(key, text)[0] : facts?.number;
        if (number !== facts?.number) begin(start, number);
      },
    });
  }

  /** Return a random square where tours begin. */
  const anyStart = () => pickOne(board.squares.filter((square) => toursOf(board).total(square)));

  mine("random").addEventListener("click", () => {
    const from = anyStart();
    begin(from, Math.floor(Math.random() * toursOf(board).total(from)));
  });
  mine("closed").addEventListener("click", () => {
    const from = start ?? anyStart();
    const others = board.neighbours[from].filter((to) => !noTour(board, from, to) && to !== end());
    if (others.length) begin(from, toursOf(board).numberTo(from, pickOne(others)));
    else problem(`No tour of ${board.name} from ${name(from)} is closed.`);
  });
  mine("next").addEventListener("click", () => begin(start, facts.number + 1));
  mine("turn").addEventListener("click", () => begin(end(), toursOf(board).numberTo(end(), start)));
  mine("other").addEventListener("click", () => begin(start));
  return {
    /** Show another board, and nothing chosen on it. */
    use(to) {
      lay(to);
      begin(null);
    },
    pick: picked,
    /** Show a tour by its number, or a start. */
    begin(to, from, number) {
      lay(to);
      begin(from, number, { draw: false });
    },
    /** Return the board and the squares that are drawn. */
    get place() {
      return {
        board,
        squares: facts ? facts.squares.slice(0, player.at + 1) : start === null ? [] : [start],
      };
    },
    title: () => (facts ? `${facts.start} to ${facts.finish}` : "choose"),
    leave: () => player.halt(),
    /** Show the contents of an address: a board or none, a start, a tour's end or number, a step; return its problem. */
    show(given) {
      const named = BOARD_NAME.test(given[0] ?? "");
      const [text, from, which, step] = named
        ? given
        : ["8x8", ...(given.length ? given : KNIGHT_FIRST)];
      const unknown = boardProblem(text);
      lay(BOARDS[unknown ? "8x8" : text]);
      let [square, bad] = unknown || from === undefined ? [null, unknown] : squareOf(from);
      let number = null;
      if (square !== null && noStart(board, square)) [square, bad] = [null, noStart(board, square)];
      if (square !== null && which !== undefined) [number, bad] = tourOf(square, which);
      const isStep = step === undefined || (WHOLE_NUMBER.test(step) && Number(step) < board.count);
      // a tour from the address is shown complete, without animation
      begin(square, number, {
        draw: false,
        step: isStep && step ? Number(step) : undefined,
        replace: true,
      });
      return (
        bad ||
        (isStep ? "" : `${quoted(step)} is not a step of a tour: they are 0 to ${board.count - 1}.`)
      );
    },
  };
}
