import { FolderSource } from "./folder_source.js";
import { HttpSource } from "./http_source.js";
import { IndexFile } from "./index_file.js";
export { BAD_REQUEST, NO_ANSWER, TablebaseError, UNUSABLE } from "./errors.js";
export type BoardAnswer = import("./sliding.js").BoardAnswer;
export type OnProgress = import("./sliding.js").OnProgress;
export type FifteenAnswer = import("./fifteen.js").FifteenAnswer;
export type SenetAnswer = import("./senet.js").SenetAnswer;
export type KnightAnswer = import("./knight.js").KnightAnswer;
export type HttpOptions = import("./http_source.js").HttpOptions;
/**
 * Open tables by the address of a host, or of its manifest, or by a folder (in Node). Nothing is read
 * until the first question.
 * @param {string | URL} location
 * @param {import("./http_source.js").HttpOptions} [options]
 * @returns {Tables}
 */
export declare function openTables(location: string | URL, options?: import("./http_source.js").HttpOptions): Tables;
/** The tables of one location. A part that has been read is kept; the manifest is read once. */
export declare class Tables {
    #private;
    source: FolderSource | HttpSource;
    manifest: Promise<any>;
    /** @type {Map<string, IndexFile>} */
    indexes: Map<string, IndexFile>;
    /** @param {FolderSource | HttpSource} source */
    constructor(source: FolderSource | HttpSource);
    /** Return the manifest. `isFresh`: past all caches. */
    readManifest(isFresh?: boolean): Promise<any>;
    /**
     * Return the digest and the size of each listed version of an index; none if it is not published.
     * `isFresh`: past all caches, and those of the manifest's copy too, as the manifest may be damaged.
     */
    find(file: any, isFresh?: boolean): Promise<any[]>;
    /**
     * Return the index of a table, whose records have `width` bytes.
     * @param {string} name
     * @param {number} width
     * @param {string} [request] what builds the table, for messages
     * @returns {IndexFile}
     */
    openIndex(name: string, width: number, request?: string): IndexFile;
    /**
     * Answer for a state of the 8-puzzle. `goal`: `corner`, `centre`, `edge`, or any state; by default
     * the one of the first two that the state reaches.
     * @param {string} state nine digits, 0 for the blank
     * @param {{goal?: string | null, solution?: boolean}} [options]
     * @returns {Promise<import("./sliding.js").BoardAnswer>}
     */
    eight(state: string, options?: {
        goal?: string | null;
        solution?: boolean;
    }): Promise<import("./sliding.js").BoardAnswer>;
    /**
     * Return the sliding boards that are published, each with the states of its goals.
     * @returns {Promise<Record<string, string[]>>}
     */
    listBoards(): Promise<Record<string, string[]>>;
    /**
     * Answer for a state of a sliding board. `goal`: `corner`, the last one, which is the default, or a state. `onProgress`
     * gets `{ moves, state }` after each move of the walk to the goal.
     * @param {string} board rows x columns, such as `3x4`
     * @param {string} state a digit or letter for each cell, 0 for the blank
     * @param {{goal?: string | null, solution?: boolean, onProgress?: import("./sliding.js").OnProgress}} [options]
     * @returns {Promise<import("./sliding.js").BoardAnswer>}
     */
    sliding(board: string, state: string, options?: {
        goal?: string | null;
        solution?: boolean;
        onProgress?: import("./sliding.js").OnProgress;
    }): Promise<import("./sliding.js").BoardAnswer>;
    /**
     * Search for a shortest solution of the 15-puzzle, with the tables fifteen_5-5-5, which are read whole. `goal`: a
     * state with the blank in a corner, or `corner`, the last one, which is the default.
     * @param {string} state
     * @param {{goal?: string, onProgress?: import("./fifteen.js").OnProgress}} [options]
     * @returns {Promise<import("./fifteen.js").FifteenAnswer>}
     */
    fifteen(state: string, options?: {
        goal?: string;
        onProgress?: import("./fifteen.js").OnProgress;
    }): Promise<import("./fifteen.js").FifteenAnswer>;
    /**
     * Answer for a position of Senet.
     * @param {string} position 15 characters, five each of A, B and .
     * @param {{onProgress?: import("./sliding.js").OnProgress}} [options]
     * @returns {Promise<import("./senet.js").SenetAnswer>}
     */
    senet(position: string, options?: {
        onProgress?: import("./sliding.js").OnProgress;
    }): Promise<import("./senet.js").SenetAnswer>;
    /**
     * Return a knight's tour of 8x8 between two squares.
     * @param {string} start
     * @param {string} finish
     * @returns {Promise<import("./knight.js").KnightAnswer>}
     */
    knight(start: string, finish: string): Promise<import("./knight.js").KnightAnswer>;
}
