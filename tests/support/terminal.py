"""The program on a terminal of 200 columns."""

import os
import re
import subprocess
import termios
from contextlib import suppress
from pathlib import Path

from tests.support.shell import SCRIPT, Completed, environment

PART = re.compile(r"\x1b\[([0-9;?]*)([a-zA-Z])|[\r\n]|[^\x1b\r\n]+")


def render_screen(raw: str) -> list[str]:
    """Return the lines that a terminal shows after these characters."""
    lines, row, column = [""], 0, 0
    for part in PART.finditer(raw):
        text, (argument, command) = part[0], part.groups()
        if text == "\r":
            column = 0
        elif text == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif command == "A":
            row -= int(argument or 1)
        elif command == "K":
            lines[row] = ""
        elif command == "J":
            lines[row:] = [lines[row][:column]]
        elif not command:
            lines[row] = lines[row][:column].ljust(column) + text + lines[row][column + len(text) :]
            column += len(text)
    return [line.rstrip() for line in lines]


def run_on_terminal(
    words: list[str], *, shares_stdout: bool = True, stdin: Path = Path(os.devnull)
) -> Completed:
    """Run the program with standard error on a terminal, and standard output if it is shared.

    The terminal's text is in `err`, with its line ends.
    """
    parent_end, child_end = os.openpty()
    termios.tcsetwinsize(child_end, (40, 200))
    with (
        stdin.open("rb") as source,
        subprocess.Popen(
            [SCRIPT, *words],
            stdin=source,
            stdout=child_end if shares_stdout else subprocess.PIPE,
            stderr=child_end,
            env=environment({"TERM": "xterm", "COLUMNS": "200"}),
        ) as process,
    ):
        os.close(child_end)
        raw = b""
        with suppress(OSError):  # when the other end is closed
            while data := os.read(parent_end, 1 << 16):
                raw += data
        os.close(parent_end)
        answer = process.stdout.read().decode() if process.stdout else ""
    return Completed(process.returncode, answer, raw.decode())
