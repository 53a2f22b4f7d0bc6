// Answers 8-puzzle states from eight.idx (docs/index-format.md). Node alone, no package.
//
//     node read_eight.mjs eight.idx 378546201 [more states...]
//
// Prints one line a state: state, goal, distance, number of shortest solutions, every optimal first
// move, and one shortest solution; "-" stands for no moves. Without states on the command line it
// reads them from standard input. A bad state or file ends it with a message and exit 1.
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";

// These two functions are the same, line for line, in read_eight.html.
/** The records of an index (the whole file as a Uint8Array); throws if it is not sound. */
function openIndex(file) {
  const header = new DataView(file.buffer, file.byteOffset, file.length);
  const text = (from, to) => String.fromCharCode(...file.subarray(from, to));
  const must = (sound, problem) => { if (!sound) throw new Error(`the file is ${problem}`); };
  must(file.length >= 64 && text(0, 4) === "PTIX", "not an index");
  must(header.getUint16(4, true) === 1, "not of format version 1");
  const table = [header.getUint16(6, true), header.getUint32(8, true), text(12, 28)].join();
  must(table === `2,362880,${"eight".padEnd(16, "\0")}`, "the index of another table");
  must(file.length === 64 + 2 * 362880, "too short or too long");
  let crc = ~0;
  for (let at = 0; at < file.length; at++) {
    if (at === 60) at = 64; // the checksum leaves out its own four bytes
    crc ^= file[at];
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  must(~crc >>> 0 === header.getUint32(60, true), "damaged: its checksum is wrong");
  return file.subarray(64);
}
/** What the records say of a state; throws if it is none. */
function answer(records, state) {
  if ([...state].sort().join("") !== "012345678")
    throw new Error(`${JSON.stringify(state)} is not a state, each digit 0-8 once: 378546201`);
  const smaller = (digits, i) => [...digits.slice(i)].filter((later) => later < digits[i]).length;
  const rank = (of) => [...of].reduce((sum, _, i) => sum * (9 - i) + smaller(of, i), 0);
  const far = (of) => records[2 * rank(of)];
  const downhill = (from) => { // each move that leads nearer to the goal, with the state after it
    const blank = from.indexOf("0");
    const open = { U: blank > 2, D: blank < 6, L: blank % 3 > 0, R: blank % 3 < 2 };
    return [..."UDLR"].filter((way) => open[way]).map((way) => {
      const tile = from[blank + { U: -3, D: 3, L: -1, R: 1 }[way]];
      return [way, from.replace(tile, "-").replace("0", tile).replace("-", "0")];
    }).filter(([, after]) => far(after) === far(from) - 1);
  };
  const tiles = state.replace("0", ""); // no move changes whether its pairs out of order are odd
  const odd = [...tiles].reduce((sum, _, i) => sum + smaller(tiles, i), 0) % 2;
  const [distance, solutions] = records.subarray(2 * rank(state));
  const best = downhill(state).map(([way]) => way).join("");
  let solution = "";
  for (let [move] = downhill(state); move; [move] = downhill(move[1])) solution += move[0];
  return { goal: odd ? "centre" : "corner", distance, solutions, best, solution };
}

try {
  const [path, ...states] = process.argv.slice(2);
  if (!path) throw new Error("usage: node read_eight.mjs eight.idx 378546201 [more states...]");
  const records = openIndex(readFileSync(path));
  for (const state of states.length ? states : (await text(process.stdin)).match(/\S+/g) ?? []) {
    const { goal, distance, solutions, best, solution } = answer(records, state);
    console.log(`${state} ${goal} ${distance} ${solutions} ${best || "-"} ${solution || "-"}`);
  }
} catch (error) {
  console.error(`read_eight: ${error.message}`);
  process.exitCode = 1;
}
