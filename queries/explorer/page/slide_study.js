// A sliding board in study: the distance, the best moves, and a shortest solution to step through.
import { isLoss, showChart } from "#page/chart.js";
import { showAnswer, showButton, showChoices } from "#page/controls.js";
import { showFieldError, showField } from "#page/field.js";
import { showGrid } from "#page/grid.js";
import { html } from "#page/html.js";
import { showPlayer } from "#page/player.js";
import { describeTiles, showSlideBoard, TILE_ARROWS, TILE_DIRECTIONS } from "#page/slide_board.js";
import { nameTile } from "#page/slide_rules.js";
import { formatCount, pickOne, quote, refresh, formatNumber } from "#page/text.js";
import { joinLetters, swapCells } from "#tables/sliding.js";

const PLAY_MS = 450;
let picked = null; // the first of two cells to swap: the part of the set-up and the cell

/** Return the states of the user's moves and of a shortest solution after them, and the one that is on view. */
export function findLine({ game, start, goal, moves, step }) {
  const line = game.follow(start, moves);
  line.push(...(game.facts(line.at(-1), goal).path ?? []).slice(1));
  const at = Math.min(step, line.length - 1);
  return { line, at, now: line[at], letters: joinLetters(game.trace(line.slice(0, at + 1))) };
}

/** Return the line up to the step on view as a game: who has seen it in study has had a hint. */
export function playOn(state) {
  return { ...state, moves: findLine(state).letters, hints: state.hints + 1, isHinted: false };
}

/** Return the distance, its unit, and the text above the board. */
function describeDistance(game, distance) {
  if (distance === undefined) {
    return game.hasFailed
      ? ["…", "not known", "Not known."]
      : ["…", game.progress || "searching for a shortest solution", "Searching…"];
  }
  if (distance === null) return ["No solution", "for this goal", "Out of reach."];
  if (distance === 0) return [0, "moves: this is the goal", "Solved."];
  return [
    distance,
    `move${distance === 1 ? "" : "s"} to the goal`,
    `${formatCount(distance, "move")} to go.`,
  ];
}

/** Name the best moves of an answer in words. */
function nameMoves({ best_moves = "", best_tiles }) {
  return [...best_moves]
    .map((letter, index) => `tile ${nameTile(best_tiles[index])} ${TILE_DIRECTIONS[letter]}`)
    .join(" or ");
}

/** Describe an answer for screen readers. */
function describeAnswer(game, facts, goal) {
  const { state, distance, solutions } = facts;
  if (distance === undefined) return "";
  if (distance === null)
    return `This goal cannot be reached: ${explainUnreachable(game, state, goal)}`;
  if (distance === 0) return "Solved: this is the goal.";
  const ways = solutions ? `, ${formatCount(solutions, "shortest solution")}` : "";
  return `${formatCount(distance, "move")} to the goal${ways}. Best: ${nameMoves(facts)}.`;
}

function explainUnreachable(game, state, goal) {
  const odd = game.parities(state, goal);
  const [moves, swaps] = [odd.moves, odd.swaps].map((one) => (one ? "odd" : "even"));
  return (
    `A move swaps the gap with a tile. From this board to the goal the gap makes an ${moves} number of moves, but it ` +
    `takes an ${swaps} number of swaps. Swap any two tiles to make the goal reachable.`
  );
}

function listFacts(game, facts, goal) {
  const {
    distance,
    best_moves,
    best_tiles,
    has_one_best: isOneOf,
    solutions,
    tiles,
    solution,
  } = facts;
  if (distance === null) return [["Why", explainUnreachable(game, facts.state, goal)]];
  if (!distance) return [];
  const best = [...best_moves].map((letter, index) => {
    const tile = nameTile(best_tiles[index]);
    return html`<span class="chip" role="img" aria-label="${tile} ${TILE_DIRECTIONS[letter]}"
      >${tile} ${TILE_ARROWS[letter]}</span
    >`;
  });
  return [
    [isOneOf ? "A best move" : best.length === 1 ? "Best move" : "Best moves", best],
    ...(solutions ? [["Shortest solutions", formatNumber(solutions)]] : []),
    ["Tiles to move", [...tiles].map(nameTile).join(" ")],
    ["As letters", html`${solution} <small>the gap goes up, down, left, right</small>`],
  ];
}

