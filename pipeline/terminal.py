"""Printing: answers to standard output, all other messages to standard error."""

from __future__ import annotations

import sys
import time

MAX_MESSAGE = 2_000
"""Maximum number of characters of a message; longer ones are cut."""


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
