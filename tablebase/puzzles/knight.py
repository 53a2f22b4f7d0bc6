"""The knight: boards, squares, jumps, and the tables of its tours.

On a board of C files and R ranks, square number = file + C * rank from 0: a1 = 0, b1 = 1. A tour
visits every square once; it is closed if the knight can jump from its last square to its first.
Tours are directed: one and its reverse are two.
"""

from __future__ import annotations

from tablebase.errors import BadRequest, BoardTooLarge, NotationError, required_text
from tablebase.puzzle import Column, Puzzle, Recipe, Table
from tablebase.puzzles.tour_counts import TourCounts, counting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from tablebase.puzzles.tour_counts import Sides

JUMPS = ((-1, -2), (1, -2), (2, -1), (2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1))
"""The jumps 1-8 as (files, ranks downwards)."""

FILES = "abcdefghijklmnopqrstuvwxyz"
MOST_FILES = len(FILES)
MOST_RANKS = 9

LISTABLE = 36
"""Squares of the largest boards whose tours are listed in one file."""
IN_FILES = 49
"""Squares of the largest boards whose tours are listed at all."""

TOURS = "knight_tours_"
PAIRS_BOARD = (8, 8)
COUNTS = "knight_counts"
COUNTED = tuple(
    (files, ranks)
    for files in range(1, 13)
    for ranks in range(1, MOST_RANKS + 1)
    if max(files, ranks) <= 6 or (min(files, ranks) >= 3 and files * ranks <= 40)
)
"""Boards whose tours are counted: up to 6x6, and of 3 to 12 files and ranks up to 40 squares."""


