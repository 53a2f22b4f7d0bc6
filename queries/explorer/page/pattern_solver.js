// The solver of boards that are searched: a worker that answers one question after the other.
import { WORKER_NAME } from "#tables/pattern_search.js";

const PATIENCE_MS = 1000;

/** Make a solver with the tables of a partition, each with its `tiles` and `records`. */
export function makeSolver(tables) {
  let worker = null;
  let running = null;
  const waiting = [];

  function start() {
    worker = new Worker(import.meta.resolve("#tables/pattern_search.js"), {
      type: "module",
      name: WORKER_NAME,
    });
    worker.postMessage({ tables });
    worker.onerror = lose;
    worker.onmessage = ({ data }) => {
      if (data.least !== undefined || data.most) {
        Object.assign(running, data);
        report(running);
        return;
      }
      const { done } = running;
      running = null;
      next();
      done(data);
    };
  }

  /** If the search takes long, report what it knows so far: the `least` moves, and the cells of a solution, `most`. */
  function report(question) {
    if (question === running && performance.now() - question.since >= PATIENCE_MS)
      question.onUpdate?.(question);
  }

  /** End the worker, and return its question. */
  function end() {
    worker?.terminate();
    worker = null;
    const question = running;
    running = null;
    return question;
  }

  /** End the search, and those that wait: their questions fail. */
  function stop() {
    for (const question of [end(), ...waiting.splice(0)])
      question?.fail(Object.assign(new Error("The search was stopped."), { isStopped: true }));
  }

  /** Start the newest question: it is what the user looks at. */
  function next() {
    if (running || !waiting.length) return;
    running = waiting.pop();
    running.since = performance.now();
    const question = running;
    setTimeout(() => report(question), PATIENCE_MS);
    try {
      if (!worker) start();
      worker.postMessage({ board: running.board });
    } catch {
      lose();
    }
  }

  /** End a worker that has failed: its question fails, and another worker gets the others. */
  function lose() {
    end()?.fail(new Error("This browser cannot run the search."));
    next();
  }

  /** Return a promise of a shortest solution, as the cells of the blank; `onUpdate` gets what is known of one that takes long. */
  function solve(board, onUpdate) {
    // another question that takes long begins again after this one
    if (running && performance.now() - running.since > PATIENCE_MS) waiting.unshift(end());
    return new Promise((done, fail) => {
      waiting.push({ board, onUpdate, done, fail });
      next();
    });
  }

  return { solve, stop };
}
