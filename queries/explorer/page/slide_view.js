// The view of sliding boards: the board, in play or in study, its address, and sheets of boards.
import { counted, makeButton, quoted, say, writeNumber } from "#page/dom.js";
import { drawCell, drawLabel, makePicture } from "#page/pictures.js";
import { makeSlideBoard } from "#page/slide_board.js";
import { makeSlidePlay } from "#page/slide_play.js";
import { nameTile } from "#page/slide_rules.js";
import { makeSlideStudy } from "#page/slide_study.js";
import { makeView, readParts, splitMode } from "#page/view.js";

/** What can follow the start and the goal in an address. */
const PARTS = {
  moves: /^[UDLR]+$/,
  step: /^\d{1,4}$/,
  hints: /^hints=(\d{1,4})$/,
  hinted: /^hint$/,
};

/** Draw a board as a picture. */
function drawSlide(state, columns) {
  const content = [...state].flatMap((tile, cell) => {
    const at = [cell % columns, Math.floor(cell / columns)];
    return tile === "0"
      ? [drawCell(...at, "#e7e2d7")]
      : [drawCell(...at, "#ffffff"), drawLabel(...at, nameTile(tile))];
  });
  return makePicture(columns, state.length / columns, ...content);
}

/** Describe a game's sheets; the boards of one have their goal in common, for a new one that of the board on view. */
function describeSheet(game) {
  const draw = (state) => drawSlide(state, game().columns);
  return {
    title: () => game().title,
    task: "Slide tiles into the gap until the board looks like the one on the right. Count your moves.",
    key: "The fewest moves, and the tiles to slide, one after the other.",
    usual: 12,
    most: 24,
    ratio: () => game().columns / game().rows,
    about: ({ goal }) => goal,
    expand: (goal) => game().goals.find(({ name }) => name === goal)?.state ?? goal,
    levels: (goal) => game().levels(goal),
    draw: (goal, level) => game().draw(goal, level),
    problem(goal, state) {
      const bad = [goal, state].find((text) => game().problem(text));
      if (bad !== undefined) return `${quoted(bad)} is not an arrangement: ${game().problem(bad)}.`;
      return (
        game().goalProblem(goal) && `${quoted(goal)} is not a goal: ${game().goalProblem(goal)}.`
      );
    },
    name: (_, state) => [...state].map((tile) => (tile === "0" ? "gap" : nameTile(tile))).join(" "),
    aim: draw,
    picture: (_, state) => draw(state),
    blanks: () => ["Moves"],
    answer(goal, state) {
      const { distance, tiles } = game().facts(state, goal);
      if (distance === undefined) return "being searched…";
      if (distance === null) return "This board cannot reach the goal.";
      return `${counted(distance, "move")}: ${[...tiles].map(nameTile).join(" ")}`;
    },
    place: (goal, [start]) => ({ start, goal }),
  };
}

/**
 * Make the view of a name; it calls `went(parts, how)` to change the address. `games` has the games
 * that it shows, by their names in the address; a single one needs no name there. `findMore` may add
 * further ones to `games`, or return why it cannot.
 */
