"""The two streams: answers to standard output, all else to standard error."""

from __future__ import annotations

import contextlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def quiet_pipe() -> Iterator[None]:
    """Where answers are written: if their reader goes away, there is nothing more to do."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # what is still in the buffer must not be tried again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def say(text: str) -> None:
    """Print an answer at once."""
    with quiet_pipe():
        sys.stdout.write(text)


def complain(text: object) -> None:
    """Print a sentence that is not an answer."""
    sys.stderr.write(f"pipeline: {text}\n")
