"""Commands of the readers in `examples/`: compiled, by Node, by Python, and the page in Node."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.shell import ROOT, Said, environment

EXAMPLES = ROOT / "examples"
IN_NODE = ROOT / "tests" / "support" / "page_in_node.cjs"


def tool(name: str) -> str:
    """Return the path of a program. Without it the test is skipped, and fails in CI."""
    result = shutil.which(name)
    if result:
        return result
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


def compile_reader(folder: Path, source: Path = EXAMPLES / "reader.c") -> list[str]:
    program = folder / "reader"
    strict = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")
    text = run(tool("gcc"), "-O2", *strict, f"-I{EXAMPLES}", "-o", program, source)
    assert text.code == 0, text.err
    return [str(program)]


def in_node(how: str) -> list[str]:
    return [tool("node"), str(IN_NODE), str(EXAMPLES / "read_eight.html"), how]


RECORDS_IN_C = """
#define main as_it_is
#include "reader.c"
#undef main
int main(int argc, char **argv) {
    unsigned char bytes[BODY];
    open_index(argv[1], argv[2], (size_t)atoi(argv[3]));
    for (int at = 4; at < argc; at++, puts("")) {
        read_record((uint64_t)atoll(argv[at]), bytes);
        for (size_t byte = 0; byte < width; byte++) printf("%02x", bytes[byte]);
    }
    return 0;
}
"""

RECORDS_IN_NODE = """
const [folder, name, width, ...numbers] = process.argv.slice(2);
(async () => {
  const record = await openFile(folder, name, Number(width));
  for (const number of numbers) {
    console.log(Buffer.from(await record(Number(number))).toString("hex"));
  }
})().catch((error) => { console.error(error.message); process.exitCode = error.code; });
"""

RECORDS_IN_PYTHON = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import reader
try:
    index = reader.Index(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    for number in sys.argv[4:]:
        print(index.read_record(int(number)).hex())
except reader.ReaderError as error:
    sys.exit(error.code)
"""


def records_in_c(folder: Path) -> list[str]:
    source = folder / "records.c"
    source.write_text(RECORDS_IN_C, "utf-8")
    return compile_reader(folder, source)


def records_in_node(folder: Path) -> list[str]:
    text = (EXAMPLES / "reader.mjs").read_text("utf-8")
    program = folder / "records.mjs"
    program.write_text(text[: text.index("\nmain(")] + RECORDS_IN_NODE, "utf-8")
    return [tool("node"), str(program)]


COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "c": compile_reader,
    "mjs": lambda _: [tool("node"), str(EXAMPLES / "reader.mjs")],
    "html": lambda _: in_node("asked"),
    "py": lambda _: [sys.executable, "-I", str(EXAMPLES / "reader.py")],
}

RECORDS: dict[str, Callable[[Path], list[str]]] = {
    "c": records_in_c,
    "mjs": records_in_node,
    "html": lambda _: in_node("records"),
    "package": lambda _: [tool("node"), str(IN_NODE.with_name("javascript_records.mjs"))],
    "py": lambda _: [sys.executable, "-I", "-c", RECORDS_IN_PYTHON, str(EXAMPLES)],
}
"""Programs that call the readers' functions for any index: FOLDER NAME WIDTH NUMBER..."""
