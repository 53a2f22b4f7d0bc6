"""The knight: boards, squares, jumps, and the tables of its tours.

On a board of C files and R ranks, square number = file + C * rank from 0: a1 = 0, b1 = 1. A tour
visits every square once; it is closed if the knight can jump from its last square to its first.
Tours are directed: one and its reverse are two.
"""

from __future__ import annotations

from contextlib import suppress

from tablebase.errors import BadRequest, BoardTooLarge, NoSuchTour, NotationError
from tablebase.puzzle import Column, Puzzle, Recipe, Table
from tablebase.puzzles.knight.board import MOST_FILES, MOST_RANKS, SQUARES, Board, parse_board
from tablebase.puzzles.knight.count_recipe import TourCounts, counting, numbering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from tablebase.puzzles.knight.count_recipe import Sides

LISTABLE = 36
"""Squares of the largest boards whose tours are listed in one file."""
IN_FILES = 49
"""Squares of the largest boards whose tours are listed at all."""

TOURS = "knight_tours_"
PAIRS_BOARD = (8, 8)
STATES = (("layer", "H"), ("key", "Q"), ("before", "Q"), ("states", "1005s"))
"""A record of some states of a layer, by ascending key: the key of the first one, the sum of the
numbers of all states of the layer before it, and then in turn the number of a state and the
distance to the next key. These are written in sevens of bits, the lowest first, each but the last
of a number with the eighth bit set: so no byte is 0 until the record ends."""
COUNTS = "knight_counts"
CYCLES = "knight_cycles_"
NUMBERS = "knight_numbers_"
COUNTED = tuple(
    (files, ranks)
    for files in range(1, 13)
    for ranks in range(1, MOST_RANKS + 1)
    if max(files, ranks) <= 6 or (min(files, ranks) >= 3 and files * ranks <= 40)
)
"""Boards whose tours are counted: up to 6x6, and of 3 to 12 files and ranks up to 40 squares."""


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


class NumberedCycles(OfBoard):
    """What a sweep through half of a board goes through: it tells every closed tour its number."""

    __slots__ = ()
    search = "numbered cycles"
    paths = False
    """Whether open tours have numbers, too, those from each start."""


class NumberedTours(NumberedCycles):
    """The same of every open tour, among those from its start."""

    __slots__ = ()
    search = "numbered tours"
    paths = True


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


def cycles_table(board: Board) -> Table:
    """The numbers of a board's closed tours; an error where there are none, or too many."""
    if not board.has_closed_tours():
        raise NoSuchTour(str(board), f"{board} has no closed tour.")
    numbering(sides(board), closed=True)
    return _numbered(CYCLES, "closed knight's tours", NumberedCycles(board))


def numbers_table(board: Board) -> Table:
    """The numbers of a board's open tours; an error where there are none, or too many."""
    if not board.has_tours():
        raise NoSuchTour(str(board), f"{board} has no tour.")
    numbering(sides(board), closed=False)
    return _numbered(
        NUMBERS, "directed open knight's tours from every square", NumberedTours(board)
    )


def _numbered(kind: str, tours: str, recipe: NumberedCycles) -> Table:
    return Table(
        f"{kind}{recipe.board}",
        f"The {tours} of the {recipe.board} board by number: the states of a sweep through half of "
        "it, with the number of ways to reach each",
        "states sorted by layer, then key, as many in a record as it can hold",
        (),
        recipe,
        index=STATES,
    )


NUMBERED = {"cycles": (CYCLES, cycles_table), "numbers": (NUMBERS, numbers_table)}
"""By what is asked for: how the names of such tables begin, and the table of a board."""


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
    requests = dict.fromkeys(("count", "closed"), "the tours of this board")
    requests["cycles"] = "the closed tours of this board"
    requests["numbers"] = "the open tours of this board"
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

    def with_request(
        self, tables: tuple[Table, ...], request: str, texts: list[str]
    ) -> tuple[Table, ...]:
        boards = [parse_board(text) for text in texts]
        if request in NUMBERED:
            more = {table.name: table for table in map(NUMBERED[request][1], boards)}
            return (*tables, *more.values())
        asked, closed = [sides(board) for board in boards], request == "closed"
        for board in asked:
            counting(board, closed=closed)
        counted = TourCounts((), asked) if closed else TourCounts(asked)
        return tuple(_together(table, counted) for table in tables)

    def among(self, published: Mapping[str, Mapping[str, Any]]) -> tuple[Table, ...]:
        have = {table.name for table in self.tables}
        boards = boards_listed(published)
        more = [table for table in map(listed_table, boards) if table.name not in have]
        named = published.get(COUNTS, {}).get("boards")
        # a board that was listed since is not counted yet
        small = [board for board in boards if not in_files(board)]
        also = [sides(b) for b in small if isinstance(named, list) and str(b) in named]
        counts = _together(self.tables[-1], TourCounts(also).together(counts_asked(published)))
        return (*self.tables[:-1], *more, counts, *filter(None, map(numbered, published)))

    def owns(self, table: str) -> bool:
        return super().owns(table) or bool(boards_listed([table]) or numbered(table))

    def stage(self, table: str) -> str:
        if any(table == known.name for known in self.tables):
            return self.name
        for request, (kind, _) in NUMBERED.items():
            if table.startswith(kind):
                return f"{self.name} --{request} {table.removeprefix(kind)}"
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


def no_tour(board: Board, start: int | None) -> str:
    """Why no tour begins at a square, or at any, in a sentence."""
    if start is None:
        return f"{board} has no tour: a search of all paths from all squares found none."
    name = board.name(start)
    if board.squares % 2 and board.light(start):
        half = board.squares // 2
        return (
            f"No tour of {board} starts at {name}: a tour alternates in colour, and the board has "
            f"{half + 1} squares of a1's colour and {half} of the other, so a tour starts and "
            "ends on a1's colour."
        )
    return f"No tour of {board} starts at {name}: a search of all paths found none."


def sides(board: Board) -> Sides:
    return board.files, board.ranks


def boards_listed(published: Iterable[str]) -> list[Board]:
    """The boards whose tours are listed by tables of these names."""
    boards = filter(None, map(listed_board, published))
    return [board for board in boards if board.squares <= IN_FILES]


def listed_board(table: str) -> Board | None:
    """The board whose tours a table of that name lists."""
    return _board_of(TOURS, table)


def numbered(table: str) -> Table | None:
    """The table of that name, if it gives a board's tours numbers."""
    for kind, of in NUMBERED.values():
        if board := _board_of(kind, table):
            with suppress(BadRequest, NoSuchTour):
                return of(board)
    return None


def numbered_board(table: str) -> Board | None:
    """The board whose tours a table of that name gives numbers."""
    found = numbered(table)
    return found.recipe.board if found and isinstance(found.recipe, OfBoard) else None


def _board_of(kind: str, table: str) -> Board | None:
    try:
        board = parse_board(table.removeprefix(kind))
    except NotationError:
        return None
    return board if table == f"{kind}{board}" else None


PUZZLE = Knight()
