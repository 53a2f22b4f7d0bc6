"""Commands of the readers that have code of their own, in C, Python and JavaScript."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support import shell
from tests.support.shell import ROOT, Completed, skip

EXAMPLES = ROOT / "examples"


def tool(name: str) -> str:
    """Return the path of a program. Without it the test is skipped, and fails in CI."""
    reason = f"{name} is not installed, so the reader that needs it cannot be tested."
    return shutil.which(name) or skip(reason)


def run(*command: str | Path, stdin: str = "") -> Completed:
    return shell.run(command, cwd=Path.cwd(), input=stdin.encode(), timeout=120)


def query_package(location: object, *questions: list[Any]) -> list[Any]:
    """Query the JavaScript package; return each answer with its cost."""
    return _query_in_node("query_javascript.mjs", location, questions)


def query_page(page: Path, *questions: list[Any]) -> list[Any]:
    """Query the modules of an explorer's page, without a browser."""
    return _query_in_node("query_page.mjs", page, questions)


def _query_in_node(program: str, location: object, questions: tuple[list[Any], ...]) -> list[Any]:
    lines = "\n".join(map(json.dumps, questions))
    completed = run(tool("node"), Path(__file__).with_name(program), str(location), stdin=lines)
    assert (completed.code, completed.err) == (0, "")
    return [json.loads(line) for line in completed.out.splitlines()]


def compile_reader(folder: Path, source: Path = EXAMPLES / "reader.c") -> list[str]:
    program = folder / "reader"
    strict = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")
    text = run(tool("gcc"), "-O2", *strict, f"-I{EXAMPLES}", "-o", program, source)
    assert text.code == 0, text.err
    return [str(program)]


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


def records_in_c(folder: Path) -> list[str]:
    source = folder / "records.c"
    source.write_text(RECORDS_IN_C, "utf-8")
    return compile_reader(folder, source)


RECORDS: dict[str, Callable[[Path], list[str]]] = {
    "c": records_in_c,
    "package": lambda _: [tool("node"), str(Path(__file__).with_name("javascript_records.mjs"))],
}
"""Programs that call the readers' functions for any index.

Each line of standard input is FOLDER NAME WIDTH NUMBER, with - for the number if the index is only
to be opened. Each gets two lines: the record in hexadecimal or the error's message, and its code, 0
without an error.
"""
