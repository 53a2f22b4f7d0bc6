"""The probers of the sliding boards of any size, and the choice of one of them by its name."""

from __future__ import annotations

from _thread import RLock, allocate_lock  # `threading` takes longer to import

from puzzle_tablebase.errors import BadRequest, MemoryShort, TableMissing
from puzzle_tablebase.notation.sliding import EXAMPLE_BOARD
from puzzle_tablebase.puzzles import View
from puzzle_tablebase.puzzles.sliding import (
    FIFTEEN_BOARD,
    ROW_STATES,
    SlidingBoard,
    find_goal,
    parse_board,
)
from puzzle_tablebase.queries.boards import BOARD_OPTIONS, BoardProber, DenseProber
from puzzle_tablebase.queries.files import TableFiles
from puzzle_tablebase.queries.prober import BaseProber
from puzzle_tablebase.queries.questions import ALL, ANY_KEYS, BATCH, CHECK, SAMPLE, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from puzzle_tablebase.puzzles import Puzzle
    from puzzle_tablebase.puzzles.sliding import SymmetryView
    from puzzle_tablebase.queries.answer_frames import Bytes
    from puzzle_tablebase.queries.bit_walks import BitTable
    from puzzle_tablebase.queries.board_columns import Masks
    from puzzle_tablebase.queries.prober import Prober
    from puzzle_tablebase.queries.questions import Options
    from puzzle_tablebase.queries.samples import Numbers, SampleRequest
    from puzzle_tablebase.schema import Table

STATES_PER_WALK = 20_000_000
"""A table of bits with this many more states has one more key looked up singly."""
MAX_KNOWN_STATES = 1 << 16
MAX_DISTANCE = 254


BOARD_COLUMNS = ("state", "goal", "distance", "best_moves")


class SmallBoardProber(DenseProber):
    """Answers for a board of up to ten cells, which has a table for each of its goals."""

    columns = BOARD_COLUMNS
    max_single_keys = 2_000

    def __init__(self, puzzle: SlidingBoard, files: TableFiles) -> None:
        super().__init__(puzzle, files, puzzle.example)
        self.board = str(puzzle)

    def list_distances(self, options: Options) -> npt.NDArray[np.uint8]:
        """Return the distances of all states by rank, which are the records of the index."""
        import numpy as np

        view = self.puzzle.view_goal(options.goal or self.puzzle.example)
        table = self.table_names[view.table_goal]
        return np.frombuffer(self.open_index(table).read_records(), np.uint8)


