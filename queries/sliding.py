"""The readers of sliding boards: one for the puzzle, and one for each board's tables."""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, MemoryShort, TableMissing
from puzzle_tablebase.puzzle import View
from puzzle_tablebase.puzzles.sliding import (
    EXAMPLE_BOARD,
    FIFTEEN_BOARD,
    ROW_STATES,
    SlidingBoard,
    find_goal,
    parse_board,
)
from puzzle_tablebase.queries.answer import ANSWERS, SPLIT, Option
from puzzle_tablebase.queries.goal_reader import BoardAnswer, BoardQuery, GoalReader
from puzzle_tablebase.queries.reader import Reader, ignore_progress
from puzzle_tablebase.resources import get_free_memory
from puzzle_tablebase.stores.access import format_outputs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from puzzle_tablebase.puzzle import Puzzle
    from puzzle_tablebase.puzzles.sliding import BoardGoalView
    from puzzle_tablebase.queries.answer_frames import Bytes
    from puzzle_tablebase.queries.index_reader import IndexReader
    from puzzle_tablebase.queries.reader import ProgressCallback, Query
    from puzzle_tablebase.queries.sampling import SampleRequest, StatesByDistance
    from puzzle_tablebase.queries.sliding_columns import GoalLookup
    from puzzle_tablebase.schema import Table
    from puzzle_tablebase.stores.folder import Store


MAX_DIGITS = 10
"""Cells of the largest boards whose states are numbers."""
STATES_PER_WALK = 20_000_000
"""States of a table of bits for each of which one more key is looked up singly."""
SOLVED_BY_SEARCH = "pipeline query fifteen"
"""The command that answers for the 4x4 board."""
MAX_KNOWN_STATES = 1 << 16
MAX_DISTANCE = 254


