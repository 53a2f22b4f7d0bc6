// Where every solution that tables lead to is walked by the rules, before it is told.

/**
 * Return every state on the way of a solution. `step` returns where a move leads, or undefined for an illegal one. A file may
 * be forged, with right checksums: where the moves end elsewhere, or are not as many as it says, `fail` makes the error.
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
