// The reader of the page's compressed data, which gzip's own checksum guards. Of an index (docs/format/index.md) the
// page contains the header, and the bytes grouped by their offset in the record: planes.
import { readHeader } from "#tables/index_file.js";

const HEADER = 152;
/** The distance of unreachable states in a plane. */
const UNREACHABLE = 255;

/** Open an index of the page: its planes, and its records by rank; a plane that the page does not have is empty. */
export async function openIndex(name) {
  const data = await readEmbedded(`${name}.idx`);
  const { width, count } = readHeader(data);
  const planes = Array.from({ length: width }, (_, at) =>
    data.subarray(HEADER + count * at, HEADER + count * (at + 1)),
  );
  return { planes, count, record: (rank) => Uint8Array.from(planes, (plane) => plane[rank]) };
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

/** Return the ranks that have a value in a plane. */
export function findRanks(plane, value) {
  const ranks = [];
  for (let at = plane.indexOf(value); at >= 0; at = plane.indexOf(value, at + 1)) ranks.push(at);
  return ranks;
}

/** Return the largest value of a plane that is not `UNREACHABLE`. */
export function findMaximum(plane) {
  return plane.reduce((most, value) => (value > most && value !== UNREACHABLE ? value : most), 0);
}

/** Return a function that does the work once, however often it is called. */
export function once(work) {
  let begun = null;
  return () => {
    begun ??= work();
    return begun;
  };
}

/** Return data that is embedded in the page by its name, decompressed. */
export async function readEmbedded(name) {
  const block = document.getElementById(name);
  requireData(block, name, "missing");
  try {
    const packed =
      Uint8Array.fromBase64?.(block.textContent) ??
      Uint8Array.from(atob(block.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    return requireData(false, name, "damaged");
  }
}

/** Throw an error unless embedded data is sound. */
export function requireData(sound, name, problem) {
  if (!sound) throw new Error(`${name}, inside this page, is ${problem}.`);
}
