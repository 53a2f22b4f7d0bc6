import { makeUnreadable } from "./errors.js";
import { MAX_WHOLE_BYTES } from "./http_source.js";

const REASONS = {
  ENOENT: "it does not exist",
  EACCES: "access is denied",
  EISDIR: "it is a folder",
  ENOTDIR: "it is in no folder",
};

/** The files of a folder, for Node, read as those of a host are. */
export class FolderSource {
  constructor(path) {
    this.path = path;
    this.requests = 0;
    this.servesRanges = true;
  }

  locate(file) {
    return `${this.path.replace(/\/+$/, "")}/${file}`;
  }

  /** Read a file, or the bytes from `first` to `last`; `version` is another one if the file has changed. */
  async read(file, first = 0, last = undefined) {
    // imported here, because browsers have no files
    // @ts-ignore  the types of Node are not needed for more
    const { open, stat } = await import("node:fs/promises");
    let opened;
    this.requests++;
    try {
      // opening a named pipe would wait for its writer
      const status = await stat(this.locate(file));
      if (!status.isFile() && !status.isDirectory()) throw new Error("it is not a file");
      opened = await open(this.locate(file));
      const { size: totalBytes, ino, mtimeNs } = await opened.stat({ bigint: true });
      const total = Number(totalBytes);
      if (last === undefined && total > MAX_WHOLE_BYTES) {
        const [size, most] = [total, MAX_WHOLE_BYTES].map((count) => count.toLocaleString("en"));
        throw new Error(`it has ${size} bytes, and at most ${most} are read whole`);
      }
      const length = Math.max(0, (last === undefined ? total : Math.min(last + 1, total)) - first);
      const bytes = new Uint8Array(length);
      const { bytesRead } = await opened.read(bytes, 0, length, first);
      return { bytes: bytes.subarray(0, bytesRead), first, total, version: `${ino} ${mtimeNs}` };
    } catch (error) {
      throw makeUnreadable(this.locate(file), REASONS[error.code] ?? error.code ?? error.message);
    } finally {
      await opened?.close();
    }
  }
}
