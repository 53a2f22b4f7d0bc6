// Records of any index by the JavaScript package: FOLDER NAME WIDTH NUMBER... There is no manifest, so
// the header says what would be in it.
import { readFileSync } from "node:fs";

import { FolderSource } from "../../queries/javascript/folder_source.js";
import { IndexFile } from "../../queries/javascript/index_file.js";

const [folder, name, width, ...numbers] = process.argv.slice(2);
const data = readFileSync(`${folder}/${name}.idx`);
const find = async () => ({ content: data.subarray(24, 56).toString("hex").padEnd(64, "0"), bytes: data.length });
const index = new IndexFile({ source: new FolderSource(folder), find }, name, Number(width));
try {
  await index.records([]);
  for (const number of numbers) {
    console.log(Buffer.from(await index.record(Number(number))).toString("hex"));
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = error.code ?? 1;
}
