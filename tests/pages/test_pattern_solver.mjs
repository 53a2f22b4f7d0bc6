// The solver of the explorer's 15-puzzle, with workers that fail.
import assert from "node:assert/strict";
import test from "node:test";

const workers = [];

/** A worker that answers when it is told to. */
class Worker {
  constructor() {
    workers.push(this);
    this.boards = [];
  }

  postMessage({ board }) { if (board) this.boards.push(board); }

  terminate() { this.isEnded = true; }
}

globalThis.Worker = Worker;
const { makeSolver } = await import("#page/pattern_solver.js");

test("a worker that fails fails its question, and the others are asked of another one", async () => {
  const { solve } = makeSolver([]);
  const [first, second] = [[1], [2]].map((board) => solve(board));
  const [failing] = workers;
  assert.deepEqual(failing.boards, [[1]]);
  failing.onerror({});
  await assert.rejects(first, /cannot run the search/);
  assert.ok(failing.isEnded);
  const other = workers.at(-1);
  assert.notEqual(other, failing);
  assert.deepEqual(other.boards, [[2]]);
  other.onmessage({ data: "solved" });
  assert.equal(await second, "solved");
  const third = solve([3]);
  other.onmessage({ data: "again" });
  assert.equal(await third, "again");
  other.onerror({}); // with no question
  const fourth = solve([4]);
  workers.at(-1).onmessage({ data: "anew" });
  assert.equal(await fourth, "anew");
});

test("a browser without workers fails each question", async () => {
  globalThis.Worker = class { constructor() { throw new Error("refused"); } };
  const { solve } = makeSolver([]);
  await assert.rejects(solve([1]), /cannot run the search/);
  await assert.rejects(solve([2]), /cannot run the search/);
});
