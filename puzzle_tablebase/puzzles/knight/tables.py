"""The knight's tables: their recipes, names, columns and boards.

On a board of C files and R ranks, square number = file + C * rank from 0: a1 = 0, b1 = 1. A tour
visits every square once; it is closed if the knight can jump from its last square to its first.
Tours are directed: one and its reverse are two.
"""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, NoAnswer, NotationError
from puzzle_tablebase.notation.knight import (
    CLOSED_COUNTS_PREFIX,
    CLOSED_RANKS_PREFIX,
    COUNTS_PREFIX,
    COUNTS_TABLE,
    MAX_FILES,
    MAX_RANKS,
    PAIR_COUNTS_PREFIX,
    RANKS_PREFIX,
    SQUARES,
    TOURS_PREFIX,
)
from puzzle_tablebase.puzzles import Puzzle
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.schema import RANKING_FIELDS, Column, Recipe, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    Sides = tuple[int, int]

MAX_PAIRED_SQUARES = 64
"""Squares of the largest boards whose tours are counted by both ends."""
MAX_LISTED_SQUARES = 40
"""Squares of the largest boards whose tours are listed; larger ones may be ranked or counted."""
TOURS = {
    (1, 1): 1, (3, 4): 16, (3, 7): 104, (3, 8): 792, (3, 9): 1_120, (3, 10): 6_096,
    (3, 11): 21_344, (3, 12): 114_496, (3, 13): 257_728, (4, 5): 164, (4, 6): 1_488,
    (4, 7): 12_756, (4, 8): 62_176, (4, 9): 379_376, (4, 10): 2_426_224, (5, 5): 1_728,
    (5, 6): 37_568, (5, 7): 1_245_736, (5, 8): 36_122_108, (6, 6): 6_637_920,
}  # fmt: skip
"""The number of directed open tours of every board that can be listed and has any, by its sides, as
this program counts them."""
PAIRS_BOARD = (8, 8)
COUNTED_BOARDS = tuple(
    (files, ranks)
    for files in range(1, 13)
    for ranks in range(1, MAX_RANKS + 1)
    if max(files, ranks) <= 6 or (min(files, ranks) >= 3 and files * ranks <= 40)
)
"""Boards whose tours are counted: up to 6x6, and of 3 to 12 files and ranks up to 40 squares."""
TOUR_COLUMNS = (
    Column("board", "string", "size of the board, files x ranks"),
    Column("start", "enum", "square where the tour starts", values=SQUARES),
    Column("finish", "enum", "square where the tour ends", values=SQUARES),
    Column("number", "int64", "0, 1, 2 ... among the tours from its start", distinct=True),
    Column("closed", "boolean", "whether the knight can jump from finish back to start"),
    Column("path", "string", "squares in order, two characters each", distinct=True),
)
_PAIRS = KnightBoard(*PAIRS_BOARD)


def require_countable(board: KnightBoard, *, closed: bool, verb: str = "count") -> None:
    """Raise BadRequest if a board is too large to count its tours, or to rank them (`verb`)."""
    from puzzle_tablebase.tour_sizes import list_longest_sides  # an answer needs none

    short, long = board.sorted_sides
    longest_sides = list_longest_sides(closed=closed, are_ranked=verb == "rank")
    if long > longest_sides.get(short, 0):
        # boards may have more files than ranks
        sides = ", ".join(f"{long}x{short}" for short, long in longest_sides.items())
        problem = f"The {'closed ' * closed}tours of {board} cannot be {verb}ed"
        raise BadRequest(problem, f"The largest boards are {sides}")


def make_tour_table(board: KnightBoard) -> Table:
    """Make the table of all tours of a board; raise BadRequest if there are too many to list."""
    if board.squares > MAX_LISTED_SQUARES:
        hint = (
            f"Boards of up to {MAX_LISTED_SQUARES} squares can be listed, many larger ones ranked"
        )
        raise BadRequest(f"{board} has too many tours to list", hint)
    return Table(
        f"{TOURS_PREFIX}{board}",
        f"Every directed open knight's tour of the {board} board",
        "rows sorted by the tour's sequence of square numbers (a1 = 0, then along the rank)",
        TOUR_COLUMNS,
        Recipe("tour_list", board=str(board)),
        rows=TOURS.get(board.sorted_sides, 0),
    )


