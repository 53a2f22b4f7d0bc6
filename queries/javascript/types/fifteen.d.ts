/** The pattern databases, whose names are their tiles. */
export declare const PATTERNS: string[];
/** The board, whose tables are for goals with the blank in a corner. */
export declare const FIFTEEN: {
    rows: number;
    columns: number;
    goals: {
        name: string;
        state: string;
        table: string;
    }[];
};
export type FifteenAnswer = Omit<Required<import("./sliding.js").BoardAnswer>, "best_moves" | "best_tiles" | "solutions"> & {
    heuristic: number;
    nodes_expanded: number;
};
export type OnProgress = (update: {
    least: number;
}) => void;
/**
 * An answer has the lower bound that the search began with, and the number of nodes expanded.
 * @typedef {Omit<Required<import("./sliding.js").BoardAnswer>, "best_moves" | "best_tiles" | "solutions">
 *   & {heuristic: number, nodes_expanded: number}} FifteenAnswer
 *
 * @typedef {(update: {least: number}) => void} OnProgress gets, before each iteration, a lower bound of the moves
 */
/** Return the tiles of a text, or of a pattern's name. */
export declare function readTiles(text: any): number[];
/** Return the states on the way of the blank over some cells of a goal's view, to that goal. */
export declare function followBlank(board: any, view: any, state: any, cells: any): any;
/**
 * Answer for a state. The search blocks, for seconds for the hardest states: run it in a worker.
 * @param {string} text
 * @param {{goal?: string, onProgress?: OnProgress}} [options]
 * @returns {Generator<import("./sliding.js").RecordRequest, FifteenAnswer, any>}
 */
export declare function answerFifteen(text: string, { goal, onProgress }?: {
    goal?: string;
    onProgress?: OnProgress;
}): Generator<import("./sliding.js").RecordRequest, FifteenAnswer, any>;
