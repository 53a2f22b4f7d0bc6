// Senet in play: throws, moves of either side, undo and the end.
import { byId, calm, counted, make, pickOne, quoted, say } from "#page/dom.js";
import { wordMove } from "#page/senet_board.js";
import { afterMove, listMoves, readMoves, senetProblem, THROWS } from "#page/senet_rules.js";
import { OPENING, writeMove } from "#tables/senet.js";

const WAIT_MS = 700;
const MOVES = /^\d+[-x]\d+(,\d+[-x]\d+)*$/;

/** Make the part of the view that plays; `changed(parts, how)` changes the address. */
export function makeSenetPlay({ board, changed }) {
  let start = OPENING;
  let first = "A";
  let moves = [];
  let thrown = null;
  let timer = 0;
  const other = byId("senet-other");
  const dice = THROWS.map((value) => {
    const button = make("button", { type: "button", "aria-label": `Choose ${value}` }, String(value));
    button.addEventListener("click", () => cast(value));
    return button;
  });
  byId("senet-dice").append(...dice);

  const position = () => (moves.length ? afterMove(moves.at(-1)) : start);
  const mover = () => (moves.length % 2 ? { A: "B", B: "A" }[first] : first);
  const choices = (value) => listMoves(position(), mover(), value);
  const isOver = () => THROWS.every((value) => !choices(value).length);
  const isPageToMove = () => other.value === "page" && mover() !== first && !isOver();

  /** Return the game as parts of its address. */
  function parts() {
    const isUsual = start === OPENING && first === "A";
    return [
      ...(isUsual ? [] : [start, first]), ...(moves.length ? [moves.map(writeMove).join(",")] : []),
      ...(thrown ? [thrown] : []), ...(other.value === "page" ? ["page"] : []),
    ];
  }

  function paint() {
    const last = moves.at(-1) ?? null;
    const open = thrown ? choices(thrown) : [];
    const waits = isPageToMove();
    board.paint(position(), last, waits ? [] : open);
    byId("senet-count").textContent = moves.length;
    byId("senet-counted").textContent = moves.length === 1 ? "turn" : "turns";
    byId("senet-word").textContent = word(open);
    dice.forEach((button, at) => {
      const dead = waits || isOver() || !choices(THROWS[at]).length;
      button.setAttribute("aria-disabled", String(dead));
      button.setAttribute("aria-pressed", String(THROWS[at] === thrown));
    });
    byId("senet-throw").hidden = isOver() || waits || open.length > 0;
    byId("senet-anew").hidden = !moves.length && !isOver();
    byId("senet-anew").classList.toggle("main", isOver());
    byId("senet-undo").hidden = !moves.length && !thrown;
  }

  /** Return what is said of the game now. */
  function word(open) {
    const side = mover();
    const last = moves.at(-1);
    const before = last ? `${last.mover} threw ${last.throw}: ${wordMove(last)}. ` : "";
    if (isOver()) return `${before}${side} cannot move with any throw: the game ends after ${counted(moves.length, "turn")}.`;
    if (isPageToMove()) return `${before}${side} is about to throw.`;
    if (!thrown) return `${before}${side} throws.`;
    return open.length ? `${side} threw ${thrown}: tap a marked piece.`
      : `${side} threw ${thrown}, and no piece can move ${thrown}: throw again.`;
  }

  function cast(value) {
    if (isPageToMove() || !choices(value).length) return;
    thrown = value;
    refresh();
  }

  /** Show the game after a change of it, and let the page move if it is its turn. */
  function refresh({ replace = true } = {}) {
    clearTimeout(timer);
    paint();
    say(byId("senet-word").textContent);
    changed(parts(), { replace });
    if (isPageToMove()) timer = setTimeout(movePage, calm() ? 0 : WAIT_MS);
  }

  function move(made) {
    moves.push(made);
    thrown = null;
    paint();
    board.travel(made);
    refresh();
  }

  /** Throw and move for the other side, at random. */
  function movePage() {
    const open = THROWS.filter((value) => choices(value).length);
    move(pickOne(choices(pickOne(open))));
  }

  function pick(square) {
    const made = thrown && !isPageToMove()
      ? choices(thrown).find(({ start: from, goal }) => from === square || goal === square) : null;
    if (made) move(made);
  }

  function begin({ position: from, mover: side }) {
    [start, first, moves, thrown] = [from, side, [], null];
    refresh({ replace: false });
  }

  byId("senet-throw").addEventListener("click", () => {
    thrown = pickOne(THROWS);
    refresh();
    if (choices(thrown).length) byId("senet-board").querySelector(".open").focus({ preventScroll: true });
  });
  byId("senet-undo").addEventListener("click", () => {
    if (thrown) thrown = null;
    else moves.pop();
    // the page's own move is undone with the one before it
    if (isPageToMove()) moves.pop();
    refresh();
  });
  byId("senet-anew").addEventListener("click", () => begin({ position: OPENING, mover: "A" }));
  other.addEventListener("change", () => refresh());

  return {
    begin, pick,
    /** Show the game as it was left, or a new one. */
    resume: () => refresh({ replace: false }),
    typed(_, key) {
      if (!THROWS.includes(Number(key))) return false;
      cast(Number(key));
      return true;
    },
    get place() { return { position: position(), mover: mover() }; },
    get taken() {
      return { position: position(), lines: [
        `${mover()} to move after ${counted(moves.length, "turn")}`,
        ...(start === OPENING ? [] : [`start       ${start}, ${first} to move`]),
        `dice        ${moves.map((one) => one.throw).join(" ")}`, `moves       ${moves.map(writeMove).join(" ")}`,
      ] };
    },
    title: () => counted(moves.length, "turn"),
    leave: () => clearTimeout(timer),
    /** Show the contents of an address; return its problem. */
    show(given) {
      const [text, side] = given.filter((part) => /^[AB.]+$/.test(part));
      const line = given.find((part) => MOVES.test(part));
      const value = given.find((part) => THROWS.includes(Number(part)));
      const strange = given.find((part) => ![text, side, line, value, "page"].includes(part));
      const bad = text === undefined ? "" : senetProblem(text.padEnd(OPENING.length, "."));
      other.value = given.includes("page") ? "page" : "friend";
      start = bad || !text ? OPENING : text.padEnd(OPENING.length, ".");
      first = "AB".includes(side) ? side : "A";
      const read = line && !bad ? readMoves(start, first, line) : { moves: [], problem: "" };
      moves = read.moves;
      thrown = value && !read.problem ? Number(value) : null;
      refresh();
      if (bad) return `${quoted(text)} is not a position: ${bad}.`;
      return read.problem || (strange === undefined ? "" : `${quoted(strange)} is neither a position, moves nor a throw.`);
    },
  };
}
