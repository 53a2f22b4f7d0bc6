// The view of sliding boards: the board, in play or in study, and its address.
import { byId, make, quoted, say, writeNumber } from "#page/dom.js";
import { makeModeView, splitMode } from "#page/modes.js";
import { makeSheet } from "#page/sheet.js";
import { makeSlideBoard } from "#page/slide_board.js";
import { makeSlidePlay } from "#page/slide_play.js";
import { nameTile } from "#page/slide_rules.js";
import { describeSlideSheet, drawSlide } from "#page/slide_sheet.js";
import { makeSlideStudy } from "#page/slide_study.js";

const MOVES = /^[UDLR]+$/;
const STEP = /^\d{1,4}$/;
const HINTS = /^hints=(\d{1,4})$/;

/**
 * Make the view of a name; it calls `went(parts, how)` to change the address. `games` has the games
 * that it shows, by their names in the address; a single one needs no name there. `findMore` may add
 * further ones to `games`, or return why it cannot.
 */
export function makeSlideView(name, games, went, findMore = async () => "") {
  const mine = (part) => byId(`${name}-${part}`);
  let game = null;
  let isShown = false;
  let unfound = ""; // why there are no further games
  const section = byId(`view-${name}`);
  const board = makeSlideBoard(mine("board"), (move) => view.now().slid?.(move));
  const view = makeModeView(section, went, (tools) => {
    const shared = { name, mine, board, game: () => game, changed, begin, change: tools.change };
    const sheet = describeSlideSheet(shared.game, () => view.now().place);
    return { play: makeSlidePlay(shared), study: makeSlideStudy(shared), sheet: makeSheet(name, sheet, { ...tools, changed }) };
  }, (mode, place) => {
    mode.show(place);
    changed(mode.parts());
  });
  const { now, modesOf } = view;

  function changed(parts, how) {
    view.changed([...game.address, ...parts], how);
  }

  /** Show what a search that takes long knows so far. */
  function showSearch({ least, path }) {
    const most = path.length - 1;
    const tiles = game.trace(path).map(({ tile }) => nameTile(tile)).join(" ");
    mine("search").hidden = mine("stop").hidden = false;
    mine("known").textContent = `Searching… A shortest solution has at least ${least} and at most ${most} moves.`;
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
    game.onLost = () => { if (game === other) now().lose?.(); };
    game.onKnown = (state, known) => { if (game === other && now().states?.includes(state)) showSearch(known); };
    hideSearch();
    game.onProgress = (text) => { if (game === other) mine("unit").textContent = text; };
    board.lay(game);
    modesOf.study.lay();
    const arrangements = Array.from({ length: game.cells }, (_, at) => at + 1).reduce((a, b) => a * b);
    mine("title").textContent = game.title;
    mine("knows").textContent = game.knows
      ?? `This page knows the shortest solutions of all ${writeNumber(arrangements)} arrangements.`;
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
      const button = make("button", {
        type: "button", "data-board": each, "aria-pressed": String(games[each] === game),
      }, each.replace("x", "×"));
      button.addEventListener("click", () => { location.hash = `#${name}/${view.mode}/${each}`; });
      mine("boards").append(button);
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
    return [usual, [], `This page has no board ${quoted(parts[0])}. It has ${known}.${unfound ? ` ${unfound}` : ""}`];
  }

  /** Return what an address describes in a game, with its problems. */
  function read(wanted, parts) {
    const problems = [];
    const good = (text, check) => {
      const bad = text === undefined ? "" : check(text);
      if (bad) problems.push(`${quoted(text)} is not an arrangement: ${bad}.`);
      return bad ? undefined : text;
    };
    const [from, to, ...rest] = parts;
    const start = good(from, (text) => wanted.problem(text));
    const named = wanted.goals.find((one) => one.name === to)?.state ?? to;
    const goal = good(named, (text) => wanted.problem(text) || wanted.goalProblem(text))
      ?? wanted.findGoal(start ?? wanted.first());
    if (start === undefined) return { start, goal, problems };
    const { letters: moves, problem } = wanted.readMoves(start, rest.filter((part) => MOVES.test(part)).join(""));
    if (problem) problems.push(problem);
    const asked = rest.find((part) => STEP.test(part));
    const hinted = rest.includes("hint");
    const hints = rest.map((part) => HINTS.exec(part)?.[1]).find(Boolean) ?? hinted;
    const strange = rest.find((part) => ![MOVES, STEP, HINTS, /^hint$/].some((known) => known.test(part)));
    if (strange !== undefined) problems.push(`${quoted(strange)} is neither moves, such as ULDR, nor a step.`);
    return { start, goal, moves, step: Number(asked ?? moves.length), hints: Number(hints), hinted, isRead: true, problems };
  }

  /** Return what can be taken away: the board that is shown, as a text and as a picture. */
  function taken() {
    if (now().whole) return now().whole;
    const { state, facts } = now().taken;
    const rows = [...state].map((tile) => (tile === "0" ? " ." : ` ${tile}`)).join("")
      .match(new RegExp(`.{${2 * game.columns}}`, "g"));
    const text = [...rows, "", ...facts.map(([term, said]) => `${term.padEnd(12)}${said}`), ""].join("\n");
    return { text, picture: drawSlide(state, game.columns), name: `${name}-${state}` };
  }

  return {
    ...view,
    taken,
    get name() { return game.title; },
    board: `${name}-board`,
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
      const asked = mode === "sheet" ? { problems: [], ...modesOf.sheet.read(rest) } : read(wanted, bad ? [] : rest);
      if (mode !== "sheet" && asked.start === undefined) {
        const address = location.hash;
        section.inert = !isShown;
        asked.start = (mode === "play" ? await modesOf.play.draw(asked.goal, wanted) : null) ?? wanted.first();
        if (location.hash !== address) return "";
      }
      section.inert = false;
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
