/** The name of a worker that does nothing but search. */
export declare const WORKER_NAME = "pattern search";
export type Patterns = {
    entries: Uint8Array;
    slots: Uint8Array;
    shifts: Uint8Array;
};
/**
 * Unpack tables: each has its pattern's tiles and a record for each of their placements.
 * @param {{tiles: number[], records: Uint8Array}[]} tables
 * @returns {Patterns}
 */
export declare function unpackPatterns(tables: {
    tiles: number[];
    records: Uint8Array;
}[]): Patterns;
/**
 * Find a shortest solution of a board, given the tile on each cell, by iterative deepening; yield before each iteration a lower
 * bound of the moves. Return the cells of the blank, the first included, and the number of nodes expanded.
 * There are no cells if false distances lead to no solution.
 * With a weight above 1, find a solution sooner that may be longer, by up to this factor.
 * @param {Patterns} patterns
 * @param {number[]} given
 * @param {number} [weight]
 * @returns {Generator<number, {cells: number[], nodes: number}, void>}
 */
export declare function searchSolution({ entries, slots, shifts }: Patterns, given: number[], weight?: number): Generator<number, {
    cells: number[];
    nodes: number;
}, void>;