class BoardTableQuery(BoardQuery):
    """A query of states of one board. Without a goal, it is that with the blank in the corner."""

    reader: BoardReader

    @property
    def width(self) -> int:  # type: ignore[override]  # a constant of other boards
        return self.reader.puzzle.width

    @property
    def goal_state(self) -> str:
        """The goal of all keys."""
        return self.goal or self.reader.puzzle.example

    def draw_samples(
        self,
        request: SampleRequest,
        wanted: range | None = None,
        on_progress: ProgressCallback = ignore_progress,
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        reader, view = self.reader, self.reader.puzzle.view_goal(self.goal_state)
        if wanted is None:
            drawn = request.draw_numbers(reader.puzzle.size, "state")
        else:
            drawn = reader.read_distances(view).draw(request, wanted)
        for ranks in drawn:
            states = pl.Series("state", self._restore_states(view, ranks.tolist()))
            # the index is in memory, so that few keys need not be looked up singly
            answers = (
                self.annotate_keys(states)
                if wanted is None
                else self._join_answers(states).drop("error")
            )
            yield states.to_frame().hstack(answers)

    def count_depths(self) -> dict[int, int]:
        view = self.reader.puzzle.view_goal(self.goal_state)
        return dict(enumerate(self.reader.read_distances(view).counts.tolist()))

    def list_hardest(self) -> pl.DataFrame:
        import polars as pl

        reader, view = self.reader, self.reader.puzzle.view_goal(self.goal_state)
        distances = reader.read_distances(view)
        ranks = distances.list_ranks(range(distances.most, distances.most + 1))
        states = pl.Series("state", sorted(self._restore_states(view, ranks.tolist())))
        return states.to_frame().hstack(reader.make_query(goal=self.goal).annotate_keys(states))

    def _restore_states(self, view: BoardGoalView, ranks: list[int]) -> list[str]:
        wide = self.reader.puzzle.wide
        return [view.restore_state(wide.unrank(rank, view.table_goal)) for rank in ranks]

    def make_schema(self) -> pl.Schema:
        import polars as pl

        return pl.Schema(super().make_schema() | {"goal": pl.String(), "distance": pl.Int16()})

    def answer_keys(self, keys: pl.Series) -> pl.DataFrame:
        if self.path or self.solutions or len(keys) < self.reader.max_single_keys:
            return super().answer_keys(keys)
        from puzzle_tablebase.queries.answer_frames import fill_answers

        return fill_answers(keys, self._join_answers(keys), super().answer_keys)

    def _join_answers(self, keys: pl.Series) -> pl.DataFrame:
        """Look up many keys together; a key that is no state gets nulls."""
        from puzzle_tablebase.queries.sliding_columns import answer_keys

        reader, goal = self.reader, self.goal_state
        view = reader.puzzle.view_goal(goal)
        answers = answer_keys(reader.puzzle, goal, reader.make_lookup(view, goal), keys)
        if answers is None:
            problem = f"not every state has a move nearer to {goal}"
            raise reader.make_damage_error(reader.table_names[view.table_goal], problem)
        return answers

    def read_boards(self, keys: pl.Series) -> tuple[Bytes, npt.NDArray[np.bool_]]:
        """Return the tiles of each key in a column, and whether it is a state."""
        from puzzle_tablebase.queries.answer_frames import view_texts
        from puzzle_tablebase.queries.sliding_columns import normalize_keys, read_texts

        cells = self.reader.puzzle.cells
        return read_texts(view_texts(normalize_keys(keys, cells)), cells)

    def make_measure(self) -> Callable[[Bytes], npt.NDArray[np.signedinteger]]:
        """Make a function that returns the distances of states, one in each column of tiles."""
        reader, goal = self.reader, self.goal_state
        view = reader.puzzle.view_goal(goal)
        lookup = reader.make_lookup(view, goal)

        def measure(tiles: Bytes) -> npt.NDArray[np.signedinteger]:
            answers = lookup.look_up(tiles)
            if answers is None:
                problem = "not every walk leads to the goal"
                raise reader.make_damage_error(reader.table_names[view.table_goal], problem)
            return answers[0]

        return measure


BOARD = Option("board", "Board, rows x columns, up to 16 cells.", "RxC")


class BoardReader(GoalReader[BoardAnswer]):
    """The tables of one board; the default goal is the blank in the last corner."""

    query = BoardTableQuery
    has_pictures = True
    sheet_options = {}  # noqa: RUF012  # a class's constants
    puzzle: SlidingBoard
    options = (
        Option(
            "goal",
            "Goal to reach: any state (default: tiles in reading order, blank in the last corner).",
            "GOAL",
        ),
        *GoalReader.options[1:],
    )
    columns = ("state", "goal", "distance", "best_moves")
    sample_options = (options[0], *GoalReader.sample_options[1:], SPLIT)
    check_options = (options[0], ANSWERS)
    max_single_keys = 2_000
    """A batch with fewer keys looks them up singly: reading a large board's index takes longer."""

    def __init__(self, puzzle: SlidingBoard, store: Store) -> None:
        super().__init__(puzzle, store)
        self.board, self.key_cells = str(puzzle), puzzle.cells
        self.key_digits = puzzle.cells if puzzle.cells <= MAX_DIGITS else 0

    def find_record(self, view: View, state: str) -> int:
        return self.puzzle.wide.rank(view.map_state(state))

    def read_distances(self, view: BoardGoalView) -> StatesByDistance:
        """Return the distances of all states of a table by rank, read once."""
        from puzzle_tablebase.queries.sampling import StatesByDistance

        name = ("distances", view.table_goal)
        return self.keep(name, lambda: StatesByDistance(self._measure_distances(view)))

    def _measure_distances(self, view: BoardGoalView) -> npt.NDArray[np.uint8]:
        return self._read_table(view)

    def make_lookup(self, view: BoardGoalView, goal: str) -> GoalLookup:
        """Make a lookup of many states at a time."""
        from puzzle_tablebase.queries.sliding_columns import BitLookup, GoalLookup

        kind = BitLookup if self.puzzle.is_packed else GoalLookup
        return kind(self.puzzle, view, goal, self._read_table(view))

    def _read_table(self, view: View) -> npt.NDArray[np.uint8]:
        """Return all records of a table as bytes, read once."""
        import numpy as np

        table = self.table_names[view.table_goal]
        records = self.keep(("records", table), lambda: self.open_index(table).read_records())
        return np.frombuffer(records, np.uint8)


class BitReader(BoardReader):
    """A reader of tables with one bit of each distance, which counts the steps to the goal.

    Each move changes the colour of the blank's cell, so this gives bit 0 of the distance, and the
    table bit 1: the distance modulo 4. A neighbour is one move nearer or farther, and this tells
    which.
    """

    def __init__(self, puzzle: SlidingBoard, store: Store) -> None:
        super().__init__(puzzle, store)
        self.max_single_keys = 300 + puzzle.size // STATES_PER_WALK
        self._walks: dict[tuple[str, str], int] = {}
        """Distances of the states that walks passed, by goal and state of its table."""

    def close(self) -> None:
        super().close()
        self._walks.clear()

    def find_record(self, view: View, state: str) -> int:
        return super().find_record(view, state) // ROW_STATES

    def read_record(self, view: View, state: str) -> tuple[int, None]:
        """Walk to the goal, or to a state that an earlier walk passed, and count the moves."""
        walks, goal, passed = self._walks, view.table_goal, [view.map_state(state)]
        if len(walks) > MAX_KNOWN_STATES:
            walks.clear()
        here, last = state, walks.get((goal, passed[-1]))
        while last is None and passed[-1] != goal:
            self.prefetch(view, here)
            value = self._read_value(view, here)
            step = next(self._iter_moves_at(view, here, value - 1), None)
            if step is None or len(passed) > MAX_DISTANCE:
                problem = f"no walk leads from {state} to the goal"
                raise self.make_damage_error(self.table_names[goal], problem)
            here = step[1]
            passed.append(view.map_state(here))
            # read once: another thread may clear them
            last = walks.get((goal, passed[-1]))
        last = last or 0
        for steps, passed_state in enumerate(reversed(passed)):
            walks[goal, passed_state] = last + steps
        return last + len(passed) - 1, None

    def _iter_moves_at(
        self, view: View, state: str, distance: int, known: str = ""
    ) -> Iterator[tuple[str, str]]:
        for letter, neighbour in self.puzzle.moves(state):
            if neighbour != known and self._read_value(view, neighbour) == distance % 4:
                yield letter, neighbour

    def _read_value(self, view: View, state: str) -> int:
        """Return a state's distance modulo 4."""
        wide, mapped = self.puzzle.wide, view.map_state(state)
        record, bit = divmod(wide.rank(mapped), ROW_STATES)
        row: bytes = self.open_index(self.table_names[view.table_goal]).read_record(record)[0]
        side = wide.count_steps(mapped.index("0"), view.table_goal.index("0")) % 2
        return side + 2 * (row[bit >> 3] >> (bit & 7) & 1)

    def _measure_distances(self, view: BoardGoalView) -> npt.NDArray[np.uint8]:
        """Search the board again: that is faster than walks, and proves the table too."""
        board, free = self.puzzle.wide, get_free_memory()
        from puzzle_tablebase.frontier.word_bfs import estimate_search_bytes
        from puzzle_tablebase.queries.sliding_columns import measure_distances

        need = estimate_search_bytes(board.size) + 2 * board.size
        if free is not None and free < need:
            work = f"A list of the distances of all {board.size:,} states"
            raise MemoryShort(work, need, free, "Close other programs")
        distances = measure_distances(board, view.table_goal, self._read_table(view))
        if distances is None:
            problem = "its distances are not those of a search"
            raise self.make_damage_error(self.table_names[view.table_goal], problem)
        return distances


class UnpublishedFifteen(BoardReader):
    """A reader of the 4x4 board without its tables, which would take 1.3 TB each.

    Every question raises the error that names the command to ask instead.
    """

    def find_distance(self, state: str, goal: str) -> tuple[int, int | None]:
        words = [state] if goal == self.puzzle.example else [state, "--goal", goal]
        raise self._make_error(" ".join(words))

    def open_table_index(self, table: Table, request: str = "") -> IndexReader:
        raise self._make_error(self.puzzle.example)

    def _make_error(self, key: str) -> TableMissing:
        file = self.store.locate(self.puzzle.tables[0].index_file)
        return TableMissing(file, f"{SOLVED_BY_SEARCH} {key}{format_outputs(str(self.store))}")


class SlidingReader(Reader):
    """A reader of the tables of all boards: each board has a reader of its own."""

    has_pictures = True
    sheet_options = {}  # noqa: RUF012  # a class's constants
    options = (BOARD, *BoardReader.options)
    sample_options = (BOARD, *BoardReader.sample_options)
    check_options = (BOARD, *BoardReader.check_options)
    lookup_options = BoardReader.lookup_options
    keyless = BoardReader.keyless
    key = "STATE"
    columns = BoardReader.columns

    def __init__(self, puzzle: Puzzle, store: Store) -> None:
        super().__init__(puzzle, store)
        self._boards: dict[str, BoardReader] = {}

    def make_query(self, *, board: str | None = None, **options: Any) -> Query:
        """Make a query of the tables of one board."""
        if board is None:
            raise BadRequest("Missing option --board", f"Example: --board {EXAMPLE_BOARD}")
        return self.open_board(board).make_query(**options)

    def open_board(self, text: str) -> BoardReader:
        """Return the reader of a board's tables; it is opened the first time."""
        board = parse_board(text)
        with self._lock:
            if str(board) not in self._boards:
                kind = BitReader if board.is_packed else BoardReader
                if str(board) == FIFTEEN_BOARD and str(board) not in self._find_published():
                    kind = UnpublishedFifteen
                self._boards[str(board)] = kind(board, self.store)
                if self._closed:
                    self._boards[str(board)].close()
            return self._boards[str(board)]

    def close(self) -> None:
        with self._lock:
            super().close()
            for reader in self._boards.values():
                reader.close()

    def list_explorer_readers(self) -> list[Reader]:
        """Return the readers of small boards that have tables for every goal.

        Tables of larger boards are too large for a page.
        """
        readers: list[Reader] = []
        for board, published in self._find_published().items():
            parsed_board = parse_board(board)
            names = [table.name for table in parsed_board.tables]
            if published == {*names} and not parsed_board.is_packed:
                readers.append(self.open_board(board))
                readers[-1].explored = dict.fromkeys(names, 0)
        return readers

    def list_values(self, option: str) -> tuple[str, ...]:
        if option == "goal":
            return ("corner",)
        return tuple(self._find_published()) if option == "board" else ()

    def _find_published(self) -> dict[str, set[str]]:
        """Return the names of the published tables, by board."""
        from puzzle_tablebase.formats.manifest import read_manifest

        tables_by_board: dict[str, set[str]] = {}
        for name in read_manifest(self.store):
            if board_and_goal := find_goal(name):
                tables_by_board.setdefault(str(board_and_goal[0]), set()).add(name)
        return tables_by_board
