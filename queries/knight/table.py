"""The Python interface to the knight's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queries.answer_types import (
    CountAnswer,
    CycleAnswer,
    KnightAnswer,
    TourAnswer,
)
from queries.typed_tables import Default, PuzzleTable, get_or, make_answer

if TYPE_CHECKING:
    import polars as pl

    from queries.answer_frames import Frame
    from queries.query_options import OptionValues


class KnightTable(PuzzleTable):
    """The tables of the knight's tours: one for each pair of ends on 8x8, all on smaller boards.

    >>> from queries import open_tables
    >>> knight = open_tables("outputs").knight
    >>> knight.probe("a1", to="b3").closed
    True
    >>> knight.count("c3", board="5x5")
    CountAnswer(board='5x5', start='c3', tours=64, closed=0)

    Tours have numbers on boards whose table was made with `precompute knight --numbers`, closed
    ones with `--cycles`:

    >>> knight.cycle(0, board="5x5")
    Traceback (most recent call last):
    tablebase.errors.NoSuchTour: 5x5 has no closed tour.
    """

    def probe(
        self,
        start: str,
        *,
        to: str | None = None,
        closed: bool = False,
        board: str = "8x8",
        number: int | None = None,
    ) -> KnightAnswer:
        """Return the first tour from a square with these options; NoSuchTour if there is none."""
        options = self._normalize_options(to, closed, board, number)
        return make_answer(KnightAnswer, self._reader.probe(start, options))

    def get(
        self,
        start: str,
        default: Default | None = None,
        *,
        to: str | None = None,
        closed: bool = False,
        board: str = "8x8",
        number: int | None = None,
    ) -> KnightAnswer | Default | None:
        """Return the answer of `probe`, or the default where it raises; a bad option raises."""
        options = self._normalize_options(to, closed, board, number)
        return get_or(
            default, lambda: make_answer(KnightAnswer, self._reader.probe(start, options))
        )

    def annotate(
        self,
        frame: Frame,
        column: str = "start",
        *,
        prefix: str = "",
        to: str | None = None,
        closed: bool = False,
        board: str = "8x8",
        number: int | None = None,
    ) -> Frame:
        """Add finish, number, closed and path to a polars frame, for a column of squares."""
        options = self._normalize_options(to, closed, board, number)
        return self._annotate(frame, column, prefix, options)

    def _normalize_options(
        self, to: str | None, closed: bool, board: str, number: int | None
    ) -> OptionValues:
        options: OptionValues = {"board": board, "closed": closed}
        if to is not None:
            options["to"] = to
        if number is not None:
            options["number"] = str(number)
        return self._reader.normalize_options(options)

    def count(self, start: str, board: str = "8x8") -> CountAnswer:
        """Return the number of tours from a square of a board; TablebaseError if it is unknown."""
        options = self._reader.normalize_options({"board": board, "count": True})
        return make_answer(CountAnswer, self._reader.probe(start, options))

    def cycle(self, number: int, start: str = "a1", *, board: str = "8x8") -> CycleAnswer:
        """Return the closed tour with a number, from a square towards the lower of its neighbours.

        NoSuchTour past the last one, and TableMissing if the board's closed tours are not ranked.
        """
        options = self._reader.normalize_options({"board": board, "cycle": str(number)})
        return make_answer(CycleAnswer, self._reader.probe(start, options))

    def tour(self, number: int, start: str, *, board: str) -> TourAnswer:
        """Return the tour with a number among all tours from a square.

        NoSuchTour past the last one, and TableMissing if the board's tours are not ranked.
        """
        options = self._reader.normalize_options({"board": board, "tour": str(number)})
        return make_answer(TourAnswer, self._reader.probe(start, options))

    def tour_number(self, squares: str, *, board: str) -> int:
        """Return the number of a tour among all tours from its first square."""
        options = self._reader.normalize_options({"board": board, "tour_of": squares})
        return make_answer(TourAnswer, self._reader.answer_without_key(options)).tour

    def sample(
        self,
        size: int,
        seed: int = 0,
        *,
        board: str = "6x6",
        closed: bool = False,
        replacement: bool = True,
    ) -> pl.DataFrame:
        """Draw a uniform sample of tours; the same seed draws the same tours.

        Open tours are drawn from a board's list or, if it has none, by their numbers; closed tours
        by their numbers.

        >>> from queries import open_tables
        >>> open_tables("outputs").knight.sample(3, seed=7, board="5x5").height
        3
        """
        import polars as pl

        options = self._reader.normalize_options({"board": board, "closed": closed})
        return pl.concat(self._reader.draw_samples(options, size, seed, replacement=replacement))

    def cycle_number(self, squares: str, *, board: str = "8x8") -> int:
        """Return the number of a closed tour, given from any square in either direction."""
        options = self._reader.normalize_options({"board": board, "cycle_of": squares})
        return make_answer(CycleAnswer, self._reader.answer_without_key(options)).cycle
