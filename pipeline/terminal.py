"""The two streams: answers to standard output, all else to standard error."""

from __future__ import annotations

import os
import sys


def say(text: str) -> None:
    """Print an answer at once. If its reader has gone, there is nothing more to do: exit 0."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # what is still in the buffer must not be tried again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def complain(text: object) -> None:
    """Print a sentence that is not an answer."""
    sys.stderr.write(f"pipeline: {text}\n")
