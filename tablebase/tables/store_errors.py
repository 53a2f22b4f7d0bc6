"""The system errors of stores that the system itself has no error for."""

from __future__ import annotations

import os


class NotAFile(OSError):
    """A folder, a named pipe or a device where a file is expected."""


MOVE_FILE = "Move it away, or choose a folder with --outputs"


def name_file_on_way(path: str) -> str:
    """Name the file that stands where a folder of a path is expected."""
    found = path
    while found and not os.path.exists(found):
        found = os.path.dirname(found)
    name = "it" if found == path else found or "a part of its path"
    return f"{name} is a file, not a folder"


class Unreachable(OSError):
    """A store that did not answer, or refused to.

    `status`: the HTTP status, 0 if there was none.
    """

    def __init__(self, reason: str, status: int = 0) -> None:
        super().__init__(reason)
        self.status = status


class FileChanged(Unreachable):
    """A file that is another one than when its reading began."""
