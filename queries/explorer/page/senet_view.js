// Senet's view: a position to set up, its plies, and the shortest line that leads to it.
import {
  byId, calm, counted, make, onEntered, pickOne, quoted, say, setFacts, setProblem,
} from "#page/dom.js";
import { makeGrid } from "#page/grid.js";
import { makePlayer } from "#page/player.js";
import {
  guarded, openSenet, SENET_OPENING, SENET_POSITIONS, SENET_SQUARES, senetFacts, senetFarthest,
  senetLine, senetProblem, senetRanks, unrankSenet, wholeSenet,
} from "#page/senet.js";

const SENET_FIRST = "ABAAABBB.B...A.";
const SENET_MS = 1200;
const NEXT = { ".": "A", A: "B", B: "." };
const PIECE_KEYS = { a: "A", b: "B", ".": ".", " ": null, Delete: ".", Backspace: "." };

export function makeSenetView(went) {
  let position = SENET_FIRST;
  let draft = null; // squares being set up, not a position yet
  let facts = null;
  let line = [];
  const field = byId("senet-position");
  const cells = makeGrid(byId("senet-board"), (cell) => put(cell, NEXT[onBoard()[cell]]), typed)
    .lay(SENET_SQUARES, SENET_SQUARES);
  const player = makePlayer(byId("senet-player"), {
    name: "Place in the line of play", step: "ply", delay: SENET_MS, show: shown,
  });

  /** Return the position after a number of plies of the line. */
  function after(plies) {
    return plies < line.length ? line[plies].before : position;
  }

  function onBoard() {
    return draft ?? after(player.at);
  }

  function begin(to, how = {}) {
    position = to;
    draft = null;
    facts = senetFacts(position);
    setProblem(byId("senet-problem"), "");
    choose(facts.plies);
    told();
    went([position], how);
  }

  /** Show the line of a number of plies, at its end. */
  function choose(plies) {
    line = plies === null ? [] : senetLine(position, plies);
    player.set(line.length, line.length);
    answer();
  }

  function typed(cell, key) {
    const piece = PIECE_KEYS[key.length === 1 ? key.toLowerCase() : key];
    if (piece) put(cell, piece);
    return Boolean(piece);
  }

  function put(cell, piece) {
    player.halt();
    const squares = [...onBoard()];
    if (squares[cell] === piece) return;
    squares[cell] = piece;
    const text = squares.join("");
    const bad = senetProblem(text);
    if (!bad) {
      begin(text);
      return;
    }
    draft = text;
    line = [];
    facts = { position: text, plies: null };
    setProblem(byId("senet-problem"), "");
    player.set(0, 0);
    answer();
    say(`Square ${cell + 1}: ${piece === "." ? "empty" : piece}. Not yet a position: ${bad}.`);
  }

  function shown(at, { moved = false, from = at }) {
    const squares = onBoard();
    const made = at > 0 && !draft ? line[at - 1] : null;
    cells.forEach((button, cell) => {
      const piece = squares[cell];
      const held = guarded(squares, cell + 1);
      const last = made && (made.start === cell + 1 || made.goal === cell + 1);
      button.replaceChildren(make("span", { class: "square" }, String(cell + 1)));
      if (piece !== ".") {
        button.append(make("span", { class: `piece ${piece.toLowerCase()}${held ? " guarded" : ""}` }, piece));
      }
      button.classList.toggle("last", Boolean(last));
      button.setAttribute("aria-label", `square ${cell + 1}: ${piece === "." ? "empty" : piece}${held ? ", guarded" : ""}`);
    });
    if (moved && from < at && made && !calm()) travel(made);
    now(at, made);
    if (!draft && document.activeElement !== field) field.value = position;
    const items = [...byId("senet-line").children];
    items.forEach((item, place) => {
      if (place === at - 1) item.firstChild.setAttribute("aria-current", "step");
      else item.firstChild.removeAttribute("aria-current");
    });
    if (moved && made) say(`${made.mover} throws ${made.throw}: ${moveWords(made)}.`);
  }

  /** Animate the pieces of a move from their previous squares. */
  function travel({ start, goal, swap }) {
    const [one, other] = [start, goal].map((square) => cells[square - 1]);
    for (const [cell, from] of swap ? [[other, one], [one, other]] : [[other, one]]) {
      const across = from.offsetLeft - cell.offsetLeft;
      const down = from.offsetTop - cell.offsetTop;
      cell.querySelector(".piece").animate(
        [{ transform: `translate(${across}px, ${down}px)` }, { transform: "none" }],
        { duration: 450, easing: "ease-in-out" },
      );
    }
  }

  function now(at, made) {
    const place = byId("senet-now");
    if (draft) {
      const count = (piece) => draft.split(piece).length - 1;
      place.replaceChildren(`Setting up: ${count("A")} of 5 A, ${count("B")} of 5 B.`);
      return;
    }
    if (facts.plies === null) {
      place.replaceChildren("Never reached, so neither side is to move.");
      return;
    }
    const mover = "AB"[at % 2];
    const told = made ? `${made.mover} threw ${made.throw}: ${moveWords(made)}. ` : "The opening. ";
    place.replaceChildren(told, make("strong", {}, `${mover} to move.`));
  }

  function moveWords({ start, goal, swap }) {
    return swap ? `${start} swaps with ${goal}` : `${start} to ${goal}`;
  }

  function answer() {
    const never = facts.plies === null;
    byId("senet-plies").textContent = draft ? "…" : never ? "Never" : facts.plies;
    byId("senet-unit").textContent = draft ? "not a position yet" : never ? "reached"
      : facts.plies === 0 ? "plies: this is the opening"
        : facts.plies === 1 ? "ply from the opening" : "plies from the opening";
    setFacts(byId("senet-facts"), draft ? unfinished() : never ? unreached() : reached());
    const both = !never && [facts.plies_even, facts.plies_odd].every((plies) => plies !== null);
    byId("senet-parity").replaceChildren(...(both ? [facts.plies_even, facts.plies_odd] : [])
      .map((plies) => {
        const button = make("button", { type: "button", "aria-pressed": String(plies === line.length) },
          `${"AB"[plies % 2]} to move: ${counted(plies, "ply", "plies")}`);
        button.addEventListener("click", () => {
          choose(plies);
          byId("senet-parity").querySelector("[aria-pressed=true]").focus();
        });
        return button;
      }));
    byId("senet-line").replaceChildren(...line.map((move, place) => {
      const button = make("button", { type: "button" }, make("span", {},
        make("span", { class: `who ${move.mover.toLowerCase()}` }, move.mover), " throws ",
        make("b", { class: "die" }, String(move.throw)), ` ${moveWords(move)}`));
      button.addEventListener("click", () => { player.halt(); player.go(place + 1); });
      return make("li", {}, button);
    }));
    byId("senet-line").lastChild?.firstChild.setAttribute("aria-current", "step");
  }

  function reached() {
    const other = facts.plies % 2 ? facts.plies_even : facts.plies_odd;
    const [first, second] = facts.plies % 2 ? "BA" : "AB";
    return [
      [`${first} to move`, `after ${counted(facts.plies, "ply", "plies")}`],
      [`${second} to move`, other === null ? "never" : `after ${counted(other, "ply", "plies")}`],
      ["Shortest lines", facts.lines === null ? "being counted…" : facts.lines.toLocaleString("en")],
      ...(facts.dice ? [["Throws", [...facts.dice].join(" ")]] : []),
    ];
  }

  function unreached() {
    return [["Why", `No line of play from the opening leads here. This is true of ${senetRanks(null).length} `
      + `of the ${SENET_POSITIONS.toLocaleString("en")} positions.`]];
  }

  function unfinished() {
    return [["Still", `${senetProblem(draft)}.`]];
  }

  function told() {
    if (facts.plies === null) say("Never reached from the opening.");
    else say(`${counted(facts.plies, "ply", "plies")} from the opening, ${"AB"[facts.plies % 2]} to move.`);
  }

  function entered({ type }) {
    const text = field.value.trim().toUpperCase();
    const bad = senetProblem(text);
    // an incomplete text is not an error while the user types
    const early = type === "input" && text.length < SENET_SQUARES;
    setProblem(byId("senet-problem"), bad && !early ? wrong(text, bad) : "", field);
    if (!bad && text !== position) begin(text);
  }

  function wrong(text, bad) {
    return `${quoted(text)} is not a position: ${bad}. Example: ${SENET_OPENING}`;
  }

  field.addEventListener("input", entered);
  onEntered(field, entered);
  const oneOf = (id, ranks) => byId(id).addEventListener("click", () => begin(unrankSenet(pickOne(ranks()))));
  oneOf("senet-farthest", () => senetRanks(senetFarthest()));
  oneOf("senet-never", () => senetRanks(null));
  oneOf("senet-random", () => [Math.floor(Math.random() * SENET_POSITIONS)]);
  byId("senet-opening").addEventListener("click", () => begin(SENET_OPENING));

  return {
    name: "Senet",
    board: "senet-board",
    open: openSenet,
    /** Restore the table's numbers of lines while the view is already in use. */
    async complete() {
      await wholeSenet();
      if (facts.plies === null) return;
      facts = senetFacts(position);
      setFacts(byId("senet-facts"), reached());
    },
    title: () => (facts.plies === null ? "never reached" : counted(facts.plies, "ply", "plies")),
    leave: () => player.halt(),
    show([text]) {
      // mail and chat programs omit the full stops at the end of a link
      const given = text?.padEnd(SENET_SQUARES, ".");
      const bad = given === undefined ? "" : senetProblem(given);
      begin(given === undefined || bad ? SENET_FIRST : given, { replace: true });
      setProblem(byId("senet-problem"), bad && wrong(text, bad));
    },
  };
}
