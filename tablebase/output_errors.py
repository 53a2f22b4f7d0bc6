"""The errors of outputs that cannot be written."""

from __future__ import annotations

from tablebase.errors import TablebaseError


class OutputError(TablebaseError):
    """An output that cannot be written, or not completely."""

    exit_code = 2

    def __init__(self, output: str, problem: str, *, is_full: bool = False) -> None:
        super().__init__(f"{output} cannot be written: {problem}.")
        if is_full:  # the disk is too small: no mistake in the command
            self.exit_code = 3
        self.output = output
        self.problem = problem


class ReaderGone(OutputError):
    """A pipe whose reader has closed it: no message can be shown. Exits like SIGPIPE."""

    exit_code = 141
