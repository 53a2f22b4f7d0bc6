/** The files of a folder, for Node, read as those of a host are. */
export declare class FolderSource {
    path: any;
    requests: number;
    servesRanges: boolean;
    constructor(path: any);
    locate(file: any): string;
    /** Read a file, or the bytes from `first` to `last`; `version` is another one if the file has changed. */
    read(file: any, first?: number, last?: any): Promise<{
        bytes: Uint8Array<ArrayBuffer>;
        first: number;
        total: number;
        version: string;
    }>;
}
