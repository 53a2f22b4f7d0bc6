"""The readers of sliding boards: one for the puzzle, and one for each board's tables."""

from __future__ import annotations

from queries.board_query import BoardQuery
from queries.goal_reader import GoalReader
from queries.query_options import Option
from queries.reader import Reader, ignore_progress
from tablebase.errors import BadRequest
from tablebase.puzzle import View
from tablebase.puzzles.sliding.definition import (
    MAX_LISTED_CELLS,
    BoardWithTables,
    find_goal,
    parse_board,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from queries.answer_frames import Answers
    from queries.hardest import HardestAnswer
    from queries.index_reader import IndexReader
    from queries.reader import ProgressCallback, Query
    from queries.sampling import SampleRequest
    from tablebase.puzzle import Column, Puzzle
    from tablebase.puzzles.sliding.board import BoardGoalView
    from tablebase.tables.store import Store

COLUMNS = ("state", "goal", "distance", "best_moves")
MAX_DIGITS = 10
"""Cells of the largest boards whose states are numbers."""
LONG_CELLS = ("10", "11")
MAX_SINGLE_KEYS = 2_000
"""A batch with fewer keys looks them up singly: reading a large board's index takes longer."""


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
        self, request: SampleRequest, on_progress: ProgressCallback = ignore_progress
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        from queries.sliding.depth_ranks import draw_ranks

        view, index = self._open_depths()
        for ranks in draw_ranks(index, request.check(), self.distance):
            states = pl.Series("state", self._restore_states(view, ranks.tolist()))
            yield states.to_frame().hstack(self.annotate_keys(states))

    def find_hardest(self) -> HardestAnswer:
        from queries.hardest import HardestAnswer
        from queries.sliding.depth_ranks import count_distances, find_ranks

        view, index = self._open_depths()
        distance = max(count_distances(index).nonzero()[0].tolist())
        states = self._restore_states(view, find_ranks(index, distance).tolist())
        return HardestAnswer(
            goal=self.goal_state,
            depth={"distance": distance},
            named_keys={"states": sorted(states)},
        )

    def _open_depths(self) -> tuple[BoardGoalView, IndexReader]:
        """Return the view of the goal, and the index that it reads."""
        view = self.reader.puzzle.view_goal(self.goal_state)
        return view, self.reader.open_index(self.reader.table_names[view.layout])

    def _restore_states(self, view: BoardGoalView, ranks: list[int]) -> list[str]:
        wide = self.reader.puzzle.wide
        return [view.restore_state(wide.unrank(rank, view.layout)) for rank in ranks]

    def list_answer_columns(self) -> dict[str, Column]:
        columns = {column.name: column for column in self.reader.puzzle.list_row_columns()}
        del columns["goal"]
        return columns

    def answer_keys(self, keys: pl.Series) -> Answers:
        if self.path or self.solutions or len(keys) < MAX_SINGLE_KEYS:
            return super().answer_keys(keys)
        from queries.answer_frames import merge_answers
        from queries.sliding.vectorized import answer_keys

        reader, view = self.reader, self.reader.puzzle.view_goal(self.goal_state)
        table = reader.table_names[view.layout]
        distances = reader.read_distances(table)
        answers = answer_keys(reader.puzzle, self.goal_state, view, distances, keys)
        if answers is None:
            problem = f"not every state has a move nearer to {self.goal_state}"
            raise reader.make_damage_error(table, problem)
        return merge_answers(keys, answers, super().answer_keys)


class BoardReader(GoalReader):
    """A reader of one board's tables."""

    query = BoardTableQuery
    has_pictures = True
    puzzle: BoardWithTables
    options = (
        Option("board", "Board, rows x columns, up to 12 cells.", "RxC"),
        Option(
            "goal",
            "Goal to reach: any state (default: tiles in reading order, blank in the last corner).",
            "GOAL",
        ),
        *GoalReader.options[1:],
    )
    columns = COLUMNS
    sample_options = (*options[:2], *GoalReader.sample_options[1:])

    def __init__(self, puzzle: BoardWithTables, store: Store) -> None:
        super().__init__(puzzle, store)
        self.joined_characters = puzzle.cells
        self.long_cells = LONG_CELLS
        self.key_digits = puzzle.cells if puzzle.cells <= MAX_DIGITS else 0
        self._distances: dict[str, npt.NDArray[np.uint8]] = {}

    def read_record(self, view: View, state: str) -> tuple[int, None]:
        rank = self.puzzle.wide.rank(view.map_state(state))
        return self.open_index(self.table_names[view.layout]).read_record(rank)[0], None

    def list_unreached_layouts(self, state: str, goal: str) -> list[str]:
        return []

    def read_distances(self, table: str) -> npt.NDArray[np.uint8]:
        """Return all distances of a table, read once."""
        if table not in self._distances:
            import numpy as np

            index, at = self.open_index(table), 0
            distances = np.empty(index.count, dtype=np.uint8)
            for chunk in index.iter_chunks():
                distances[at : at + len(chunk)] = np.frombuffer(chunk, np.uint8)
                at += len(chunk)
            self._distances[table] = distances
        return self._distances[table]


class SlidingReader(Reader):
    """A reader of the tables of all boards: each board has a reader of its own."""

    has_pictures = True
    options = BoardReader.options
    sample_options = BoardReader.sample_options
    keyless = BoardReader.keyless
    key = "STATE"
    columns = COLUMNS

    def __init__(self, puzzle: Puzzle, store: Store) -> None:
        super().__init__(puzzle, store)
        self._boards: dict[str, BoardReader] = {}

    def make_query(self, *, board: str | None = None, **options: Any) -> Query:
        """Make a query of the tables of one board."""
        if board is None:
            raise BadRequest("Missing option --board", "Example: --board 3x4")
        return self.open_board(board).make_query(**options)

    def open_board(self, board: str) -> BoardReader:
        """Return the reader of a board's tables."""
        puzzle = parse_board(board)
        reader = self._boards.setdefault(str(puzzle), BoardReader(puzzle, self.store))
        if self._closed:
            reader.close()
        return reader

    def close(self) -> None:
        super().close()
        for reader in self._boards.values():
            reader.close()

    def list_explorer_readers(self) -> list[Reader]:
        """Return the readers of boards up to `MAX_LISTED_CELLS` that have tables for every goal.

        Tables of larger boards are too large for a page.
        """
        readers: list[Reader] = []
        for board, published in self._find_published().items():
            names = [table.name for table in parse_board(board).tables]
            if published == {*names} and parse_board(board).cells <= MAX_LISTED_CELLS:
                readers.append(self.open_board(board))
                readers[-1].explored = dict.fromkeys(names, 0)
        return readers

    def list_values(self, option: str) -> tuple[str, ...]:
        if option == "goal":
            return ("corner",)
        return tuple(self._find_published()) if option == "board" else ()

    def _find_published(self) -> dict[str, set[str]]:
        """Return the names of the published tables, by board."""
        from tablebase.tables.manifest import read_manifest

        tables_by_board: dict[str, set[str]] = {}
        for name in read_manifest(self.store):
            if board_and_goal := find_goal(name):
                tables_by_board.setdefault(str(board_and_goal[0]), set()).add(name)
        return tables_by_board
