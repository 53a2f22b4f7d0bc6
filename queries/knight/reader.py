"""The knight's reader, and its answer: a tour with its squares, jumps and board."""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, NoSuchTour, NotationError
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import (
    CLOSED_RANKS_PREFIX,
    MAX_LISTED_SQUARES,
    PAIRS_BOARD,
    PUZZLE,
    RANKS_PREFIX,
    TOURS_PREFIX,
    explain_no_tour,
    find_board,
    get_sides,
    make_ranking_table,
    make_tour_table,
)
from puzzle_tablebase.queries.answer import Answer, Option, align_rows, make_bold
from puzzle_tablebase.queries.reader import Query, Reader, ignore_progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import polars as pl

    from puzzle_tablebase.queries.knight.ranked_tours import RankedTours
    from puzzle_tablebase.queries.knight.table_scans import CountAnswer
    from puzzle_tablebase.queries.reader import ProgressCallback
    from puzzle_tablebase.queries.sampling import SampleRequest
    from puzzle_tablebase.schema import Table

MAX_INT64 = (1 << 63) - 1
"""The highest number that a table can hold."""
TOURS_PER_START = PAIRS_BOARD[0] * PAIRS_BOARD[1] // 2


SAMPLED_BOARD = "6x6"
"""The board of a sample, if no option names one."""


class KnightAnswer(Answer):
    """A tour. `number` is that in its list, or else `rank` that among all closed ones or all open
    ones from its start.

    `jumps` are 1 to 8, one fewer than the squares of `path`. `order` has the ranks of the board
    from above, with each square's place in the tour.
    """

    _board: KnightBoard
    board: str
    start: str
    finish: str
    number: int | None = None
    rank: int | None = None
    closed: bool
    path: str
    jumps: tuple[int, ...]
    order: tuple[tuple[int, ...], ...]

    def to_text(self) -> str:
        """Format the answer as `pipeline query` prints it."""
        numbered_as = f"rank {self.rank}" if self.number is None else f"number {self.number}"
        rows = [
            ("tour", f"{self.board} from {self.start} to {self.finish}, {numbered_as}"),
            ("closed", "yes" if self.closed else "no"),
            ("squares", " ".join(self.path[at : at + 2] for at in range(0, len(self.path), 2))),
            ("jumps", " ".join(map(str, self.jumps))),
        ]
        # the board from above, rank by rank: each square shows its place in the tour
        board = self._board
        lines = [
            f"{make_bold(str(board.ranks - row))}{''.join(f'{place:4}' for place in places)}\n"
            for row, places in enumerate(self.order)
        ]
        files = "".join(f"{board.name_square(file)[0]:>4}" for file in range(board.files))
        return f"{''.join(lines)} {make_bold(files)}\n\n{align_rows(rows)}"

    def to_svg(self) -> str:
        """Draw the tour on its board."""
        from puzzle_tablebase.queries.svg import draw_tour

        return draw_tour(self._board, self.path)


def make_tour_answer(
    board: KnightBoard, squares: list[int], *, number: int | None = None, rank: int | None = None
) -> KnightAnswer:
    """Make the answer of a tour with its number or its rank."""
    at = {square: move for move, square in enumerate(squares, start=1)}
    return KnightAnswer(
        _board=board,
        board=str(board),
        start=board.name_square(squares[0]),
        finish=board.name_square(squares[-1]),
        number=number,
        rank=rank,
        closed=board.is_jump(squares[0], squares[-1]),
        path="".join(board.name_square(square) for square in squares),
        jumps=tuple(map(board.find_jump, squares, squares[1:])),
        order=tuple(
            tuple(at[file + board.files * rank] for file in range(board.files))
            for rank in reversed(range(board.ranks))
        ),
    )