class BitProber(BoardProber):
    """A prober of tables with one bit of each distance, which walks to the goal and counts moves.

    Each move changes the colour of the blank's cell. So the colour gives bit 0 of the distance, and
    the table bit 1: the distance modulo 4. It shows which neighbours are one move nearer, and which
    are farther.
    """

    columns = BOARD_COLUMNS

    def __init__(self, puzzle: SlidingBoard, files: TableFiles) -> None:
        super().__init__(puzzle, files, puzzle.example)
        self.board = str(puzzle)
        self.max_single_keys = 300 + puzzle.size // STATES_PER_WALK
        self._reconstruction_lock = allocate_lock()
        """One list of distances is made at a time, as each may take all free memory."""

    def find_distance(self, state: str, goal: str) -> tuple[int, int | None]:
        try:
            return super().find_distance(state, goal)
        except TableMissing as error:
            self._name_solver(error, state, goal)
            raise

    def _name_solver(self, error: TableMissing, state: str, goal: str) -> None:
        """Add the 15-puzzle's search to an error, if it can answer: the table needs a cluster."""
        is_corner = self.puzzle.view_goal(goal).table_goal == self.puzzle.example
        if str(self.puzzle) == FIFTEEN_BOARD and is_corner:
            error.solver = "fifteen", state, "" if goal == self.puzzle.example else goal

    def find_record(self, view: View, state: str) -> int:
        return super().find_record(view, state) // ROW_STATES

    def read_record(self, view: View, state: str) -> tuple[int, None]:
        """Walk to the goal, or to a state of an earlier walk, and count the moves."""
        walks = self.files.keep("walks", dict[tuple[str, str], int])
        goal, passed = view.table_goal, [view.map_state(state)]
        if len(walks) > MAX_KNOWN_STATES:
            walks.clear()
        here, last = state, walks.get((goal, passed[-1]))
        while last is None and passed[-1] != goal:
            self.prefetch(view, here)
            value = self._read_value(view, here)
            step = next(self.iter_moves_at(view, here, value - 1), None)
            if step is None or len(passed) > MAX_DISTANCE:
                problem = f"no walk leads from {state} to the goal"
                raise self.files.make_error(self.table_names[goal], problem)
            here = step[1]
            passed.append(view.map_state(here))
            # read once: another thread may clear them
            last = walks.get((goal, passed[-1]))
        last = last or 0
        for steps, passed_state in enumerate(reversed(passed)):
            walks[goal, passed_state] = last + steps
        return last + len(passed) - 1, None

    def iter_moves_at(self, view: View, state: str, distance: int) -> Iterator[tuple[str, str]]:
        for letter, neighbour in self.puzzle.moves(state):
            if self._read_value(view, neighbour) == distance % 4:
                yield letter, neighbour

    def _read_value(self, view: View, state: str) -> int:
        """Return a state's distance modulo 4."""
        wide, mapped = self.puzzle.wide, view.map_state(state)
        record, bit = divmod(wide.rank(mapped), ROW_STATES)
        row: bytes = self.open_index(self.table_names[view.table_goal]).read_record(record)[0]
        side = wide.count_steps(mapped.index("0"), view.table_goal.index("0")) % 2
        return side + 2 * (row[bit >> 3] >> (bit & 7) & 1)

    def _view_goal(self, options: Options) -> SymmetryView:
        return self.puzzle.view_goal(options.goal or self.puzzle.example)

    def _fits_memory(self, options: Options) -> bool:
        """Return whether a table's bits are in memory, or fit the free memory."""
        from puzzle_tablebase.resources import get_free_memory  # few keys are looked up singly

        table, free = self.table_names[self._view_goal(options).table_goal], get_free_memory()
        return self.files.has(("bits", table)) or free is None or self.puzzle.size / 8 < free

    def is_single(self, count: int, options: Options) -> bool:
        is_asked_more = options.solutions or options.path
        is_single = is_asked_more or count < self.max_single_keys
        return is_single or not self._fits_memory(options)

    def _read_bits(self, view: View) -> npt.NDArray[np.uint8]:
        """Return all bits of a table, read once."""
        import numpy as np

        table = self.table_names[view.table_goal]
        bits = self.files.keep(("bits", table), lambda: self.open_index(table).read_records())
        return np.frombuffer(bits, np.uint8)

    def open_columns(self, options: Options) -> BitTable:
        from puzzle_tablebase.queries.bit_walks import BitTable

        view, name = self._view_goal(options), self.table_names
        error = self.files.make_error(name[view.table_goal], "not every walk leads to the goal")
        return BitTable(self.puzzle, view, self._read_bits(view), error)

    def answer_together(
        self, keys: pl.Series, options: Options
    ) -> tuple[pl.DataFrame, pl.Series, Masks]:
        import polars as pl

        from puzzle_tablebase.queries.board_columns import normalize_keys

        states = normalize_keys(keys, self.key_cells)
        rows, is_state = self.open_columns(options).answer_states(states)
        goal = pl.when(pl.col("distance").is_not_null()).then(
            pl.lit(options.goal or self.default_goal)
        )
        return rows.select(goal.alias("goal"), "distance", "best_moves"), states, is_state

    def read_distances(self, view: SymmetryView) -> npt.NDArray[np.uint8]:
        """Return the distances of all states of a table by rank; they are reconstructed once."""
        with self._reconstruction_lock:
            return self.files.keep(
                ("distances", view.table_goal), lambda: self._reconstruct_distances(view)
            )

    def _reconstruct_distances(self, view: SymmetryView) -> npt.NDArray[np.uint8]:
        from puzzle_tablebase.queries.bit_layers import reconstruct_distances
        from puzzle_tablebase.resources import get_free_memory
        from puzzle_tablebase.two_bit_bfs.search import estimate_search_bytes

        board, free = self.puzzle.wide, get_free_memory()
        need = estimate_search_bytes(board.size) + board.size + board.size // 8
        if free is not None and free < need:
            work = f"A list of the distances of all {board.size:,} states"
            raise MemoryShort(work, need, free, "Close other programs")
        distances = reconstruct_distances(board.make_words(view.table_goal), self._read_bits(view))
        if distances is None:
            problem = "its bits are not those of distances"
            raise self.files.make_error(self.table_names[view.table_goal], problem)
        return distances

    def list_distances(self, options: Options) -> npt.NDArray[np.uint8]:
        distances = self.read_distances(self._view_goal(options)).view()
        distances.flags.writeable = False  # samples draw by them
        return distances

    def measure_tiles(self, tiles: Bytes, options: Options) -> npt.NDArray[np.signedinteger]:
        return self.open_columns(options).look_up(tiles)[0]

    def draw(
        self, request: SampleRequest, wanted: range | None, options: Options
    ) -> Iterator[pl.DataFrame]:
        from puzzle_tablebase.queries.samples import find_ranks

        view = self._view_goal(options)
        try:
            self.open_index(self.table_names[view.table_goal])
        except TableMissing as error:
            self._name_solver(error, "", options.goal or self.puzzle.example)
            raise
        total, ranks = self.puzzle.size, None
        if wanted is not None:
            ranks = find_ranks(self.read_distances(view), wanted)
            total = len(ranks)
        for numbers in request.draw_numbers(total, "state"):
            drawn = numbers if ranks is None else ranks[numbers]
            yield self._answer_ranks(view, drawn, options)

    def count_depths(self, options: Options) -> dict[int, int]:
        import polars as pl

        distances = pl.Series(self.read_distances(self._view_goal(options)))
        return dict(distances.value_counts().iter_rows())

    def list_hardest_rows(self, options: Options) -> pl.DataFrame:
        view = self._view_goal(options)
        distances = self.read_distances(view)
        ranks = (distances == distances.max()).nonzero()[0]
        return self._answer_ranks(view, ranks, options).sort("state")

    def _answer_ranks(self, view: SymmetryView, ranks: Numbers, options: Options) -> pl.DataFrame:
        """Return a batch's columns of the states with these ranks in a view's table."""
        from puzzle_tablebase.queries.board_ranks import BoardRanks

        keys = BoardRanks(self.puzzle, view).write_states(ranks)
        batch = self.parse(BATCH, {"goal": options.goal})
        return keys.to_frame().hstack(self.annotate_keys(keys, batch))


