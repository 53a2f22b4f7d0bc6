// Senet in study: a position to set up, its plies, and the shortest line that leads to it.
import { drawChart, isLoss } from "#page/chart.js";
import {
  counted,
  make,
  makeButton,
  onTyped,
  pickOne,
  quoted,
  say,
  setFacts,
  setProblem,
  writeNumber,
} from "#page/dom.js";
import { makePlayer } from "#page/player.js";
import { countLines, findMostPlies, listRanks, senetFacts, senetLine } from "#page/senet.js";
import { wordMove } from "#page/senet_board.js";
import { MOVES, readMoves, senetProblem } from "#page/senet_rules.js";
import { listBest, measureLine } from "#page/senet_search.js";
import { readParts } from "#page/view.js";
import { afterMove, NEVER, OPENING, POSITIONS, unrankPosition, writeMove } from "#tables/senet.js";

const SENET_FIRST = "ABAAABBB.B...A.";
const SENET_MS = 1200;
const SQUARES = /^[AB.]{15}$/;
/** What can follow the position in an address. */
const PARTS = { moves: MOVES, step: /^\d{1,3}$/, side: /^[AB]$/ };
const count = (plies) => counted(plies, "ply", "plies");
const NEXT = { ".": "A", A: "B", B: "." };
const PIECE_KEYS = { a: "A", b: "B", ".": ".", " ": null, Delete: ".", Backspace: "." };