export function makeSlideView(name, games, went, findMore = async () => "") {
  let game = null;
  let isShown = false;
  let unfound = ""; // why there are no further games
  const view = makeView(name, went, {
    name: () => game.title,
    address: () => game.address,
    makeModes(tools) {
      const shared = {
        ...tools,
        board: makeSlideBoard(tools.mine("board"), (move) => tools.now().slid?.(move)),
        game: () => game,
        begin,
      };
      return { board: shared.board, play: makeSlidePlay(shared), study: makeSlideStudy(shared) };
    },
    sheet: describeSheet(() => game),
    entered(mode, place) {
      mode.show(place);
      changed(mode.parts());
    },
    taken({ taken: { state, facts } }) {
      const rows = [...state]
        .map((tile) => (tile === "0" ? " ." : ` ${tile}`))
        .join("")
        .match(new RegExp(`.{${2 * game.columns}}`, "g"));
      return { rows, facts, picture: drawSlide(state, game.columns), name: `${name}-${state}` };
    },
  });
  const { mine, now, changed, modesOf } = view;

  /** Show what a search that takes long knows so far. */
  function showSearch({ least, path }) {
    const most = path.length - 1;
    const tiles = game
      .trace(path)
      .map(({ tile }) => nameTile(tile))
      .join(" ");
    mine("search").hidden = mine("stop").hidden = false;
    mine("known").textContent =
      `Searching… A shortest solution has at least ${least} and at most ${most} moves.`;
    mine("so-far").textContent = `A solution so far slides ${tiles}.`;
  }

  function hideSearch() {
    mine("search").hidden = true;
  }

  mine("stop").addEventListener("click", () => {
    mine("stop").hidden = true;
    mine("known").textContent = mine("known").textContent.replace("Searching…", "Stopped.");
    say(mine("known").textContent);
    game.stop();
  });

  /** Change to another board. */
  function use(other) {
    game = other;
    game.onLearned = () => {
      if (game !== other) return;
      hideSearch();
      now().learn();
    };
    game.onLost = () => {
      if (game === other) now().lose?.();
    };
    game.onKnown = (state, known) => {
      if (game === other && now().states?.includes(state)) showSearch(known);
    };
    hideSearch();
    game.onProgress = (text) => {
      if (game === other) mine("unit").textContent = text;
    };
    modesOf.board.lay(game);
    modesOf.study.lay();
    const arrangements = Array.from({ length: game.cells }, (_, at) => at + 1).reduce(
      (a, b) => a * b,
    );
    mine("title").textContent = game.title;
    mine("knows").textContent =
      game.knows ??
      `This page knows the shortest solutions of all ${writeNumber(arrangements)} arrangements.`;
    for (const button of mine("boards").querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(games[button.dataset.board] === game));
    }
  }

  /** Show a new start and goal. */
  function begin(start, goal, how = {}) {
    hideSearch();
    now().show({ start, goal });
    changed(now().parts(), how);
  }

  /** Make a button for each game that has none yet. */
  function listBoards() {
    for (const each of Object.keys(games)) {
      if (mine("boards").querySelector(`[data-board="${each}"]`)) continue;
      const described = { "data-board": each, "aria-pressed": String(games[each] === game) };
      mine("boards").append(
        makeButton(
          each.replace("x", "×"),
          () => {
            location.hash = `#${name}/${view.section.dataset.mode}/${each}`;
          },
          described,
        ),
      );
    }
    mine("boards").hidden = Object.keys(games).length < 2;
  }

  listBoards();

  /** Return the game that an address names, the other parts of the address, and the problem of the name. */
  function findGame(parts) {
    const [usual] = Object.values(games);
    if (!usual.address.length || !parts.length) return [usual, parts, ""];
    if (Object.hasOwn(games, parts[0])) return [games[parts[0]], parts.slice(1), ""];
    const known = Object.keys(games).join(", ");
    return [
      usual,
      [],
      `This page has no board ${quoted(parts[0])}. It has ${known}.${unfound ? ` ${unfound}` : ""}`,
    ];
  }

  /** Return what an address describes in a game, with its problems. */
  function read(wanted, [from, to, ...rest]) {
    const problems = [];
    const good = (text, check) => {
      const bad = text === undefined ? "" : check(text);
      if (bad) problems.push(`${quoted(text)} is not an arrangement: ${bad}.`);
      return bad ? undefined : text;
    };
    const start = good(from, (text) => wanted.problem(text));
    const named = wanted.goals.find((one) => one.name === to)?.state ?? to;
    const goal =
      good(named, (text) => wanted.problem(text) || wanted.goalProblem(text)) ??
      wanted.findGoal(start ?? wanted.first());
    if (start === undefined) return { start, goal, problems };
    const { moves: text = "", step, hinted, hints = hinted, strange } = readParts(rest, PARTS);
    const { letters: moves, problem } = wanted.readMoves(start, text);
    if (problem) problems.push(problem);
    if (strange !== undefined)
      problems.push(`${quoted(strange)} is neither moves, such as ULDR, nor a step.`);
    return {
      start,
      goal,
      moves,
      step: Number(step ?? moves.length),
      hints: hints === "hint" ? 1 : Number(hints ?? 0),
      hinted: Boolean(hinted),
      isRead: true,
      problems,
    };
  }

  return {
    ...view,
    listBoards,
    async open(parts) {
      const [, named] = splitMode(parts);
      if (findGame(named)[2]) {
        unfound = await findMore();
        listBoards();
      }
      return findGame(named)[0].open?.();
    },
    /** Show the contents of an address; return its problems. */
    async show(parts) {
      const [named, given] = splitMode(parts);
      const [wanted, rest, unknown] = findGame(given);
      if (!game || named === "sheet") use(wanted);
      const bad = named === "sheet" ? modesOf.sheet.problem(rest) : "";
      const mode = bad ? "play" : named;
      const asked =
        mode === "sheet"
          ? { problems: [], ...modesOf.sheet.read(rest) }
          : read(wanted, bad ? [] : rest);
      if (mode !== "sheet" && asked.start === undefined) {
        const address = location.hash;
        view.section.inert = !isShown;
        asked.start =
          (mode === "play" ? await modesOf.play.draw(asked.goal, wanted) : null) ?? wanted.first();
        if (location.hash !== address) return "";
      }
      view.section.inert = false;
      isShown = true;
      // from here on nothing waits: board, mode and game change together
      if (wanted !== game) use(wanted);
      view.enter(mode).show(asked);
      modesOf.sheet.lay();
      changed(now().parts(), { replace: true });
      return unknown || bad || asked.problems.join(" ");
    },
  };
}
