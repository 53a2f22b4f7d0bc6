import { BAD_REQUEST, makeMissing, makeUnusable, TablebaseError } from "./errors.js";

const BLOCK = 4096;
/** The bytes of a block before its checksum. */
const BODY = 4092;
const INDEX_VERSION = 3;
/** Indexes up to this size are read whole, by one request, unless their source says otherwise. */
const MAX_SMALL_BYTES = 1 << 20;
/** Blocks this near to each other are read by one request. */
const MAX_GAP_BLOCKS = 4;
const MAX_CACHED_BLOCKS = 2048;
const CHANGED = "it has changed since it was opened";

/** An index: records of one width, in blocks of 4 KiB with checksums (docs/format/index.md). */
export class IndexFile {
  /** `request` is what builds the table, for messages. */
  constructor(tables, name, width, request = name) {
    this.tables = tables;
    this.source = tables.source;
    this.name = name;
    this.file = `${name}.idx`;
    this.width = width;
    this.request = request;
    this.build = new Build(this);
  }

  /**
   * Return the records of several ranks, whose blocks are requested at the same time.
   * @param {number[]} ranks
   * @returns {Promise<Uint8Array[]>}
   */
  records(ranks) {
    return this.#read((build) => build.records(ranks));
  }

  /** Return all records, one after the other. */
  allRecords() {
    return this.#read((build) => build.allRecords());
  }

  async #read(read) {
    const { build } = this;
    let failure;
    try {
      return await read(build);
    } catch (error) {
      if (!error.mayHaveChanged) throw error;
      failure = error;
    }
    // the table may have been replaced since it was opened: try each version that is listed now,
    // bypassing caches
    const versions = await this.tables.find(this.file, true);
    for (const version of versions.reverse()) {
      if (this.build === build || this.build.hasFailed) this.build = new Build(this, true, version);
      const { build: reopened } = this;
      try {
        return await read(reopened);
      } catch (error) {
        if (!error.mayHaveChanged) throw error;
        reopened.hasFailed = true;
        failure = error;
      }
    }
    throw failure;
  }
}

/** One build of an index. A block is read once, for all questions that wait for it, and checked before it answers. */
class Build {
  /** `isFresh`: bypass HTTP caches, which had another build of the table. */
  constructor(index, isFresh = false, version = null) {
    this.index = index;
    this.isFresh = isFresh;
    this.version = version; // the listed one that it reads; null for the newest
    this.hasFailed = false;
    this.wholeBytes = index.source.wholeBytes ?? MAX_SMALL_BYTES;
    this.perBlock = Math.floor(BODY / index.width);
    this.blocks = new Map(); // by number: promises
    this.header = null; // the promise of the header, checked
    this.listing = null; // the promise of what the manifest says
    this.first = null; // the promise of the first part that is read
    this.whole = null; // the whole file, if it is small or its host ignores ranges
    this.count = undefined;
  }

