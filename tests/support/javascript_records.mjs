// Records of any index by the JavaScript package: FOLDER NAME WIDTH NUMBER on each line of standard
// input. There is no manifest, so the header says what would be in it.
import { readFileSync } from "node:fs";

import { FolderSource } from "../../queries/javascript/folder_source.js";
import { IndexFile } from "../../queries/javascript/index_file.js";

for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const [folder, name, width, number] = line.split(" ");
  const data = readFileSync(`${folder}/${name}.idx`);
  const digest = data.subarray(120, 152).toString("hex").padEnd(64, "0");
  const find = async () => [{ digest, bytes: data.length }];
  const index = new IndexFile({ source: new FolderSource(folder), find }, name, Number(width));
  try {
    const [record] = await index.records(number === "-" ? [] : [Number(number)]);
    console.log(`${Buffer.from(record ?? []).toString("hex")}\n0`);
  } catch (error) {
    console.log(`${error.message}\n${error.code}`);
  }
}
