"""The knight's tables: their recipes, names, columns and boards, and what building them costs.

On a board of C files and R ranks, square number = file + C * rank from 0: a1 = 0, b1 = 1. A tour
visits every square once; it is closed if the knight can jump from its last square to its first.
Tours are directed: one and its reverse are two.
"""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, BoardTooLarge, NoSuchTour, NotationError
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles.knight.board import (
    MAX_FILES,
    MAX_RANKS,
    SQUARES,
    KnightBoard,
    parse_board,
)
from puzzle_tablebase.schema import Column, Recipe, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Sides = tuple[int, int]


MAX_LAYER_STATES = {
    False: {
        3: (26, 364), 4: (26, 5_262), 5: (14, 228_936), 6: (12, 6_774_595), 7: (8, 14_736_773),
        8: (8, 335_484_807),
    },
    True: {
        3: (26, 65), 4: (26, 533), 5: (18, 39_100), 6: (14, 1_017_017), 7: (10, 12_345_976),
        8: (8, 16_759_503),
    },
}  # fmt: skip
"""For all tours (False) and for closed ones (True), by a board's shorter side: the longest other
side for which they are counted, and the measured number of states of its largest layer.
"""
MAX_SMALL_STATES = 100_000
"""Most states of a layer of a board whose tours can be listed: 6x6 has 97,824."""
BYTES_PER_TOUR, MAX_TOUR_BYTES = 60, 230_000_000
"""Memory for each tour of a list, and for those of the tasks that are done at the same time."""
BYTES_PER_STATE = 40
"""Memory for each state of the largest layer, approximately, as measured."""
DENSE_STATES, DENSE_BYTES = 20_000_000, 20
"""The first so many states need so many more bytes each."""
MIN_COST = 360_000_000
"""Bytes of memory for the smallest board."""
GROWTH = {False: 1.45, True: 2.2}
"""How many times more states the largest layer has on a board with one more square in its longer
side: for all tours (False) and for closed ones (True)."""
COUNTED_LAYERS, RANKED_LAYERS = 4, {False: 14, True: 7}
"""The states of all layers, as a multiple of those of the largest one."""
MIN_STATES = 20_000
"""States of a sweep that would take as long as the smallest board."""
MAX_RANKED_SIDE = 7
"""Shorter side of the largest boards whose open tours are ranked."""

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
TOURS_PREFIX = "knight_tours_"
PAIRS_BOARD = (8, 8)
RANKING_FIELDS = (("layer", "H"), ("key", "Q"), ("before", "Q"), ("states", "1005s"))
"""Fields of a record with consecutive states of a layer, by ascending key.

`key`: that of the first state. `before`: the sum of the numbers of all states of the layer before
it. `states`: alternately the number of a state and the difference to the next key, written in
groups of seven bits, the lowest first; the eighth bit is set in all bytes of a value but the last.
The first byte that is 0 ends the record."""
COUNTS_TABLE = "knight_counts"
COUNTS_MEANING = (
    "The number of directed open knight's tours from every square of each board in the table"
)
COUNTS_PREFIX, CLOSED_COUNTS_PREFIX = "knight_counts_", "knight_closed_counts_"
RANKS_PREFIX, CLOSED_RANKS_PREFIX = "knight_ranks_", "knight_closed_ranks_"
CLOSED_HINTS = {
    "count": f"{CLOSED_COUNTS_PREFIX}{{}} counts closed tours alone",
    "rank": f"{CLOSED_RANKS_PREFIX}{{}} has every closed tour by its rank",
}
"""What to build for a board with too many open tours to count or to rank."""
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


def estimate_rank_cost(board: Sides, *, closed: bool) -> int:
    """Estimate the bytes of memory for ranking tours; raise BadRequest if a board is too large.

    More than for counting: no state stands for its mirror image.
    """
    if not closed and min(board) > MAX_RANKED_SIDE:
        name = f"{board[0]}x{board[1]}"
        hint = f"The largest board is {MAX_RANKED_SIDE}x{MAX_RANKED_SIDE + 1}"
        if _has_countable_closed_tours(board):
            hint = CLOSED_HINTS["rank"].format(name)
        raise BadRequest(f"{name} has too many open tours to rank", hint)
    # all encoded layers stay in memory, and open tours have more of them
    factor = 2 if closed else 2.2
    return MIN_COST + int(factor * (_estimate_cost(board, "rank", closed=closed) - MIN_COST))


