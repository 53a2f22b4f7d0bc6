// Answers from published tables: on any static host, by HTTP Range, or in a folder.
import { BAD_REQUEST, makeUnusable, TablebaseError } from "./errors.js";
import { answerFifteen } from "./fifteen.js";
import { FolderSource } from "./folder_source.js";
import { HttpSource } from "./http_source.js";
import { IndexFile } from "./index_file.js";
import { answerKnight } from "./knight.js";
import { answerSenet } from "./senet.js";
import { Board, EIGHT, listGoals, parseBoard } from "./sliding.js";

export { BAD_REQUEST, NO_ANSWER, TablebaseError, UNUSABLE } from "./errors.js";

/**
 * What answers and options are, for TypeScript.
 * @typedef {import("./sliding.js").BoardAnswer} BoardAnswer
 * @typedef {import("./sliding.js").OnProgress} OnProgress
 * @typedef {import("./fifteen.js").FifteenAnswer} FifteenAnswer
 * @typedef {import("./senet.js").SenetAnswer} SenetAnswer
 * @typedef {import("./knight.js").KnightAnswer} KnightAnswer
 * @typedef {import("./http_source.js").HttpOptions} HttpOptions
 */

const MANIFEST = "manifest.json";
/** The copy of the manifest, which is read if the manifest is damaged. */
const COPY = ".manifest.backup";
const FORMAT_VERSION = 5;

/**
 * Open tables by the address of a host, or of its manifest, or by a folder (in Node). Nothing is read
 * until the first question.
 * @param {string | URL} location
 * @param {import("./http_source.js").HttpOptions} [options]
 * @returns {Tables}
 */
