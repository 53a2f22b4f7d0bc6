// The explorer's modules that need no browser: what it keeps, levels, its data, and the search's workers.
import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";

const page = new URL("../../queries/explorer/page/", import.meta.url);
const load = (name) => import(new URL(name, page));

let storage = {};
const blocks = {};
globalThis.document = {
  getElementById: (id) => blocks[id] ?? null,
};
globalThis.localStorage = {
  getItem: (name) => storage[name] ?? null,
  setItem: (name, value) => {
    storage[name] = value;
  },
};
const { loadValue, saveValue } = await load("storage.js");

test("what is kept has the type that is usual, whatever else has its name", () => {
  saveValue("level", 7);
  assert.equal(JSON.parse(storage["puzzle-explorer"]).level, 7);
  assert.equal(loadValue("level", 5), 7);
  for (const strange of ['{"level": "<b>"}', '{"level": null}', "[]", "null", "{", "7"]) {
    storage = { "puzzle-explorer": strange };
    assert.equal(typeof loadValue("level", 5), "number");
  }
  assert.equal(loadValue("constructor", 5), 5);
  storage = { "puzzle-explorer": '{"level": 3}' };
  assert.equal(loadValue("level", 5), 3, "what another window keeps is read");
});

test("a browser that keeps nothing keeps it as long as the page is open", () => {
  const usual = globalThis.localStorage;
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    get() {
      throw new Error("denied");
    },
  });
  saveValue("level", 9);
  assert.equal(loadValue("level", 5), 9);
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    writable: true,
    value: usual,
  });
});

test("the day is the visitor's", async () => {
  const { drawNumber, findDay } = await load("today.js");
  const { name, number } = findDay(new Date(2026, 10, 26, 0, 30));
  assert.equal(name, "2026-11-26");
  assert.equal(findDay(new Date(2026, 10, 25, 23, 30)).number, number - 1);
  assert.ok(
    new Set(Array.from({ length: 1000 }, (_, at) => drawNumber(number + at, 362880))).size > 990,
  );
});

test("a random board can be solved", async () => {
  const { describeBoard, Game } = await load("slide_rules.js");
  const game = new Game(describeBoard("2x3", [{ state: "123450" }]));
  for (let draws = 0; draws < 100; draws++) {
    const state = game.random("123450");
    assert.equal([...state].sort().join(""), "012345");
    assert.ok(game.canReach(state, "123450"), state);
  }
});

test("damage to the page's data is named", async () => {
  const { readEmbedded, openIndex } = await load("reader.js");
  const packed = gzipSync(Buffer.alloc(500, 7));
  const put = (bytes) => {
    blocks["x.idx"] = { textContent: bytes.toString("base64") };
  };
  put(packed);
  assert.equal((await readEmbedded("x.idx")).length, 500);
  for (const at of [0, 12, packed.length - 6]) {
    const wrong = Buffer.from(packed);
    wrong[at] ^= 1;
    put(wrong);
    await assert.rejects(openIndex("x"), /x\.idx, inside this page, is damaged/);
  }
  put(packed.subarray(0, 12));
  await assert.rejects(readEmbedded("x.idx"), /damaged/);
  blocks["x.idx"] = { textContent: "?" };
  await assert.rejects(readEmbedded("x.idx"), /damaged/);
  await assert.rejects(readEmbedded("y.idx"), /y\.idx, inside this page, is missing/);
});

const workers = [];
globalThis.Worker = class {
  constructor() {
    workers.push(this);
    this.boards = [];
  }

  postMessage({ board }) {
    if (board) this.boards.push(board);
  }

  terminate() {
    this.isEnded = true;
  }
};
const { makeSolver } = await load("pattern_solver.js");

test("a worker that fails fails its question, and another one gets the others", async () => {
  const { solve } = makeSolver([]);
  const [first, second] = [[1], [2]].map((board) => solve(board));
  const [failing] = workers;
  assert.deepEqual(failing.boards, [[1]]);
  failing.onerror({});
  await assert.rejects(first, /cannot run the search/);
  assert.ok(failing.isEnded);
  const other = workers.at(-1);
  assert.deepEqual(other.boards, [[2]]);
  other.onmessage({ data: "solved" });
  assert.equal(await second, "solved");
  other.onerror({}); // with no question
  const third = solve([3]);
  workers.at(-1).onmessage({ data: "anew" });
  assert.equal(await third, "anew");
});

test("a browser without workers fails each question", async () => {
  globalThis.Worker = class {
    constructor() {
      throw new Error("refused");
    }
  };
  const { solve } = makeSolver([]);
  await assert.rejects(solve([1]), /cannot run the search/);
  await assert.rejects(solve([2]), /cannot run the search/);
});
