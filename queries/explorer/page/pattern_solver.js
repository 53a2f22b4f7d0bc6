// The solver of boards that are searched: a worker that answers one question after the other.
import { WORKER_NAME } from "#tables/pattern_search.js";

const PATIENCE_MS = 1000;

/** Make a solver with the tables of a partition, each with its `tiles` and `records`. */
export function makeSolver(tables) {
  let worker = null;
  let running = null;
  const waiting = [];

  function start() {
    worker = new Worker(import.meta.resolve("#tables/pattern_search.js"), { type: "module", name: WORKER_NAME });
    worker.postMessage({ tables });
    worker.onerror = lose;
    worker.onmessage = ({ data }) => {
      if (data.bound !== undefined) return;
      const { done } = running;
      running = null;
      next();
      done(data);
    };
  }

  /** Ask the newest question: it is what the user looks at. */
  function next() {
    if (running || !waiting.length) return;
    running = waiting.pop();
    running.since = performance.now();
    try {
      if (!worker) start();
      worker.postMessage({ board: running.board });
    } catch {
      lose();
    }
  }

  /** End a worker that has failed: its question fails, and the others are asked of another worker. */
  function lose() {
    worker?.terminate();
    worker = null;
    const question = running;
    running = null;
    question?.fail(new Error("This browser cannot run the search."));
    next();
  }

  /** Return a promise of a shortest solution, as the cells of the blank. */
  function solve(board) {
    if (running && performance.now() - running.since > PATIENCE_MS) {
      // the other question takes long: it begins again after this one
      worker.terminate();
      waiting.unshift(running);
      running = null;
      worker = null;
    }
    return new Promise((done, fail) => {
      waiting.push({ board, done, fail });
      next();
    });
  }

  return { solve };
}
