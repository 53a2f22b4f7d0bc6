"""The Python interface to Senet's table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from queries.senet.reader import SenetAnswer, SenetQuery, SenetReader
from queries.typed_tables import Default, PuzzleTable, get_or

if TYPE_CHECKING:
    import polars as pl

    from queries.answer_frames import Frame, Keys


class SenetTable(PuzzleTable):
    """The table of Senet.

    >>> from queries import open_tables
    >>> open_tables("outputs").senet.probe("ABAAABBB.B...A.").moves
    '9-14 4x7'
    """

    _reader: SenetReader

    def probe(self, position: str) -> SenetAnswer:
        """Return the answer for a position; PositionUnreachable if no line of play leads to it."""
        return SenetQuery(self._reader).answer(position)

    def get(self, position: str, default: Default | None = None) -> SenetAnswer | Default | None:
        """Return the answer of `probe`, or the default where it raises."""
        return get_or(default, lambda: self.probe(position))

    def sample(
        self,
        size: int,
        seed: int = 0,
        *,
        distance: int | None = None,
        replacement: bool = True,
    ) -> pl.DataFrame:
        """Draw a uniform sample of the positions that are reached; a seed draws the same again.

        With a distance, only those are drawn that are first reached after that many plies.
        """
        query = SenetQuery(self._reader, distance=distance)
        return self._draw(query, size, seed, replacement)

    def list_hardest(self) -> list[str]:
        """Return all positions that are farthest from the opening."""
        return SenetQuery(self._reader).find_hardest().keys

    @overload
    def annotate(
        self, frame: Keys, column: str = "position", *, prefix: str = ""
    ) -> pl.DataFrame: ...
    @overload
    def annotate(self, frame: Frame, column: str = "position", *, prefix: str = "") -> Frame: ...
    def annotate(self, frame: Any, column: str = "position", *, prefix: str = "") -> Any:
        """Add the table's columns to a frame, for a column of positions.

        Frames and `prefix` are those of the 8-puzzle's `annotate`.
        """
        return self._annotate(frame, column, prefix, SenetQuery(self._reader))