  async records(ranks) {
    this.listing ??= this.#findListed();
    const listed = await this.listing.catch((error) => {
      this.listing = null; // a later question tries again
      throw error;
    });
    this.#requireRanks(
      ranks,
      this.count ?? this.perBlock * (listed.bytes / BLOCK - 1),
      this.count === undefined,
    );
    const numbers = ranks.map((rank) => 1 + Math.floor(rank / this.perBlock));
    const blocks = await this.#readBlocks(numbers, listed);
    this.#requireRanks(ranks, this.count); // known from the header
    const { width } = this.index;
    const offsets = ranks.map((rank) => width * (rank % this.perBlock));
    return offsets.map((offset, at) => blocks[at].subarray(offset, offset + width));
  }

  async allRecords() {
    await this.records([]); // opens it
    const numbers = Array.from(
      { length: Math.ceil(this.count / this.perBlock) },
      (_, at) => at + 1,
    );
    const blocks = await this.#readBlocks(numbers, await this.listing);
    const { width } = this.index;
    const all = new Uint8Array(width * this.perBlock * numbers.length);
    blocks.forEach((block, at) =>
      all.set(block.subarray(0, width * this.perBlock), width * this.perBlock * at),
    );
    return all.subarray(0, width * this.count);
  }

  #requireRanks(ranks, count, mayHaveChanged = false) {
    for (const rank of ranks) {
      // "" and null count as 0 in a comparison
      if (!Number.isSafeInteger(rank))
        throw new TablebaseError(
          BAD_REQUEST,
          `${JSON.stringify(rank)} is not the number of a record.`,
        );
      if (rank < 0 || rank >= count) throw this.#fail(`it has no record ${rank}`, mayHaveChanged);
    }
  }

  async #findListed() {
    const { tables, source, file } = this.index;
    const listed = this.version ?? (await tables.find(file)).at(-1);
    if (!listed) throw makeMissing(source.locate(file), this.index.request);
    return listed;
  }

  /** Return checked blocks; those that are not cached are read, near ones by one request. */
  async #readBlocks(numbers, listed) {
    const missing = [...new Set(numbers)].filter((number) => !this.blocks.has(number));
    if (!this.header) missing.push(0);
    const last = Math.max(Math.ceil(listed.bytes / BLOCK) - 1, 0);
    for (const [from, to] of listed.bytes <= this.wholeBytes && missing.length
      ? [[0, last]]
      : mergeRanges(missing)) {
      const read = this.#readPart(from, to, listed);
      if (!this.header) this.#open(read, listed); // the first part of all begins with it
      const part = Promise.all([read, this.header]).then((both) => this.#requireOneBuild(...both));
      part.catch(() => {}); // the blocks of it fail
      for (const number of missing.filter((one) => one && one >= from && one <= to)) {
        const block = part.then(({ bytes, first, seed }) => {
          const at = BLOCK * number - first;
          return this.#checkBlock(number, bytes.subarray(at, at + BLOCK), seed);
        });
        this.blocks.set(number, block);
        block.catch(() => this.blocks.delete(number));
      }
    }
    const wanted = numbers.map((number) => this.blocks.get(number));
    // the oldest first; a question that waits for a block has it already
    for (const number of this.blocks.keys()) {
      if (this.blocks.size <= MAX_CACHED_BLOCKS) break;
      this.blocks.delete(number);
    }
    const [, ...blocks] = await Promise.all([this.header, ...wanted]);
    return blocks;
  }

  /** Take the header from the first part. */
  #open(read, listed) {
    const header = read.then(({ bytes, version }) => {
      const block = bytes.subarray(0, BLOCK);
      return { ...this.#checkHeader(block, listed), block, version };
    });
    this.header = header;
    header.catch(() => {
      this.header = null;
    });
  }

  /**
   * Return a part with the seed of its checksums. It must be of the same build as the header: blocks of two builds have
   * the same seed. If the host does not tell whether the file has changed, the header is read again.
   */
  async #requireOneBuild(part, header) {
    const { source, file } = this.index;
    if (part.version !== header.version) throw this.#fail(CHANGED, true);
    if (part.version === null) {
      const again = part.first ? await source.read(file, 0, BLOCK - 1, { isFresh: true }) : part;
      if (header.block.some((byte, at) => byte !== again.bytes[at]))
        throw this.#fail(CHANGED, true);
    }
    return { ...part, seed: header.seed };
  }

  /**
   * Read the part with some blocks, or the whole file. Until a host has sent a part, the first one is waited
   * for: if it ignores ranges, one request is enough.
   */
  async #readPart(from, to, listed) {
    if (!this.first) {
      this.first = this.#requestPart(from, to, listed);
      this.first.catch(() => {
        this.first = null;
      });
      return this.first;
    }
    if (!this.index.source.servesRanges || listed.bytes <= this.wholeBytes) await this.first;
    return this.whole ?? this.#requestPart(from, to, listed);
  }

  async #requestPart(from, to, listed) {
    const { source, file } = this.index;
    const part = await source.read(file, BLOCK * from, BLOCK * (to + 1) - 1, {
      isFresh: this.isFresh,
    });
    this.isFresh ||= part.version === null; // a cache could have another build
    if (part.total !== null && part.total !== listed.bytes) {
      throw this.#fail(`it has ${part.total} bytes, the manifest lists ${listed.bytes}`, true);
    }
    if (part.bytes.length === listed.bytes) this.whole = part;
    return part;
  }

  #checkBlock(number, block, seed) {
    if (block.length === BLOCK && hasValidChecksum(block, number, seed)) return block;
    const isIndex = number === 0 && block.length >= 6 && isMagic(block);
    const version = isIndex ? view(block).getUint16(4, true) : INDEX_VERSION;
    throw this.#fail(
      version !== INDEX_VERSION
        ? `it is of format version ${version}, not ${INDEX_VERSION}`
        : `block ${number} is damaged`,
      true,
    );
  }

  #checkHeader(block, listed) {
    const seed = block.subarray(24, 56);
    this.#checkBlock(0, block, seed);
    const { version, isLater, width, count, name, digest } = readHeader(block);
    if (!isMagic(block)) throw this.#fail("it is not an index");
    if (version !== INDEX_VERSION)
      throw this.#fail(`it is of format version ${version}, not ${INDEX_VERSION}`);
    if (isLater) throw this.#fail("it has the layout of a later version");
    if (width !== this.index.width || name !== this.index.name)
      throw this.#fail("it is the index of another table");
    if (listed.bytes !== BLOCK * (1 + Math.ceil(count / this.perBlock))) {
      throw this.#fail(`${count} records do not match its ${listed.bytes} bytes`);
    }
    if (digest !== listed.digest) {
      throw this.#fail("it is of another build than the manifest lists", true);
    }
    this.count = count;
    return { seed };
  }

  #fail(problem, mayHaveChanged = false) {
    return Object.assign(makeUnusable(this.index.source.locate(this.index.file), problem), {
      mayHaveChanged,
    });
  }
}

