"""The knight's prober, and its answer: a tour with its squares, jumps and board."""

from __future__ import annotations

from puzzle_tablebase.errors import NoAnswer, NotationError
from puzzle_tablebase.notation.knight import TOURS_PREFIX
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import PAIRS_BOARD, make_pair_counts
from puzzle_tablebase.queries.prober import Prober
from puzzle_tablebase.queries.questions import (
    ALL,
    ANY_KEYS,
    BATCH,
    CHECK,
    KEYLESS,
    ONE_KEY,
    QUERY,
    SAMPLE,
    SHEETS,
    Answer,
    Judgement,
    Option,
    align_rows,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import polars as pl

    from puzzle_tablebase.puzzles import Rules
    from puzzle_tablebase.queries.knight.ranked_tours import RankedTours
    from puzzle_tablebase.queries.knight.table_scans import CountAnswer
    from puzzle_tablebase.queries.questions import Options
    from puzzle_tablebase.queries.samples import SampleRequest

MAX_INT64 = (1 << 63) - 1
"""The highest number that a table can hold."""
TOURS_PER_START = PAIRS_BOARD[0] * PAIRS_BOARD[1] // 2
SMALL_BOARD = "6x6"
"""The board of a sample and of a count, if no option names one."""


class KnightAnswer(Answer):
    """A tour; `number` in its list, or `rank` among all closed ones or open ones from its start.

    `tours`: the number of tours with these ends, if requested and counted.

    `jumps` are 1 to 8, one fewer than the squares of `path`. `order` has the ranks of the board
    from above, with each square's number in the tour.
    """

    _board: KnightBoard
    board: str
    start: str
    finish: str
    number: int | None = None
    rank: int | None = None
    tours: int | None = None
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
        if self.tours is not None:
            rows.insert(1, ("tours", f"{self.tours:,} from {self.start} to {self.finish}"))
        # the board from above, rank by rank: each square shows its number in the tour
        board = self._board
        lines = [
            f"{board.ranks - row}{''.join(f'{number:4}' for number in numbers)}\n"
            for row, numbers in enumerate(self.order)
        ]
        files = "".join(f"{board.name_square(file)[0]:>4}" for file in range(board.files))
        return f"{''.join(lines)} {files}\n\n{align_rows(rows)}"

    def to_svg(self) -> str:
        """Draw the tour on its board."""
        from puzzle_tablebase.queries.svg import draw_tour

        return draw_tour(self._board, self.path)


def make_tour_answer(
    board: KnightBoard,
    squares: list[int],
    *,
    number: int | None = None,
    rank: int | None = None,
    tours: int | None = None,
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
        tours=tours,
        closed=board.is_jump(squares[0], squares[-1]),
        path="".join(board.name_square(square) for square in squares),
        jumps=tuple(map(board.find_jump, squares, squares[1:])),
        order=tuple(
            tuple(at[file + board.files * rank] for file in range(board.files))
            for rank in reversed(range(board.ranks))
        ),
    )


def parse_number(given: int | str, *_: object) -> int:
    """Return the number of a tour."""
    text = str(given).strip()
    if not text.isascii() or not text.isdigit():
        raise NotationError("a tour's number", text, "it must be a whole number from 0", "12345")
    return min(int(text.lstrip("0")[:20] or "0"), MAX_INT64)  # no board has more


def choose_board(options: Options, default: str = "8x8") -> KnightBoard:
    """Return the requested board."""
    board = options.board
    return board if isinstance(board, KnightBoard) else parse_board(default)


class KnightProber(Prober):
    """Answers for the knight's tours."""

    has_pictures = True
    reader = "KnightReader"
    options = (
        Option(
            "board",
            "Board, files x ranks (default: 8x8; for --count without --to and samples 6x6).",
            "CxR",
            lambda text, *_: parse_board(text),
            verbs=(*ANY_KEYS, ALL, SAMPLE, CHECK),
        ),
        Option(
            "to",
            "Square where the tour ends.",
            "SQUARE",
            lambda text, _, options: choose_board(options).parse_square(text),
            verbs=ANY_KEYS,
        ),
        Option(
            "closed",
            "Choose a closed tour: its end is one jump from its start.",
            verbs=(*ANY_KEYS, ALL, SAMPLE),
        ),
        Option(
            "number",
            "Tour N in the list from SQUARE (0-based).",
            "N",
            parse_number,
            excludes=("to", "closed"),
            verbs=ANY_KEYS,
        ),
        Option(
            "rank",
            "Rank of the tour among all open ones from SQUARE, from 0; with --closed among all "
            "closed ones.",
            "N",
            parse_number,
            excludes=("to", "number", "count"),
            verbs=ONE_KEY,
        ),
        Option(
            "rank_of",
            "Squares of an open tour (with --closed: a closed one): print its rank.",
            "SQUARES",
            excludes=("to", "number", "rank", "count"),
            verbs=(ALL, KEYLESS),
        ),
        Option(
            "count",
            "Print the number of tours (without SQUARE: from all squares; with --to: to that one); "
            "with --closed only of closed ones.",
            excludes=("number",),
            verbs=(QUERY, ALL, KEYLESS),
        ),
        SHEETS,
    )
    key = "SQUARE"
    columns = ("start", "finish", "number", "closed", "path")
    explored = {"knight_tours_8x8": 0}  # noqa: RUF012  # a class's constants

    def parse_key(self, text: str, options: Options) -> int:
        return choose_board(options).parse_square(text)

    def answer(self, key: Any, options: Options) -> KnightAnswer | CountAnswer:
        is_sum = options.count and options.to is None
        board = choose_board(options, SMALL_BOARD if is_sum else "8x8")
        if is_sum:
            from puzzle_tablebase.queries.knight.table_scans import read_tour_counts

            square = None if key is None else board.parse_square(key)
            return read_tour_counts(self, board, square, is_closed=options.closed)
        if options.verb == ALL:
            from puzzle_tablebase.queries.knight.ranked_tours import parse_tour

            squares = parse_tour(board, options.rank_of, closed=options.closed)
            tours = self.open_ranked_tours(board, closed=options.closed)
            return make_tour_answer(board, squares, rank=tours.rank(squares))
        start = board.parse_square(key)
        if options.rank is not None:
            tours = self.open_ranked_tours(board, closed=options.closed)
            return make_tour_answer(board, tours.unrank(options.rank, start), rank=options.rank)
        if options.to is not None:
            _require_joinable(board, start, options.to, options.closed)
        if options.count and options.to is not None:
            from puzzle_tablebase.queries.knight.table_scans import read_pair_count

            return read_pair_count(self, board, start, options.to, is_closed=options.closed)
        wanted = board, start, options.to, options.number, options.closed
        if (board.files, board.ranks) == PAIRS_BOARD:
            number, squares = self._find_pair_tour(*wanted)
        else:
            from puzzle_tablebase.queries.knight.listed_tours import find_listed_tour

            number, squares = find_listed_tour(self, wanted)
        count = None
        if options.to not in (None, start) and options.verb != BATCH:
            count = self.find_pair_count(board, start, options.to)
        return make_tour_answer(board, squares, number=number, tours=count)

    def find_pair_count(
        self, board: KnightBoard, start: int, end: int, *, is_wanted: bool = False
    ) -> int | None:
        """Find the number of tours between two squares; None if their table is not published.

        With `is_wanted`, raise TableMissing instead.
        """
        table = make_pair_counts(board)
        if not (is_wanted or self.files.has_index(table)):
            return None
        tours: int = self.files.open_index(table).read_record(board.find_pair(start, end))[0]
        return tours

    def draw(
        self, request: SampleRequest, wanted: range | None, options: Options
    ) -> Iterator[pl.DataFrame]:
        from puzzle_tablebase.queries.knight.table_scans import draw_tours

        board = choose_board(options, SMALL_BOARD)
        return draw_tours(self, board, request, closed=options.closed)

    def parse_answer(self, key: str, options: Options) -> tuple[list[int], None, None]:
        return [choose_board(options).parse_square(key)], None, None

    def choose_rules(self, options: Options) -> Rules:
        return choose_board(options)

    def complete(
        self, judged: Judgement, start: list[int], last: list[int], options: Options
    ) -> Judgement:
        board, squares = choose_board(options), last
        if len(squares) < board.squares:
            return judged
        result = "closed tour" if board.is_jump(squares[-1], squares[0]) else "tour"
        return Judgement(result=result, length=judged.length, score=1.0)

    def walk_tour(
        self, board: KnightBoard, start: int, squares: list[int], table: str, problem: str,
        suffix: str = "idx",
    ) -> list[int]:  # fmt: skip
        """Return a tour from a table; raise TableDamaged, with this problem, if it is invalid."""
        names = [board.name_square(square) for square in squares[1:]]
        goal = squares if len(squares) == board.squares else []
        self.walk(board, [start], names, goal, table, problem, suffix)
        return squares

    def open_ranked_tours(self, board: KnightBoard, *, closed: bool) -> RankedTours:
        """Return the ranked tours of a board; their index is opened once."""
        from puzzle_tablebase.queries.knight.ranked_tours import RankedTours

        name = "ranked tours", str(board), closed
        return self.files.keep(name, lambda: RankedTours(self, board, closed=closed))

    def _find_pair_tour(
        self, board: KnightBoard, start: int, end: int | None, number: int | None, closed: bool
    ) -> tuple[int, list[int]]:
        """Find the table's tour between two squares; return its number too."""
        table, square = f"{TOURS_PREFIX}{board}", board.name_square(start)
        if number is not None and number >= TOURS_PER_START:
            raise NoAnswer(f"The table has {TOURS_PER_START} tours of {board} from {square}.")
        index = self.open_index(table)
        for candidate in range(TOURS_PER_START) if number is None else [number]:
            squares = list(index.read_record(TOURS_PER_START * start + candidate)[0])
            if end in (None, squares[-1]) and (not closed or board.is_jump(start, squares[-1])):
                problem = f"tour {candidate} from {square} is invalid"
                return candidate, self.walk_tour(board, start, squares, table, problem)
        raise self.files.make_error(table, f"an existing tour from {square} is missing")


def _require_joinable(board: KnightBoard, start: int, end: int, closed: bool) -> None:
    """Raise NoAnswer if the two squares alone rule out a tour between them."""
    why = ""
    if not board.can_join(start, end):
        colour = "the colour of its start" if board.squares % 2 else "the other colour"
        why = f"a tour of {board} ends on {colour}"
    elif start == end and board.squares > 1:
        why = "it visits each square once"
    elif closed and not board.is_jump(start, end):
        why = "they are not a knight's move apart"
    if why:
        names = f"{board.name_square(start)} to {board.name_square(end)}"
        raise NoAnswer(f"No {'closed ' * closed}tour leads from {names}: {why}.")
