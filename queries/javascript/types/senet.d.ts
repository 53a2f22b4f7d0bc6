export declare const OPENING = "ABABABABAB.....";
export declare const PIECES = ".AB";
export declare const UNREACHABLE = 255;
export declare const THROWS: number[];
/** The number of arrangements. */
export declare const POSITIONS = 756756;
export type SenetAnswer = {
    position: string;
    /**
     * fewest plies from the opening
     */
    plies: number;
    plies_even: number | null;
    plies_odd: number | null;
    /**
     * the throws of a shortest line
     */
    dice: string;
    /**
     * the moves of that line, such as `5-10 4x7`
     */
    moves: string;
    /**
     * number of shortest lines
     */
    lines: number;
};
/**
 * @typedef {object} SenetAnswer
 * @property {string} position
 * @property {number} plies fewest plies from the opening
 * @property {number | null} plies_even
 * @property {number | null} plies_odd
 * @property {string} dice the throws of a shortest line
 * @property {string} moves the moves of that line, such as `5-10 4x7`
 * @property {number} lines number of shortest lines
 */
/**
 * Return the rank of a position among all arrangements, where `.` < `A` < `B`. Of the ways to go on from a square, those
 * that put a piece there are as many as its share of the pieces left.
 */
export declare function rankPosition(position: any): number;
/** Return the position with a rank. */
export declare function unrankPosition(rank: any): string;
/** Return a move as text: `5-10` to an empty square, `4x7` for a swap. */
export declare function formatMove({ start, swap, goal }: {
    goal: any;
    start: any;
    swap: any;
}): string;
/** Return whether the piece on a square (1-15) has one of its colour on a neighbouring square. */
export declare function isGuarded(position: any, square: any): boolean;
/** Return a side's legal moves with a throw, by their start squares. */
export declare function listMoves(position: any, mover: any, throwOf: any): any[];
/** Return the position after a move. */
export declare function applyMove({ before, start, goal }: {
    before: any;
    goal: any;
    start: any;
}): string;
/**
 * Follow the last moves in the records back from a position, for a number of plies; return the moves of that
 * line, each with the position before it.
 * @param {string} position
 * @param {number} plies
 * @param {(update: {moves: number, state: string}) => void} [onProgress]
 * @returns {Generator<import("./sliding.js").RecordRequest, any[], Uint8Array[]>}
 */
export declare function followBack(position: string, plies: number, onProgress?: (update: {
    moves: number;
    state: string;
}) => void): Generator<import("./sliding.js").RecordRequest, any[], Uint8Array[]>;
/**
 * Answer for a position.
 * @param {string} text
 * @param {{onProgress?: (update: {moves: number, state: string}) => void}} [options]
 * @returns {Generator<import("./sliding.js").RecordRequest, SenetAnswer, Uint8Array[]>}
 */
export declare function answerSenet(text: string, { onProgress }?: {
    onProgress?: (update: {
        moves: number;
        state: string;
    }) => void;
}): Generator<import("./sliding.js").RecordRequest, SenetAnswer, Uint8Array[]>;
