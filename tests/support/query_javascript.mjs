// Queries of the JavaScript package by a test: node query_javascript.mjs LOCATION, with a question a line on
// standard input, [method, ...arguments], or ["open", LOCATION] for those after it; for each a line of JSON: the answer, or its error, and the
// rounds of requests, progress and bytes that it took.
import { text } from "node:stream/consumers";

import { openTables } from "../../queries/javascript/index.js";

let [rounds, running] = [0, 0];

/** Count requests that begin while no other runs as a new round. */
async function fetchInRounds(...words) {
  if (!running++) rounds++;
  const end = () => {
    running--;
  };
  try {
    const response = await fetch(...words);
    const reader = response.body?.getReader();
    if (!reader) end();
    const body = {
      getReader: () => ({
        read: async () => {
          const part = await reader.read().catch((error) => {
            end();
            throw error;
          });
          if (part.done) end();
          return part;
        },
        cancel: () => {
          end();
          return reader.cancel();
        },
      }),
    };
    return Object.defineProperty(response, "body", { value: reader && body });
  } catch (error) {
    end();
    throw error;
  }
}

const open = (location) => openTables(location, { fetch: fetchInRounds, retryDelays: [0, 0] });
let tables = open(process.argv[2]);
for (const line of (await text(process.stdin)).trim().split("\n")) {
  const [method, ...words] = JSON.parse(line);
  if (method === "open") {
    tables = open(words[0]);
    continue;
  }
  let progress = 0;
  const options = words.at(-1) instanceof Object ? words.pop() : {};
  const before = [rounds, tables.source.requests, tables.source.bytes ?? 0];
  const response = { rounds: 0, requests: 0, bytes: 0, progress: 0 };
  try {
    if (method !== "knight") words.push({ ...options, onProgress: () => progress++ });
    response.answer = await tables[method](...words);
  } catch (error) {
    response.error = [error.code ?? 0, error.message, error.status ?? 0];
    if (error.name !== "TablebaseError") response.error[1] = error.stack;
  }
  const after = [rounds, tables.source.requests, tables.source.bytes ?? 0];
  [response.rounds, response.requests, response.bytes] = after.map(
    (value, at) => value - before[at],
  );
  response.progress = progress;
  console.log(JSON.stringify(response));
}
