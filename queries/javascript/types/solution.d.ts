/**
 * Return every state on the way of a solution. `step` returns where a move leads, or undefined for an illegal one. A file may
 * be forged, with valid checksums: if the moves end elsewhere, or are not as many as it says, throw the error that `fail` makes.
 * @template State, Move
 * @param {{start: State, moves: Move[], distance?: number, step: (here: State, move: Move) => State | undefined,
 *   isGoal: (here: State) => boolean, fail: () => Error}} solution
 * @returns {State[]}
 */
export declare function walkSolution<State, Move>({ start, moves, distance, step, isGoal, fail }: {
    start: State;
    moves: Move[];
    distance?: number;
    step: (here: State, move: Move) => State | undefined;
    isGoal: (here: State) => boolean;
    fail: () => Error;
}): State[];
