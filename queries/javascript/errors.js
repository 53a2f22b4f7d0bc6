/** The codes of errors: the program `pipeline` exits with the same numbers. */
export const NO_ANSWER = 1;
export const BAD_REQUEST = 2;
export const UNUSABLE = 3;

/** Return untrusted text safe to print: control characters are escaped. */
const makePrintable = (text) =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (each) => `\\u{${each.codePointAt(0).toString(16)}}`);

/** A question without an answer, a bad key, or tables that cannot be used. */
export class TablebaseError extends Error {
  /**
   * @param {number} code `NO_ANSWER`, `BAD_REQUEST` or `UNUSABLE`
   * @param {string} message a sentence
   * @param {{address?: string, status?: number}} [details]
   */
  constructor(code, message, { address = "", status = 0 } = {}) {
    super(makePrintable(message));
    this.name = "TablebaseError";
    this.code = code;
    /** The file or address that cannot be used; empty if the trouble is another. */
    this.address = address;
    /** The HTTP status; 0 if there was none. */
    this.status = status;
  }
}

/** @param {string} address @param {string} problem what is wrong there, as the end of a sentence */
export function makeUnusable(address, problem, status = 0) {
  return new TablebaseError(UNUSABLE, `${address} cannot be used: ${problem}.`, {
    address,
    status,
  });
}

/** @param {string} address @param {string} name of the table, which can be built */
export function makeMissing(address, name) {
  return new TablebaseError(
    UNUSABLE,
    `${address} is not published. Run: pipeline precompute ${name}`,
    { address },
  );
}

/** @param {string} address @param {string} problem */
export function makeUnreadable(address, problem, status = 0) {
  return new TablebaseError(UNUSABLE, `${address} cannot be read: ${problem}.`, {
    address,
    status,
  });
}
