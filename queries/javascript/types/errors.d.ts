/** The kinds of trouble: the program `pipeline` exits with the same numbers. */
export declare const NO_ANSWER = 1;
export declare const BAD_REQUEST = 2;
export declare const UNUSABLE = 3;
/** A question without an answer, a bad key, or tables that cannot be used. */
export declare class TablebaseError extends Error {
    code: number;
    /** The file or address that cannot be used; empty if the trouble is another. */
    place: string;
    /** The HTTP status; 0 if there was none. */
    status: number;
    /**
     * @param {number} code `NO_ANSWER`, `BAD_REQUEST` or `UNUSABLE`
     * @param {string} message a sentence
     * @param {{place?: string, status?: number}} [details]
     */
    constructor(code: number, message: string, { place, status }?: {
        place?: string;
        status?: number;
    });
}
/** @param {string} place @param {string} problem what is wrong there, as the end of a sentence */
export declare function makeUnusable(place: string, problem: string, status?: number): TablebaseError;
/** @param {string} place @param {string} name of the table, which can be built */
export declare function makeMissing(place: string, name: string): TablebaseError;
/** @param {string} place @param {string} problem */
export declare function makeUnreadable(place: string, problem: string, status?: number): TablebaseError;