def estimate_count_cost(board: Sides, *, closed: bool) -> int:
    """Estimate the bytes of memory for counting tours; raise BadRequest if a board is too large."""
    return _estimate_cost(board, "count", closed=closed)


def _estimate_cost(board: Sides, verb: str, *, closed: bool) -> int:
    """Estimate the cost of a count; the message that refuses one says what it is for."""
    (short, long), name = sorted(board), f"{board[0]}x{board[1]}"
    if short < 3:
        raise BadRequest(f"{name} has no tours to count", "It needs three files and ranks")
    longest, states = MAX_LAYER_STATES[closed].get(short, (0, 0))
    if long > longest:
        largest_sides = [(side, longest) for side, (longest, _) in MAX_LAYER_STATES[closed].items()]
        # boards may have more files than ranks
        sides = ", ".join(f"{max(side_pair)}x{min(side_pair)}" for side_pair in largest_sides)
        tours, hint = f"{'closed ' * closed}tours", f"The largest boards are {sides}"
        if not closed and _has_countable_closed_tours(board):
            hint = CLOSED_HINTS[verb].format(name)
        raise BadRequest(f"{name} has too many {tours} to {verb}", hint)
    if short * long <= MAX_LISTED_SQUARES:
        states = min(states, MAX_SMALL_STATES)
    return MIN_COST + BYTES_PER_STATE * states + DENSE_BYTES * min(states, DENSE_STATES)


def _estimate_layer_states(board: Sides, *, closed: bool) -> float:
    """Estimate the number of states of a board's largest layer."""
    short, long = sorted(board)
    longest, states = MAX_LAYER_STATES[closed].get(short, (0, 0))
    return states * GROWTH[closed] ** min(0, long - longest)


def _has_countable_closed_tours(board: Sides) -> bool:
    """Return whether a board has closed tours, and few enough to count and rank them."""
    short, long = sorted(board)
    longest, _ = MAX_LAYER_STATES[True].get(short, (0, 0))
    return long <= longest and KnightBoard(*board).has_closed_tours()


class TourCounts(Recipe):
    """Recipe of the number of tours from each square; `closed`: boards with closed tours only."""

    __slots__ = ("boards", "closed")
    search = "tour counts"

    def __init__(self, boards: Iterable[Sides], closed: Iterable[Sides] = ()) -> None:
        all_tours = {*boards}
        self.closed = frozenset(closed) - all_tours
        self.boards = tuple(sorted(all_tours | self.closed))

    def list_parameters(self) -> dict[str, object]:
        return {
            "search": self.search,
            "boards": [f"{files}x{ranks}" for files, ranks in self.boards],
            "closed": [f"{files}x{ranks}" for files, ranks in sorted(self.closed)],
        }

    def count_states(self, table: Table) -> float | None:
        layers = (
            _estimate_layer_states(sides, closed=sides in self.closed) for sides in self.boards
        )
        return sum(MIN_STATES + COUNTED_LAYERS * states for states in layers)

    def estimate_memory(self, table: Table) -> int | None:
        boards = [sides for sides in self.boards if min(sides) > 2]
        costs = (estimate_count_cost(sides, closed=sides in self.closed) for sides in boards)
        return max(costs, default=None)


class BoardRecipe(Recipe):
    """A recipe whose one parameter is a board."""

    __slots__ = ("board",)

    def __init__(self, board: KnightBoard) -> None:
        self.board = board

    def list_parameters(self) -> dict[str, object]:
        return {"search": self.search, "board": str(self.board)}


class AllTours(BoardRecipe):
    """Recipe of all tours of a board."""

    __slots__ = ()
    search = "every tour"

    def estimate_memory(self, table: Table) -> int | None:
        from puzzle_tablebase.cost import PROCESS_BYTES

        return PROCESS_BYTES + min(BYTES_PER_TOUR * (table.rows or 0), MAX_TOUR_BYTES)


