export type HttpOptions = {
    fetch?: typeof globalThis.fetch;
    retryDelays?: number[];
    wholeBytes?: number;
};
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
     * Read a file, or the bytes from `first` to `last`; from a host that ignores ranges, the whole file. `isFresh`: caches on the
     * way must ask the host. Return the bytes, the number of the first, and the `total` size of the file, null if it is not known.
     */
    read(file: any, first: number, last: any, { isFresh }?: {
        isFresh?: boolean;
    }): Promise<{
        bytes: Uint8Array<any>;
        first: any;
        total: any;
    }>;
}
