// The box of the start page: it looks boards of the 8-puzzle up in the tables beside this file, and plays best moves.
import { openTables } from "./javascript/index.js";

const NAMES = { U: "up", D: "down", L: "left", R: "right" };
const STEP = { U: -3, D: 3, L: -1, R: 1 };

// parts of files only: a whole index would be the largest part of what the page loads
const tables = openTables(new URL(".", import.meta.url), { wholeBytes: 0 });
const [form, input, button, board, distance, moves, cost] = [
  "#query",
  "#state",
  "#query button",
  "#board",
  "#distance",
  "#moves",
  "#cost",
].map((selector) => document.querySelector(selector));
let turns = 0;

/** Show the answer for a state, unless another one was requested meanwhile. */
async function show(state) {
  const turn = ++turns;
  distance.textContent = "Reading …";
  let answer;
  try {
    answer = await tables.eight(state, { solution: false });
  } catch (error) {
    if (turn === turns) showText(error.message, "", []);
    return;
  }
  if (turn !== turns) return;
  drawBoard(answer.state);
  const { goal, goal_state: end, solutions } = answer;
  const text =
    answer.distance === 0
      ? `This is the goal ${goal}.`
      : `${count(answer.distance, "move")} to ${goal} (${end}); ${count(solutions, "shortest solution")}.`;
  const { requests, bytes } = tables.source;
  showText(
    text,
    `${count(requests, "request")}, ${bytes.toLocaleString("en")} bytes of the tables so far`,
    [...answer.best_moves].map((letter) => makeMove(answer.state, letter)),
  );
}

function showText(text, told, buttons) {
  distance.textContent = text;
  cost.textContent = told;
  moves.replaceChildren(...buttons);
}

function drawBoard(state) {
  [...board.children].forEach((cell, at) => {
    cell.textContent = state[at] === "0" ? "" : state[at];
  });
}

/** Make the button that plays a best move: the letter says where the blank goes. */
function makeMove(state, letter) {
  const blank = state.indexOf("0");
  const to = blank + STEP[letter];
  const cells = [...state];
  [cells[blank], cells[to]] = [cells[to], cells[blank]];
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = `Blank ${NAMES[letter]} (tile ${state[to]})`;
  element.addEventListener("click", () => {
    input.value = cells.join("");
    show(input.value).then(() => (moves.querySelector("button") ?? input).focus());
  });
  return element;
}

function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  show(input.value.trim());
});
drawBoard(input.value);
button.disabled = false;
