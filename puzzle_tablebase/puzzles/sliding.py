"""Sliding boards: rows x columns of cells, with a tile on every cell but the blank, written 0.

Cells are numbered in reading order; a state has a character for each cell in that order, `0`-`9`,
`a`-`f`. A move's letter says which way the blank goes, `U D L R`. A board with more rows than
columns is the mirror image of a wide one, whose tables have its answers. The 8-puzzle is the 3x3
board with ranks, goals and tables of its own; all other tables are on request.
"""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, NotationError
from puzzle_tablebase.notation.sliding import (
    CHARACTERS,
    EXAMPLE_BOARD,
    GOALS,
    LETTERS,
    MAX_CELLS,
    parse_sides,
    parse_state,
)
from puzzle_tablebase.puzzles import GoalPuzzle, Puzzle, Rules, View
from puzzle_tablebase.schema import BITS_INDEX, ROW_BYTES, UNREACHABLE, Column, Recipe, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TypeVar

    from puzzle_tablebase.graph import Graph, SearchResult
    from puzzle_tablebase.notation.moves import Moves
    from puzzle_tablebase.puzzles import Bytes
    from puzzle_tablebase.puzzles.board_arrays import Tiles
    from puzzle_tablebase.schema import Columns
    from puzzle_tablebase.two_bit_bfs.space import WordSpace

    Mark = TypeVar("Mark", str, int)

MAX_SMALL_CELLS = 10
"""Cells of the largest small boards. They get all goals by default, rows beside each index, and a
byte in it for each state. Larger ones get one goal, no rows, and a bit."""
ROW_STATES = 8 * ROW_BYTES
TABLE_PREFIX = "sliding_"
ALL_GOALS = "all"
"""The end of the name of a board's tables of all goals."""
MAX_VIEWS = 64
"""Views of goals that a board keeps."""
EDGES = {"U": "first row", "D": "last row", "L": "first column", "R": "last column"}
"""Where the blank must be for a move to be illegal, by the move."""
FIFTEEN_BOARD = "4x4"
"""The board that the 15-puzzle's search solves, without a table of all its states."""
MANHATTAN = (
    "sum of each tile's steps to its cell in the goal, across and down; never more than distance"
)
"""The meaning of the column `manhattan`."""


class BoardFeatures:
    """What `weigh_tile` says of a state, summed over its tiles: columns, attributes of answers.

    Tables of the 8-puzzle have all of them.
    """

    blank: int
    manhattan: int
    misplaced: int


class SymmetryView(View):
    """View of a goal as one with a table, by a symmetry of the board and a renaming of the tiles.

    It maps every state that reaches the goal to a state that reaches the other, move for move.
    """

    __slots__ = ("_names", "_old_names", "cells")

    def __init__(self, table_goal: str, state: str, goal: str, cells: Sequence[int]) -> None:
        super().__init__(table_goal)
        self.cells = cells
        """For each cell of `state`, the table's goal, the cell of the goal whose tile it gets."""
        marks = "".join([goal[cell] for cell in cells])
        self._names = str.maketrans(marks, state)
        self._old_names = str.maketrans(state, marks)

    def map_state(self, state: str) -> str:
        return "".join([state[cell] for cell in self.cells]).translate(self._names)

    def restore_state(self, state: str) -> str:
        """Return the state that `map_state` maps to this one."""
        marks = dict(zip(self.cells, state.translate(self._old_names), strict=True))
        return "".join([marks[cell] for cell in range(len(marks))])