/** Return what the move to a state of the line did, whether it lost ground, and what would have been better. */
function describeChange(game, goal, line, at) {
  if (!at) return { text: "", isLost: false };
  const [before, after] = line.slice(at - 1, at + 1).map((one) => game.facts(one, goal));
  if (!Number.isInteger(before.distance) || !Number.isInteger(after.distance))
    return { text: "", isLost: false };
  const isLost = isLoss(before.distance, after.distance);
  const [move] = game.trace([before.state, after.state]);
  const better = isLost && before.best_moves ? ` Better: ${nameMoves(before)}.` : "";
  return {
    text: `Tile ${nameTile(move.tile)} ${TILE_DIRECTIONS[move.letter]}: one move ${isLost ? "farther" : "nearer"}.${better}`,
    isLost,
  };
}

/** Show a field for a state, with a small board of which two cells can be swapped. */
function showSetup(view, { game, part, label, state, check, set }) {
  const word = (text) => {
    const bad = check(text);
    return bad && `${quote(text)} is not an arrangement: ${bad}. Example: ${game.goals[0].state}.`;
  };
  const tiles = describeTiles(state, game.columns);
  const isPicked = (cell) => picked?.part === part && picked.cell === cell;
  tiles.cells.forEach((cell, at) => (cell.attributes = { "aria-pressed": String(isPicked(at)) }));
  function pick(cell) {
    const first = picked?.part === part ? picked.cell : null;
    picked = first === null ? { part, cell } : null;
    if (first === null || first === cell) return refresh();
    const to = swapCells(state, first, cell);
    return word(to) ? showFieldError(`${view}-${part}`, word(to)) : set(to);
  }
  return html`<div>
    ${showField(view, {
      part,
      label,
      value: state,
      classes: game.cells > 10 ? "long" : "",
      length: game.cells,
      read: (text) => game.parse(text),
      check: word,
      set: (text) => text !== state && set(text),
    })}
    ${showGrid({ ...tiles, id: `${view}-${part}-cells`, classes: "tiles mini", label: `${label} to set up`, picked: pick })}
  </div>`;
}

/** Show what a search that takes long knows so far. */
function showSearch(view, { game, now, goal }) {
  const { search } = game;
  if (!search || search.state !== now || game.distance(now, goal) !== undefined) return "";
  const tiles = game
    .trace(search.path)
    .map(({ tile }) => nameTile(tile))
    .join(" ");
  const verb = game.hasFailed ? "Stopped." : "Searching…";
  return html`<p id="${view}-search" class="hint">
    <span id="${view}-known"
      >${verb} A shortest solution has at least ${search.least} and at most
      ${search.path.length - 1} moves.</span
    >
    <button
      type="button"
      id="${view}-stop"
      class="quiet"
      hidden=${game.hasFailed}
      onclick=${() => game.stop()}
    >
      Stop
    </button>
    <span>A solution so far slides ${tiles}.</span>
  </p>`;
}