class Board:
    """A board of so many files and ranks.

    >>> board = Board(8, 8)
    >>> board.name(63), board.number("b1"), board.jump(0, 17)
    ('h8', 1, 2)
    """

    __slots__ = ("files", "ranks", "squares")

    def __init__(self, files: int, ranks: int) -> None:
        self.files = files
        self.ranks = ranks
        self.squares = files * ranks

    def __str__(self) -> str:
        return f"{self.files}x{self.ranks}"

    def name(self, square: int) -> str:
        rank, file = divmod(square, self.files)
        return f"{FILES[file]}{rank + 1}"

    def names(self) -> tuple[str, ...]:
        return tuple(self.name(square) for square in range(self.squares))

    def places(self) -> tuple[int, ...]:
        """Where in `SQUARES` each of the board's squares is."""
        return tuple(map(SQUARES.index, self.names()))

    def number(self, text: str) -> int:
        """The square that a text names; NotationError if it names none."""
        what = f"a square of {self}"
        example = self.name(min(1, self.squares - 1))
        name = required_text(text, what, example).strip()
        if name.isascii():  # the Kelvin sign is a k in lower case
            name = name.lower()
        if not name:
            problem = "it is empty"
        elif len(name) != 2 or name[0] not in FILES or name[1] not in "123456789":
            problem = "a square is a letter and a digit (file and rank)"
        else:
            file, rank = FILES.index(name[0]), int(name[1]) - 1
            if file < self.files and rank < self.ranks:
                return file + self.files * rank
            problem = f"the squares are a1 to {self.name(self.squares - 1)}"
        raise NotationError(what, text, problem, example)

    def light(self, square: int) -> bool:
        """The square's colour; a jump always changes it, and a1 is dark."""
        return (square % self.files + square // self.files) % 2 == 1

    def neighbours(self, square: int) -> list[int]:
        """Squares a jump away, ascending."""
        rank, file = divmod(square, self.files)
        return sorted(
            file + right + self.files * (rank - down)
            for right, down in JUMPS
            if 0 <= file + right < self.files and 0 <= rank - down < self.ranks
        )

    def jump(self, start: int, goal: int) -> int:
        """Which of the jumps 1-8 leads from a square to another; ValueError if none does."""
        down = start // self.files - goal // self.files
        return 1 + JUMPS.index((goal % self.files - start % self.files, down))

    def can_join(self, start: int, end: int) -> bool:
        """Whether the colours allow a tour between two squares: its squares alternate."""
        return (self.light(start) == self.light(end)) == (self.squares % 2 == 1)

    def turned(self, square: int) -> tuple[int, ...]:
        """Where the board's symmetries bring a square (4 of them, 8 if the board is square)."""
        rank, file = divmod(square, self.files)
        far_file, far_rank = self.files - 1 - file, self.ranks - 1 - rank
        found = [(f, r) for f in (file, far_file) for r in (rank, far_rank)]
        if self.files == self.ranks:
            found += [(r, f) for f, r in found]
        return tuple(f + self.files * r for f, r in found)


SQUARES = Board(MOST_FILES, MOST_RANKS).names()
"""The squares of every board, by rank, then file: one Enum, so that tables of any boards join."""


def parse_board(text: str) -> Board:
    """A board as written, files x ranks.

    >>> str(parse_board("5x6"))
    '5x6'
    """
    sides = text.strip().lower().split("x")
    if len(sides) != 2 or not all(side.isascii() and side.isdigit() for side in sides):
        raise NotationError("a board", text, "a board is files x ranks", "8x8")
    if any(len(side) > 3 for side in sides):
        raise NotationError("a board", text, "it is too large", "8x8")
    files, ranks = map(int, sides)
    if not files or not ranks:
        raise NotationError("a board", text, "it has no squares", "8x8")
    if files > MOST_FILES or ranks > MOST_RANKS:
        problem = f"boards have at most {MOST_FILES} files (a-z) and {MOST_RANKS} ranks (1-9)"
        raise NotationError("a board", text, problem, "12x3")
    return Board(files, ranks)


class OfBoard(Recipe):
    """A recipe whose one parameter is a board."""

    __slots__ = ("board",)

    def __init__(self, board: Board) -> None:
        self.board = board

    def parameters(self) -> dict[str, object]:
        return {"search": self.search, "board": str(self.board)}


class AllTours(OfBoard):
    """Every tour of a board."""

    __slots__ = ()
    search = "every tour"

    @property
    def in_files(self) -> bool:
        return in_files(self.board)

    @property
    def opening(self) -> int:
        """The squares that the tours of a part have in common: the more, the larger the board."""
        return max(1, self.board.squares - 44)

    def parameters(self) -> dict[str, object]:
        files = {"opening": self.opening} if self.in_files else {}
        return {**super().parameters(), **files}


class TourPerPair(OfBoard):
    """One tour for each ordered pair of squares that a tour can join."""

    __slots__ = ()
    search = "one tour a pair"


def in_files(board: Board) -> bool:
    """Whether a board has too many tours for one file; on one rank or two there are none."""
    return board.squares > LISTABLE and min(board.files, board.ranks) > 2


def listed_table(board: Board) -> Table:
    """The table of every tour of a board; BoardTooLarge where there are too many to list."""
    if board.squares > IN_FILES:
        raise BoardTooLarge(str(board), IN_FILES)
    return Table(
        f"{TOURS}{board}",
        f"Every directed open knight's tour of the {board} board",
        "rows sorted by the tour's sequence of square numbers (a1 = 0, then along the rank)",
        TOUR_COLUMNS,
        AllTours(board),
    )


def counts_table(boards: Iterable[Sides], closed: Iterable[Sides] = ()) -> Table:
    return Table(
        COUNTS,
        "The number of directed open knight's tours from every square of each board in the table",
        "rows sorted by board (files, then ranks), then by square number",
        (
            Column("board", "string", "size of the board, files x ranks"),
            Column("files", "int8", "number of files"),
            Column("ranks", "int8", "number of ranks"),
            Column("start", "enum", "square where the tours start", values=SQUARES),
            Column(
                "tours",
                "int64",
                "number of directed open tours from that square; null if only closed ones of the "
                "board are counted",
                nullable=True,
            ),
            Column("closed", "int64", "number of those tours that are closed"),
        ),
        TourCounts(boards, closed),
        sorted_by=("files", "ranks"),
    )


TOUR_COLUMNS = (
    Column("board", "string", "size of the board, files x ranks"),
    Column("start", "enum", "square where the tour starts", values=SQUARES),
    Column("finish", "enum", "square where the tour ends", values=SQUARES),
    Column(
        "number",
        "int64",
        "0, 1, 2 ... among the tours from its start",
        distinct=True,
        within="start",
    ),
    Column("closed", "boolean", "whether the knight can jump from finish back to start"),
    Column("path", "string", "squares in order, two characters each", distinct=True),
)


_PAIRS = Board(*PAIRS_BOARD)


class Knight(Puzzle):
    name = "knight"
    title = "Knight's tour"
    counted = "the tours of this board"
    board_meaning = "files x ranks, every tour"

    tables = (
        listed_table(Board(5, 5)),
        listed_table(Board(6, 6)),
        Table(
            f"{TOURS}{_PAIRS}",
            f"One knight's tour of the {_PAIRS} board for every ordered pair of squares that a "
            "tour can connect",
            "rows sorted by start, then finish (square numbers); row number = 32 * start + number",
            TOUR_COLUMNS,
            TourPerPair(_PAIRS),
            index=(("squares", f"{_PAIRS.squares}s"),),
            rows=_PAIRS.squares**2 // 2,
        ),
        counts_table(COUNTED),
    )

    def boards(self) -> list[str]:
        """Those whose tours can be listed, but for those too narrow to have any."""
        sides = ((f, r) for f in range(3, MOST_FILES + 1) for r in range(3, MOST_RANKS + 1))
        return [f"{files}x{ranks}" for files, ranks in sides if files * ranks <= LISTABLE]

    def with_boards(self, texts: list[str], options: Collection[str] = ()) -> tuple[Table, ...]:
        """The tables, with every tour of some more boards, which are counted too."""
        more = {table.name: table for table in self.lists(texts)}
        have = {table.name for table in self.tables}
        boards = [board for board in map(parse_board, texts) if not in_files(board)]
        return (
            *self.tables[:-1],
            *(table for name, table in sorted(more.items()) if name not in have),
            counts_table({*COUNTED, *map(sides, boards)}),
        )

    def lists(self, texts: list[str]) -> tuple[Table, ...]:
        return tuple(listed_table(parse_board(text)) for text in texts)

    def with_counts(
        self, tables: tuple[Table, ...], texts: list[str], *, closed: bool
    ) -> tuple[Table, ...]:
        boards = [parse_board(text) for text in texts]
        for board in boards:
            counting(sides(board), closed=closed)
        asked = [sides(board) for board in boards]
        more = TourCounts((), asked) if closed else TourCounts(asked)
        return tuple(_together(table, more) for table in tables)

    def among(self, published: Mapping[str, Mapping[str, Any]]) -> tuple[Table, ...]:
        have = {table.name for table in self.tables}
        boards = boards_listed(published)
        more = [table for table in map(listed_table, boards) if table.name not in have]
        named = published.get(COUNTS, {}).get("boards")
        # a board that was listed since is not counted yet
        small = [board for board in boards if not in_files(board)]
        also = [sides(b) for b in small if isinstance(named, list) and str(b) in named]
        counts = _together(self.tables[-1], TourCounts(also).together(counts_asked(published)))
        return (*self.tables[:-1], *more, counts)

    def owns(self, table: str) -> bool:
        board = listed_board(table)
        return super().owns(table) or (board is not None and board.squares <= IN_FILES)

    def stage(self, table: str) -> str:
        if any(table == known.name for known in self.tables):
            return self.name
        board = listed_board(table)
        finish = " --finish" if board and in_files(board) else ""
        return f"{self.name} --board {table.removeprefix(TOURS)}{finish}"

    def grown(self, table: Table, published: Mapping[str, Mapping[str, Any]]) -> Table:
        small = [board for board in boards_listed(published) if not in_files(board)]
        listed = TourCounts(map(sides, small))
        return _together(table, listed.together(counts_asked(published)))


def _together(table: Table, more: TourCounts) -> Table:
    """A table, if it is one of counts with more boards."""
    if not isinstance(table.recipe, TourCounts):
        return table
    both = table.recipe.together(more)
    return counts_table({*both.boards} - both.closed, both.closed)


def counts_asked(published: Mapping[str, Mapping[str, Any]]) -> TourCounts:
    """The boards that the published counts have although nothing else asks for them."""
    said = published.get(COUNTS, {})
    found: dict[str, set[Sides]] = {"boards": set(), "closed": set()}
    for name, boards in found.items():
        texts = said.get(name)
        for text in texts if isinstance(texts, list) else ():
            try:
                board = parse_board(str(text))
                counting(sides(board), closed=name == "closed")
            except (NotationError, BadRequest):
                continue
            if board.squares > LISTABLE and str(board) == text:
                boards.add(sides(board))
    return TourCounts(found["boards"] - found["closed"], found["closed"])


def sides(board: Board) -> Sides:
    return board.files, board.ranks


def boards_listed(published: Iterable[str]) -> list[Board]:
    """The boards whose tours are listed by tables of these names."""
    boards = filter(None, map(listed_board, published))
    return [board for board in boards if board.squares <= IN_FILES]


def listed_board(table: str) -> Board | None:
    """The board whose tours a table of that name lists."""
    try:
        board = parse_board(table.removeprefix(TOURS))
    except NotationError:
        return None
    return board if table == f"{TOURS}{board}" else None


PUZZLE = Knight()
