"""What is said: answers to standard output, all else to standard error."""

from __future__ import annotations

import sys

LONGEST = 2_000
"""Characters of a complaint, however long what it is about."""


def say(text: str) -> None:
    """Print an answer at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def complain(text: object) -> None:
    """Print a sentence that is not an answer."""
    said = str(text)
    if len(said) > LONGEST:
        said = f"{said[:LONGEST]}... ({len(said):,} characters)"
    sys.stderr.write(f"pipeline: {spelled(said)}\n")


def spelled(text: str) -> str:
    """A text with what would act on a terminal spelled out.

    >>> print(spelled("12\\x1b[31m"))
    12\\x1b[31m
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
