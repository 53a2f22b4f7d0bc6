// A sliding board in play: the moves so far, hints, and the end.
import { findLevel, showGame } from "#page/controls.js";
import { showPicture } from "#page/grid.js";
import { html } from "#page/html.js";
import { describeTiles, showSlideBoard, TILE_DIRECTIONS } from "#page/slide_board.js";
import { nameTile } from "#page/slide_rules.js";
import { formatCount, describeEnd } from "#page/text.js";
import { findDay, noteToday } from "#page/today.js";
import { writeAddress } from "#page/address.js";
import { makeGoal } from "#tables/sliding.js";

const TRIES = 20;

/** Draw the start of a game of the chosen level: another one, if there is one, as some levels have only two. */
async function draw(game, goal, before) {
  let start = before;
  for (let tries = TRIES; tries && start === before; tries--)
    start = await game.draw(goal, findLevel(game.title, game.levels(goal)));
  return start;
}

/** Return the state of a new game; null if none can be found. */
export async function deal(game, goal, before) {
  const start = await draw(game, goal, before);
  return start === null ? null : { game, start, goal, moves: "", hints: 0, isHinted: false };
}

/** Return what is known of a game: the state now, whether that is the goal, and the fewest moves from the start. */
function measure({ game, start, goal, moves }) {
  const now = game.follow(start, moves).at(-1);
  const isPossible = game.canReach(start, goal);
  return {
    now,
    isSolved: now === goal,
    isPossible,
    best: isPossible ? game.facts(start, goal).distance : undefined,
  };
}

function isToday({ game, start, goal }) {
  const today = game.findToday(findDay().number);
  return today?.start === start && today.goal === goal;
}

/** Return the message for a game. */
function describeGame(state, { now, isSolved, isPossible, best }, { distance, best_moves }) {
  const { game, moves, hints, isHinted } = state;
  if (!isPossible)
    return "This board cannot reach the goal: two of its tiles would have to be swapped.";
  const unknown = game.hasFailed ? "" : " The best is being searched…";
  if (isSolved)
    return describeEnd(
      `Solved! ${formatCount(moves.length, "move")}`,
      moves.length,
      hints,
      best,
      unknown,
    );
  if (!isHinted) return "";
  if (distance === undefined) return game.hasFailed ? "" : "Searching for the best move…";
  const move = game.moves(now).find(({ letter }) => letter === best_moves[0]);
  return `Hint: slide tile ${nameTile(move.tile)} ${TILE_DIRECTIONS[move.letter]}.`;
}

/** Show a game of a view: the board, and what stands beside it. `go(state, how)` is called with what follows. */
export function showPlay(view, state, go) {
  const { game, start, goal, moves, hints, isHinted } = state;
  const known = measure(state);
  const { now, isSolved, isPossible } = known;
  const facts = isHinted && isPossible && !isSolved ? game.facts(now, goal) : {};
  const message = describeGame(state, known, facts);
  const isOver = isSolved || !isPossible;
  const step = (change, action, how) => {
    const next = { ...state, isHinted: false, ...change };
    const after = measure(next);
    go(next, {
      isReplaced: true,
      announcement: after.isSolved
        ? describeGame(next, after, {})
        : `${action} ${formatCount(next.moves.length, "move")}.`,
      ...how,
    });
  };
  function slide(letters) {
    const tile = nameTile(game.moves(now).find(({ letter }) => letter === letters[0]).tile);
    step({ moves: moves + letters }, `Tile ${tile} ${TILE_DIRECTIONS[letters[0]]}.`);
  }
  const undo = () => step({ moves: moves.slice(0, -1) }, "Undone.");
  const again = () => step({ moves: "", hints: 0 }, "Begun again.");
  function help() {
    const next = { ...state, hints: isHinted ? hints : hints + 1, isHinted: true };
    go(next, { isReplaced: true, announcement: describeGame(next, known, game.facts(now, goal)) });
  }
  const another = () => go(deal(game, goal, start), { announcement: "Another board." });
  const look = () => go(reviewGame(state), { mode: "study" });
  const today = game.findToday(findDay().number);
  const board = view === "sliding" && game.name;
  const isOrdered = goal === makeGoal(game.cells, game.cells - 1);
  const aim = `Goal: ${[...goal].map((tile) => (tile === "0" ? "gap" : nameTile(tile))).join(" ")}`;
  const wanted = isOrdered
    ? `put the numbers in order, 1 to ${game.cells - 1}`
    : "make the board look like the goal";
  return {
    task: `Tap a tile beside the gap to slide it, and ${wanted}.`,
    table: showSlideBoard(view, { game, state: now, best: facts.best_moves?.[0], isOver, slide }),
    side: showGame(view, {
      title: game.title,
      count: moves.length,
      noun: moves.length === 1 ? "move" : "moves",
      word: message,
      isSolved,
      aim: html`<figure class="aim">
        <figcaption>Goal</figcaption>
        ${showPicture({ ...describeTiles(goal, game.columns), id: `${view}-aim`, label: aim })}
      </figure>`,
      buttons: [
        ["next", "Next board", another, { key: "n", classes: "main", isHidden: !isOver }],
        ["help", "Hint", help, { key: "h", classes: "main", isHidden: isOver }],
        ["undo", "Undo", undo, { key: "u", isHidden: !moves }],
        ["again", "Again", again, { isHidden: !moves }],
        ["back", "Look back", look, { key: "b", isHidden: !isSolved || !moves }],
      ],
      levels: {
        levels: game.levels(goal),
        chosen: findLevel(game.title, game.levels(goal)),
        deal: another,
        isUnfinished: moves && !isOver,
      },
      today: today && {
        isToday: isToday(state),
        address: writeAddress(view, "play", { board, ...today }),
      },
    }),
  };
}

/** Return a game as it is studied. */
export function reviewGame({ game, start, goal, moves, hints }) {
  return { game, start, goal, moves, hints, step: moves.length };
}

/** Keep the hints and the result of today's game. */
export function notePlay(state) {
  if (!isToday(state)) return;
  const { isSolved, best } = measure(state);
  noteToday(state.game.title, {
    hints: state.hints,
    score: isSolved && best !== undefined ? `${state.moves.length}/${best}` : "",
  });
}
