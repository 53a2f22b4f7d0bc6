// The solver of boards that are searched: a worker that answers one question after the other.

const PATIENCE_MS = 1000;

/** Make a solver with the tables of a partition, each with its `tiles` and `records`. */
export function makeSolver(tables) {
  let worker = null;
  let running = null;
  const waiting = [];

  function start() {
    worker = new Worker(import.meta.resolve("#page/pattern_search.js"), { type: "module" });
    worker.postMessage({ tables });
    worker.onerror = () => {
      const { fail } = running;
      running = null;
      fail(new Error("This browser cannot start the search."));
    };
    worker.onmessage = ({ data }) => {
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
    worker.postMessage({ board: running.board });
  }

  /** Return a promise of a shortest solution, as the cells of the blank. */
  function solve(board) {
    if (!worker) start();
    if (running && performance.now() - running.since > PATIENCE_MS) {
      // the other question takes long: it begins again after this one
      worker.terminate();
      waiting.unshift(running);
      running = null;
      start();
    }
    return new Promise((done, fail) => {
      waiting.push({ board, done, fail });
      next();
    });
  }

  return { solve };
}