class TourRanking(BoardRecipe):
    """Recipe of the layers of a sweep through half of a board, which rank every tour: the closed
    ones, or the open ones among those from their start."""

    __slots__ = ("closed", "search")

    def __init__(self, board: KnightBoard, *, closed: bool) -> None:
        super().__init__(board)
        self.closed = closed
        self.search = "ranked closed tours" if closed else "ranked tours"

    def count_states(self, table: Table) -> float | None:
        states = _estimate_layer_states(get_sides(self.board), closed=self.closed)
        return MIN_STATES + RANKED_LAYERS[self.closed] * states

    def estimate_memory(self, table: Table) -> int | None:
        return estimate_rank_cost(get_sides(self.board), closed=self.closed)


class TourPerPair(BoardRecipe):
    """Recipe of one tour for each ordered pair of squares that a tour can join."""

    __slots__ = ()
    search = "one tour a pair"


def make_tour_table(board: KnightBoard) -> Table:
    """Make the table of all tours of a board; raise BoardTooLarge if there are too many to list."""
    if board.squares > MAX_LISTED_SQUARES:
        raise _make_size_error(board)
    return Table(
        f"{TOURS_PREFIX}{board}",
        f"Every directed open knight's tour of the {board} board",
        "rows sorted by the tour's sequence of square numbers (a1 = 0, then along the rank)",
        TOUR_COLUMNS,
        AllTours(board),
        rows=TOURS.get((min(get_sides(board)), max(get_sides(board))), 0),
    )


def _make_size_error(board: KnightBoard) -> BoardTooLarge:
    """Make the error of a board with too many tours to list, with the table to build instead."""
    from puzzle_tablebase.cost import estimate_cost

    size = " (1.2 TB)" if get_sides(board) == (7, 7) else ""
    for closed in (False, True):
        try:
            table = make_ranking_table(board, closed=closed)
        except (BadRequest, NoSuchTour):
            continue
        if cost := estimate_cost(table):
            kind, size_of_table = "closed " * closed, f"{cost.bytes / 1e6:,.0f} MB"
            instead = f"{table.name} has every {kind}tour by its rank, in about {size_of_table}"
            break
    else:
        instead = f"Boards of up to {MAX_LISTED_SQUARES} squares can be listed"
    return BoardTooLarge(str(board), f"{board} has too many tours to list{size}. {instead}.")


def make_count_table(
    boards: Iterable[Sides],
    closed: Iterable[Sides] = (),
    *,
    name: str = COUNTS_TABLE,
    meaning: str = COUNTS_MEANING,
) -> Table:
    """Make a table of the numbers of tours; `closed`: boards with closed tours only."""
    return Table(
        name,
        meaning,
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
        TourCounts(boards, closed),
        rows=sum(files * ranks for files, ranks in {*boards, *closed}),
    )


def make_board_counts(board: KnightBoard, *, closed: bool = False) -> Table:
    """Make the table of one board's numbers of tours, or of closed tours alone.

    Raise BadRequest if they are too many.
    """
    sides = get_sides(board)
    if sides in COUNTED_BOARDS:
        raise BadRequest(f"{COUNTS_TABLE} has the board {board}", f"Build {COUNTS_TABLE}")
    if min(sides) > 2:  # narrower boards have no tours, and take no time
        estimate_count_cost(sides, closed=closed)
    if closed:
        meaning = f"The number of directed closed knight's tours of the {board} board"
        return make_count_table([], [sides], name=f"{CLOSED_COUNTS_PREFIX}{board}", meaning=meaning)
    meaning = f"The number of directed open knight's tours from every square of the {board} board"
    return make_count_table([sides], name=f"{COUNTS_PREFIX}{board}", meaning=meaning)


def make_ranking_table(board: KnightBoard, *, closed: bool) -> Table:
    """Make the table that ranks a board's closed tours, or its open ones.

    Raise NoSuchTour if there are none, BadRequest if there are too many.
    """
    if not (board.has_closed_tours() if closed else board.has_tours()):
        raise NoSuchTour(str(board), f"{board} has no {'closed ' * closed}tour.")
    estimate_rank_cost(get_sides(board), closed=closed)
    prefix, tours = RANKS_PREFIX, "directed open knight's tours from every square"
    if closed:
        prefix, tours = CLOSED_RANKS_PREFIX, "closed knight's tours"
    return Table(
        f"{prefix}{board}",
        f"The {tours} of the {board} board by rank: the states of a sweep through half of it, with "
        "the number of ways to reach each",
        "states sorted by layer, then key, as many in a record as it can hold",
        (),
        TourRanking(board, closed=closed),
        index=RANKING_FIELDS,
    )


