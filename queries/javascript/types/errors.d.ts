/** The codes of errors: the program `pipeline` exits with the same numbers. */
export declare const NO_ANSWER = 1;
export declare const BAD_REQUEST = 2;
export declare const UNUSABLE = 3;
/** A question without an answer, a bad key, or tables that cannot be used. */
export declare class TablebaseError extends Error {
    code: number;
    /** The file or address that cannot be used; empty if the trouble is another. */
    address: string;
    /** The HTTP status; 0 if there was none. */
    status: number;
    /**
     * @param {number} code `NO_ANSWER`, `BAD_REQUEST` or `UNUSABLE`
     * @param {string} message a sentence
     * @param {{address?: string, status?: number}} [details]
     */
    constructor(code: number, message: string, { address, status }?: {
        address?: string;
        status?: number;
    });
}
/** @param {string} address @param {string} problem what is wrong there, as the end of a sentence */
export declare function makeUnusable(address: string, problem: string, status?: number): TablebaseError;
/** @param {string} address @param {string} name of the table, which can be built */
export declare function makeMissing(address: string, name: string): TablebaseError;
/** @param {string} address @param {string} problem */
export declare function makeUnreadable(address: string, problem: string, status?: number): TablebaseError;
