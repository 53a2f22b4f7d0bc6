"""The readers of sliding boards: dense boards, boards in bits, and the puzzle with all boards.

A dense board has up to ten cells, the 8-puzzle's among them: the answers of all its states for a
goal are in memory when many keys are asked.
"""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, MemoryShort, TableMissing
from puzzle_tablebase.puzzle import View, format_board, format_slide, list_moved_tiles
from puzzle_tablebase.queries.answer import format_count
from puzzle_tablebase.queries.goals import GOAL_OPTIONS, GoalAnswer, GoalReader, make_goal_option
from puzzle_tablebase.queries.options import (
    ALL,
    ANY_KEYS,
    CHECK,
    SAMPLE,
    SHEETS,
    SPLIT,
    Option,
)  # fmt: skip
from puzzle_tablebase.queries.reader import Reader, ignore_progress
from puzzle_tablebase.schema import ROW_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from puzzle_tablebase.puzzle import Puzzle
    from puzzle_tablebase.puzzles.sliding import BoardGoalView, SlidingBoard
    from puzzle_tablebase.queries.answer import Judgement
    from puzzle_tablebase.queries.answer_frames import Bytes
    from puzzle_tablebase.queries.board_columns import BitTable, DenseRows, Distances, Ranks
    from puzzle_tablebase.queries.index_reader import IndexReader
    from puzzle_tablebase.queries.options import Options
    from puzzle_tablebase.queries.reader import Moves, ProgressCallback
    from puzzle_tablebase.queries.samples import SampleRequest, StatesByDistance
    from puzzle_tablebase.schema import Table
    from puzzle_tablebase.stores.folder import Store

MAX_DIGITS = 10
"""Cells of the largest boards whose states are numbers."""
MAX_GOALS = 4
"""The goals of a dense board whose rows are in memory together: each takes some 20 MB."""
ROW_STATES = 8 * ROW_BYTES
"""States of a record of bits."""
STATES_PER_WALK = 20_000_000
"""States of a table of bits for each of which one more key is looked up singly."""
SOLVED_BY_SEARCH = "pipeline query fifteen"
"""The command that answers for the 4x4 board, which has no tables: they would take 1.3 TB each."""
MAX_KNOWN_STATES = 1 << 16
MAX_DISTANCE = 254


class BoardAnswer(GoalAnswer):
    """The answer for a state of a sliding board: a goal puzzle's, with tiles and pictures."""

    _width: int
    best_tiles: str | None = None
    tiles: str | None = None
    if TYPE_CHECKING:  # the features of a solution's start

        @property
        def blank(self) -> int: ...
        @property
        def manhattan(self) -> int: ...
        @property
        def misplaced(self) -> int: ...

    def to_svg(self) -> str:
        """Draw every state of the solution, or the state alone; tiles that move are coloured."""
        from puzzle_tablebase.queries.svg import draw_boards, draw_slides

        moves = self.distance if self.solution is None else len(self.solution)
        title = f"{self.state} to {self.goal} in {format_count(moves, 'move')}"
        if self._states and self.solution is not None and self.tiles is not None:
            return draw_slides(title, self._states, self.solution, self.tiles, width=self._width)
        head = f"best: {' '.join(self.best_moves)}" if self.best_moves else "the goal"
        tiles = "".join(
            find_moved_tile(self.state, letter, self._width) for letter in self.best_moves
        )
        return draw_boards(title, [self.state], [head], [tiles], width=self._width)

    def _list_more_rows(self) -> list[tuple[str, str]]:
        return [("tiles slid", self.tiles or "")]

    def _draw_state(self, state: str) -> str:
        return format_board(state, self._width)

    def _format_move(self, state: str, letter: str) -> str:
        return format_slide(letter, find_moved_tile(state, letter, self._width))


def find_moved_tile(state: str, letter: str, width: int) -> str:
    """Return the tile that slides when the blank goes in a move's direction.

    >>> find_moved_tile("123456780", "U", 3)
    '6'
    """
    return state[state.index("0") + {"U": -width, "D": width, "L": -1, "R": 1}[letter]]


