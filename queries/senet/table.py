"""Senet's table as a Python object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queries.answer_types import (
    SenetAnswer,
)
from queries.typed_tables import Default, PuzzleTable, get_or, make_answer

if TYPE_CHECKING:
    from queries.answer_frames import Frame


class SenetTable(PuzzleTable):
    """Senet.

    >>> from queries import open_tables
    >>> open_tables("outputs").senet.probe("ABAAABBB.B...A.").moves
    '9-14 4x7'
    """

    def probe(self, position: str) -> SenetAnswer:
        """The answer for a position; PositionUnreachable if no line of play leads to it."""
        return make_answer(SenetAnswer, self._reader.probe(position, {}))

    def get(self, position: str, default: Default | None = None) -> SenetAnswer | Default | None:
        """`probe`, or the default where it raises."""
        return get_or(default, lambda: self.probe(position))

    def annotate(self, frame: Frame, column: str = "position", *, prefix: str = "") -> Frame:
        """A polars frame with the table's columns for a column of positions, as `eight` has it."""
        return self._annotate(frame, column, prefix, {})
