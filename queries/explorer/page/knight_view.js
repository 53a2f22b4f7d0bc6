// The knight's view: two squares to choose, and the tour between them that draws itself.
import { byId, calm, drawn, make, pickOne, quoted, say, setFacts, setProblem } from "./dom.js";
import { makeGrid } from "./grid.js";
import {
  jumpBetween, KNIGHT_SQUARES, knightFacts, light, noTour, openKnight, squareName, squareNumber,
  squareProblem,
} from "./knight.js";
import { makePlayer } from "./player.js";

const KNIGHT_MS = 130;
const KNIGHT_FIRST = ["b1", "a3"];
const ALL_SQUARES = Array.from({ length: KNIGHT_SQUARES }, (_, square) => square);

/** The board is drawn from above: its first button is a8. The same rule leads back. */
const flipped = (cell) => 8 * (7 - Math.floor(cell / 8)) + (cell % 8);

export function makeKnightView(went) {
  let start = null;
  let end = null;
  let facts = null;
  const fields = { start: byId("knight-start"), end: byId("knight-end") };
  const grid = makeGrid(byId("knight-board"), KNIGHT_SQUARES, 8, (cell) => picked(flipped(cell)));
  const path = drawn("polyline", { class: "path" });
  const back = drawn("line", { class: "way-back" });
  const rider = drawn("text", { class: "rider", "text-anchor": "middle", "dominant-baseline": "central" }, "♞");
  byId("knight-board").append(drawn("svg", {
    viewBox: "0 0 8 8", class: "tour", "aria-hidden": "true",
  }, back, path, rider));
  byId("knight-ranks").append(...[..."87654321"].map((rank) => make("span", {}, rank)));
  byId("knight-files").append(...[..."abcdefgh"].map((file) => make("span", {}, file)));
  const player = makePlayer(byId("knight-player"), {
    name: "Jumps made", step: "jump", delay: KNIGHT_MS, show: shown,
  });

  const button = (square) => grid.cells[flipped(square)];
  const middle = (square) => [(square % 8) + 0.5, 7.5 - Math.floor(square / 8)];

  /** Choose both squares, the first alone, or none. `draw` makes the tour draw itself. */
  function begin(from, to, { draw = true, ...how } = {}) {
    [start, end] = [from, to];
    facts = start === null || end === null ? null : knightFacts(start, end);
    for (const [key, square] of [["start", start], ["end", end]]) {
      if (document.activeElement !== fields[key]) fields[key].value = square === null ? "" : squareName(square);
    }
    problem("");
    const drawing = draw && facts && !calm();
    player.set(facts ? KNIGHT_SQUARES - 1 : 0, facts && !drawing ? KNIGHT_SQUARES - 1 : 0);
    if (drawing) player.start();
    answer();
    told();
    went([start, end].filter((square) => square !== null).map(squareName), how);
  }

  function picked(square) {
    if (start === null || end !== null) {
      begin(square, null);
    } else if (square === start) {
      begin(null, null);
    } else if (noTour(start, square)) {
      problem(noTour(start, square));
    } else {
      begin(start, square);
    }
  }

  function shown(at, { moved = false, playing = false }) {
    const done = facts ? facts.squares.slice(0, at + 1) : [];
    const order = new Map(done.map((square, place) => [square, place + 1]));
    for (const square of ALL_SQUARES) paint(square, order.get(square));
    path.setAttribute("points", done.map((square) => middle(square).join()).join(" "));
    const whole = facts?.closed && at === KNIGHT_SQUARES - 1;
    back.toggleAttribute("hidden", !whole);
    if (whole) {
      const [[x1, y1], [x2, y2]] = [end, start].map(middle);
      for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) back.setAttribute(name, value);
    }
    const standing = done.at(-1) ?? start;
    rider.toggleAttribute("hidden", standing === null);
    if (standing !== null) {
      const [x, y] = middle(standing);
      rider.setAttribute("x", x);
      rider.setAttribute("y", y);
    }
    now(at);
    if (moved && !playing) say(`${at + 1}: ${squareName(standing)}.`);
  }

  function paint(square, place) {
    const choosing = start !== null && end === null;
    const barred = choosing && square !== start && Boolean(noTour(start, square));
    const closing = choosing && jumpBetween(start, square) > 0;
    const cell = button(square);
    cell.className = [
      light(square) ? "light" : "dark", barred && "barred", closing && "closing",
      square === start && "start", square === end && "end",
    ].filter(Boolean).join(" ");
    const standing = facts ? facts.squares[player.at] === square : square === start;
    cell.replaceChildren(make("span", { class: "place" }, place && !standing ? String(place) : ""));
    const said = [squareName(square)];
    if (square === start) said.push("start");
    if (square === end) said.push("end");
    if (place) said.push(`number ${place}`);
    if (barred) said.push("cannot end here");
    if (closing) said.push("ends a closed tour");
    cell.setAttribute("aria-label", said.join(", "));
  }

  function now(at) {
    byId("knight-now").textContent = facts
      ? `${squareName(start)} to ${squareName(end)}: square ${at + 1} of 64 is ${squareName(facts.squares[at])}.`
      : start === null ? "Choose the square where the tour starts."
        : `From ${squareName(start)}: now choose where it ends.`;
  }

  function answer() {
    byId("knight-kind").textContent = facts ? (facts.closed ? "Closed" : "Open") : start === null ? "Start?" : "End?";
    byId("knight-ends").textContent = facts
      ? `tour from ${facts.start} to ${facts.end}`
      : start === null ? "choose a square" : `32 squares can end a tour from ${squareName(start)}`;
    byId("knight-legend").hidden = start === null || end !== null;
    byId("knight-turn").disabled = !facts;
    byId("knight-other").disabled = start === null;
    if (!facts) {
      setFacts(byId("knight-facts"), []);
      return;
    }
    const spaced = (list) => make("span", { class: "tiles" }, list.join(" "));
    setFacts(byId("knight-facts"), [
      ["Why", facts.closed ? "its end is a jump from its start, so it could go round again"
        : "its end is not a jump from its start"],
      ["Squares", spaced(facts.squares.map(squareName))],
      ["Jumps", spaced(facts.jumps), " ", make("small", {}, "numbered clockwise from 1, two up and one left, "
        + "to 8, one up and two left")],
    ]);
  }

  function told() {
    if (facts) say(`${facts.closed ? "A closed" : "An open"} tour from ${facts.start} to ${facts.end}.`);
    else say(byId("knight-now").textContent);
  }

  function problem(text, field) {
    setProblem(byId("knight-problem"), text, text && field ? [field] : Object.values(fields));
  }

  function entered(key) {
    const text = fields[key].value.trim().toLowerCase();
    if (text.length < 2) return;
    const bad = squareProblem(text);
    problem(bad && `${quoted(text)} is not a square: ${bad}.`, fields[key]);
    if (bad) return;
    const square = squareNumber(text);
    if (key === "start") {
      if (square !== start) begin(square, end === null || noTour(square, end) ? null : end);
    } else if (start === null) {
      problem("Choose the start first.", fields.end);
    } else if (noTour(start, square)) {
      problem(noTour(start, square), fields.end);
    } else if (square !== end) {
      begin(start, square);
    }
  }

  for (const key of ["start", "end"]) fields[key].addEventListener("input", () => entered(key));
  byId("knight-random").addEventListener("click", () => {
    const from = pickOne(ALL_SQUARES);
    begin(from, pickOne(ALL_SQUARES.filter((to) => !noTour(from, to))));
  });
  byId("knight-closed").addEventListener("click", () => {
    const from = start ?? pickOne(ALL_SQUARES);
    const others = ALL_SQUARES.filter((to) => jumpBetween(from, to) > 0 && to !== end);
    begin(from, pickOne(others));
  });
  byId("knight-turn").addEventListener("click", () => begin(end, start));
  byId("knight-other").addEventListener("click", () => begin(start, null));

  return {
    name: "Knight’s tour",
    board: "knight-board",
    open: openKnight,
    title: () => (facts ? `${facts.start} to ${facts.end}` : "choose"),
    leave: () => player.halt(),
    show(parts) {
      const named = parts.length ? parts : KNIGHT_FIRST;
      const problems = [];
      const [from, to] = named.slice(0, 2).map((text) => {
        const bad = squareProblem(text);
        if (bad) problems.push(`${quoted(text)} is not a square: ${bad}.`);
        return bad ? null : squareNumber(text);
      });
      const joined = from === null || to === undefined || to === null ? null : to;
      if (joined !== null && noTour(from, joined)) problems.push(noTour(from, joined));
      // the first look shows a whole tour; one that was asked for draws itself
      const good = joined !== null && !noTour(from, joined);
      begin(from, good ? joined : null, { draw: false, replace: true });
      problem(problems.join(" "));
    },
  };
}