class BoardReader(GoalReader[BoardAnswer]):
    """The tables of a board of up to ten cells; its blank is in the last corner by default."""

    has_pictures = True
    puzzle: SlidingBoard
    options: tuple[Option, ...] = (
        make_goal_option("any state (default: tiles in reading order, blank in the last corner)"),
        *GOAL_OPTIONS,
        SPLIT,
        SHEETS,
    )
    columns: tuple[str, ...] = ("state", "goal", "distance", "best_moves")
    max_single_keys = 2_000
    """A batch with fewer keys looks them up singly: reading all rows takes longer."""

    def __init__(self, puzzle: SlidingBoard, store: Store) -> None:
        super().__init__(puzzle, store)
        self.board, self.key_cells = str(puzzle), puzzle.cells
        self.key_digits = puzzle.cells if puzzle.cells <= MAX_DIGITS else 0
        self._rows_by_goal: dict[str | None, DenseRows] = {}

    def close(self) -> None:
        with self._lock:
            super().close()
            self._rows_by_goal.clear()

    def make_answer(self, facts: dict[str, Any]) -> BoardAnswer:
        states, width = facts.get("_states"), self.puzzle.width
        if states:
            facts["tiles"] = list_moved_tiles(states)
            facts["best_tiles"] = "".join(
                find_moved_tile(facts["state"], letter, width) for letter in facts["best_moves"]
            )
        return BoardAnswer(_width=width, **facts)

    def find_record(self, view: View, state: str) -> int:
        return self.puzzle.wide.rank(view.map_state(state))

    def open_table_index(self, table: Table, request: str = "") -> IndexReader:
        try:
            return super().open_table_index(table, request)
        except TableMissing as error:
            from puzzle_tablebase.puzzles.sliding import FIFTEEN_BOARD
            from puzzle_tablebase.stores.access import format_outputs

            if self.board != FIFTEEN_BOARD:
                raise

            outputs = format_outputs(str(self.store))
            command = f"{SOLVED_BY_SEARCH} {self.puzzle.example}{outputs}"
            raise TableMissing(error.file, command) from None

    def make_schema(self, options: Options) -> pl.Schema:
        import polars as pl

        schema = super().make_schema(options)
        return pl.Schema(schema | {"goal": pl.String(), "distance": pl.Int16()})

    def choose_goal(self, options: Options) -> str | None:
        """Return the goal of all keys; None if each has its own."""
        return options.goal or self.puzzle.example

    def make_ranks(self) -> Ranks:
        """Make the ranks of the board's states."""
        from puzzle_tablebase.queries.board_columns import make_board_ranks

        return make_board_ranks(self.puzzle.wide)

    def read_states(self, view: View, goal: str | None) -> pl.DataFrame:
        """Read the states of a view's table by rank, with their answers; null if not reached."""
        import polars as pl

        (table,) = (
            each for each in self.puzzle.tables if each.name == self.table_names[view.table_goal]
        )
        columns = [column for column in self.columns if column != "goal"]
        rows = self.collect(table, self.scan_table(table).select(columns))
        return rows.insert_column(1, pl.repeat(goal, len(rows), eager=True).alias("goal"))

    def load_rows(self, goal: str | None) -> DenseRows:
        """Return the answers of all states for a goal; None: for the one that each reaches."""
        from puzzle_tablebase.queries.board_columns import DenseRows

        with self._lock:
            self.require_open()
            rows = self._rows_by_goal.pop(goal, None)
            if rows is None:
                view = View("") if goal is None else self.puzzle.view_goal(goal)
                ranks = self.keep("ranks", self.make_ranks)
                states = self.read_states(view, goal and self.name_goal(goal))
                board = getattr(self.puzzle, "wide", self.puzzle)
                rows = DenseRows(self.puzzle, board, view, ranks, states)
            self._rows_by_goal[goal] = rows  # the last ones are those asked for last
            if len(self._rows_by_goal) > MAX_GOALS:
                del self._rows_by_goal[next(iter(self._rows_by_goal))]
            return rows

    def _is_single(self, keys: pl.Series, options: Options) -> bool:
        """Return whether keys are looked up one by one: few of them, or for what no row has."""
        is_uncounted = options.solutions and "solutions" not in self.columns
        return is_uncounted or len(keys) < self.max_single_keys

    def answer_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        if self._is_single(keys, options):
            return super().answer_keys(keys, options)
        from puzzle_tablebase.queries.answer_frames import explain_unreachable_states

        goal = self.choose_goal(options)
        rows = self.load_rows(goal)
        states, numbers = rows.find_rows(keys)
        answers = self._take_rows(rows, numbers, options)
        if goal is not None:
            is_unreached = (numbers != rows.size) & (rows.distances[numbers] < 0)
            reasons = explain_unreachable_states(self.puzzle, goal, states, is_unreached)
            answers = answers.with_columns(error=reasons)
        return self.complete_answers(keys, answers, options)

    def annotate_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        if self._is_single(keys, options):
            return super().annotate_keys(keys, options)
        rows = self.load_rows(self.choose_goal(options))
        return self._take_rows(rows, rows.find_rows(keys)[1], options)

    def _take_rows(
        self, rows: DenseRows, numbers: npt.NDArray[np.uint32], options: Options
    ) -> pl.DataFrame:
        import polars as pl

        answers = rows.rows[pl.Series(numbers)].cast(
            {name: kind for name, kind in self.make_schema(options).items() if name in self.columns}
        )
        if options.path:
            answers = answers.hstack(rows.find_solutions(numbers))
        if options.solutions:
            solutions = rows.list_all_solutions(numbers)
            if solutions is None:
                problem = "its best moves lead to other solutions than it counts"
                raise self.make_damage_error(self.puzzle.tables[0].name, problem, "parquet")
            answers = answers.with_columns(solutions)
        return answers

    def list_depth_rows(self, options: Options) -> pl.DataFrame:
        import polars as pl

        rows = self.load_rows(self.choose_goal(options))
        texts = rows.texts[: rows.size].copy().view(f"S{rows.texts.shape[1]}").ravel()
        states = pl.Series("state", texts).cast(pl.String)
        return rows.rows[: rows.size].insert_column(0, states).drop_nulls("distance")

    def list_hardest_rows(self, options: Options) -> pl.DataFrame:
        return super().list_hardest_rows(options).sort("state")

    def _read_boards(self, keys: pl.Series) -> tuple[Bytes, npt.NDArray[np.bool_]]:
        """Return the tiles of each key in a column, and whether it is a state."""
        from puzzle_tablebase.queries.board_columns import normalize_keys, read_tiles

        cells = self.key_cells
        return read_tiles(normalize_keys(keys, cells), cells)

    def make_measure(self, options: Options) -> Callable[[Bytes], Distances]:
        """Make a function that returns the distances of states, one in each column of tiles."""
        return self.load_rows(self.choose_goal(options)).measure

    def group_answers(
        self, keys: pl.Series, answers: pl.Series, options: Options
    ) -> tuple[Any, Callable[[int], Judgement]] | None:
        from puzzle_tablebase.queries.answer_walks import group_walks, judge_walk

        tiles, is_state = self._read_boards(keys)
        measure = self.make_measure(options)
        return group_walks(self.puzzle, tiles, is_state, answers, measure), judge_walk

    def read_moves(self, text: str, start: str) -> Moves:
        from puzzle_tablebase.queries.judging import read_board_moves

        return read_board_moves(text, start)

    def step(self, state: str, move: str, number: int) -> tuple[str, str]:
        from puzzle_tablebase.queries.judging import step_board

        return step_board(self.puzzle, state, move)

    def list_readings(self, text: str) -> list[tuple[str, str]]:
        from puzzle_tablebase.queries.judging import list_board_readings

        return list_board_readings(text)


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

    def _view_goal(self, options: Options) -> BoardGoalView:
        return self.puzzle.view_goal(options.goal or self.puzzle.example)

    def _fits_memory(self, view: View) -> bool:
        """Return whether a table's bits are in memory, or fit what is free."""
        from puzzle_tablebase.resources import get_free_memory

        table, free = self.table_names[view.table_goal], get_free_memory()
        return ("bits", table) in self._kept or free is None or self.puzzle.size / 8 < free

    def _read_bits(self, view: View) -> npt.NDArray[np.uint8]:
        """Return all bits of a table, read once."""
        import numpy as np

        table = self.table_names[view.table_goal]
        bits = self.keep(("bits", table), lambda: self.open_index(table).read_records())
        return np.frombuffer(bits, np.uint8)

    def _make_table(self, options: Options) -> BitTable:
        from puzzle_tablebase.queries.board_columns import BitTable

        view = self._view_goal(options)
        return BitTable(self.puzzle, view, self._read_bits(view))

    def answer_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        is_single = options.path or self._is_single(keys, options)
        if is_single or not self._fits_memory(self._view_goal(options)):
            return Reader.answer_keys(self, keys, options)
        import polars as pl

        from puzzle_tablebase.queries.answer_frames import explain_unreachable_states
        from puzzle_tablebase.queries.board_columns import normalize_keys

        goal, cells = options.goal or self.puzzle.example, self.key_cells
        states = normalize_keys(keys, cells)
        found = self._make_table(options).answer_states(states, cells)
        if found is None:
            raise self.make_goal_error(goal, f"not every state has a move nearer to {goal}")
        rows, is_unreached = found
        name = pl.when(pl.col("distance").is_not_null()).then(pl.lit(goal))
        answers = rows.select(name.alias("goal"), "distance", "best_moves").with_columns(
            error=explain_unreachable_states(self.puzzle, goal, states, is_unreached)
        )
        return self.complete_answers(keys, answers, options)

    def annotate_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        return Reader.annotate_keys(self, keys, options)

    def make_measure(self, options: Options) -> Callable[[Bytes], Distances]:
        table = self._make_table(options)

        def measure(tiles: Bytes) -> Distances:
            found = table.look_up(tiles)
            if found is None:
                goal = options.goal or self.puzzle.example
                raise self.make_goal_error(goal, "not every walk leads to the goal")
            return found[0]

        return measure

    def group_answers(
        self, keys: pl.Series, answers: pl.Series, options: Options
    ) -> tuple[Any, Callable[[int], Judgement]] | None:
        is_kept = self._fits_memory(self._view_goal(options))
        return super().group_answers(keys, answers, options) if is_kept else None

    def read_distances(self, view: BoardGoalView) -> StatesByDistance:
        """Return the distances of all states of a table by rank, read once."""
        from puzzle_tablebase.queries.samples import StatesByDistance

        name = ("distances", view.table_goal)
        return self.keep(name, lambda: StatesByDistance(self._search_distances(view)))

    def _search_distances(self, view: BoardGoalView) -> npt.NDArray[np.uint8]:
        """Search the board again: that is faster than walks, and proves the table too."""
        from puzzle_tablebase.frontier.word_bfs import estimate_search_bytes
        from puzzle_tablebase.queries.board_columns import measure_distances
        from puzzle_tablebase.resources import get_free_memory

        board, free = self.puzzle.wide, get_free_memory()
        need = estimate_search_bytes(board.size) + 2 * board.size
        if free is not None and free < need:
            work = f"A list of the distances of all {board.size:,} states"
            raise MemoryShort(work, need, free, "Close other programs")
        distances = measure_distances(board, view.table_goal, self._read_bits(view))
        if distances is None:
            problem = "its distances are not those of a search"
            raise self.make_damage_error(self.table_names[view.table_goal], problem)
        return distances

    def draw(
        self, request: SampleRequest, wanted: range | None, options: Options,
        on_progress: ProgressCallback = ignore_progress,
    ) -> Iterator[pl.DataFrame]:  # fmt: skip
        view = self._view_goal(options)
        if wanted is None:
            drawn = request.draw_numbers(self.puzzle.size, "state")
        else:
            drawn = self.read_distances(view).draw(request, wanted)
        for ranks in drawn:
            yield self._answer_ranks(view, ranks.tolist(), options)

    def count_depths(self, options: Options) -> dict[int, int]:
        return dict(enumerate(self.read_distances(self._view_goal(options)).counts.tolist()))

    def list_hardest_rows(self, options: Options) -> pl.DataFrame:
        view = self._view_goal(options)
        distances = self.read_distances(view)
        ranks = distances.list_ranks(range(distances.most, distances.most + 1))
        return self._answer_ranks(view, ranks.tolist(), options).sort("state")

    def _answer_ranks(
        self, view: BoardGoalView, ranks: list[int], options: Options
    ) -> pl.DataFrame:
        """Return a batch's columns of the states with these ranks in a view's table."""
        import polars as pl

        wide = self.puzzle.wide
        states = [view.restore_state(wide.unrank(rank, view.table_goal)) for rank in ranks]
        keys = pl.Series("state", states, dtype=pl.String)
        return keys.to_frame().hstack(self.answer_keys(keys, options).drop("error"))


