// The reader of the page's compressed data. Of .idx files (docs/index-format.md) the page contains the
// header, the blocks' checksums, and the bytes grouped by their place in the record; the reader
// rebuilds the original blocks and compares every checksum.

import { crc32 } from "#tables/crc32.js";

const HEADER = 120;
const CONTENT = 24;
const NAME = 56;
const BLOCK = 4096;
const BODY = BLOCK - 4;

/**
 * Open an index of the page: its records and blocks; throws if it is damaged. `check` compares the
 * checksums; the caller has to call it if bytes have to be restored first.
 */
export async function openIndex(name, width, count, { unchecked = false } = {}) {
  const sound = (so, problem) => mustBe(so, `${name}.idx`, problem);
  const payload = await carried(`${name}.idx`);
  const header = payload.subarray(0, HEADER);
  const fields = new DataView(payload.buffer, 0, HEADER);
  const text = (from, to) => String.fromCharCode(...header.subarray(from, to));
  sound(text(0, 4) === "PTIX", "not an index");
  sound(fields.getUint16(4, true) === 2, "not of format version 2");
  sound(text(NAME, HEADER) === name.padEnd(HEADER - NAME, "\0"), "the index of another table");
  const sizes = [fields.getUint32(8, true), fields.getUint32(12, true), fields.getBigUint64(16, true)];
  sound(`${sizes}` === `${[width, BLOCK, count]}`, "of another size");
  const used = BODY - (BODY % width);
  const checksums = payload.subarray(HEADER, HEADER + 4 * (1 + Math.ceil((width * count) / used)));
  const records = new Uint8Array(width * count);
  for (let plane = 0, from = HEADER + checksums.length; from < payload.length; plane++, from += count) {
    for (let at = 0, to = plane; at < count; at++, to += width) records[to] = payload[from + at];
  }
  function* blocks() {
    for (let number = 0; 4 * number < checksums.length; number++) {
      const block = new Uint8Array(BLOCK);
      block.set(number ? records.subarray(used * (number - 1), used * number) : header);
      block.set(checksums.subarray(4 * number, 4 * number + 4), BODY);
      yield block;
    }
  }
  const check = () => {
    const place = new Uint8Array(8);
    const number = new DataView(place.buffer);
    for (const block of blocks()) {
      const crc = crc32(header.subarray(CONTENT, NAME), place, block.subarray(0, BODY));
      const said = new DataView(block.buffer).getUint32(BODY, true);
      sound(crc === said, `damaged: the checksum of block ${number.getUint32(0, true)} is wrong`);
      number.setUint32(0, number.getUint32(0, true) + 1, true);
    }
  };
  if (!unchecked) check();
  return { records, blocks, check };
}

/** Return a function that does the work once, however often it is called. */
export function once(work) {
  let begun = null;
  return () => {
    begun ??= work();
    return begun;
  };
}

/** Return the page's data with a name, decompressed. */
export async function carried(name) {
  const block = document.getElementById(name);
  mustBe(block, name, "missing");
  try {
    const letters = atob(block.textContent);
    const packed = new Uint8Array(letters.length);
    for (let at = 0; at < packed.length; at++) packed[at] = letters.charCodeAt(at); // `from` takes ten times as long
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    return mustBe(false, name, "damaged");
  }
}

/** Throw an error if the page's data has a problem. */
export function mustBe(sound, name, problem) {
  if (!sound) throw new Error(`${name}, inside this page, is ${problem}.`);
}
