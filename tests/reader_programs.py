"""How the readers in `examples/` are run: compiled, by Node, by Python, and the page in Node."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.shell import ROOT, Said, environment

EXAMPLES = ROOT / "examples"

IN_NODE = """
// The functions of the page, asked as the other readers are; then the page itself, by its events.
const { readFileSync } = require("node:fs");
const [html, how, path, ...given] = process.argv.slice(2);
const script = /<script>\\n(.*)<\\/script>/s.exec(readFileSync(html, "utf8"))[1];
const textOnly = { set(on, key, value) {
  if (key !== "textContent") throw new Error(`the page sets ${key}`);
  on[key] = value;
  return true;
} };
const page = { file: { files: [] }, state: { value: "" }, output: new Proxy({}, textOnly) };
const made = new Function("document", `${script}; return { openIndex, eight };`);
const { openIndex, eight } = made({ getElementById: (id) => page[id] });
const file = () => readFileSync(how === "typed" ? path : `${path}/eight.idx`);
async function typed() {
  page.file.onchange();
  if (page.output.textContent !== undefined) throw new Error("an answer without a file");
  page.file.files = [{ arrayBuffer: async () => Uint8Array.from(file()).buffer }];
  for (const state of given) {
    page.state.value = state;
    await page.state.oninput();
    console.log(JSON.stringify(page.output.textContent));
  }
}
function asked() {
  const record = openIndex(file(), "eight", 2, 362880);
  const [puzzle, ...states] = given;
  for (const state of states.length ? states : readFileSync(0, "utf8").match(/\\S+/g) ?? []) {
    const said = Object.values(eight(record, state));
    console.log(said.map((word) => (word === "" ? "-" : word)).join(" "));
  }
}
(async () => (how === "typed" ? typed() : asked()))().catch((error) => {
  console.error(error.message);
  process.exitCode = error.code === "ENOENT" || error.code === "EISDIR" ? 3 : error.code;
});
"""


def tool(name: str) -> str:
    """The path of a program. Without it the test is skipped, and fails in CI."""
    found = shutil.which(name)
    if found:
        return found
    sentence = f"{name} is not installed, so the reader that needs it cannot be tested."
    if os.environ.get("CI") == "true":
        pytest.fail(sentence, pytrace=False)
    pytest.skip(sentence)


def run(*command: str | Path, stdin: str = "") -> Said:
    ended = subprocess.run(
        list(map(str, command)),
        env=environment(),
        input=stdin.encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Said(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def compiled(folder: Path) -> list[str]:
    program = folder / "reader"
    strict = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")
    said = run(tool("gcc"), "-O2", *strict, "-o", program, EXAMPLES / "reader.c")
    assert said.code == 0, said.err
    return [str(program)]


def in_node(folder: Path, how: str) -> list[str]:
    node = tool("node")
    harness = folder / "page.cjs"
    harness.write_text(IN_NODE, "utf-8")
    return [node, str(harness), str(EXAMPLES / "read_eight.html"), how]


COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "c": compiled,
    "mjs": lambda _: [tool("node"), str(EXAMPLES / "reader.mjs")],
    "html": lambda folder: in_node(folder, "asked"),
    "py": lambda _: [sys.executable, "-I", str(EXAMPLES / "reader.py")],
}
