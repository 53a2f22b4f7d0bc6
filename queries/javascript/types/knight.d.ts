export type KnightAnswer = {
    board: string;
    start: string;
    finish: string;
    /**
     * whether the knight can jump from finish to start
     */
    closed: boolean;
    /**
     * the squares, two characters each
     */
    path: string;
};
/**
 * @typedef {object} KnightAnswer
 * @property {string} board
 * @property {string} start
 * @property {string} finish
 * @property {boolean} closed whether the knight can jump from finish to start
 * @property {string} path the squares, two characters each
 */
/** A square board. */
export declare class KnightBoard {
    side: number;
    name: string;
    files: string;
    count: number;
    squares: number[];
    /** The squares a jump away from each, ascending. */
    neighbours: number[][];
    /** @param {number} side */
    constructor(side: number);
    nameSquare(square: any): string;
    parseSquare(name: any): number;
    /** Return the problem of a text that should be a square; "" if there is none. */
    problem(text: any): string;
    isLight(square: any): boolean;
    /** Return which of the jumps 1-8 leads from a square to another; 0 if none does. */
    jump(from: any, to: any): number;
    /** Return whether the colours, which alternate along a tour, allow one between two squares. */
    canJoin(start: any, end: any): boolean;
}
/**
 * Return the tour between two squares.
 * @param {...string} texts its start and its finish
 * @returns {Generator<import("./sliding.js").RecordRequest, KnightAnswer, Uint8Array[]>}
 */
export declare function answerKnight(...texts: string[]): Generator<import("./sliding.js").RecordRequest, KnightAnswer, Uint8Array[]>;
