// Sliding boards: the 8-puzzle, other boards and the 15-puzzle are games of one view.
import { writeAddress } from "#page/address.js";
import { showChoices } from "#page/controls.js";
import { findMore } from "#page/hosted.js";
import { makeSheetMode } from "#page/sheet.js";
import { animateSlide, describeTiles } from "#page/slide_board.js";
import { deal, notePlay, reviewGame, showPlay } from "#page/slide_play.js";
import { nameTile } from "#page/slide_rules.js";
import { findLine, playOn, showStudy } from "#page/slide_study.js";
import { formatCount, quote } from "#page/text.js";

/** Make the puzzle of a name whose `games` are known by their boards. */
export function makeSlidePuzzle(name, title, games) {
  const isSingle = name !== "sliding";

  /** Return the game that an address names, and the problem of the name. */
  async function findGame(board) {
    const known = () =>
      isSingle || board === undefined
        ? Object.values(games)[0]
        : Object.hasOwn(games, board) && games[board];
    if (known()) return { game: known(), unknown: "" };
    const { problem } = await findMore(); // it may be beside the page
    if (known()) return { game: known(), unknown: "" };
    const unknown =
      `This page has no board ${quote(board)}. It has ${Object.keys(games).join(", ")}. ${problem}`.trim();
    return { game: Object.values(games)[0], unknown };
  }

  /** Return the game, the start and the goal that parameters name, and what is wrong with these. */
  async function readEnds({ board, ...params }) {
    const { game, unknown } = await findGame(board);
    await game.open?.();
    const problems = [unknown];
    const good = (text, check) => {
      const bad = text === undefined || unknown ? "" : check(text);
      if (bad) problems.push(`${quote(text)} is not an arrangement: ${bad}.`);
      return bad || unknown ? undefined : text;
    };
    const start = good(params.start, (text) => game.problem(text));
    const named = game.goals.find((one) => one.name === params.goal)?.state ?? params.goal;
    const goal =
      good(named, (text) => game.problem(text) || game.goalProblem(text)) ??
      game.findGoal(start ?? game.first());
    const { letters, problem } =
      start === undefined
        ? { letters: "", problem: "" }
        : game.readMoves(start, params.moves ?? "");
    problems.push(problem);
    return {
      game,
      start,
      goal,
      moves: letters,
      hints: Number(params.hints) || 0,
      problem: problems.filter(Boolean).join(" "),
    };
  }

  const writeEnds = ({ game, start, goal, moves, hints }) => ({
    board: isSingle ? "" : game.name,
    start,
    goal,
    moves,
    hints,
  });

  /** Show a button for each board. */
  function showBoards(mode, { game }) {
    const boards = Object.values(games).map((one) => [
      one.name.replace("x", "×"),
      one === game,
      () => (location.hash = writeAddress(name, mode, { board: one.name })),
    ]);
    return boards.length > 1 && showChoices(`${name}-boards`, "Choose a board", boards);
  }

  const play = {
    async read(params) {
      const { start, ...state } = await readEnds(params);
      const { game, goal, problem } = state;
      if (start !== undefined) return { start, ...state, isHinted: params.hinted === "1" };
      const dealt = (await deal(game, goal, "")) ?? {
        ...state,
        start: game.first(),
        moves: "",
        isHinted: false,
      };
      return { ...dealt, problem };
    },
    write: (state) => ({ ...writeEnds(state), hinted: Number(state.isHinted) }),
    show: (state, go) => ({ above: showBoards("play", state), ...showPlay(name, state, go) }),
    from: (state, mode) =>
      mode === "study"
        ? playOn(state)
        : deal(readAbout(state.about).game, readAbout(state.about).goal, ""),
    note: notePlay,
    text: ({ game, start, moves }) => game.follow(start, moves).at(-1),
    title: ({ game, start, goal, moves }) =>
      game.follow(start, moves).at(-1) === goal ? "solved" : formatCount(moves.length, "move"),
  };

  const study = {
    async read(params) {
      const { start, ...state } = await readEnds(params);
      const step = /^\d{1,4}$/.test(params.step ?? "") ? Number(params.step) : state.moves.length;
      return { ...state, start: start ?? state.game.first(), step };
    },
    write: (state) => ({
      ...writeEnds(state),
      hints: "",
      step: state.step === state.moves.length ? "" : String(state.step),
    }),
    show: (state, go) => ({ above: showBoards("study", state), ...showStudy(name, state, go) }),
    from: (state, mode) =>
      mode === "play"
        ? reviewGame(state)
        : { ...readAbout(state.about), start: state.items[0], moves: "", hints: 0, step: 0 },
    text: (state) => findLine(state).now,
    title({ game, start, goal, moves, step }) {
      const { distance } = game.facts(findLine({ game, start, goal, moves, step }).now, goal);
      return distance === undefined
        ? "searching"
        : distance === null
          ? "out of reach"
          : formatCount(distance, "move");
    },
  };

  const readAbout = ({ board, goal }) => ({ game: games[board] ?? Object.values(games)[0], goal });
  const withGame =
    (use) =>
    (about, ...words) =>
      use(readAbout(about), ...words);
  const sheets = {
    title: withGame(({ game, goal }, items) => {
      const distances = items.map((state) => game.facts(state, goal).distance);
      const [least, most] = [Math.min(...distances), Math.max(...distances)];
      if (!distances.every(Number.isInteger)) return game.title; // being searched, or out of reach
      return `${game.title}, ${least < most ? `${least} to ` : ""}${formatCount(most, "move")}`;
    }),
    task: "Slide tiles into the gap until the board looks like the one on the right. Count your moves.",
    key: "The fewest moves, and the tiles to slide, one after the other.",
    usual: 12,
    most: 24,
    across: 4,
    ratio: withGame(({ game }) => game.columns / game.rows),
    about: ({ game, goal }) => ({ board: isSingle ? "" : game.name, goal }),
    read: ({ board = "", goal = "" }) => ({
      board,
      goal: readAbout({ board }).game.goals.find((one) => one.name === goal)?.state ?? goal,
    }),
    levels: withGame(({ game, goal }) => game.levels(goal)),
    range: withGame(({ game, goal }) => [Math.min(3, game.most(goal)), game.most(goal)]),
    draw: withGame(({ game, goal }, level) => game.draw(goal, level)),
    problem: withGame(({ game, goal }, state) => {
      const bad = [goal, state].find((text) => game.problem(text));
      if (bad !== undefined) return `${quote(bad)} is not an arrangement: ${game.problem(bad)}.`;
      return game.goalProblem(goal) && `${quote(goal)} is not a goal: ${game.goalProblem(goal)}.`;
    }),
    name: (_, state) => [...state].map((tile) => (tile === "0" ? "gap" : nameTile(tile))).join(" "),
    aim: withGame(({ game, goal }) => describeTiles(goal, game.columns)),
    board: withGame(({ game }, state) => describeTiles(state, game.columns)),
    blanks: () => ["Moves"],
    answer: withGame(({ game, goal }, state) => {
      const { distance, tiles } = game.facts(state, goal);
      if (distance === undefined) return "being searched…";
      if (distance === null) return "This board cannot reach the goal.";
      return `${formatCount(distance, "move")}: ${[...tiles].map(nameTile).join(" ")}`;
    }),
  };

  const puzzle = {
    name,
    title,
    games,
    classes: "slide",
    rules:
      "A move slides a tile next to the gap into it; nothing else moves. A game ends when the board looks like its goal. " +
      "Half of all arrangements can reach a goal: in the others two tiles would have to be swapped.",
    open: () => Object.values(games)[0].open?.(),
    head: ({ game, about }) => (game ?? readAbout(about).game).title,
    play,
    study,
    sheets,
    sheet: makeSheetMode(() => puzzle),
    painted({ mode, state }) {
      if (mode !== "sheet") animateSlide(name, state.game, puzzle[mode].text(state));
    },
  };
  return puzzle;
}
