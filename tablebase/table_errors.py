"""The errors of tables: they are missing, damaged, out of date, or of another version."""

from __future__ import annotations

from tablebase.errors import TablebaseError

READ_ONLY = "The store is read-only: choose another one with --outputs."
"""Hint for a table in a read-only store."""


class TableError(TablebaseError):
    """A table that cannot be used.

    `command` repairs it; it is empty for a store that cannot be built in.
    """

    exit_code = 3

    def __init__(self, message: str, file: str, command: str, otherwise: str = READ_ONLY) -> None:
        super().__init__(f"{message} {f'Run: {command}' if command else otherwise}".rstrip())
        self.file = file
        self.command = command


class TableMissing(TableError):
    """A table that is not published."""

    def __init__(self, file: str, command: str) -> None:
        super().__init__(f"{file} is not published.", file, command)


class TableUnreadable(TableError):
    """A file that could not be read, for a reason other than missing or damaged contents."""

    def __init__(self, file: str, reason: str, hint: str, command: str = "") -> None:
        rebuild = ", or rebuild it" if command else ""
        super().__init__(f"{file} cannot be read: {reason}. {hint}{rebuild}.", file, command, "")
        self.reason = reason


class TableVersionError(TableError):
    """A file written in another format version."""

    def __init__(self, file: str, version: int, supported: int, command: str) -> None:
        newer = version > supported
        hint = " Use a newer version of the program, or rebuild the file." if newer else ""
        message = (
            f"{file} has format version {version}; this program reads version {supported}.{hint}"
        )
        super().__init__(message, file, command)
        self.version = version
        self.supported = supported


class TableDamaged(TableError):
    """A file whose contents are not those that were published."""

    def __init__(self, file: str, problem: str, command: str) -> None:
        super().__init__(f"{file} is damaged: {problem}.", file, command)
        self.problem = problem


class TableOutdated(TableError):
    """A table that was made from other tables, which have changed since."""

    def __init__(self, file: str, problem: str, command: str) -> None:
        super().__init__(f"{file} is out of date: {problem}.", file, command)
        self.problem = problem
