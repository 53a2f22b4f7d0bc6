import { BAD_REQUEST, makeUnreadable, TablebaseError } from "./errors.js";

/**
 * `fetch`: a function to use instead of the usual one; `retryDelays`: milliseconds before each
 * further attempt; `wholeBytes`: indexes up to this size are read whole (1 MiB if it is not given).
 * @typedef {{fetch?: typeof globalThis.fetch, retryDelays?: number[], wholeBytes?: number}} HttpOptions
 */

/** Bytes of the largest file that is read whole: a manifest, and an index where the host ignores ranges. */
export const MAX_WHOLE_BYTES = 64 << 20;
/** Milliseconds before each further attempt. */
const RETRY_DELAYS = [300, 1000];
/** The most bytes of a response in which a host's reason is looked for. */
const MAX_REASON_BYTES = 1 << 16;
/** The most characters of a host's reason. */
const MAX_REASON = 200;
/** The most seconds to wait as the header Retry-After says. */
const MAX_RETRY_AFTER = 5;
const TIMEOUT_MILLISECONDS = 30_000;
/** HTTP statuses after which a request is tried again. */
const TRANSIENT_STATUSES = [408, 425, 429, 500, 502, 503, 504];
/** The message for causes that browsers do not distinguish. */
const FETCH_FAILED =
  "the connection failed, or the host does not send parts of files as they are to pages of this site";

/** An error that may not recur: the request is tried again. */
class TransientError extends Error {
  constructor(problem, status = 0, delay = 0) {
    super(problem);
    this.status = status;
    this.delay = delay;
  }
}

/** The files below an address of a static host. */
export class HttpSource {
  /** @param {string} url @param {HttpOptions} [options] */
  constructor(
    url,
    { fetch = globalThis.fetch.bind(globalThis), retryDelays = RETRY_DELAYS, wholeBytes } = {},
  ) {
    const { origin, pathname, search } = parseUrl(url);
    this.base = `${origin}${pathname.replace(/\/+$/, "")}`;
    this.query = search;
    this.fetch = fetch;
    this.retryDelays = retryDelays;
    this.wholeBytes = wholeBytes;
    this.requests = 0; // how often it was read
    this.servesRanges = false; // whether the last request for a range got one
    this.bytes = 0;
  }

  /** Return the address of a file, for messages: without the query, which may be a signature. */
  locate(file) {
    return `${this.base}/${file}`;
  }

