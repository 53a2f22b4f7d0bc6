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
#define _POSIX_C_SOURCE 200809L
#define main as_it_is
#include "reader.c"
#undef main
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    char folder[4096], name[128], text[32];
    unsigned long size;
    unsigned char bytes[BODY];
    while (scanf("%4095s %127s %lu %31s", folder, name, &size, text) == 4) {
        fflush(stdout);
        pid_t child = fork(); /* because a refusal ends the process */
        if (child == 0) {
            dup2(1, 2);
            open_index(folder, name, size);
            if (*text != '-') {
                read_record(strtoull(text, NULL, 10), bytes);
                for (size_t byte = 0; byte < width; byte++) printf("%02x", bytes[byte]);
            }
            puts("");
            fflush(stdout);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        printf("%d\\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
    return 0;
}
"""

RECORDS_IN_NODE = """
for (const line of (await text(process.stdin)).trim().split("\\n")) {
  const [folder, name, width, number] = line.split(" ");
  try {
    const record = await openFile(folder, name, Number(width));
    console.log(number === "-" ? "" : Buffer.from(await record(Number(number))).toString("hex"));
    console.log(0);
  } catch (error) { console.log(`${error.message}\\n${error.code}`); }
}
"""

RECORDS_IN_PYTHON = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import reader
for line in sys.stdin:
    folder, name, width, number = line.split()
    try:
        index = reader.Index(folder, name, int(width))
        print("" if number == "-" else index.read_record(int(number)).hex(), 0, sep="\\n")
    except reader.ReaderError as error:
        print(error, error.code, sep="\\n")
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
"""Programs that call the readers' functions for any index.

Each line of standard input is FOLDER NAME WIDTH NUMBER, with - for the number if the index is only
to be opened. Each gets two lines: the record in hexadecimal or the error's message, and its code, 0
without an error.
"""