/** Return the fields of an index's first block. */
export function readHeader(block) {
  const fields = view(block);
  return {
    version: fields.getUint16(4, true),
    isLater: fields.getUint16(6, true) !== 0 || fields.getUint32(12, true) !== BLOCK,
    width: fields.getUint32(8, true),
    count: Number(fields.getBigUint64(16, true)),
    name: new TextDecoder().decode(block.subarray(56, 120)).replace(/\0+$/, ""),
    digest: Array.from(block.subarray(120, 152), (byte) => byte.toString(16).padStart(2, "0")).join(
      "",
    ),
  };
}

/** Return whether a block's checksum is right: the CRC of the seed, its number and its body. */
function hasValidChecksum(block, number, seed) {
  const seeded = new DataView(new ArrayBuffer(8));
  seeded.setBigUint64(0, BigInt(number), true);
  return (
    crc32(seed, new Uint8Array(seeded.buffer), block.subarray(0, BODY)) ===
    view(block).getUint32(BODY, true)
  );
}

function view(block) {
  return new DataView(block.buffer, block.byteOffset, block.length);
}

function isMagic(block) {
  return String.fromCharCode(...block.subarray(0, 4)) === "PTIX";
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  return crc;
});

/** Return the CRC-32 of consecutive parts, as zlib computes it. */
export function crc32(...parts) {
  let crc = ~0;
  for (const bytes of parts)
    for (const byte of bytes) crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ byte) & 255];
  return ~crc >>> 0;
}

/** Return ranges that contain the numbers; near ones share a range. */
function mergeRanges(numbers) {
  const spans = [];
  for (const number of [...numbers].sort((one, other) => one - other)) {
    const last = spans.at(-1);
    if (last && number - last[1] <= MAX_GAP_BLOCKS) last[1] = number;
    else spans.push([number, number]);
  }
  return spans;
}
