"""Programs that call the readers which have code of their own, in Python and JavaScript."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from tests.support import shell
from tests.support.shell import ROOT, Said, skip

EXAMPLES = ROOT / "examples"


def tool(name: str) -> str:
    """Return the path of a program. Without it the test is skipped, and fails in CI."""
    reason = f"{name} is not installed, so the reader that needs it cannot be tested."
    return shutil.which(name) or skip(reason)


def run(*command: str | Path, stdin: str = "") -> Said:
    return shell.run(command, cwd=Path.cwd(), input=stdin.encode(), timeout=120)


RECORDS_IN_PYTHON = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import reader
for line in sys.stdin:
    folder, name, width, number = line.split()
    try:
        index = reader.Index(open(f"{folder}/{name}.idx", "rb"), name, int(width))
        print("" if number == "-" else index.read_record(int(number)).hex(), 0, sep="\\n")
    except ValueError as error:
        print(error, 3, sep="\\n")
"""


RECORDS: dict[str, Callable[[Path], list[str]]] = {
    "package": lambda _: [tool("node"), str(Path(__file__).with_name("javascript_records.mjs"))],
    "py": lambda _: [sys.executable, "-I", "-c", RECORDS_IN_PYTHON, str(EXAMPLES)],
}
"""Programs that call the readers' functions for any index.

Each line of standard input is FOLDER NAME WIDTH NUMBER, with - for the number if the index is only
to be opened. Each gets two lines: the record in hexadecimal or the error's message, and its code, 0
without an error.
"""
