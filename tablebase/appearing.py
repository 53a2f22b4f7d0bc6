"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from functools import partial
from io import BufferedWriter
from pathlib import Path

from tablebase.interrupts import Undone, making


@contextlib.contextmanager
def appearing(path: str, part: str, *, durable: bool = True) -> Iterator[BufferedWriter]:
    """A new file, `part`, that takes the path's name when the block ends well, else it goes."""
    gone = partial(Path(part).unlink, missing_ok=True)
    with Undone(gone):
        try:
            with making:
                file = open(part, "wb")  # noqa: SIM115
            with file:
                yield file
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            os.replace(part, path)
        finally:
            gone()
