// Answers from tables in a folder or on a host, by the JavaScript package: JSON, a line for each key.
//
//     node reader.mjs outputs eight 378546201
//     node reader.mjs outputs senet ABAAABBB.B...A.
//     node reader.mjs outputs 3x4 3a1b87254960
//     node reader.mjs outputs 4x3:0123456789ab 3a1b87254960
//     node reader.mjs https://example.org/tables knight b1 a3
//
// The first key without an answer ends the program with a message: exit 1 if no answer exists, 2 for a bad
// key or an output that cannot be written, 3 for tables that cannot be used.
import { writeFileSync } from "node:fs";

import { openTables, TablebaseError } from "../queries/javascript/index.js";

/** Return the answer for each key, when it is asked for; a key of the knight is two squares. */
async function* answer(place, puzzle, keys) {
  const tables = openTables(place);
  if (puzzle === "knight") yield tables.knight(...keys);
  else if (puzzle === "eight" || puzzle === "senet") for (const key of keys) yield tables[puzzle](key);
  else {
    const [board, goal] = puzzle.split(":");
    for (const key of keys) yield tables.sliding(board, key, { goal });
  }
}

const [place, puzzle, ...keys] = process.argv.slice(2);
try {
  if (!keys.length) throw new Error("usage: reader.mjs PLACE eight|senet|knight|ROWSxCOLUMNS[:GOAL] KEY...");
  // console.log would not report a failed write
  for await (const found of answer(place, puzzle, keys)) writeFileSync(1, `${JSON.stringify(found)}\n`);
} catch (error) {
  console.error(`reader: ${error.message}`);
  process.exitCode = error instanceof TablebaseError ? error.code : 2;
}