class SlidingBoard(GoalPuzzle):
    """A board; its goals are states with the tiles in reading order, named by their notation.

    There is one goal for each set of cells that turning and mirroring the board maps to each
    other.

    >>> board = SlidingBoard(3, 4)
    >>> [*board.goals]
    ['123456789ab0', '123456789a0b', '1234567089ab', '1234560789ab']
    >>> board.rank("123456789ab0"), board.unrank(0)
    (220208645, '0369147a258b')
    """

    name = "sliding"
    letters = LETTERS

    features: tuple[str, ...] = ("manhattan",)
    """The columns that are sums of `weigh_tile` over the tiles."""

    def __init__(self, height: int, width: int, root: str = "") -> None:
        """Make a board; `unrank` returns the states that reach `root`, by default the first goal.

        `rank` ranks any state among those connected to it.
        """
        self.height = height
        self.width = width
        self.cells = height * width
        self.title = f"{self} board"
        self.what = f"a state of the {self} board"
        """What an error calls a state."""
        self.wide: SlidingBoard = self
        """The board whose tables have the answers of this one."""
        if height > width:
            self.wide = SlidingBoard(width, height)
        self.line = min(height, width)
        """Cells of a short line. Places number the cells along the short lines, line after line."""
        self.place = [*range(self.cells)]
        """The place of each cell."""
        if self.wide is self:
            self.place = [at // width + at % width * height for at in self.place]
        self.cell_at = sorted(range(self.cells), key=self.place.__getitem__)
        self.even_permutations = 1
        for tile in range(3, self.cells):
            self.even_permutations *= tile
        """The number of even permutations of the tiles: half of all."""
        self.symmetries = self._list_symmetries()
        self._views: dict[str, SymmetryView] = {}
        self._tiles: Tiles | None = None
        self.is_packed = self.cells > MAX_SMALL_CELLS
        """Whether the indexes have one bit for each state, and 360 states in a record."""
        self._add_goals()
        self.root = root or self.example

    def _add_goals(self) -> None:
        """Add the goals, with the number of states that they share and their tables."""
        self.size = self.cells * self.even_permutations
        blanks = {max(cells) for cells in zip(*self.symmetries, strict=True)}
        goals = [self.make_ordered_state(cell) for cell in sorted(blanks, reverse=True)]
        self.goals = {goal: goal for goal in goals}
        self.example = goals[0]
        self.spellings = {"corner": self.example}
        self.tables = self.select_tables(every_goal=True) if self.wide is self else self.wide.tables

    def __str__(self) -> str:
        return f"{self.height}x{self.width}"

    def list_row_columns(self) -> tuple[Column, ...]:
        state, *others, _ = super().list_columns()  # without the number of solutions
        by_rank = Column(state.name, state.type, state.meaning, distinct=True)
        return (by_rank, *others, Column("manhattan", "int16", MANHATTAN))

    def parse(self, text: str) -> str:
        """Return the state that a text names: a character or a number for each cell.

        >>> SlidingBoard(3, 4).parse("1 2 3 4 5 6 7 8 9 10 11 0"), EIGHT.parse("152/7.3/846")
        ('123456789ab0', '152703846')
        """
        return parse_state(text, self.cells, self.what)

    def make_ordered_state(self, blank: int) -> str:
        """Return the state with the blank on a cell and the tiles in reading order."""
        tiles = CHARACTERS[1 : self.cells]
        return f"{tiles[:blank]}0{tiles[blank:]}"

    def moves(self, state: str) -> Iterator[tuple[str, str]]:
        """Yield each legal move in the order U D L R: its letter and the next state.

        >>> list(SlidingBoard(2, 3).moves("123450"))
        [('U', '120453'), ('L', '123405')]
        """
        blank = state.index("0")
        for letter, cell in self.list_exits(blank):
            tile = state[cell]
            yield letter, state.replace(tile, "-").replace("0", tile).replace("-", "0")

    def read_moves(self, text: str, start: str) -> Moves:
        """Read letters, or tiles that slide."""
        from puzzle_tablebase.notation.moves import read_board_moves

        return read_board_moves(text, CHARACTERS[1 : self.cells])

    def step(self, here: str, move: str, number: int) -> tuple[str, str]:
        blank = here.index("0")
        for letter, after in self.moves(here):
            if move in (letter, after[blank]):  # the tile that slides is where the blank was
                return after, ""
        return here, self.explain_illegal(move)

    def explain_illegal(self, move: str) -> str:
        """Explain why a move is illegal; "" if it is legal."""
        return (
            f"the blank is in the {EDGES[move]}" if move in EDGES else "it is not next to the blank"
        )

    def name_move(self, move: str) -> str:
        return move if move in LETTERS else f"tile {move}"

    def list_meanings(self, text: str) -> list[tuple[str, str]]:
        """List other readings of an answer as letters of moves, each with words for it.

        >>> SlidingBoard(3, 3).list_meanings("Down, left.")
        [('DL', 'as DL'), ('UR', 'as the way tiles slide')]
        """
        from puzzle_tablebase.notation.moves import read_words, reverse_directions

        letters = read_words(text)
        slid = reverse_directions(letters), "as the way tiles slide"
        return [(letters, f"as {letters}"), slid] if letters else []

    def list_exits(self, blank: int) -> Iterator[tuple[str, int]]:
        """Yield the letters of the blank's moves from a cell, each with its target cell."""
        if blank >= self.width:
            yield "U", blank - self.width
        if blank + self.width < self.cells:
            yield "D", blank + self.width
        if blank % self.width:
            yield "L", blank - 1
        if (blank + 1) % self.width:
            yield "R", blank + 1

    def rank(self, state: str) -> int:
        """Return the state's number among the states connected to it (see docs/how-it-works.md)."""
        tiles = [state[cell] for cell in self.cell_at if state[cell] != "0"]
        number: int = (
            self.place[state.index("0")] * self.even_permutations + rank_permutation(tiles) // 2
        )
        return number

    def unrank(self, rank: int) -> str:
        """Return the state of a rank among those that reach the root."""
        place, number = divmod(rank, self.even_permutations)
        for order in (2 * number, 2 * number + 1):
            marks = unrank_permutation(order, CHARACTERS[1 : self.cells])
            marks.insert(place, "0")
            state = "".join([marks[at] for at in self.place])
            if self.can_reach(state, self.root):
                break
        return state

    def can_reach(self, state: str, goal: str) -> bool:
        """Return whether moves lead from a state to a goal.

        A move along a short line keeps the order of the tiles; one from line to line moves a tile
        past `line - 1` others.
        """
        lines = [self.place[marks.index("0")] // self.line for marks in (state, goal)]
        odd = [self.is_odd(marks) for marks in (state, goal)]
        return (odd[0] != odd[1]) == bool((lines[0] - lines[1]) * (self.line - 1) % 2)

    def is_odd(self, state: str) -> bool:
        """Return whether the number of inversions is odd, with the tiles in the order of places."""
        tiles = [state[cell] for cell in self.cell_at if state[cell] != "0"]
        return sum(a > b for at, a in enumerate(tiles) for b in tiles[at + 1 :]) % 2 == 1

    def explain_unreachable(self, state: str, goal: str) -> str:
        return "only half of all states can reach it. Swap any two tiles to make it reachable."

    def count_steps(self, a: int, b: int) -> int:
        """Count the steps between two cells, across and down."""
        down, right = a // self.width - b // self.width, a % self.width - b % self.width
        return abs(down) + abs(right)

    def weigh_tile(self, feature: str, tile: int, cell: int, home: int) -> int:
        """Return what a tile on a cell adds to a feature, where `home` is its cell in the goal."""
        if feature == "blank":
            return cell if tile == 0 else 0
        if tile == 0:
            return 0
        return self.count_steps(cell, home) if feature == "manhattan" else int(cell != home)

    def compute_features(self, state: str, goal: str) -> dict[str, int]:
        tiles = [
            (CHARACTERS.index(mark), cell, goal.index(mark)) for cell, mark in enumerate(state)
        ]
        return {
            feature: sum([self.weigh_tile(feature, *tile) for tile in tiles])
            for feature in self.features
        }

    def _list_symmetries(self) -> list[list[int]]:
        """List the symmetries that map this board to the wide one.

        Each lists, for the cells of the wide board, the cells of this board from which their tiles
        come.
        """
        starts = range(0, self.cells, self.width)
        rows = [tuple(range(at, at + self.width)) for at in starts]
        bases = [rows] if self.height <= self.width else []
        bases += [[*zip(*rows, strict=True)]] if self.height >= self.width else []
        return [
            [cell for row in base[::down] for cell in row[::right]]
            for right in (1, -1)
            for down in (1, -1)
            for base in bases
        ]

    def view_goal(self, goal: str) -> SymmetryView:
        """View any goal as one of the wide board's own.

        >>> view = SlidingBoard(3, 2).view_goal("150234")
        >>> view.table_goal, view.map_state("150234"), view.restore_state("123405")
        ('123405', '123405', '150234')
        """
        view = self._views.get(goal)
        if view is None:
            goals = {state.index("0"): (name, state) for name, state in self.wide.goals.items()}
            blank = goal.index("0")
            cells = next(cells for cells in self.symmetries if cells.index(blank) in goals)
            view = SymmetryView(*goals[cells.index(blank)], goal, cells)
            if len(self._views) >= MAX_VIEWS:
                self._views = {}
            self._views[goal] = view
        return view

    def select_tables(self, *, every_goal: bool) -> tuple[Table, ...]:
        """Make the tables of a wide board: of all its goals, or of the default ones."""
        goals = [*self.goals][: None if every_goal or not self.is_packed else 1]
        return tuple(map(self.make_table, goals))

    def make_table(self, goal: str) -> Table:
        """Make the table of the distances to one of the goals."""
        return Table(
            f"{TABLE_PREFIX}{self}_{goal.index('0') + 1}",
            f"The {self.size:,} states of the {self} sliding board that can reach {goal}, each "
            f"with {'bit 1 of ' if self.is_packed else ''}its distance to it",
            f"{'bit' if self.is_packed else 'row'} number = rank: "
            "places are counted column by column; the blank's place comes "
            "first, then the order of the tiles in the other places",
            () if self.is_packed else self.list_row_columns(),
            Recipe(
                "sliding_bits" if self.is_packed else "sliding_rows",
                roots={goal: goal},
                board=str(self),
            ),
            index=BITS_INDEX if self.is_packed else (("distance", "B"),),
            rows=self.size // ROW_STATES if self.is_packed else self.size,
        )

    def list_tiles(self) -> Tiles:
        """List the tiles of all states that reach the root, by rank, one state in each column."""
        import numpy as np

        from puzzle_tablebase.puzzles.board_arrays import list_boards
        from puzzle_tablebase.puzzles.board_numbers import list_parities

        if self._tiles is None:
            tiles = self.cells - 1
            orders = list_boards(tiles) + np.uint8(1)
            is_odd, blocks = np.array(list_parities(tiles, tiles)) == 1, []
            for place in range(self.cells):
                parity = self.is_odd(self.unrank(place * self.even_permutations))
                blocks.append(np.insert(orders[:, is_odd == parity], place, 0, axis=0)[self.place])
            self._tiles = np.hstack(blocks)
        return self._tiles

    def list_states(self) -> Bytes:
        from puzzle_tablebase.puzzles.board_arrays import write_states

        return write_states(self.list_tiles())

    def make_graph(self) -> Graph:
        import numpy as np

        from puzzle_tablebase.graph import Graph
        from puzzle_tablebase.puzzles.board_arrays import iter_moves, make_numbering

        boards = self.list_tiles()
        ranks = np.empty(2 * self.cells * self.even_permutations, dtype=np.int32)
        ranks[make_numbering(self.cells)(boards)] = np.arange(self.size, dtype=np.int32)
        moves = [(at, sources, ranks[after]) for at, sources, after in iter_moves(self, boards)]
        return Graph.from_moves(self.size, moves)

    def fill_columns(
        self, table: Table, graph: Graph, results: Mapping[str, SearchResult]
    ) -> Columns:
        import numpy as np

        from puzzle_tablebase.graph import find_nearest
        from puzzle_tablebase.puzzles.board_arrays import sum_weights

        ranks = np.flatnonzero(find_nearest(results)[0] != UNREACHABLE)
        boards, columns = self.list_tiles()[:, ranks], super().fill_columns(table, graph, results)
        features = {name: np.zeros(len(ranks), dtype=np.uint8) for name in self.features}
        for name in results:
            has_goal = columns["goal"] == [*self.goals].index(name)
            for feature, values in features.items():
                values[has_goal] = sum_weights(self, feature, self.goals[name], boards[:, has_goal])
        return {**columns, **features, "rank": ranks}

    def make_words(self, root: str) -> WordSpace:
        """Make the states that reach a root, in words of bits, with their moves."""
        from puzzle_tablebase.two_bit_bfs.space import make_word_space

        place = self.place[root.index("0")]
        return make_word_space(self.line, self.cells, place, self.is_odd(root), self.rank(root))


class SlidingTiles(Rules):
    """The rules of a board for answers whose letters are the directions of tiles that slide."""

    def __init__(self, board: SlidingBoard) -> None:
        self.board = board

    def read_moves(self, text: str, start: str) -> Moves:
        """Read letters or tiles; return each letter as the direction of the blank."""
        from puzzle_tablebase.notation.moves import reverse_directions

        moves, problem = self.board.read_moves(text, start)
        return [*map(reverse_directions, moves)], problem

    def step(self, here: str, move: str, number: int) -> tuple[str, str]:
        return self.board.step(here, move, number)

    def name_move(self, move: str) -> str:
        from puzzle_tablebase.notation.moves import reverse_directions

        return self.board.name_move(reverse_directions(move))

    def list_meanings(self, text: str) -> list[tuple[str, str]]:
        from puzzle_tablebase.notation.moves import read_words, reverse_directions

        letters = read_words(text)
        as_written = reverse_directions(letters), f"as {letters}"
        return [as_written, (letters, "as the way the blank moves")] if letters else []


def rank_permutation(marks: Sequence[Mark]) -> int:
    """Return the rank of a permutation of marks among all in lexical order.

    >>> rank_permutation([0, 1, 2]), rank_permutation([0, 2, 1]), rank_permutation("210")
    (0, 1, 5)
    """
    free, number = sorted(marks), 0
    for mark in marks:
        number = number * len(free) + free.index(mark)
        free.remove(mark)
    return number


def unrank_permutation(number: int, marks: str) -> list[str]:
    """Return the permutation of ascending marks with a rank."""
    free, places = [*marks], []
    for radix in range(1, len(marks) + 1):
        number, at = divmod(number, radix)
        places.append(at)
    return [free.pop(at) for at in reversed(places)]


def parse_board(text: str) -> SlidingBoard:
    """Return the board that a text names: rows x columns.

    >>> str(parse_board("3x4"))
    '3x4'
    """
    return SlidingBoard(*parse_sides(text))


def find_goal(table: str) -> tuple[SlidingBoard, str] | None:
    """Find the board and the goal of a table of that name."""
    try:
        board = parse_board(table.removeprefix(TABLE_PREFIX).partition("_")[0])
    except NotationError:
        return None
    found = zip(board.tables, board.goals, strict=False)
    return next(((board, goal) for each, goal in found if each.name == table), None)


class Sliding(Puzzle):
    """All boards of up to 16 cells; all tables are on request."""

    name = "sliding"
    title = "Sliding boards"
    example = f"123456789a0b --board {EXAMPLE_BOARD}"
    tables = ()
    depth = "distance"

    def find_tables(self, name: str) -> tuple[Table, ...]:
        """Find a board's tables: of its default goals, of all, or of one."""
        if name == self.name:
            example = f"Example: pipeline precompute {TABLE_PREFIX}{EXAMPLE_BOARD}"
            raise BadRequest(f"{name} has no default tables: name a board", example)
        if board_and_goal := find_goal(name):
            return board_and_goal[0].find_tables(name)
        prefix, text, goals = [*name.split("_", 2), "", ""][:3]
        if prefix != self.name or not text[:1].isdigit():
            return ()
        board = parse_board(text)
        if name not in (f"{TABLE_PREFIX}{board}", f"{TABLE_PREFIX}{board}_{ALL_GOALS}"):
            return ()
        tables = board.wide.select_tables(every_goal=goals == ALL_GOALS)
        if str(board) == FIFTEEN_BOARD:
            size = f"it would take {board.size / 8e12:.1f} TB for each goal"
            hint = f"fifteen solves every {board} board. A cluster can build {tables[0].name}"
            raise BadRequest(f"{name} is too large: {size}", hint)
        return tables

    def list_requests(self) -> dict[str, list[str]]:
        boards = [
            SlidingBoard(high, wide)
            for high in (2, 3)  # of four rows, there is only the 15-puzzle
            for wide in range(high, MAX_CELLS // high + 1)
        ]
        every_goal = [board for board in boards if board.is_packed]
        return {
            "Boards, with their default goals": [f"{TABLE_PREFIX}{board}" for board in boards],
            "Boards with all goals": [f"{TABLE_PREFIX}{board}_{ALL_GOALS}" for board in every_goal],
        }

    def find_example(self, table: str) -> dict[str, object]:
        """Find a question for a state one move from the goal of a table."""
        board_and_goal = find_goal(table)
        if not board_and_goal:
            return {}
        board, goal = board_and_goal
        _, state = next(board.moves(goal))
        of_goal = {} if goal == board.example else {"goal": goal}
        return {"key": state, "board": str(board), **of_goal}

    def list_board_tables(self, board: str) -> tuple[Table, ...]:
        return parse_board(board).tables

    def name_board(self, table: str) -> str | None:
        board_and_goal = find_goal(table)
        return str(board_and_goal[0]) if board_and_goal else None

    def make_space(self, table: Table) -> SlidingBoard:
        (goal,) = table.recipe.parameters["roots"].values()
        return SlidingBoard(*parse_sides(table.recipe.parameters["board"]), goal)


RANK = (
    "number of the state among all 362,880 in ascending order, from 0; number of its index record"
)
MISPLACED = "number of tiles not on their cell in the goal; never more than manhattan"


class Eight(SlidingBoard):
    """The 8-puzzle: every order of its nine digits has a rank, and goals have names.

    >>> EIGHT.rank("012345678"), EIGHT.rank("876543210")
    (0, 362879)
    """

    name = kind = "eight"
    features = (*BoardFeatures.__annotations__,)

    def __init__(self) -> None:
        super().__init__(3, 3)
        self.title, self.what = "8-puzzle", "an 8-puzzle state"

    def _add_goals(self) -> None:
        self.size = 362_880
        self.goals, self.spellings = GOALS, {"center": "centre"}
        self.example = GOALS["corner"]
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

    def find_example(self, table: str) -> dict[str, object]:
        of_goal = {"goal": "edge"} if table == self.tables[1].name else {}
        return super().find_example(table) | of_goal

    def name_board(self, table: str) -> str:
        return str(self)

    def rank(self, state: str) -> int:
        """Return the state's number in notation order."""
        return rank_permutation(state)

    def unrank(self, rank: int) -> str:
        """Return the state of a rank, of any goal."""
        return "".join(unrank_permutation(rank, CHARACTERS[: self.cells]))

    def find_reachable_goal(self, state: str) -> str:
        return "corner" if self.can_reach(state, GOALS["corner"]) else "centre"

    def list_columns(self) -> tuple[Column, ...]:
        return (
            *super().list_columns(),
            Column("blank", "int16", "index of the blank, 0-8 in reading order"),
            Column("manhattan", "int16", MANHATTAN),
            Column("misplaced", "int16", MISPLACED),
            Column("rank", "int32", RANK, distinct=True),
        )

    def list_tiles(self) -> Tiles:
        from puzzle_tablebase.puzzles.board_arrays import list_boards

        return list_boards(self.cells)


EIGHT = Eight()
PUZZLE = Sliding()
