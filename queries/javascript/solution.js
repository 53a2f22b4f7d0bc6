// Checks of solutions: each is walked by the rules before it is returned.

/**
 * Return every state on the way of a solution. `step` returns where a move leads, or undefined for an illegal one. A file may
 * be forged, with valid checksums: if the moves end elsewhere, or are not as many as it says, throw the error that `fail` makes.
 * @template State, Move
 * @param {{start: State, moves: Move[], distance?: number, step: (here: State, move: Move) => State | undefined,
 *   isGoal: (here: State) => boolean, fail: () => Error}} solution
 * @returns {State[]}
 */
export function walkSolution({ start, moves, distance = moves.length, step, isGoal, fail }) {
  const path = [start];
  for (const move of moves) {
    const after = step(path.at(-1), move);
    if (after === undefined) throw fail();
    path.push(after);
  }
  if (moves.length !== distance || !isGoal(path.at(-1))) throw fail();
  return path;
}
