/**
 * Return every place on the way of a solution. `step` returns where a move leads, or undefined for an illegal one. A file may
 * be forged, with right checksums: where the moves end elsewhere, or are not as many as it says, `fail` makes the error.
 * @template Place, Move
 * @param {{start: Place, moves: Move[], distance?: number, step: (here: Place, move: Move) => Place | undefined,
 *   isGoal: (here: Place) => boolean, fail: () => Error}} solution
 * @returns {Place[]}
 */
export declare function walkSolution<Place, Move>({ start, moves, distance, step, isGoal, fail }: {
    start: Place;
    moves: Move[];
    distance?: number;
    step: (here: Place, move: Move) => Place | undefined;
    isGoal: (here: Place) => boolean;
    fail: () => Error;
}): Place[];