def explain_no_tour(board: KnightBoard, start: int | None) -> str:
    """Explain in a sentence why no tour starts at a square, or at any."""
    if start is None:
        return f"{board} has no tour: a search of all paths from all squares found none."
    name = board.name_square(start)
    if board.squares % 2 and board.is_light(start):
        half = board.squares // 2
        return (
            f"No tour of {board} starts at {name}: a tour alternates in colour, and the board has "
            f"{half + 1} squares of a1's colour and {half} of the other, so a tour starts and "
            "ends on a1's colour."
        )
    return f"No tour of {board} starts at {name}: a search of all paths found none."


def get_sides(board: KnightBoard) -> Sides:
    return board.files, board.ranks


def find_board(prefix: str, table: str) -> KnightBoard | None:
    """Find the board of a table whose name is this prefix and a board; None for other names."""
    try:
        board = parse_board(table.removeprefix(prefix))
    except NotationError:
        return None
    return board if table == f"{prefix}{board}" else None


KINDS: dict[str, tuple[str, Callable[[KnightBoard], Table], str]] = {
    TOURS_PREFIX: ("Every tour of a board", make_tour_table, ""),
    COUNTS_PREFIX: ("The number of tours from each square", make_board_counts, "--count"),
    CLOSED_COUNTS_PREFIX: (
        "The number of closed tours",
        lambda board: make_board_counts(board, closed=True),
        "--count --closed",
    ),
    RANKS_PREFIX: (
        "The ranks of open tours",
        lambda board: make_ranking_table(board, closed=False),
        "--rank 0",
    ),
    CLOSED_RANKS_PREFIX: (
        "The ranks of closed tours",
        lambda board: make_ranking_table(board, closed=True),
        "--closed --rank 0",
    ),
}
"""For each beginning of a name: a title, the function that makes the table of a board, and the
options of a query that it answers."""


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
            TourPerPair(_PAIRS),
            index=(("squares", f"{_PAIRS.squares}s"),),
            rows=_PAIRS.squares**2 // 2,
        ),
        make_count_table(COUNTED_BOARDS),
    )

    def find_tables(self, name: str) -> tuple[Table, ...]:
        """Find the tables that a name stands for; on request, those of a board's name.

        Raise TablebaseError for a board that does not exist, is too large, or has no such tour.
        """
        if tables := super().find_tables(name):
            return tables
        for prefix, (_, make_table, _) in KINDS.items():
            if board := find_board(prefix, name):
                return (make_table(board),)
            if name.startswith(prefix) and name.removeprefix(prefix)[:1].isdigit():
                parse_board(name.removeprefix(prefix))
        return ()

    def list_requests(self) -> dict[str, list[str]]:
        """List the names that can be built, of boards that are wide enough for tours."""
        sides = ((f, r) for f in range(3, MAX_FILES + 1) for r in range(3, MAX_RANKS + 1))
        every_board = [KnightBoard(files, ranks) for files, ranks in sides]
        boards = [board for board in every_board if board.has_tours()]
        return {
            title: [f"{prefix}{board}" for board in boards if self._is_buildable(prefix, board)]
            for prefix, (title, _, _) in KINDS.items()
        }

    def _is_buildable(self, prefix: str, board: KnightBoard) -> bool:
        """Return whether a board has a table of this kind, and not an empty one."""
        if prefix == CLOSED_COUNTS_PREFIX and not board.has_closed_tours():
            return False
        return self.find_table(f"{prefix}{board}") is not None

    def format_example(self, table: str) -> str:
        """Format the arguments of a query that a table answers."""
        if table == f"{TOURS_PREFIX}{_PAIRS}":
            return f"{self.name} {self.example}"
        for prefix, (_, _, options) in KINDS.items():
            if board := find_board(prefix, table):
                key = "" if "--count" in options else "a1"
                return " ".join(filter(None, (self.name, key, "--board", str(board), options)))
        return f"{self.name} --board 5x5 --count"


PUZZLE = Knight()
