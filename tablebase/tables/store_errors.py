"""The system errors of stores that the system itself has no error for."""

from __future__ import annotations


class NotAFile(OSError):
    """A named pipe or a device where a file is expected: reading it may never end."""


class Unreachable(OSError):
    """A store that did not answer, or refused to.

    `status`: the HTTP status, 0 if there was none.
    """

    def __init__(self, reason: str, status: int = 0) -> None:
        super().__init__(reason)
        self.status = status


class FileChanged(Unreachable):
    """A file that is another one than when its reading began."""