  /**
   * Read a file, or the bytes from `first` to `last`; from a host that ignores ranges, the whole file. `isFresh`: bypass HTTP
   * caches. Return the bytes, the number of the first, the `total` size of the file, and its `version`, which is
   * another one if the file has changed; the last two are null if the host does not send them, or hides them from other sites.
   */
  async read(file, first = 0, last, { isFresh = false } = {}) {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#request(file, first, last, isFresh);
      } catch (error) {
        if (!(error instanceof TransientError)) throw error;
        const delay = this.retryDelays[attempt];
        if (delay === undefined)
          throw makeUnreadable(this.locate(file), error.message, error.status);
        await new Promise((resolve) => {
          setTimeout(resolve, Math.max(delay, error.delay));
        });
      }
    }
  }

  async #request(file, first, last, isFresh) {
    // with a range, `fetch` itself requests no content coding
    const headers = last === undefined ? {} : { Range: `bytes=${first}-${last}` };
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), TIMEOUT_MILLISECONDS);
    this.requests++;
    try {
      const response = await this.fetch(`${this.base}/${encodeURIComponent(file)}${this.query}`, {
        headers,
        cache: isFresh ? "reload" : "default",
        signal: stop.signal,
        redirect: "follow",
      });
      const part = await this.#readAnswer(response, this.locate(file), first, last, stop);
      this.bytes += part.bytes.length;
      return part;
    } catch (error) {
      throw explain(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #readAnswer(response, address, first, last, stop) {
    const { status } = response;
    const length = Number(response.headers.get("Content-Length") ?? Number.NaN);
    const coding = response.headers.get("Content-Encoding");
    const version = response.headers.get("ETag") ?? response.headers.get("Last-Modified");
    if (last !== undefined && response.ok) this.servesRanges = status === 206;
    if (status === 206 && last !== undefined) {
      const { total, begin } = parseRange(response.headers.get("Content-Range"), first);
      const expected = Math.min(last + 1, total ?? last + 1) - first;
      const refuse = () => {
        stop.abort();
        const wanted = `bytes ${first} to ${first + expected - 1}`;
        throw makeUnreadable(address, `the host does not send ${wanted} as they are`, status);
      };
      if ((coding && coding !== "identity") || begin !== first || length > expected) refuse();
      const bytes = await readBody(response, expected);
      if (!bytes) refuse();
      if (total !== null && bytes.length < expected)
        throw new TransientError("the connection was lost");
      return { bytes, first, total, version };
    }
    if (status === 200) {
      const bytes = length > MAX_WHOLE_BYTES ? null : await readBody(response, MAX_WHOLE_BYTES);
      if (!bytes) {
        stop.abort();
        const most = MAX_WHOLE_BYTES.toLocaleString("en");
        const size = length > MAX_WHOLE_BYTES ? length.toLocaleString("en") : "more";
        const why = last === undefined ? "" : "this host ignores ranges; ";
        throw makeUnreadable(
          address,
          `${why}the file has ${size} bytes, and at most ${most} are read whole`,
          status,
        );
      }
      if (!coding && bytes.length < length) throw new TransientError("the connection was lost");
      return { bytes, first: 0, total: bytes.length, version };
    }
    const reason = await findReason(response);
    if (status === 416) {
      throw Object.assign(makeUnreadable(address, `it ends before byte ${first}`, status), {
        mayHaveChanged: true,
      });
    }
    const problem = `HTTP status ${status}${reason ? `: ${reason}` : ""}`;
    if (!TRANSIENT_STATUSES.includes(status)) throw makeUnreadable(address, problem, status);
    const seconds = Math.min(
      Number(response.headers.get("Retry-After") ?? 0) || 0,
      MAX_RETRY_AFTER,
    );
    throw new TransientError(problem, status, 1000 * seconds);
  }
}

/** Return the parts of an address; the usual error of a bad one has its password. */
function parseUrl(url) {
  try {
    return new URL(url);
  } catch {
    throw new TablebaseError(BAD_REQUEST, "The address of the tables is not a URL.");
  }
}

/** Return where a part begins, and the file's size; hosts that hide the header are taken to send what was requested. */
function parseRange(header, first) {
  if (!header) return { begin: first, total: null };
  const match = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(header.trim());
  if (!match) return { begin: -1, total: null };
  return { begin: Number(match[1]), total: match[2] === "*" ? null : Number(match[2]) };
}

/** Return the bytes of a response; null if there are more than `most`, whose rest is not read. */
async function readBody(response, most) {
  const [reader, parts] = [response.body?.getReader(), []];
  let size = 0;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      reader.cancel().catch(() => {}); // the connection may be closed already
      return null;
    }
    parts.push(value);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Return the reason that a host gives for a refusal: its words, or an object store's message. */
async function findReason(response) {
  const body = await readBody(response, MAX_REASON_BYTES).catch(() => null);
  const text = new TextDecoder().decode(body ?? new Uint8Array());
  const message = /<(?:AuthenticationErrorDetail|Message)>([^<]{1,200})</.exec(text);
  const reason = message ? message[1] : response.statusText.slice(0, MAX_REASON);
  return reason.trim().replace(/\.$/, "");
}

function explain(error) {
  if (error instanceof TransientError || error.name === "TablebaseError") return error;
  if (error.name === "AbortError") return new TransientError("it does not answer, or too slowly");
  return new TransientError(
    typeof document === "undefined" ? (error.cause?.message ?? error.message) : FETCH_FAILED,
  );
}
