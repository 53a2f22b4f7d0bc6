"""The two streams: answers to standard output, all else to standard error."""

from __future__ import annotations

import os
import sys

LONGEST = 2_000
"""Characters of a complaint, however long what it is about."""


class QuietPipe:
    """Around the writing of answers: if their reader goes away, there is nothing more to do."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        try:
            if kind is None:
                sys.stdout.flush()
                return
        except BrokenPipeError:
            kind = BrokenPipeError
        if issubclass(kind, BrokenPipeError):
            # what is still in the buffer must not be tried again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)


def say(text: str) -> None:
    """Print an answer at once."""
    with QuietPipe():
        sys.stdout.write(text)


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
