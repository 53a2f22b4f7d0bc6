"""Printing: answers to standard output, all other messages to standard error."""

from __future__ import annotations

import os
import sys
import time

MAX_MESSAGE = 2_000
"""Maximum number of characters of a message; longer ones are cut."""


BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
WIDTHS = range(20, 1001)
"""The widths of a terminal that are believed."""


class StepLine:
    """A line on a terminal with the moves that a lookup has made, if it takes over a second."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._is_shown = False

    def show(self, steps: int) -> None:
        """Show the number of moves."""
        if time.monotonic() - self._begin > 1:
            self._is_shown = True
            sys.stderr.write(f"\r{steps} moves")
            sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def print_answer(text: str) -> None:
    """Print an answer to standard output and flush it."""
    sys.stdout.write(text)
    sys.stdout.flush()


def require_usual_width() -> None:
    """Forget a width in the environment that no terminal has: help would be empty, or endless."""
    for name in ("COLUMNS", "TERMINAL_WIDTH"):
        text = os.environ.get(name, "")
        if not (text.isascii() and text.isdigit() and len(text) < 9 and int(text) in WIDTHS):
            os.environ.pop(name, None)


def wrap_lines(text: str, width: int) -> str:
    """Break the long lines of an answer at spaces, with what follows below the first line's value.

    Only lines with a label are broken; pictures and JSON are not.

    >>> print(wrap_lines("squares  a1 c2 a3 b5\\n1 2 3  4 5 6 7 8 9 0 1 2", 18), end="")
    squares  a1 c2 a3
             b5
    1 2 3  4 5 6 7 8 9 0 1 2
    """
    lines = []
    for line in text.splitlines():
        rest = line.replace(BOLD, "").replace(PLAIN, "")
        marks = len(line) - len(rest)  # all of them are in the label
        _label, gap, value = rest.partition("  ")
        indent = len(rest) - len(value.lstrip())
        if len(rest) <= width or not rest[0].isalpha() or not gap or indent * 2 > width:
            lines.append(line)
            continue
        first = len(lines)
        while len(rest) > width and (cut := rest.rfind(" ", indent, width + 1)) > indent:
            lines.append(rest[:cut])
            rest = " " * indent + rest[cut + 1 :]
        lines.append(rest)
        lines[first] = line[: len(lines[first]) + marks]
    return "".join(f"{line}\n" for line in lines)


def print_error(text: object) -> None:
    """Print a message to standard error, cut to `MAX_MESSAGE` characters."""
    message = str(text)
    if len(message) > MAX_MESSAGE:
        message = f"{message[:MAX_MESSAGE]}... ({len(message):,} characters)"
    sys.stderr.write(f"pipeline: {escape_control(message)}\n")


def escape_control(text: str) -> str:
    """Return the text with the characters that would control a terminal escaped.

    >>> print(escape_control("12\\x1b[31m"))
    12\\x1b[31m
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
