// The knight's view: a board, two squares or a number to choose, and the tour, which is animated.
import {
  byId, calm, drawn, make, onEntered, pickOne, quoted, say, setFacts, setProblem,
} from "#page/dom.js";
import { makeGrid } from "#page/grid.js";
import { BOARDS } from "#page/knight.js";
import {
  firstTour, knightFacts, listed, noNumber, noStart, noTour, openKnight, toursFrom,
} from "#page/knight_tours.js";
import { makePlayer } from "#page/player.js";

const KNIGHT_MS = 130;
const KNIGHT_FIRST = ["b1", "a3"];
const BOARD_NAME = /^[0-9]+x[0-9]+$/;
const WHOLE_NUMBER = /^[0-9]+$/;

export function makeKnightView(went) {
  let board = null;
  let cells = []; // by square
  let start = null;
  let facts = null;
  const fields = { start: byId("knight-start"), end: byId("knight-end"), number: byId("knight-number") };
  const place = byId("knight-board");
  /** Map a button to its square, or back: the board is seen from above, the last rank first. */
  const flipped = (cell) => board.side * (board.side - 1 - Math.floor(cell / board.side)) + (cell % board.side);
  const grid = makeGrid(place, (cell) => picked(flipped(cell)));
  const path = drawn("polyline", { class: "path" });
  const back = drawn("line", { class: "way-back" });
  const rider = drawn("text", { class: "rider", "text-anchor": "middle", "dominant-baseline": "central" }, "♞");
  const tour = drawn("svg", { class: "tour", "aria-hidden": "true" }, back, path, rider);
  const player = makePlayer(byId("knight-player"), {
    name: "Jumps made", step: "jump", delay: KNIGHT_MS, show: shown,
  });

  const end = () => facts?.squares.at(-1) ?? null;
  const middle = (square) => [(square % board.side) + 0.5, board.side - 0.5 - Math.floor(square / board.side)];
  const name = (square) => board.nameOf(square);
  const many = (count) => count.toLocaleString("en");

  /** Show a board with no square chosen. */
  function lay(to) {
    if (to === board) return;
    board = to;
    start = null;
    facts = null;
    const buttons = grid.lay(board.count, board.side);
    cells = board.squares.map((square) => buttons[flipped(square)]);
    byId("knight-frame").style.setProperty("--side", board.side);
    place.setAttribute("aria-label", `Chess board of ${board.name}`);
    tour.setAttribute("viewBox", `0 0 ${board.side} ${board.side}`);
    place.append(tour);
    const labels = (id, texts) => byId(id).replaceChildren(...texts.map((text) => make("span", {}, text)));
    labels("knight-ranks", board.squares.slice(0, board.side).map((rank) => String(board.side - rank)));
    labels("knight-files", [...board.files]);
    for (const button of document.querySelectorAll("#view-knight [data-board]")) {
      button.setAttribute("aria-pressed", String(button.dataset.board === board.name));
    }
  }

  /** Choose a start and its tour with a number, the start alone, or nothing. `draw` animates the tour. */
  function begin(from, number = null, { draw = true, ...how } = {}) {
    start = from;
    facts = number === null ? null : knightFacts(board, start, number);
    const texts = { start: start === null ? "" : name(start), end: facts?.finish ?? "", number: facts?.number ?? "" };
    for (const [key, field] of Object.entries(fields)) {
      if (document.activeElement !== field) field.value = texts[key];
    }
    problem("");
    const drawing = draw && facts && !calm();
    const last = facts ? board.count - 1 : 0;
    player.set(last, drawing ? 0 : last);
    if (drawing) player.start();
    answer();
    told();
    went([
      ...(listed(board) ? [board.name] : []),
      ...(start === null ? [] : [name(start)]),
      ...(facts ? [listed(board) ? facts.number : facts.finish] : []),
    ], how);
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
      begin(start, firstTour(board, start, square));
    }
  }

  function shown(at, { moved = false, playing = false }) {
    const done = facts ? facts.squares.slice(0, at + 1) : [];
    const order = new Map(done.map((square, step) => [square, step + 1]));
    for (const square of board.squares) paint(square, order.get(square));
    path.setAttribute("points", done.map((square) => middle(square).join()).join(" "));
    const whole = facts?.closed && at === board.count - 1;
    back.toggleAttribute("hidden", !whole);
    if (whole) {
      const [[x1, y1], [x2, y2]] = [end(), start].map(middle);
      for (const [key, value] of Object.entries({ x1, y1, x2, y2 })) back.setAttribute(key, value);
    }
    const standing = done.at(-1) ?? start;
    rider.toggleAttribute("hidden", standing === null);
    if (standing !== null) {
      const [x, y] = middle(standing);
      rider.setAttribute("x", x);
      rider.setAttribute("y", y);
    }
    now(at);
    if (moved && !playing) say(`${at + 1}: ${name(standing)}.`);
  }

  function paint(square, step) {
    const choosing = start !== null && !facts;
    const barred = choosing ? square !== start && Boolean(noTour(board, start, square))
      : start === null && Boolean(noStart(board, square));
    const closing = choosing && !barred && board.jump(start, square) > 0;
    const cell = cells[square];
    cell.className = [
      board.light(square) ? "light" : "dark", barred && "barred", closing && "closing",
      square === start && "start", square === end() && "end",
    ].filter(Boolean).join(" ");
    const standing = facts ? facts.squares[player.at] === square : square === start;
    cell.replaceChildren(make("span", { class: "place" }, step && !standing ? String(step) : ""));
    const said = [name(square)];
    if (square === start) said.push("start");
    if (square === end()) said.push("end");
    if (step) said.push(`number ${step}`);
    if (barred) said.push(choosing ? "cannot end here" : "cannot start here");
    if (closing) said.push("ends a closed tour");
    cell.setAttribute("aria-label", said.join(", "));
  }

  function now(at) {
    byId("knight-now").textContent = facts
      ? `${facts.start} to ${facts.finish}: square ${at + 1} of ${board.count} is ${name(facts.squares[at])}.`
      : start === null ? "Choose the square where the tour starts."
        : `From ${name(start)}: now choose where it ends${listed(board) ? ", or a number" : ""}.`;
  }

  function answer() {
    const total = start === null ? 0 : toursFrom(board, start);
    byId("knight-kind").textContent = facts ? (facts.closed ? "Closed" : "Open") : start === null ? "Start?" : "End?";
    byId("knight-ends").textContent = facts
      ? `tour from ${facts.start} to ${facts.finish}`
      : start === null ? "choose a square"
        : listed(board) ? `${many(total)} tours start at ${name(start)}`
          : `${total} squares can end a tour from ${name(start)}`;
    byId("knight-legend").hidden = start === null || facts !== null;
    byId("knight-turn").disabled = !facts;
    byId("knight-other").disabled = start === null;
    byId("knight-next").disabled = !facts || facts.number + 1 === total;
    if (!facts) {
      setFacts(byId("knight-facts"), []);
      return;
    }
    const spaced = (list) => make("span", { class: "tiles" }, list.join(" "));
    setFacts(byId("knight-facts"), [
      ["Why", facts.closed ? "its end is one jump from its start"
        : "its end is not one jump from its start"],
      ["Number", many(facts.number), " ", make("small", {}, listed(board)
        ? `from 0, of all ${many(total)} from ${facts.start}`
        : `from 0, of the ${total} from ${facts.start} on this page, one for each end`)],
      ["Squares", spaced(facts.squares.map(name))],
      ["Jumps", spaced(facts.jumps), " ", make("small", {}, "numbered clockwise from 1, two up and one left, "
        + "to 8, one up and two left")],
    ]);
  }

  function told() {
    if (facts) say(`${facts.closed ? "A closed" : "An open"} tour from ${facts.start} to ${facts.finish}.`);
    else say(byId("knight-now").textContent);
  }

  function problem(text, field) {
    setProblem(byId("knight-problem"), text, field);
  }

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
    return none ? [null, none] : [firstTour(board, from, square), ""];
  }

  function entered(key) {
    const field = fields[key];
    const text = field.value.trim().toLowerCase();
    // an incomplete text is not an error while the user types
    if (text.length < (key === "number" ? 1 : 2)) {
      problem("");
    } else if (key === "start") {
      const [square, bad] = squareOf(text);
      const none = bad || noStart(board, square);
      problem(none, field);
      if (none || square === start) return;
      const kept = facts && !noTour(board, square, end()) ? firstTour(board, square, end()) : null;
      begin(square, kept);
    } else if (start === null) {
      problem("Choose the start first.", field);
    } else if (key === "number" && !WHOLE_NUMBER.test(text)) {
      problem(`${quoted(text)} is not a tour’s number: it must be a whole number from 0.`, field);
    } else if (key === "end" && text === facts?.finish) {
      problem("");
    } else {
      const [number, none] = key === "end" && WHOLE_NUMBER.test(text) ? squareOf(text) : tourOf(start, text);
      problem(none, field);
      if (!none && number !== facts?.number) begin(start, number);
    }
  }

  /** Return a random square where tours begin. */
  const anyStart = () => pickOne(board.squares.filter((square) => toursFrom(board, square)));

  for (const key of ["start", "end"]) fields[key].addEventListener("input", () => entered(key));
  // an incomplete number is not an error: it is checked when it is entered
  onEntered(fields.number, () => entered("number"));
  fields.number.addEventListener("input", () => problem(""));
  byId("knight-random").addEventListener("click", () => {
    const from = anyStart();
    begin(from, Math.floor(Math.random() * toursFrom(board, from)));
  });
  byId("knight-closed").addEventListener("click", () => {
    const from = start ?? anyStart();
    const others = board.neighbours[from].filter((to) => !noTour(board, from, to) && to !== end());
    if (others.length) begin(from, firstTour(board, from, pickOne(others)));
    else problem(`No tour of ${board.name} from ${name(from)} is closed.`);
  });
  byId("knight-next").addEventListener("click", () => begin(start, facts.number + 1));
  byId("knight-turn").addEventListener("click", () => begin(end(), firstTour(board, end(), start)));
  byId("knight-other").addEventListener("click", () => begin(start));
  for (const button of document.querySelectorAll("#view-knight [data-board]")) {
    button.addEventListener("click", () => {
      lay(BOARDS[button.dataset.board]);
      begin(null);
    });
  }

  return {
    name: "Knight’s tour",
    board: "knight-board",
    open: openKnight,
    title: () => (facts ? `${facts.start} to ${facts.finish}` : "choose"),
    leave: () => player.halt(),
    /** Show the contents of an address: a board or none, a start, and a tour's end or number. */
    show(parts) {
      const named = BOARD_NAME.test(parts[0] ?? "");
      const [text, from, which] = named ? parts : ["8x8", ...(parts.length ? parts : KNIGHT_FIRST)];
      const known = Object.hasOwn(BOARDS, text);
      lay(BOARDS[known ? text : "8x8"]);
      let [square, bad] = !known ? [null, `${quoted(text)} is not a board of this page. Boards: 8x8, 6x6, 5x5.`]
        : from === undefined ? [null, ""] : squareOf(from);
      let number = null;
      if (square !== null && noStart(board, square)) [square, bad] = [null, noStart(board, square)];
      if (square !== null && which !== undefined) [number, bad] = tourOf(square, which);
      // a tour from the address is shown complete, without animation
      begin(square, number, { draw: false, replace: true });
      problem(bad);
    },
  };
}