def open_board(text: str, reader: SlidingReader, _: Options) -> BoardReader:
    """Return the reader of the board that an option names."""
    return reader.open_board(text)


class SlidingReader(Reader):
    """A reader of the tables of all boards: each board has a reader of its own."""

    has_pictures = True
    options = (
        Option(
            "board",
            "Board, rows x columns, up to 16 cells.",
            "RxC",
            open_board,
            verbs=(*ANY_KEYS, ALL, SAMPLE, CHECK),
        ),
        *BoardReader.options,
    )
    key = BoardReader.key
    columns = BoardReader.columns

    def __init__(self, puzzle: Puzzle, store: Store) -> None:
        super().__init__(puzzle, store)
        self._boards: dict[str, BoardReader] = {}

    def select(self, options: Options) -> BoardReader:
        if options.board is None:
            from puzzle_tablebase.puzzles.sliding import EXAMPLE_BOARD

            raise BadRequest("Missing option --board", f"Example: --board {EXAMPLE_BOARD}")
        board: BoardReader = options.board
        return board

    def open_board(self, text: str) -> BoardReader:
        """Return the reader of a board's tables; it is opened the first time."""
        from puzzle_tablebase.puzzles.sliding import parse_board

        board = parse_board(text)
        with self._lock:
            if str(board) not in self._boards:
                kind = BitReader if board.is_packed else BoardReader
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
        from puzzle_tablebase.puzzles.sliding import parse_board

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
        from puzzle_tablebase.puzzles.sliding import find_goal

        tables_by_board: dict[str, set[str]] = {}
        for name in read_manifest(self.store):
            if board_and_goal := find_goal(name):
                tables_by_board.setdefault(str(board_and_goal[0]), set()).add(name)
        return tables_by_board
