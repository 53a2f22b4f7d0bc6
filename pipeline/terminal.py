"""Printing: answers to standard output, all other messages to standard error."""

from __future__ import annotations

import sys

MAX_MESSAGE = 2_000
"""Maximum number of characters of a message; longer ones are cut."""


def print_answer(text: str) -> None:
    """Print an answer to standard output and flush it."""
    sys.stdout.write(text)
    sys.stdout.flush()


def print_line(text: str) -> None:
    """Print a line of an answer."""
    print_answer(f"{text}\n")


def print_error(text: object, mark: str = "pipeline: ") -> None:
    """Print a message to standard error, cut to `MAX_MESSAGE` characters."""
    message = str(text)
    if len(message) > MAX_MESSAGE:
        message = f"{message[:MAX_MESSAGE]}... ({len(message):,} characters)"
    sys.stderr.write(f"{mark}{escape_control(message)}\n")


def escape_control(text: str) -> str:
    """Return the text with the characters that would control a terminal escaped.

    >>> print(escape_control("12\\x1b[31m"))
    12\\x1b[31m
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def explain_missing_package(error: ModuleNotFoundError) -> str | None:
    """Say which package is missing, and the line that installs all; None for a module of ours."""
    import re
    from importlib.metadata import PackageNotFoundError, requires

    package = __name__.partition(".")[0]
    missing = (error.name or package).partition(".")[0]
    if missing == package:
        return None
    try:
        needed = [each for each in requires(package) or () if "extra ==" not in each]
    except PackageNotFoundError:  # a folder of source code, which nothing has installed
        needed = []
    names = sorted(re.split("[^A-Za-z0-9_-]", each)[0] for each in needed) or [missing]
    return f"{missing} is not installed. Run: pip install {' '.join(names)}"
