// The functions of the page, called like the other readers; then the page itself, by its events.
const { fstatSync, openSync, readFileSync, readSync } = require("node:fs");
const [html, how, path, ...values] = process.argv.slice(2);
const script = /<script>\n(.*)<\/script>/s.exec(readFileSync(html, "utf8"))[1];
const textOnly = { set(on, key, value) {
  if (key !== "textContent") throw new Error(`the page sets ${key}`);
  on[key] = value;
  return true;
} };
const page = { file: { files: [] }, state: { value: "" }, output: new Proxy({}, textOnly) };
const run = new Function("document", `${script}; return { openIndex, eight };`);
const { openIndex, eight } = run({ getElementById: (id) => page[id] });
// A file given to a page, with what a page can use of it.
function file(path) {
  const opened = openSync(path);
  const arrayBuffer = async (from, to) => {
    const bytes = new Uint8Array(to - from);
    return bytes.slice(0, readSync(opened, bytes, 0, bytes.length, from)).buffer;
  };
  const slice = (from, to) => ({ arrayBuffer: () => arrayBuffer(from, to) });
  return { size: fstatSync(opened).size, slice };
}
async function typeStates() {
  page.file.onchange();
  if (page.output.textContent !== undefined) throw new Error("an answer without a file");
  page.file.files = [file(path)];
  for (const state of values) {
    page.state.value = state;
    await page.state.oninput();
    console.log(JSON.stringify(page.output.textContent));
  }
}
function opened(folder, name, width) {
  const { size, slice } = file(`${folder}/${name}.idx`);
  const read = async (from, to) => new Uint8Array(await slice(from, to).arrayBuffer());
  return openIndex(read, size, name, width);
}
async function answerStates() {
  const record = await opened(path, "eight", 2);
  const [, ...states] = values;
  for (const state of states.length ? states : readFileSync(0, "utf8").match(/\S+/g) ?? []) {
    const fields = Object.values(await eight(record, state));
    console.log(fields.map((word) => (word === "" ? "-" : word)).join(" "));
  }
}
async function printRecords() {
  for (const line of readFileSync(0, "utf8").trim().split("\n")) {
    const [folder, name, width, number] = line.split(" ");
    try {
      const record = await opened(folder, name, Number(width));
      console.log(number === "-" ? "" : Buffer.from(await record(Number(number))).toString("hex"));
      console.log(0);
    } catch (error) {
      console.log(`${error.message}\n${error.code}`);
    }
  }
}
({ typed: typeStates, asked: answerStates, records: printRecords })[how]().catch((error) => {
  console.error(error.message);
  process.exitCode = error.code === "ENOENT" || error.code === "EISDIR" ? 3 : error.code;
});