def make_count_table(
    boards: Collection[Sides],
    closed: Collection[Sides] = (),
    *,
    name: str = COUNTS_TABLE,
    scope: str = "each board in the table",
) -> Table:
    """Make a table of the numbers of tours; of boards in `closed`, only of closed tours."""
    adjective = "open" if boards else "closed"
    return Table(
        name,
        f"The number of directed {adjective} knight's tours from every square of {scope}",
        "rows sorted by board (files, then ranks), then by square number",
        (
            Column("board", "string", "size of the board, files x ranks"),
            Column("files", "int16", "number of files", ascending=True),
            Column("ranks", "int16", "number of ranks", ascending=True),
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
        Recipe(
            "tour_counts",
            boards=[f"{files}x{ranks}" for files, ranks in sorted({*boards, *closed})],
            closed=[f"{files}x{ranks}" for files, ranks in sorted({*closed}.difference(boards))],
        ),
        rows=sum(files * ranks for files, ranks in {*boards, *closed}),
    )


def make_board_counts(board: KnightBoard, *, closed: bool = False) -> Table:
    """Make the table of one board's numbers of tours, or of closed tours alone.

    Raise NoAnswer if there are no closed tours, BadRequest if there are too many.
    """
    sides = get_sides(board)
    if sides in COUNTED_BOARDS:
        raise BadRequest(f"{COUNTS_TABLE} has the board {board}", f"Build {COUNTS_TABLE}")
    if closed and not board.has_closed_tours():
        raise NoAnswer(f"{board} has no closed tour.")
    if min(sides) > 2:  # narrower boards have no tours, and take no time
        require_countable(board, closed=closed)
    prefix, boards = (CLOSED_COUNTS_PREFIX, ()) if closed else (COUNTS_PREFIX, [sides])
    name, scope = f"{prefix}{board}", f"the {board} board"
    return make_count_table(boards, [sides] * closed, name=name, scope=scope)


def make_pair_counts(board: KnightBoard) -> Table:
    """Make the table of a board's numbers of tours by both ends.

    Raise NoAnswer if there are no tours, BadRequest if there are too many.
    """
    if board.squares == 1 or not board.has_tours():
        raise NoAnswer(f"{board} has no tour from one square to another.")
    if board.squares > MAX_PAIRED_SQUARES:
        hint = f"Boards of up to {MAX_PAIRED_SQUARES} squares can be counted by both ends"
        raise BadRequest(f"{board} has too many tours to count by both ends", hint)
    require_countable(board, closed=False)
    board_column, start, finish, *_ = TOUR_COLUMNS
    return Table(
        f"{PAIR_COUNTS_PREFIX}{board}",
        f"The number of directed open knight's tours of the {board} board for every ordered pair "
        "of squares that the colours allow a tour to join",
        "rows sorted by start, then finish (square numbers)",
        (
            board_column,
            start,
            finish,
            Column("closed", "boolean", "whether the knight can jump from finish back to start"),
            Column("tours", "int64", "number of directed open tours from start to finish"),
        ),
        Recipe("tour_pair_counts", board=str(board)),
        index=(("tours", "Q"),),
        rows=board.count_pairs(),
    )


def make_ranking_table(board: KnightBoard, *, closed: bool) -> Table:
    """Make the table that ranks a board's closed tours, or its open ones.

    Raise NoAnswer if there are none, BadRequest if there are too many.
    """
    if not (board.has_closed_tours() if closed else board.has_tours()):
        raise NoAnswer(f"{board} has no {'closed ' * closed}tour.")
    require_countable(board, closed=closed, verb="rank")
    prefix, tours = RANKS_PREFIX, "directed open knight's tours from every square"
    if closed:
        prefix, tours = CLOSED_RANKS_PREFIX, "closed knight's tours"
    return Table(
        f"{prefix}{board}",
        f"The {tours} of the {board} board by rank: the states of a sweep through half of it, with "
        "the number of ways to reach each",
        "states sorted by layer, then key, as many in a record as it can hold",
        (),
        Recipe("tour_ranking", board=str(board), closed=closed),
        index=RANKING_FIELDS,
    )


def explain_no_tour(board: KnightBoard, start: int | None) -> str:
    """Explain in a sentence why no tour starts at a square, or at any."""
    if start is None:
        return f"{board} has no tour: a search of all paths from all squares found none."
    why = "a search of all paths found none"
    if board.squares % 2 and board.is_light(start):
        why = f"{board} has an odd number of squares, so tours start and end on a1's colour"
    return f"No tour of {board} starts at {board.name_square(start)}: {why}."


def get_sides(board: KnightBoard) -> Sides:
    return board.files, board.ranks


def find_board(prefix: str, table: str) -> KnightBoard | None:
    """Find the board in a table's name, after this prefix; None for other names."""
    try:
        board = parse_board(table.removeprefix(prefix))
    except NotationError:
        return None
    return board if table == f"{prefix}{board}" else None


TITLES = {
    TOURS_PREFIX: "Every tour of a board",
    COUNTS_PREFIX: "The number of tours from each square",
    CLOSED_COUNTS_PREFIX: "The number of closed tours",
    PAIR_COUNTS_PREFIX: "The number of tours from each square to each",
    RANKS_PREFIX: "The ranks of open tours",
    CLOSED_RANKS_PREFIX: "The ranks of closed tours",
}
"""A title for each prefix of a table's name."""


EXAMPLES: dict[str, dict[str, object]] = {
    TOURS_PREFIX: {"key": "a1"},
    COUNTS_PREFIX: {"count": True},
    CLOSED_COUNTS_PREFIX: {"count": True, "closed": True},
    RANKS_PREFIX: {"key": "a1", "rank": 0},
    CLOSED_RANKS_PREFIX: {"key": "a1", "closed": True, "rank": 0},
}
"""An example question for each prefix of a table's name, except one."""


def make_board_table(prefix: str, board: KnightBoard) -> Table:
    """Make the table of a board whose name has this prefix; raise TablebaseError if it has none."""
    if prefix == TOURS_PREFIX:
        return make_tour_table(board)
    if prefix == PAIR_COUNTS_PREFIX:
        return make_pair_counts(board)
    is_count = prefix in (COUNTS_PREFIX, CLOSED_COUNTS_PREFIX)
    make = make_board_counts if is_count else make_ranking_table
    return make(board, closed=prefix in (CLOSED_COUNTS_PREFIX, CLOSED_RANKS_PREFIX))


class Knight(Puzzle):
    name = "knight"
    title = "Knight's tour"
    example = "b1"
    tables = (
        make_tour_table(KnightBoard(5, 5)),
        make_tour_table(KnightBoard(6, 6)),
        Table(
            f"{TOURS_PREFIX}{_PAIRS}",
            f"One knight's tour of the {_PAIRS} board for every ordered pair of squares that a "
            "tour can connect",
            "rows sorted by start, then finish (square numbers); row number = 32 * start + number",
            TOUR_COLUMNS,
            Recipe("tour_pairs", board=str(_PAIRS)),
            index=(("squares", f"{_PAIRS.squares}s"),),
            rows=_PAIRS.count_pairs(),
        ),
        make_count_table(COUNTED_BOARDS),
    )

    def find_tables(self, name: str) -> tuple[Table, ...]:
        """Find the tables that a name stands for; on request, those of a board's name.

        Raise TablebaseError for a board that does not exist, is too large, or has no such tour.
        """
        if tables := super().find_tables(name):
            return tables
        boards = ((prefix, find_board(prefix, name)) for prefix in TITLES)
        return tuple(make_board_table(prefix, board) for prefix, board in boards if board)

    def list_requests(self) -> dict[str, list[str]]:
        """List the names that can be built, of boards that are wide enough for tours."""
        sides = ((f, r) for f in range(3, MAX_FILES + 1) for r in range(3, MAX_RANKS + 1))
        boards = [board for board in (KnightBoard(*each) for each in sides) if board.has_tours()]
        return {
            title: [f"{prefix}{each}" for each in boards if self.find_table(f"{prefix}{each}")]
            for prefix, title in TITLES.items()
        }

    def find_example(self, table: str) -> dict[str, object]:
        """Find an example question about a table's board."""
        if table == COUNTS_TABLE:
            return {"count": True}
        if table == f"{TOURS_PREFIX}{_PAIRS}":
            return super().find_example(table)
        if board := find_board(PAIR_COUNTS_PREFIX, table):
            end = board.name_square(1 + board.squares % 2)
            return {"board": str(board), "key": "a1", "to": end, "count": True}
        boards = ((given, find_board(prefix, table)) for prefix, given in EXAMPLES.items())
        return next(({"board": str(board), **given} for given, board in boards if board), {})


PUZZLE = Knight()