class KnightQuery(Query):
    """A query of tours: a board, and which of its tours. Squares are numbers of the board."""

    reader: KnightReader
    judge_class = "puzzle_tablebase.queries.judges:KnightJudge"

    def __init__(self, reader: KnightReader, board: str | None = None, **options: Any) -> None:
        super().__init__(reader, board=board, **options)
        self.board = parse_board("8x8" if board is None else board)
        self.sampled_board = parse_board(SAMPLED_BOARD if board is None else board)
        to, number, rank = (self.given.get(name) for name in ("to", "number", "rank"))
        self.to = None if to is None else self.board.parse_square(to)
        self.closed = "closed" in self.given
        self.number = None if number is None else _parse_number(number)
        self.rank = None if rank is None else _parse_number(rank)

    def parse_key(self, text: str) -> int:
        return self.board.parse_square(text)

    def answer(self, key: str) -> KnightAnswer | CountAnswer:
        if "rank_of" in self.given:
            problem = "--rank-of needs no key"
            raise BadRequest(problem, "Write all squares in one pair of quotes")
        if "count" in self.given:
            return self.count_tours(key)
        return self.find_tour(self.board.parse_square(key))

    def answer_without_key(self) -> KnightAnswer | CountAnswer:
        if "rank_of" in self.given:
            squares, rank = self.find_rank(self.given["rank_of"])
            return make_tour_answer(self.board, squares, rank=rank)
        return self.count_tours(None)

    def find_tour(self, start: int) -> KnightAnswer:
        """Find the tour from a square that the options select."""
        reader, board = self.reader, self.board
        if self.rank is not None:
            tours = reader.open_ranked_tours(board, closed=self.closed)
            return make_tour_answer(board, tours.unrank(self.rank, start), rank=self.rank)
        if self.to is not None:
            _require_joinable(board, start, self.to, self.closed)
        wanted = board, start, self.to, self.number, self.closed
        if (board.files, board.ranks) == PAIRS_BOARD:
            number, squares = reader.find_pair_tour(*wanted)
        else:
            from puzzle_tablebase.queries.knight.table_scans import find_listed_tour

            number, squares = find_listed_tour(reader, wanted)
        return make_tour_answer(board, squares, number=number)

    def count_tours(self, start: str | None) -> CountAnswer:
        """Count the tours from a square, or from all squares."""
        from puzzle_tablebase.queries.knight.table_scans import find_counted_board, read_tour_counts

        reader, board = self.reader, self.board
        if "board" not in self.given:
            board = find_counted_board(reader.store, start, is_closed=self.closed)
        square = None if start is None else board.parse_square(start)
        return read_tour_counts(reader, board, square, is_closed=self.closed)

    def find_rank(self, tour: str) -> tuple[list[int], int]:
        """Find the squares of a tour that is given as text, and its rank."""
        from puzzle_tablebase.queries.knight.ranked_tours import parse_tour

        squares = parse_tour(self.board, tour, closed=self.closed)
        return squares, self.reader.open_ranked_tours(self.board, closed=self.closed).rank(squares)

    def draw_samples(
        self,
        request: SampleRequest,
        wanted: range | None = None,
        on_progress: ProgressCallback = ignore_progress,
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        from puzzle_tablebase.puzzles.knight.tables import MAX_RANKED_SIDE
        from puzzle_tablebase.queries.knight.sampling import (
            CHUNK_TOURS,
            sample_by_rank,
            sample_list,
        )

        reader, board, closed = self.reader, self.sampled_board, self.closed
        if not closed and not board.has_tours():
            raise NoSuchTour(str(board), explain_no_tour(board, None))
        if not closed and min(get_sides(board)) > MAX_RANKED_SIDE:
            hint = "Add --closed" if board.has_closed_tours() else "Choose a smaller --board"
            raise BadRequest(f"{board} has too many open tours to draw from", hint)
        is_listed = board.squares <= reader.max_listed_squares
        if closed and is_listed and board.has_closed_tours() and not reader.has_ranking(board):
            from puzzle_tablebase.queries.knight.sampling import list_closed_tours

            rows = list_closed_tours(reader, board)
            for numbers in request.draw_numbers(len(rows), "tour"):
                yield rows[numbers]
            return
        if closed or not is_listed:
            tours = reader.open_ranked_tours(board, closed=closed)
            counts = tours.list_counts()
            parts = request._replace(chunk_numbers=CHUNK_TOURS)
            for numbers in parts.draw_numbers(sum(counts), "tour"):
                yield sample_by_rank(tours, counts, numbers, on_progress)
            return
        table = make_tour_table(board)
        total = reader.collect(table, reader.scan_table(table).select(pl.len())).item()
        for numbers in request.draw_numbers(total, "tour"):
            yield sample_list(reader, table, total, numbers)


class KnightReader(Reader[KnightAnswer]):
    """The tables of the knight's tours: one for each pair of ends on 8x8, all on smaller boards.

    >>> from puzzle_tablebase.queries import open_tables
    >>> knight = open_tables("outputs").knight
    >>> knight.probe("a1", to="b3").closed
    True
    >>> knight.count("c3", board="5x5")
    CountAnswer(board='5x5', start='c3', tours=64, closed=0)

    Tours have numbers on boards whose table was made with `precompute knight_ranks_CxR`, closed
    ones with `knight_closed_ranks_CxR`:

    >>> knight.probe("a1", rank=0, board="5x5", closed=True)
    Traceback (most recent call last):
    puzzle_tablebase.NoSuchTour: 5x5 has no closed tour.
    """

    query = KnightQuery
    max_listed_squares = MAX_LISTED_SQUARES
    """Squares of the largest boards whose open tours are drawn from a list, not by rank."""
    has_pictures = True
    options = (
        Option("to", "Square where the tour ends.", "SQUARE"),
        Option("closed", "Choose a closed tour: its end is one jump from its start."),
        Option(
            "board",
            "Board, files x ranks (default: 8x8; for --count the largest that is counted).",
            "CxR",
        ),
        Option(
            "number", "Tour N in the list from SQUARE (0-based).", "N", excludes=("to", "closed")
        ),
        Option(
            "rank",
            "Rank of the tour among all open ones from SQUARE, from 0; with --closed among all "
            "closed ones.",
            "N",
            excludes=("to", "number", "count"),
            is_single=True,
        ),
        Option(
            "rank_of",
            "Squares of an open tour (with --closed: a closed one): print its rank.",
            "SQUARES",
            excludes=("to", "number", "rank", "count"),
            is_single=True,
        ),
        Option(
            "count",
            "Print the number of tours (without SQUARE: from all squares); with --closed only of "
            "closed ones.",
            excludes=("to", "number"),
            is_single=True,
        ),
    )
    sample_options = (
        Option(
            "board",
            "Board, files x ranks (default: 6x6; over 40 squares: needs knight_ranks_CxR).",
            "CxR",
        ),
        Option("closed", "Draw closed tours (over 40 squares: needs knight_closed_ranks_CxR)."),
    )
    check_options = (Option("board", "Board, files x ranks (default: 8x8).", "CxR"),)
    key = "SQUARE"
    keyless = ("count", "rank_of")
    columns = ("start", "finish", "number", "closed", "path")
    explored = dict.fromkeys((table.name for table in PUZZLE.tables[:-1]), 0)

    def count(
        self, start: str | None = None, board: str | None = None, *, closed: bool = False
    ) -> CountAnswer:
        """Return the number of tours from a square, or from all squares.

        The default board is the largest that is counted and has the square. `closed`: only closed
        tours, which are counted on larger boards too.
        """
        return KnightQuery(self, board, closed=closed).count_tours(start)

    def rank(self, squares: str, *, board: str = "8x8", closed: bool = False) -> int:
        """Return the rank of a tour among all open ones from its first square, or all closed ones.

        A closed tour may begin at any of its squares and go in either direction.
        """
        return KnightQuery(self, board, closed=closed).find_rank(squares)[1]

    def open_ranked_tours(self, board: KnightBoard, *, closed: bool) -> RankedTours:
        """Return the ranked tours of a board; their index is opened once."""
        from puzzle_tablebase.queries.knight.ranked_tours import RankedTours

        name = "ranked tours", str(board), closed
        return self.keep(name, lambda: RankedTours(self, board, closed=closed))

    def has_ranking(self, board: KnightBoard) -> bool:
        """Return whether the closed tours of a board have numbers, or no list has them."""
        from puzzle_tablebase.formats.manifest import read_manifest

        published = read_manifest(self.store)
        ranking = make_ranking_table(board, closed=True).name
        return ranking in published or make_tour_table(board).name not in published

    def list_values(self, option: str) -> tuple[str, ...]:
        if option != "board":
            return ()
        from puzzle_tablebase.formats.manifest import read_manifest

        names = [*read_manifest(self.store)]
        prefixes = TOURS_PREFIX, RANKS_PREFIX, CLOSED_RANKS_PREFIX
        known = [find_board(prefix, name) for prefix in prefixes for name in names]
        return tuple(dict.fromkeys(str(board) for board in known if board))

    def find_pair_tour(
        self, board: KnightBoard, start: int, end: int | None, number: int | None, closed: bool
    ) -> tuple[int, list[int]]:
        """Find one of the tours that the table has for each pair of ends; return its number too."""
        if number is not None and number >= TOURS_PER_START:
            raise NoSuchTour(
                str(board),
                f"The table has {TOURS_PER_START} tours of {board} from "
                f"{board.name_square(start)}, one for each end square, "
                f"numbered 0 to {TOURS_PER_START - 1}.",
            )
        name = f"{TOURS_PREFIX}{board}"
        index = self.open_index(name)
        for candidate in range(TOURS_PER_START) if number is None else [number]:
            squares = list(index.read_record(TOURS_PER_START * start + candidate)[0])
            if squares[0] != start or not board.is_tour(squares):
                raise self.make_damage_error(
                    name, f"tour {candidate} from {board.name_square(start)} is none"
                )
            if end in (None, squares[-1]) and (not closed or board.is_jump(start, squares[-1])):
                return candidate, squares
        raise self.make_damage_error(
            name, f"an existing tour from {board.name_square(start)} is missing"
        )

    def make_signposts(self, table: Table) -> bytes:
        from puzzle_tablebase.queries.knight.table_scans import make_signposts

        return make_signposts(self.scan_table(table), table)


def _parse_number(given: int | str) -> int:
    text = str(given).strip()
    if not text.isascii() or not text.isdigit():
        raise NotationError("a tour's number", text, "it must be a whole number from 0", "12345")
    return min(int(text.lstrip("0")[:20] or "0"), MAX_INT64)  # no board has more


def _require_joinable(board: KnightBoard, start: int, end: int, closed: bool) -> None:
    """Raise NoSuchTour if the two squares alone rule out a tour between them."""
    names = f"{board.name_square(start)} to {board.name_square(end)}"
    if start == end and board.squares > 1:
        raise NoSuchTour(
            str(board), f"A tour visits {board.name_square(start)} only once: it cannot end there."
        )
    if not board.can_join(start, end):
        colour = "the colour of its start" if board.squares % 2 else "the other colour"
        why = f"No tour leads from {names}: a tour of {board} ends on {colour}."
        raise NoSuchTour(str(board), why)
    if closed and not board.is_jump(start, end):
        why = f"No closed tour leads from {names}: they are not a knight's move apart."
        raise NoSuchTour(str(board), why)
