import { crc32 } from "./crc32.js";
import { makeUnusable, TablebaseError } from "./errors.js";

const BLOCK = 4096;
const BODY = 4092;
const INDEX_VERSION = 2;
/** Indexes up to this size are read whole, by one request. */
const MAX_SMALL_BYTES = 1 << 20;
/** Blocks this near to each other are read by one request. */
const MAX_GAP_BLOCKS = 4;
const MAX_CACHED_BLOCKS = 2048;

/**
 * Where an index is, and what the manifest says of it.
 * @typedef {object} Published
 * @property {import("./http_source.js").Source} source
 * @property {(file: string, isFresh?: boolean) => Promise<{content: string, bytes: number} | null>} find
 */

/**
 * An index: records of one width, in blocks of 4 KiB with checksums (docs/index-format.md).
 * A block is read once and checked before it answers.
 */
export class IndexFile {
  /**
   * @param {Published} tables
   * @param {string} name of the table
   * @param {number} width bytes of a record
   */
  constructor(tables, name, width) {
    this.tables = tables;
    this.source = tables.source;
    this.name = name;
    this.file = `${name}.idx`;
    this.width = width;
    this.perBlock = Math.floor(BODY / width);
    /** @type {Map<number, Uint8Array>} */
    this.cache = new Map();
    /** @type {{content: Uint8Array, bytes: number} | null} */
    this.listed = null;
    this.isOpen = false;
    /** Whether caches on the way must ask the host: they had another build of the table. */
    this.isFresh = false;
    /** @type {number | undefined} */
    this.count = undefined;
    /** @type {import("./http_source.js").Part | undefined} */
    this.whole = undefined;
  }

  /**
   * Return the record of a rank.
   * @param {number} rank
   * @returns {Promise<Uint8Array>}
   */
  async record(rank) {
    return (await this.records([rank]))[0];
  }

  /**
   * Return the records of several ranks, whose blocks are requested at the same time.
   * @param {number[]} ranks
   * @returns {Promise<Uint8Array[]>}
   */
  async records(ranks) {
    try {
      return await this.#readRecords(ranks);
    } catch (error) {
      if (!error.mayHaveChanged) throw error;
    }
    // the table may have been published anew since it was opened: once more, past all caches
    this.listed = null;
    this.isOpen = false;
    this.count = undefined;
    this.whole = undefined;
    this.isFresh = true;
    this.cache.clear();
    return this.#readRecords(ranks);
  }

  async #readRecords(ranks) {
    this.listed ??= await this.#findListed();
    this.#requireRanks(ranks, this.count ?? this.perBlock * (this.listed.bytes / BLOCK - 1));
    if (this.cache.size > MAX_CACHED_BLOCKS) this.cache.clear();
    const numbers = [...new Set(ranks.map((rank) => 1 + Math.floor(rank / this.perBlock)))];
    const missing = numbers.filter((number) => !this.cache.has(number));
    if (!this.isOpen) missing.unshift(0);
    if (missing.length) await this.#readBlocks(missing);
    if (!this.isOpen) this.#checkHeader(this.cache.get(0));
    this.#requireRanks(ranks, this.count);
    return ranks.map((rank) => {
      const at = this.width * (rank % this.perBlock);
      return this.cache.get(1 + Math.floor(rank / this.perBlock)).subarray(at, at + this.width);
    });
  }

  #requireRanks(ranks, count) {
    const wrong = ranks.find((rank) => !(rank >= 0 && rank < count));
    if (wrong !== undefined) throw this.#fail(`it has no record ${wrong}`);
  }

  async #findListed() {
    const listed = await this.tables.find(this.file, this.isFresh);
    if (!listed) throw new TablebaseError(3, `${this.source.locate(this.file)} is not published.`);
    const content = Uint8Array.from(listed.content.match(/../g), (pair) => Number.parseInt(pair, 16));
    return { content, bytes: listed.bytes };
  }

  /** Read blocks, and whatever is between near ones; check those that were asked for. */
  async #readBlocks(numbers) {
    const last = Math.ceil(this.listed.bytes / BLOCK) - 1;
    const spans = this.listed.bytes <= MAX_SMALL_BYTES ? [[0, Math.max(last, 0)]] : joinNumbers(numbers);
    await Promise.all(spans.map(async ([from, to]) => {
      const part = this.whole
        ?? await this.source.read(this.file, BLOCK * from, BLOCK * (to + 1) - 1, { isFresh: this.isFresh });
      if (part.total !== null && part.total !== this.listed.bytes) {
        throw this.#fail(`it has ${part.total} bytes, the manifest lists ${this.listed.bytes}`, true);
      }
      // a small file, or a host that ignores ranges
      if (part.bytes.length === this.listed.bytes) this.whole = part;
      for (const number of numbers) {
        if (number < from || number > to) continue;
        const at = BLOCK * number - part.first;
        this.#keepBlock(number, part.bytes.subarray(at, at + BLOCK));
      }
    }));
  }

  #keepBlock(number, block) {
    const place = new DataView(new ArrayBuffer(8));
    place.setBigUint64(0, BigInt(number), true);
    const counted = new Uint8Array(place.buffer);
    const isWhole = block.length === BLOCK
      && crc32(this.listed.content, counted, block.subarray(0, BODY)) === view(block).getUint32(BODY, true);
    if (!isWhole) {
      const version = number === 0 && block.length >= 6 && view(block).getUint16(4, true);
      const isOther = version && version !== INDEX_VERSION && isMagic(block);
      throw this.#fail(isOther ? `it is of format version ${version}, not ${INDEX_VERSION}`
        : `block ${number} is damaged, or of another build of the table`, true);
    }
    this.cache.set(number, block);
  }

  #checkHeader(block) {
    const header = view(block);
    if (!isMagic(block)) throw this.#fail("it is not an index");
    const version = header.getUint16(4, true);
    if (version !== INDEX_VERSION) throw this.#fail(`it is of format version ${version}, not ${INDEX_VERSION}`);
    if (header.getUint16(6, true) !== 0 || header.getUint32(12, true) !== BLOCK) {
      throw this.#fail("it is laid out in a later way");
    }
    const name = new TextDecoder().decode(block.subarray(56, 120)).replace(/\0+$/, "");
    if (header.getUint32(8, true) !== this.width || name !== this.name) {
      throw this.#fail("it is the index of another table");
    }
    const count = Number(header.getBigUint64(16, true));
    if (this.listed.bytes !== BLOCK * (1 + Math.ceil(count / this.perBlock))) {
      throw this.#fail(`${count} records do not match its ${this.listed.bytes} bytes`);
    }
    this.count = count;
    this.isOpen = true;
  }

  #fail(problem, mayHaveChanged = false) {
    return Object.assign(makeUnusable(this.source.locate(this.file), problem), { mayHaveChanged });
  }
}

function view(block) {
  return new DataView(block.buffer, block.byteOffset, block.length);
}

function isMagic(block) {
  return String.fromCharCode(...block.subarray(0, 4)) === "PTIX";
}

/** Return ranges that contain the numbers, near ones together. */
function joinNumbers(numbers) {
  const spans = [];
  for (const number of [...numbers].sort((one, other) => one - other)) {
    const last = spans.at(-1);
    if (last && number - last[1] <= MAX_GAP_BLOCKS) last[1] = number;
    else spans.push([number, number]);
  }
  return spans;
}
