export type HttpOptions = {
    fetch?: typeof globalThis.fetch;
    retryDelays?: number[];
    wholeBytes?: number;
};
/**
 * `fetch`: a function to use instead of the usual one; `retryDelays`: milliseconds before each
 * further attempt; `wholeBytes`: indexes up to this size are read whole (1 MiB if it is not given).
 * @typedef {{fetch?: typeof globalThis.fetch, retryDelays?: number[], wholeBytes?: number}} HttpOptions
 */
/** Bytes of the largest file that is read whole: a manifest, and an index where the host ignores ranges. */
export declare const MAX_WHOLE_BYTES: number;
/** The files below an address of a static host. */
export declare class HttpSource {
    #private;
    base: string;
    query: string;
    fetch: typeof fetch;
    retryDelays: number[];
    wholeBytes: number;
    requests: number;
    servesRanges: boolean;
    bytes: number;
    /** @param {string} url @param {HttpOptions} [options] */
    constructor(url: string, { fetch, retryDelays, wholeBytes }?: HttpOptions);
    /** Return the address of a file, for messages: without the query, which may be a signature. */
    locate(file: any): string;
    /**
     * Read a file, or the bytes from `first` to `last`; from a host that ignores ranges, the whole file. `isFresh`: bypass HTTP
     * caches. Return the bytes, the number of the first, the `total` size of the file, and its `version`, which is
     * another one if the file has changed; the last two are null if the host does not send them, or hides them from other sites.
     */
    read(file: any, first: number, last: any, { isFresh }?: {
        isFresh?: boolean;
    }): Promise<{
        bytes: Uint8Array<ArrayBuffer>;
        first: any;
        total: any;
        version: any;
    }>;
}
