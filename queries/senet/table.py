"""The Python interface to Senet's table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queries.answer_types import (
    SenetAnswer,
)
from queries.typed_tables import Default, PuzzleTable, get_or, make_answer

if TYPE_CHECKING:
    from queries.answer_frames import Frame


class SenetTable(PuzzleTable):
    """The table of Senet.

    >>> from queries import open_tables
    >>> open_tables("outputs").senet.probe("ABAAABBB.B...A.").moves
    '9-14 4x7'
    """

    def probe(self, position: str) -> SenetAnswer:
        """Return the answer for a position; PositionUnreachable if no line of play leads to it."""
        return make_answer(SenetAnswer, self._reader.probe(position, {}))

    def get(self, position: str, default: Default | None = None) -> SenetAnswer | Default | None:
        """Return the answer of `probe`, or the default where it raises."""
        return get_or(default, lambda: self.probe(position))

    def annotate(self, frame: Frame, column: str = "position", *, prefix: str = "") -> Frame:
        """Add the table's columns to a polars frame, for a column of positions.

        A LazyFrame stays lazy, and `prefix` begins the names of the added columns.
        """
        return self._annotate(frame, column, prefix, {})