/** Show a board of a view in study; `go(state, how)` is called with what follows. */
export function showStudy(view, state, go) {
  const { game, start, goal, moves } = state;
  const { line, at, now, letters } = findLine(state);
  const facts = game.facts(now, goal);
  const [distance, unit, status] = describeDistance(game, facts.distance);
  const change = describeChange(game, goal, line, at);
  const begin = (to, aim = goal) => {
    picked = null;
    go(
      { game, start: to, goal: aim, moves: "", hints: 0, step: 0 },
      { announcement: describeAnswer(game, game.facts(to, aim), aim) },
    );
  };
  const show = (step, { isTransient = false } = {}) =>
    go(
      { ...state, step },
      {
        isReplaced: true,
        isTransient,
        announcement: isTransient ? "" : describeAnswer(game, game.facts(line[step], goal), goal),
      },
    );
  function slide(added) {
    const next = { ...state, moves: letters + added, step: at + added.length };
    const isOnLine = line[next.step] === game.follow(now, added).at(-1);
    if (isOnLine) next.moves = moves;
    go(next, {
      isReplaced: true,
      announcement: describeAnswer(game, game.facts(findLine(next).now, goal), goal),
    });
  }
  const two = [...now].filter((tile) => tile !== "0").slice(0, 2);
  const goals = game.goals.map(({ state: to, label }) => [label, null, () => begin(now, to)]);
  const hardest = () => begin(pickOne(game.hardest(goal)));
  const random = () => begin(game.random(goal));
  const swapTwo = () => begin(swapCells(now, now.indexOf(two[0]), now.indexOf(two[1])));
  const swap = showButton(
    `${view}-swap`,
    `Swap tiles ${two.map(nameTile).join(" and ")}`,
    swapTwo,
    { classes: "main" },
  );
  const mend = facts.distance === null && html`<div class="buttons">${swap}</div>`;
  const many = Array.from({ length: game.cells }, (_, cell) => cell + 1).reduce(
    (product, number) => product * number,
  );
  const knows =
    game.knows ??
    `This page knows the shortest solutions of all ${formatNumber(many)} arrangements.`;
  const marks = !facts.best_moves
    ? ""
    : facts.has_one_best
      ? "A best move is marked."
      : "The best moves are marked.";
  return {
    task: `Study shows how far any board is from its goal, the best moves, and a shortest solution. ${knows}`,
    table: html`<p class="now">
        <strong id="${view}-now">${status}</strong>${" "}
        <span id="${view}-change" class="change ${change.isLost ? "farther" : "nearer"}"
          >${change.text}</span
        >${" "}
        <button
          type="button"
          id="${view}-from"
          class="quiet"
          hidden=${!change.isLost}
          onclick=${() => go(playOn({ ...state, step: at - 1 }), { mode: "play" })}
        >
          Play from before it
        </button>
      </p>
      ${showSlideBoard(view, { game, state: now, best: facts.best_moves, slide })}
      ${showChart(
        view,
        line.map((one) => game.distance(one, goal)),
        at,
      )}
      ${showPlayer(view, { noun: "move", at, last: line.length - 1, delay: PLAY_MS, show })}
      ${showSearch(view, { game, now, goal })}
      <p id="${view}-hint" class="hint">
        Click or drag a tile, or press an arrow key: a tile slides that way into the gap. ${marks}
      </p>`,
    side: html`${showAnswer(view, ["distance", distance, unit], listFacts(game, facts, goal), mend)}
      <div class="buttons">
        ${showButton(`${view}-hardest`, "Hardest board", hardest, { isHidden: !game.hardest })}
        ${showButton(`${view}-random`, "Random board", random)}
      </div>
      <fieldset class="setup">
        <legend>Set up</legend>
        <p class="hint">
          Type ${game.cells} ${game.cells > 10 ? "numbers" : "digits"}, 0 for the gap, or click two
          cells to swap them.
        </p>
        <div class="ends">
          ${showSetup(view, { game, part: "start", label: "Board", state: now, check: (text) => game.problem(text), set: begin })}
          ${showSetup(view, {
            game,
            part: "goal",
            label: "Goal",
            state: goal,
            check: (text) => game.problem(text) || game.goalProblem(text),
            set: (to) => begin(now, to),
          })}
        </div>
        ${showChoices(`${view}-goals`, "Choose a goal", goals)}
        ${showField(view, {
          part: "moves",
          label: "Game: letters, or the tiles that were slid",
          value: moves,
          read: (text) => text,
          check: (text) => game.readMoves(start, text).problem,
          set(text) {
            const read = game.readMoves(start, text).letters;
            if (read !== moves) go({ ...state, moves: read, step: read.length });
          },
        })}
      </fieldset>`,
  };
}
