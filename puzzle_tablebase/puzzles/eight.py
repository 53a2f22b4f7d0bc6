"""The 8-puzzle: a 3x3 board, tiles 1-8 and a blank written 0.

Cells are numbered 0-8 in reading order; a state is nine digits in that order. A move's letter
says which way the blank goes, `U D L R`.
"""

from __future__ import annotations

from puzzle_tablebase.errors import require_text
from puzzle_tablebase.puzzle import (
    MANHATTAN,
    ONLY_HALF,
    GoalPuzzle,
    SymmetryView,
    View,
    write_cells,
)
from puzzle_tablebase.schema import UNREACHED, Column

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    import numpy.typing as npt

    from puzzle_tablebase.graph import Graph, SearchResult
    from puzzle_tablebase.puzzle import Bytes, Columns
    from puzzle_tablebase.schema import Table

SOLVED = "123456780"
GOALS = {"corner": SOLVED, "centre": "123804765", "edge": "123456708"}
LETTERS = "UDLR"
WIDTH = 3
WHAT = "an 8-puzzle state"
STEP = {"U": -3, "D": 3, "L": -1, "R": 1}
HEAD_LENGTH = 4
RANK_BITS = 20
RANK_MASK = (1 << RANK_BITS) - 1
SET_SHIFT = RANK_BITS + 2
ALL_DIGITS = (1 << 9) - 1
FACTORIALS = (40320, 5040, 720, 120, 24, 6, 2, 1, 1)


