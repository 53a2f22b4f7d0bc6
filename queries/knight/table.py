"""The Python interface to the knight's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from queries.knight.count_answer import CountAnswer
from queries.knight.reader import KnightQuery, KnightReader, RankQuery
from queries.knight.tour_answer import KnightAnswer
from queries.typed_tables import Default, PuzzleTable, get_or

if TYPE_CHECKING:
    import polars as pl

    from queries.answer_frames import Frame, Keys


class KnightTable(PuzzleTable):
    """The tables of the knight's tours: one for each pair of ends on 8x8, all on smaller boards.

    >>> from queries import open_tables
    >>> knight = open_tables("outputs").knight
    >>> knight.probe("a1", to="b3").closed
    True
    >>> knight.count("c3", board="5x5")
    CountAnswer(board='5x5', start='c3', tours=64, closed=0)

    Tours have numbers on boards whose table was made with `precompute knight --rank-tours`, closed
    ones with `--rank-closed`:

    >>> knight.unrank(0, board="5x5", closed=True)
    Traceback (most recent call last):
    tablebase.answer_errors.NoSuchTour: 5x5 has no closed tour.
    """

    _reader: KnightReader

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
        query = KnightQuery(self._reader, board, to=to, closed=closed, number=number)
        return query.find_tour(query.board.parse_square(start))

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
        query = KnightQuery(self._reader, board, to=to, closed=closed, number=number)
        return get_or(default, lambda: query.find_tour(query.board.parse_square(start)))

    @overload
    def annotate(
        self,
        frame: Keys,
        column: str = "start",
        *,
        prefix: str = "",
        to: str | None = None,
        closed: bool = False,
        board: str = "8x8",
        number: int | None = None,
    ) -> pl.DataFrame: ...
    @overload
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
    ) -> Frame: ...
    def annotate(
        self,
        frame: Any,
        column: str = "start",
        *,
        prefix: str = "",
        to: str | None = None,
        closed: bool = False,
        board: str = "8x8",
        number: int | None = None,
    ) -> Any:
        """Add finish, number, closed and path to a frame, for a column of squares."""
        query = KnightQuery(self._reader, board, to=to, closed=closed, number=number)
        return self._annotate(frame, column, prefix, query)

    def count(self, start: str, board: str = "8x8") -> CountAnswer:
        """Return the number of tours from a square of a board; TablebaseError if it is unknown."""
        query = KnightQuery(self._reader, board)
        return query.count_tours(query.board.parse_square(start))

    def unrank(
        self, rank: int, start: str = "a1", *, board: str = "8x8", closed: bool = False
    ) -> KnightAnswer:
        """Return the tour of that rank among all open tours from a square, or all closed ones.

        A closed tour begins at the square and goes on towards the lower of its neighbours.
        NoSuchTour past the last one, and TableMissing where the board's tours are not ranked.
        """
        query = KnightQuery(self._reader, board, closed=closed, rank=rank)
        return query.find_tour(query.board.parse_square(start))

    def rank(self, squares: str, *, board: str = "8x8", closed: bool = False) -> int:
        """Return the rank of a tour among all open ones from its first square, or all closed ones.

        A closed tour may begin at any of its squares and go in either direction.
        """
        return RankQuery(self._reader, squares, board=board, closed=closed).find_rank()[1]

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
        query = KnightQuery(self._reader, board, closed=closed)
        return self._draw(query, size, seed, replacement)
