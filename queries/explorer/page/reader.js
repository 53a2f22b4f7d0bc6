// The reader of the page's compressed data. Of .idx files (docs/index-format.md) the page contains the
// header, the blocks' checksums, and the bytes grouped by their place in the record: planes. The reader
// rebuilds the original blocks and compares every checksum.
import { BLOCK, BODY, isWhole, readHeader } from "#tables/index_file.js";

const HEADER = 120;
const CHECKSUM = 4;

/**
 * Open an index of the page: its planes and blocks; throws if it is damaged. `check` compares the checksums;
 * with `unchecked`, the caller restores planes that the page does not have, and has to call it.
 */
export async function openIndex(name, { unchecked = false } = {}) {
  const data = await carried(`${name}.idx`);
  const makeBlock = (number) => {
    const block = new Uint8Array(BLOCK);
    block.set(data.subarray(HEADER + CHECKSUM * number, HEADER + CHECKSUM * (number + 1)), BODY);
    return block;
  };
  const first = makeBlock(0);
  first.set(data.subarray(0, HEADER));
  const { width, count, content } = readHeader(first);
  const mustBeWhole = (block, number) => mustBe(isWhole(block, number, content), `${name}.idx`, "damaged");
  mustBeWhole(first, 0);
  const perBlock = Math.floor(BODY / width);
  const last = Math.ceil(count / perBlock);
  const begin = HEADER + CHECKSUM * (last + 1);
  const planes = Array.from({ length: width }, (_, plane) => data.subarray(begin + count * plane, begin + count * (plane + 1)));

  function* blocks() {
    yield first;
    for (let number = 1; number <= last; number++) {
      const block = makeBlock(number);
      const from = perBlock * (number - 1);
      const to = Math.min(from + perBlock, count);
      planes.forEach((plane, at) => {
        for (let rank = from; rank < to; rank++) block[width * (rank - from) + at] = plane[rank];
      });
      yield block;
    }
  }
  function check() {
    [...blocks()].forEach(mustBeWhole);
  }
  if (!unchecked) check();
  return { planes, count, blocks, check, record: (rank) => Uint8Array.from(planes, (plane) => plane[rank]) };
}

/** Answer a question of the package from tables of the page, by their names. */
export function answerFrom(tables, question) {
  let step = question.next();
  while (!step.done) {
    const { table, ranks } = step.value;
    step = question.next(ranks.map(tables[table].record));
  }
  return step.value;
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