def _count_steps(a: int, b: int) -> int:
    """Count the steps between two cells, across and down."""
    return abs(a // 3 - b // 3) + abs(a % 3 - b % 3)


LEGAL_LETTERS = (
    *("DR", "DLR", "DL"),
    *("UDR", "UDLR", "UDL"),
    *("UR", "ULR", "UL"),
)
"""For each cell of the blank: the letters of its legal moves."""
EXITS = tuple(
    [
        tuple([(letter, cell + STEP[letter]) for letter in letters])
        for cell, letters in enumerate(LEGAL_LETTERS)
    ]
)
"""For each cell of the blank: the letters of its legal moves, each with the cell it comes to."""

QUARTER = (6, 3, 0, 7, 4, 1, 8, 5, 2)
"""The board after a quarter turn clockwise: its cell i holds what cell QUARTER[i] held."""


def parse(text: str) -> str:
    """Return the state that a text names: nine digits, or a board in a usual notation, or numbers.

    >>> parse("1 5 2 7 0 3 8 4 6"), parse("1 5 2 / 7 . 3 / 8 4 6")
    ('152703846', '152703846')
    """
    text = require_text(write_cells(text), WHAT, f"{SOLVED} (0 is the blank)")
    state = "".join(text.split())
    if len(state) == 9 and set(state) == set(SOLVED):
        return state
    from puzzle_tablebase.puzzles.sliding import parse_state

    return parse_state(text, WIDTH, WIDTH, WHAT)


def rank(state: str) -> int:
    """Return the state's number in notation order.

    >>> rank("012345678"), rank("876543210")
    (0, 362879)
    """
    free_digits = "012345678"
    total = 0
    for digit in state:
        total = total * len(free_digits) + free_digits.index(digit)
        free_digits = free_digits.replace(digit, "")
    return total


def unrank(rank: int) -> str:
    """Return the state of a rank."""
    free_digits = list("012345678")
    state = ""
    for weight in FACTORIALS:
        at, rank = divmod(rank, weight)
        state += free_digits.pop(at)
    return state


def make_rank_parts() -> tuple[dict[str, int], dict[str, int]]:
    """Make the numbers of all first four digits and all last five, from which ranks are added up.

    The two numbers of a state add up to the rank, the parity of the permutation (two bits, for the
    sum) and the set of digits (nine bits). That set is `ALL_DIGITS` if and only if the nine digits
    are a state.
    """
    from itertools import combinations, permutations

    digits = "012345678"
    head = {}
    for number, run in enumerate(permutations(digits, HEAD_LENGTH)):
        # nine digits may come first, eight second: the sum of the digits' places among those free
        places = number // 336 + number // 42 % 8 + number // 6 % 7 + number % 6
        head["".join(run)] = (
            number * FACTORIALS[HEAD_LENGTH - 1] | _shift_parity(places) | _make_digit_set(run)
        )
    tail = {}
    orders = [
        at | _shift_parity(at // 24 + at // 6 % 4 + at // 2 % 3 + at % 2) for at in range(120)
    ]
    for five in combinations(digits, 9 - HEAD_LENGTH):
        digit_set = _make_digit_set(five)
        for run, order in zip(permutations(five), orders, strict=True):
            tail["".join(run)] = order | digit_set
    return head, tail


def _shift_parity(places: int) -> int:
    return (places % 2) << RANK_BITS


def _make_digit_set(digits: tuple[str, ...]) -> int:
    return sum(1 << int(digit) for digit in digits) << SET_SHIFT


def make_rank_part_arrays() -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Make the numbers of `make_rank_parts` as arrays.

    They are indexed by the digits as a decimal number; 0 for digits that no state has.
    """
    import numpy as np

    arrays = []
    for parts, length in zip(make_rank_parts(), (HEAD_LENGTH, 9 - HEAD_LENGTH), strict=True):
        array = np.zeros(10**length, dtype=np.uint32)
        array[np.array(list(parts), dtype=np.int32)] = list(parts.values())
        arrays.append(array)
    return arrays[0], arrays[1]


def to_number(digits: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
    """Convert columns of digits to decimal numbers, the first row being the leftmost digit."""
    import numpy as np

    number: npt.NDArray[np.int32] = digits[0].astype(np.int32)
    for digit in digits[1:]:
        number *= 10
        number += digit
    return number


def moves(state: str) -> Iterator[tuple[str, str]]:
    """Yield each legal move in the order U D L R: its letter and the next state.

    >>> list(moves("123456780"))
    [('U', '123450786'), ('L', '123456708')]
    """
    blank = state.index("0")
    for letter, cell in EXITS[blank]:
        tile = state[cell]
        yield letter, state.replace(tile, "-").replace("0", tile).replace("-", "0")


def is_odd(state: str) -> bool:
    """Return whether an odd number of tile pairs is out of order: no move ever changes that.

    >>> is_odd("123456780"), is_odd("123804765")
    (False, True)
    """
    tiles = state.replace("0", "")
    return sum([a > b for at, a in enumerate(tiles) for b in tiles[at + 1 :]]) % 2 == 1


def compute_manhattan(state: str, goal: str) -> int:
    """Compute the sum of each tile's steps to its cell in the goal."""
    return sum(_count_steps(state.index(tile), goal.index(tile)) for tile in "12345678")


def count_misplaced(state: str, goal: str) -> int:
    """Count the tiles that are not on their cell in the goal."""
    return sum(tile not in ("0", home) for tile, home in zip(state, goal, strict=True))


RANK = "place of the state among all 362,880 in ascending order, from 0; number of its index record"
MISPLACED = "number of tiles not at their place in the goal; never more than manhattan"


class Eight(GoalPuzzle):
    name = "eight"
    title = "8-puzzle"
    size = 362_880
    height = width = WIDTH
    cells = 9
    example = SOLVED
    goals = GOALS
    spellings = {"center": "centre"}  # noqa: RUF012  # a class's constants, as in any puzzle
    letters = LETTERS
    parse = staticmethod(parse)
    rank = staticmethod(rank)
    unrank = staticmethod(unrank)
    moves = staticmethod(moves)

    def __init__(self) -> None:
        self.tables = (
            self.make_goal_table(
                "eight",
                "All 362,880 states of the 8-puzzle, each with its distance to the layout that it "
                "can reach: corner (123456780) or centre (123804765)",
                ("corner", "centre"),
                rows=self.size,
            ),
            self.make_goal_table(
                "eight_edge",
                "The 181,440 states of the 8-puzzle that can reach the layout edge (123456708), "
                "each with its distance to it",
                ("edge",),
                rows=self.size // 2,
            ),
        )

    def format_example(self, table: str) -> str:
        words = super().format_example(table)
        return f"{words} --goal edge" if table == self.tables[1].name else words

    def name_board(self, table: str) -> str:
        return "3x3"

    def list_exits(self, blank: int) -> tuple[tuple[str, int], ...]:
        """List the letters of the blank's moves from a cell, each with the cell it comes to."""
        return EXITS[blank]

    def find_reachable_goal(self, state: str) -> str:
        return "centre" if is_odd(state) else "corner"

    def view_goal(self, goal: str) -> View:
        """Turn the board until the goal's blank is where one of those with a table has it.

        >>> view = PUZZLE.view_goal("087654321")
        >>> view.table_goal, view.map_state("087654321")
        ('corner', '123456780')
        """
        if goal in GOALS.values():
            return super().view_goal(goal)
        names = {state.index("0"): name for name, state in GOALS.items()}
        cells = tuple(range(9))
        while cells.index(goal.index("0")) not in names:
            cells = tuple([cells[cell] for cell in QUARTER])
        name = names[cells.index(goal.index("0"))]
        return SymmetryView(name, GOALS[name], goal, cells)

    def explain_unreachable(self, state: str, goal: str) -> str:
        return ONLY_HALF

    def compute_features(self, state: str, goal: str) -> dict[str, int]:
        return {
            "blank": state.index("0"),
            "manhattan": compute_manhattan(state, goal),
            "misplaced": count_misplaced(state, goal),
        }

    def list_columns(self) -> tuple[Column, ...]:
        return (
            *super().list_columns(),
            Column("blank", "int16", "index of the blank, 0-8 in reading order"),
            Column("manhattan", "int16", MANHATTAN),
            Column("misplaced", "int16", MISPLACED),
            Column("rank", "int32", RANK, distinct=True),
        )

    def list_states(self) -> Bytes:
        import numpy as np

        text = np.ascontiguousarray(_list_boards().T) + np.uint8(ord("0"))
        return text.view("S9").ravel()

    def make_graph(self) -> Graph:
        import numpy as np

        from puzzle_tablebase.graph import Graph

        boards = _list_boards()
        head, tail = ((part & RANK_MASK).astype(np.int32) for part in make_rank_part_arrays())
        blank = np.argmin(boards, axis=0)
        edges = []
        for position, letter in enumerate(LETTERS):
            may_go = np.array([letter in dict(exits) for exits in EXITS])
            sources = np.flatnonzero(may_go[blank])
            moved = boards.take(sources, axis=1)
            at = blank[sources]
            columns = np.arange(len(sources))
            moved[at, columns] = moved[at + STEP[letter], columns]
            moved[at + STEP[letter], columns] = 0
            next_rank = head.take(to_number(moved[:HEAD_LENGTH])) + tail.take(
                to_number(moved[HEAD_LENGTH:])
            )
            edges.append((position, sources, next_rank))
        return Graph.from_moves(self.size, edges)

    def fill_columns(
        self, table: Table, graph: Graph, walks: Mapping[str, SearchResult]
    ) -> Columns:
        import numpy as np

        from puzzle_tablebase.graph import find_nearest

        columns = dict(super().fill_columns(table, graph, walks))
        boards = np.ascontiguousarray(columns["state"]).view(np.uint8).reshape(-1, 9).T - ord("0")
        columns["rank"] = np.flatnonzero(find_nearest(walks)[0] != UNREACHED)
        columns["blank"] = np.argmin(boards, axis=0)
        distances = columns["manhattan"] = np.zeros(boards.shape[1], dtype=np.uint8)
        misplaces = columns["misplaced"] = np.zeros(boards.shape[1], dtype=np.uint8)
        for goal in walks:
            home = [GOALS[goal].index(digit) for digit in "012345678"]
            from_home = np.array([[_count_steps(at, cell) for cell in range(9)] for at in home])
            from_home[0] = 0
            with_goal = columns["goal"] == list(GOALS).index(goal)
            for cell in range(9):
                steps = from_home[boards[cell, with_goal], cell]
                distances[with_goal] += steps.astype(np.uint8)
                misplaces[with_goal] += (steps > 0).astype(np.uint8)
        return columns


def _list_boards() -> npt.NDArray[np.uint8]:
    """List all boards in notation order, one in each column; row i has the digits on cell i."""
    import numpy as np

    boards = np.zeros((0, 1), dtype=np.uint8)
    for tiles in range(1, 10):
        blocks = []
        for first in range(tiles):
            row = np.full((1, boards.shape[1]), first, dtype=np.uint8)
            blocks.append(np.vstack([row, boards + (boards >= first)]))
        boards = np.hstack(blocks)
    return boards


PUZZLE = Eight()