export function openTables(location, options) {
  let text = location instanceof URL ? location.href : location;
  if (typeof text !== "string" || text === "") {
    throw new TablebaseError(
      BAD_REQUEST,
      `Tables are in a folder or at a URL, not in ${JSON.stringify(text)}.`,
    );
  }
  if (typeof document !== "undefined") text = new URL(text, document.baseURI).href;
  text = text.replace(/\/manifest\.json(?=$|\?)/, "");
  if (text.startsWith("file:///"))
    return new Tables(new FolderSource(decodeURIComponent(new URL(text).pathname)));
  if (/^https?:\/\//i.test(text)) return new Tables(new HttpSource(text, options));
  // its message would have its password; one with a typo has it in the first or second part
  if (/^[a-z][a-z\d+.-]+:\/|^\/*((?!\.\.?\/)[^/]+\/+)?[^/]*:[^/]*@/i.test(text)) {
    throw new TablebaseError(BAD_REQUEST, "The address of tables begins with https:// or http://.");
  }
  return new Tables(new FolderSource(text));
}

/** The tables of one location. A part that has been read is kept; the manifest is read once. */
export class Tables {
  /** @param {FolderSource | HttpSource} source */
  constructor(source) {
    this.source = source;
    this.manifest = null; // a promise
    /** @type {Map<string, IndexFile>} */
    this.indexes = new Map();
  }

  /** Return the manifest. `isFresh`: past all caches. */
  readManifest(isFresh = false) {
    if (isFresh || !this.manifest) {
      this.manifest = this.#fetchManifest(isFresh);
      this.manifest.catch(() => {
        this.manifest = null;
      }); // a later question tries again
    }
    return this.manifest;
  }

  async #fetchManifest(isFresh) {
    try {
      return await this.#fetchListed(MANIFEST, isFresh);
    } catch (error) {
      if (!error.isDamage) throw error;
      return await this.#fetchListed(COPY, isFresh).catch(() => {
        throw error;
      });
    }
  }

  async #fetchListed(file, isFresh) {
    const { bytes } = await this.source.read(file, 0, undefined, { isFresh });
    let manifest = null;
    try {
      manifest = JSON.parse(new TextDecoder().decode(bytes));
    } catch {
      // it is no manifest either
    }
    const version = manifest?.format_version;
    if (version === FORMAT_VERSION && manifest.tables && manifest.indexes) return manifest;
    const isOther = typeof version === "number" && version !== FORMAT_VERSION;
    const problem = isOther
      ? `it is of format version ${version}, not ${FORMAT_VERSION}`
      : "it is not a manifest";
    throw Object.assign(makeUnusable(this.source.locate(MANIFEST), problem), {
      isDamage: !isOther,
    });
  }

  /**
   * Return the digest and the size of each listed version of an index; none if it is not published.
   * `isFresh`: past all caches, and those of the manifest's copy too, as the manifest may be damaged.
   */
  async find(file, isFresh = false) {
    const manifests = [await this.readManifest(isFresh)];
    if (isFresh) manifests.unshift(await this.#fetchListed(COPY, true).catch(() => null));
    const tables = manifests.flatMap((manifest) => Object.values(manifest?.tables ?? {})).flat();
    const entries = tables.filter((entry) => entry.index?.file === file);
    const versions = new Map();
    for (const { index } of entries) versions.set(index.digest, index);
    return [...versions.values()];
  }

  /**
   * Return the index of a table, whose records have `width` bytes.
   * @param {string} name
   * @param {number} width
   * @param {string} [request] what builds the table, for messages
   * @returns {IndexFile}
   */
  openIndex(name, width, request) {
    if (!this.indexes.has(name)) this.indexes.set(name, new IndexFile(this, name, width, request));
    return this.indexes.get(name);
  }

  /**
   * Run a question, a generator, with the records that it requests, until it returns its answer.
   * @template Answer
   * @param {Generator<import("./sliding.js").RecordRequest, Answer, any>} question
   * @returns {Promise<Answer>}
   */
  async #answer(question) {
    let step = question.next();
    while (!step.done) {
      const { table, width, ranks, isWhole, request } =
        /** @type {import("./sliding.js").RecordRequest} */ (step.value);
      const index = this.openIndex(table, width, request);
      step = question.next(await (isWhole ? index.allRecords() : index.records(ranks)));
    }
    return step.value;
  }

  #makeBoard(described) {
    return new Board({ ...described, locate: (file) => this.source.locate(file) });
  }

  /**
   * Answer for a state of the 8-puzzle. `goal`: `corner`, `centre`, `edge`, or any state; by default
   * the one of the first two that the state reaches.
   * @param {string} state nine digits, 0 for the blank
   * @param {{goal?: string | null, solution?: boolean}} [options]
   * @returns {Promise<import("./sliding.js").BoardAnswer>}
   */
  async eight(state, options) {
    return this.#answer(this.#makeBoard(EIGHT).answer(state, options));
  }

  /**
   * Return the sliding boards that are published, each with the states of its goals.
   * @returns {Promise<Record<string, string[]>>}
   */
  async listBoards() {
    const boards = Object.entries(await this.#listGoals());
    return Object.fromEntries(
      boards.map(([board, goals]) => [board, goals.map(({ state }) => state)]),
    );
  }

  async #listGoals() {
    const { indexes } = await this.readManifest();
    return listGoals(Object.keys(indexes));
  }

  /**
   * Answer for a state of a sliding board. `goal`: `corner`, the last one, which is the default, or a state. `onProgress`
   * gets `{ moves, state }` after each move of the walk to the goal.
   * @param {string} board rows x columns, such as `3x4`
   * @param {string} state a digit or letter for each cell, 0 for the blank
   * @param {{goal?: string | null, solution?: boolean, onProgress?: import("./sliding.js").OnProgress}} [options]
   * @returns {Promise<import("./sliding.js").BoardAnswer>}
   */
  async sliding(board, state, options) {
    const [rows, columns] = parseBoard(board);
    // a taller board is the mirror image of a wide one, whose tables have its answers
    const wide = rows > columns ? `${columns}x${rows}` : board;
    const goals = (await this.#listGoals())[wide] ?? [];
    const goal = options?.goal ?? "corner";
    return this.#answer(
      this.#makeBoard({ rows, columns, goals }).answer(state, { ...options, goal }),
    );
  }

  /**
   * Search for a shortest solution of the 15-puzzle, with the tables fifteen_5-5-5, which are read whole. `goal`: a
   * state with the blank in a corner, or `corner`, the last one, which is the default.
   * @param {string} state
   * @param {{goal?: string, onProgress?: import("./fifteen.js").OnProgress}} [options]
   * @returns {Promise<import("./fifteen.js").FifteenAnswer>}
   */
  async fifteen(state, options) {
    return this.#answer(answerFifteen(state, options));
  }

  /**
   * Answer for a position of Senet.
   * @param {string} position 15 characters, five each of A, B and .
   * @param {{onProgress?: import("./sliding.js").OnProgress}} [options]
   * @returns {Promise<import("./senet.js").SenetAnswer>}
   */
  async senet(position, options) {
    return this.#answer(answerSenet(position, options));
  }

  /**
   * Return a knight's tour of 8x8 between two squares.
   * @param {string} start
   * @param {string} finish
   * @returns {Promise<import("./knight.js").KnightAnswer>}
   */
  async knight(start, finish) {
    return this.#answer(answerKnight(start, finish));
  }
}
