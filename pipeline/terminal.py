"""Printing: answers to standard output, all other messages to standard error."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

MAX_MESSAGE = 2_000
"""Maximum number of characters of a message; longer ones are cut."""


BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
WIDTHS = range(20, 1001)
"""The widths of a terminal that are believed."""


class Screen:
    """The state of the terminal: what it shows of the work that goes on."""

    def __init__(self) -> None:
        self.has_progress = False
        """Whether it has shown a progress bar, or the host that the work waits for."""


SCREEN = Screen()
"""The screen of this process."""


def tell_wait(store: str, seconds: int) -> None:
    """Say once on a terminal that a host lets the command wait, if nothing else is shown."""
    if not SCREEN.has_progress and sys.stderr.isatty():
        SCREEN.has_progress = True
        print_error(f"waiting for {store} (at most {seconds} s)")


def print_answer(text: str) -> None:
    """Print an answer to standard output and flush it."""
    sys.stdout.write(text)
    sys.stdout.flush()


def print_line(text: str) -> None:
    """Print a line of an answer, broken at spaces where a terminal is narrower."""
    width = find_width(sys.stdout)
    print_answer(f"{wrap_message(text, width) if width else text}\n")


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


def count_columns(text: str) -> int:
    """Count the columns of a terminal that a text takes.

    >>> count_columns("Übersicht"), count_columns("日本")
    (9, 4)
    """
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def find_width(stream: TextIO) -> int:
    """Return the columns of the terminal that a stream writes to; 0 if that is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):  # no terminal, or no file at all
        return 0


def wrap_message(message: str, width: int) -> str:
    """Break a message at spaces, each line with its indent.

    A command at its end stays whole, so that it can be copied.

    >>> print(wrap_message("none/eight.idx is not published. Run: pipeline precompute eight", 30))
    none/eight.idx is not
    published.
    Run: pipeline precompute eight
    """
    if count_columns(message) <= width:
        return message
    begin = max(message.rfind(f" {mark}: ") for mark in ("Run", "Write", "Example", "Next", "See"))
    begin = begin if begin > 0 else len(message)
    text = message[:begin].lstrip(" ")
    indent = " " * (begin - len(text))
    lines = [""]
    for word in (*text.split(" "), *filter(None, [message[begin + 1 :]])):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if len(indent) + count_columns(longer) > width and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(indent + line for line in lines)


def fit_terminal(text: str) -> str:
    """Return an answer as it is printed: on a terminal, long lines are broken at words."""
    width = find_width(sys.stdout)
    is_wide = max(map(len, text.splitlines()), default=0) > width > 0
    return wrap_lines(text, width) if is_wide else text


def print_error(text: object, mark: str = "pipeline: ") -> None:
    """Print a message to standard error, cut to `MAX_MESSAGE` characters.

    A terminal gets lines that fit.
    """
    message = str(text)
    if len(message) > MAX_MESSAGE:
        message = f"{message[:MAX_MESSAGE]}... ({len(message):,} characters)"
    message = f"{mark}{escape_control(message)}"
    if width := find_width(sys.stderr):
        message = wrap_message(message, width)
    sys.stderr.write(f"{message}\n")


def escape_control(text: str) -> str:
    """Return the text with the characters that would control a terminal escaped.

    >>> print(escape_control("12\\x1b[31m"))
    12\\x1b[31m
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
