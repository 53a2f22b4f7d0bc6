/** An index: records of one width, in blocks of 4 KiB with checksums (docs/format/index.md). */
export declare class IndexFile {
    #private;
    tables: any;
    source: any;
    name: any;
    file: string;
    width: any;
    request: any;
    build: Build;
    /** `request` is what builds the table, for messages. */
    constructor(tables: any, name: any, width: any, request?: any);
    /**
     * Return the records of several ranks, whose blocks are requested at the same time.
     * @param {number[]} ranks
     * @returns {Promise<Uint8Array[]>}
     */
    records(ranks: number[]): Promise<Uint8Array[]>;
    /** Return all records, one after the other. */
    allRecords(): Promise<any>;
}
/** One build of an index. A block is read once, for all questions that wait for it, and checked before it answers. */
declare class Build {
    #private;
    index: any;
    isFresh: boolean;
    version: any;
    hasFailed: boolean;
    wholeBytes: any;
    perBlock: number;
    blocks: Map<any, any>;
    header: any;
    listing: any;
    first: Promise<any>;
    whole: any;
    count: number;
    /** `isFresh`: bypass HTTP caches, which had another build of the table. */
    constructor(index: any, isFresh?: boolean, version?: any);
    records(ranks: any): Promise<any>;
    allRecords(): Promise<Uint8Array<ArrayBuffer>>;
}
/** Return the fields of an index's first block. */
export declare function readHeader(block: any): {
    version: number;
    isLater: boolean;
    width: number;
    count: number;
    name: string;
    digest: string;
};
/** Return the CRC-32 of consecutive parts, as zlib computes it. */
export declare function crc32(...parts: any[]): number;
export {};
