// The answers of the explorer's modules without a browser: node query_page.mjs EXPLORER.html, with a question a line on
// standard input, [name, ...arguments]; for each a line of JSON.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const html = readFileSync(process.argv[2], "utf8");
const blocks = [...html.matchAll(/<script type="application\/gzip" id="([^"]*)">([^<]*)</g)];
const scripts = blocks.map(([, id, textContent]) => ({ id, textContent }));
globalThis.document = {
  scripts,
  getElementById: (id) => scripts.find((script) => script.id === id) ?? null,
};

// browsers have it, and Node since version 22
const iterators = Object.getPrototypeOf(Object.getPrototypeOf([].values()));
iterators.find ??= function find(isWanted) {
  for (const one of this) if (isWanted(one)) return one;
  return undefined;
};

const page = new URL("../../queries/explorer/page/", import.meta.url);
const load = (name) => import(new URL(name, page));
const { EIGHT, SLIDING } = await load("tabled_game.js");
const senet = await load("senet.js");
const { listBestMoves, measure } = await load("senet_search.js");
const { BOARDS, completeTour, findTour, openKnight } = await load("knight_tours.js");
const { findDay } = await load("today.js");

const questions = readFileSync(0, "utf8").trim().split("\n").map(JSON.parse);
const games = { eight: EIGHT, ...SLIDING };
const opened = {};
for (const [name, game] of Object.entries(games))
  if (questions.some(([question, board]) => question === "planes" || board === name))
    Object.assign(opened, await game.open());
if (questions.some(([question, board]) => !games[board] && question !== "day")) {
  opened.senet = await senet.openSenet();
  opened.knight_tours_8x8 = await openKnight();
}

const answers = {
  board: (name, state, goal) => games[name].facts(games[name].parse(state), goal),
  problem: (name, text) => games[name].problem(games[name].parse(text)),
  moves: (name, state, text) => games[name].readMoves(state, text),
  hardest: (name, goal) => games[name].most(goal),
  draw: (name, goal, level) => games[name].draw(goal, level),
  today: (name, number) => games[name].findToday(number),
  day: (now) => findDay(new Date(now)),
  senet: senet.senetFacts,
  lines: senet.countLines,
  mostPlies: senet.findMostPlies,
  target: senet.drawTarget,
  measure,
  best: listBestMoves,
  // a tour by its board, its start and its end
  knight: (name, start, end) =>
    findTour(BOARDS[name], ...[start, end].map((square) => BOARDS[name].parseSquare(square))),
  complete: (name, squares) => completeTour(BOARDS[name], squares),
  planes: () =>
    Object.fromEntries(
      Object.entries(opened).map(([name, { planes }]) => [
        name,
        createHash("sha256").update(Buffer.concat(planes)).digest("hex"),
      ]),
    ),
};
for (const [name, ...words] of questions)
  console.log(JSON.stringify(answers[name](...words) ?? null));