/** Make the part of the view that studies; `change(mode)` changes to another one, `changed(parts, how)` the address. */
export function makeSenetStudy({ board, mine, change, changed }) {
  let position = SENET_FIRST;
  let draft = null; // squares being set up, not a position yet
  let facts = null;
  let line = [];
  let game = null; // if the line is that of a game: its hints, and the plies to the position at each place
  const field = mine("position");
  const player = makePlayer(mine("player"), {
    name: "Place in the line of play",
    step: "ply",
    delay: SENET_MS,
    show: shown,
    stopped: () => changed(parts(), { replace: true }),
  });

  /** Return the position after a number of plies of the line. */
  function after(plies) {
    if (plies < line.length) return line[plies].before;
    return line.length ? afterMove(line.at(-1)) : position;
  }

  const onBoard = () => draft ?? after(player.at);

  /** Return what is shown as parts of an address: the position, the step if it is not the last, the side to move. */
  function parts() {
    if (draft) return [draft];
    const step = player.at === line.length ? [] : [player.at];
    if (game) return [position, line.map(writeMove).join(","), ...step];
    return [
      position,
      ...step,
      ...(line.length === (facts.plies ?? 0) ? [] : ["AB"[line.length % 2]]),
    ];
  }

  /** Show the line to a position: of a game, to the given side's move, or the shortest; at a step, or at its end. */
  function begin(to, { step, side, played, ...how } = {}) {
    position = to;
    draft = null;
    facts = senetFacts(position);
    setProblem(mine("problem"), "");
    const plies = { A: facts.plies_even, B: facts.plies_odd }[side] ?? facts.plies;
    if (played?.moves.length && facts.plies !== null) choose(played.moves, step, played.hints);
    else choose(lineOf(plies), step);
    tell();
    changed(parts(), how);
  }

  const lineOf = (plies) => (plies === null ? [] : senetLine(position, plies));

  /** Show a line; `hints` is their number if it is a game's. */
  function choose(moves, step, hints = null) {
    line = moves;
    game = hints === null ? null : { hints, distances: measureLine(position, OPENING, "A", moves) };
    player.set(line.length, Math.min(step ?? line.length, line.length));
    answer();
    mine("reach").hidden = facts.plies === null;
    paint(player.at);
  }

  function typed(square, key) {
    const piece = PIECE_KEYS[key.length === 1 ? key.toLowerCase() : key];
    if (piece) put(square, piece);
    return Boolean(piece);
  }

  function put(square, piece) {
    player.halt();
    const squares = [...onBoard()];
    if (squares[square - 1] === piece) return;
    squares[square - 1] = piece;
    const text = squares.join("");
    const bad = senetProblem(text);
    if (!bad) {
      begin(text);
      return;
    }
    setUp(text);
    changed(parts(), { replace: true });
    say(`Square ${square}: ${piece === "." ? "empty" : piece}. Not yet a position: ${bad}.`);
  }

  /** Show squares that are not a position yet. */
  function setUp(squares) {
    draft = squares;
    line = [];
    game = null;
    facts = { position: squares, plies: null };
    setProblem(mine("problem"), "");
    player.set(0, 0);
    answer();
    paint(0);
  }

  function shown(at, { moved, from }) {
    paint(at);
    const made = at > 0 && !draft ? line[at - 1] : null;
    if (moved && from < at && made) board.travel(made);
    if (moved && made) say(`${made.mover} throws ${made.throw}: ${wordMove(made)}.`);
  }

  function paint(at) {
    const made = at > 0 && !draft ? line[at - 1] : null;
    board.paint(onBoard(), made);
    now(at, made);
    drawChart(mine("chart"), game ? game.distances : [], at);
    if (!draft && document.activeElement !== field) field.value = position;
    [...mine("line").children].forEach((item, place) => {
      if (place === at - 1) item.firstChild.setAttribute("aria-current", "step");
      else item.firstChild.removeAttribute("aria-current");
    });
  }

  /** Return what a move of the game did to the distance; "" if it lost nothing. */
  function wordLoss(at) {
    const [before, after] = game ? game.distances.slice(at - 1, at + 1) : [];
    if (!at || !isLoss(before, after)) return "";
    return after === null ? "put the position out of reach" : `lost ${count(after - before + 1)}`;
  }

  function now(at, made) {
    const place = mine("now");
    const loss = wordLoss(at);
    const [better] = loss ? listBest(position, made.before, made.mover) : [];
    mine("change").textContent =
      loss && `This ${loss}. Better: throw ${better.throw}, ${wordMove(better)}.`;
    mine("from").hidden = !loss;
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
    const told = made ? `${made.mover} threw ${made.throw}: ${wordMove(made)}. ` : "The opening. ";
    place.replaceChildren(told, make("strong", {}, `${mover} to move.`));
  }

  function answer() {
    const never = facts.plies === null;
    mine("plies").textContent = draft ? "…" : never ? "Never" : facts.plies;
    mine("unit").textContent = draft
      ? "not a position yet"
      : never
        ? "reached"
        : facts.plies === 0
          ? "plies: this is the opening"
          : facts.plies === 1
            ? "ply from the opening"
            : "plies from the opening";
    setFacts(
      mine("facts"),
      draft ? [["Still", `${senetProblem(draft)}.`]] : never ? unreached() : reached(),
    );
    const known = never
      ? []
      : [facts.plies_even, facts.plies_odd].filter((plies) => plies !== null);
    mine("parity").replaceChildren(
      ...(game || known.length > 1 ? known : []).map((plies) =>
        makeButton(
          `${"AB"[plies % 2]} to move: ${count(plies)}`,
          () => {
            choose(lineOf(plies));
            changed(parts(), { replace: true });
            mine("parity").querySelector("[aria-pressed=true]").focus();
          },
          { "aria-pressed": String(!game && plies === line.length) },
        ),
      ),
    );
    mine("line").replaceChildren(
      ...line.map((move, place) =>
        make(
          "li",
          {},
          makeButton(
            make(
              "span",
              {},
              make("span", { class: `who ${move.mover.toLowerCase()}` }, move.mover),
              " throws ",
              make("b", { class: "die" }, String(move.throw)),
              ` ${wordMove(move)}`,
              make(
                "span",
                { class: "change farther" },
                wordLoss(place + 1) && `, ${wordLoss(place + 1)}`,
              ),
            ),
            () => {
              player.halt();
              player.go(place + 1);
            },
          ),
        ),
      ),
    );
  }

  function reached() {
    const other = facts.plies % 2 ? facts.plies_even : facts.plies_odd;
    const [first, second] = facts.plies % 2 ? "BA" : "AB";
    const lines = make("span", {}, "being counted…");
    const { plies } = facts;
    setTimeout(() => {
      if (lines.isConnected) lines.textContent = writeNumber(countLines(position, plies));
    });
    return [
      [`${first} to move`, `after ${count(facts.plies)}`],
      [`${second} to move`, other === null ? "never" : `after ${count(other)}`],
      ["Shortest lines", lines],
      ...(facts.dice ? [["Throws", [...facts.dice].join(" ")]] : []),
    ];
  }

  function unreached() {
    return [
      [
        "Why",
        `No line of play from the opening leads here. This is true of ${listRanks(NEVER).length} ` +
          `of the ${writeNumber(POSITIONS)} positions.`,
      ],
    ];
  }

  function tell() {
    if (facts.plies === null) say("Never reached from the opening.");
    else say(`${count(facts.plies)} from the opening, ${"AB"[facts.plies % 2]} to move.`);
  }

  function check(text) {
    const bad = senetProblem(text);
    return bad && `${quoted(text)} is not a position: ${bad}. Example: ${OPENING}`;
  }

  onTyped(field, {
    read: (text) => text.trim().toUpperCase(),
    length: () => OPENING.length,
    check,
    set: (text) => {
      if (text !== position) begin(text);
    },
  });
  const oneOf = (part, ranks) =>
    mine(part).addEventListener("click", () => begin(unrankPosition(pickOne(ranks()))));
  oneOf("farthest", () => listRanks(findMostPlies()));
  oneOf("never", () => listRanks(NEVER));
  oneOf("random", () => [Math.floor(Math.random() * POSITIONS)]);
  mine("opening").addEventListener("click", () => begin(OPENING));
  mine("from").addEventListener("click", () => {
    player.go(player.at - 1);
    change("play");
  });
  mine("reach").addEventListener("click", () => {
    choose([], 0, 0);
    change("play");
  });

  return {
    begin,
    /** Handle a click or a key on a square. */
    pick: (square) => put(square, NEXT[onBoard()[square - 1]]),
    typed,
    /** Return the position on the board and the side to move, and the game so far that led there; nothing while one is set up. */
    get place() {
      const played = game && {
        target: position,
        moves: line.slice(0, player.at),
        hints: game.hints + 1,
      };
      return draft
        ? null
        : { position: onBoard(), mover: "AB"[player.at % 2], studied: position, played };
    },
    get taken() {
      const { plies, dice, moves } = draft ? {} : senetFacts(onBoard());
      return {
        position: onBoard(),
        facts:
          draft || plies === null
            ? [["plies", draft ? "not a position yet" : "never reached"]]
            : [
                ["plies", plies],
                ["dice", [...dice].join(" ")],
                ["moves", moves],
              ],
      };
    },
    title: () => (draft ? "set up" : facts.plies === null ? "never reached" : count(facts.plies)),
    leave: () => player.halt(),
    /** Show the contents of an address; return its problem. */
    show([text, ...rest]) {
      const { moves, step, side, strange } = readParts(rest, PARTS);
      // mail and chat programs omit the full stops at the end of a link
      const given = text?.padEnd(OPENING.length, ".");
      const bad = given === undefined ? "" : check(given);
      const read = moves && readMoves(OPENING, "A", moves);
      if (bad && SQUARES.test(given)) {
        setUp(given);
        changed(parts(), { replace: true });
      } else {
        begin(given === undefined || bad ? SENET_FIRST : given, {
          step: step && Number(step),
          side,
          replace: true,
          played: read && { moves: read.moves, hints: 0 },
        });
      }
      if (bad || read?.problem) return bad || read.problem;
      return strange === undefined ? "" : `${quoted(strange)} is neither a step nor a side.`;
    },
  };
}
