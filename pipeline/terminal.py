"""What is said: answers to standard output, all else to standard error."""

from __future__ import annotations

import sys

MAX_MESSAGE = 2_000
"""Characters of a complaint, however long what it is about."""


def print_answer(text: str) -> None:
    """Print an answer at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def print_error(text: object) -> None:
    """Print a sentence that is not an answer."""
    message = str(text)
    if len(message) > MAX_MESSAGE:
        message = f"{message[:MAX_MESSAGE]}... ({len(message):,} characters)"
    sys.stderr.write(f"pipeline: {escape_control(message)}\n")


def escape_control(text: str) -> str:
    """A text with what would act on a terminal spelled out.

    >>> print(escape_control("12\\x1b[31m"))
    12\\x1b[31m
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