class SlidingProber(BaseProber):
    """Chooses the prober of the board that an option names: each board has one of its own."""

    has_pictures = True
    options = (
        Option(
            "board", "Board, rows x columns, up to 16 cells.", "RxC",
            lambda text, *_: parse_board(text), verbs=(*ANY_KEYS, ALL, SAMPLE, CHECK),
        ),
        *BOARD_OPTIONS,
    )  # fmt: skip
    key = BoardProber.key
    columns = BOARD_COLUMNS

    def __init__(self, puzzle: Puzzle, files: TableFiles) -> None:
        super().__init__(puzzle, files)
        self._boards: dict[str, BoardProber] = {}
        self._lock = RLock()

    def select(self, options: Options) -> BoardProber:
        if not isinstance(options.board, SlidingBoard):
            raise BadRequest("Missing option --board", f"Example: --board {EXAMPLE_BOARD}")
        return self.open_board(options.board)

    def open_board(self, board: SlidingBoard) -> BoardProber:
        """Return the prober of a board's tables, which is opened once."""
        with self._lock:
            self.files.require_open()
            if str(board) not in self._boards:
                prober_class = BitProber if board.is_packed else SmallBoardProber
                self._boards[str(board)] = prober_class(board, TableFiles(self.files.store))
            return self._boards[str(board)]

    def close(self) -> None:
        with self._lock:
            super().close()
            for prober in self._boards.values():
                prober.close()

    def iter_explored(self) -> Iterator[tuple[Prober, Table]]:
        """Yield the tables of small boards with tables for every goal.

        Those of larger boards are too large for a page.
        """
        from puzzle_tablebase.formats.manifest import read_manifest

        published = read_manifest(self.files.store)
        found = filter(None, map(find_goal, published))
        boards = {str(board): board for board, _ in found}
        for prober in map(self.open_board, boards.values()):
            tables = prober.puzzle.tables
            if not prober.puzzle.is_packed and all(table.name in published for table in tables):
                yield from ((prober, table) for table in tables)
