"""The readers of sliding boards: one for the puzzle, and one for each board's tables."""

from __future__ import annotations

from queries.board_facts import BoardFacts
from queries.goal_reader import GoalReader, refuse_key
from queries.query_options import SVG, Option, OptionValues
from queries.reader import Reader, ignore_progress, parse_distance
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

    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from queries.answer_frames import Answers
    from queries.hardest import HardestFacts
    from queries.index_reader import IndexReader
    from queries.reader import ProgressCallback
    from queries.sampling import SampleRequest
    from tablebase.puzzle import Column
    from tablebase.puzzles.sliding.board import BoardGoalView
    from tablebase.tables.store import Store

COLUMNS = ("state", "goal", "distance", "best_moves")
MAX_DIGITS = 10
"""Cells of the largest boards whose states are numbers."""
LONG_CELLS = ("10", "11")
MAX_SINGLE_KEYS = 2_000
"""A batch with fewer keys looks them up singly: reading a large board's index takes longer."""


class BoardReader(GoalReader):
    """A reader of one board's tables."""

    puzzle: BoardWithTables
    options = (
        Option("board", "Board, rows x columns, up to 12 cells.", "RxC"),
        Option(
            "goal",
            "Goal to reach: any state (default: tiles in reading order, blank in the last corner).",
            "GOAL",
        ),
        *GoalReader.options[1:],
        SVG,
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
        return self.open_index(self._tables[view.layout]).read_record(rank)[0], None

    def list_unreached_layouts(self, state: str, goal: str) -> list[str]:
        return []

    def draw_samples(
        self,
        options: OptionValues,
        request: SampleRequest,
        on_progress: ProgressCallback = ignore_progress,
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        from queries.sliding.depth_ranks import draw_ranks

        options = self.normalize_options(options)
        view, index = self._open_depths(options)
        for ranks in draw_ranks(index, request.check(), parse_distance(options)):
            states = pl.Series("state", self._restore_states(view, ranks.tolist()))
            yield states.to_frame().hstack(self.annotate_keys(states, options))

    def find_hardest(self, options: OptionValues) -> HardestFacts:
        from queries.hardest import HardestFacts, refuse_others
        from queries.sliding.depth_ranks import count_distances, find_ranks

        refuse_others(options, self.options)
        view, index = self._open_depths(options)
        distance = max(count_distances(index).nonzero()[0].tolist())
        states = self._restore_states(view, find_ranks(index, distance).tolist())
        goal = str(options.get("goal", self.puzzle.example))
        return HardestFacts("state", sorted(states), "distance", distance, goal)

    def _open_depths(self, options: OptionValues) -> tuple[BoardGoalView, IndexReader]:
        """Return the view of the goal that the options name, and the index that it reads."""
        view = self.puzzle.view_goal(str(options.get("goal", self.puzzle.example)))
        return view, self.open_index(self._tables[view.layout])

    def _restore_states(self, view: BoardGoalView, ranks: list[int]) -> list[str]:
        wide = self.puzzle.wide
        return [view.restore_state(wide.unrank(rank, view.layout)) for rank in ranks]

    def probe(self, key: str, options: OptionValues) -> BoardFacts:
        refuse_key(options)
        return BoardFacts(self, key, options, self.puzzle.width)

    def list_answer_columns(self, options: OptionValues) -> dict[str, Column]:
        columns = {column.name: column for column in self.puzzle.list_row_columns()}
        del columns["goal"]
        return columns

    def answer_keys(self, keys: pl.Series, options: OptionValues) -> Answers:
        if options.get("path") or options.get("solutions"):
            return super().answer_keys(keys, options)
        from queries.answer_frames import look_up_keys, merge_answers

        goal = str(options.get("goal", self.puzzle.example))

        def answer_singly(missing: pl.Series) -> Answers:
            def answer(key: str) -> dict[str, object]:
                return dict(zip(COLUMNS, self.answer_briefly(key, goal), strict=True))

            return look_up_keys(missing, answer, self.make_schema(options), self.on_progress)

        if len(keys) < MAX_SINGLE_KEYS:
            return answer_singly(keys)
        from queries.sliding.vectorized import answer_keys

        view = self.puzzle.view_goal(goal)
        table = self._tables[view.layout]
        answers = answer_keys(self.puzzle, goal, view, self._read_distances(table), keys)
        if answers is None:
            raise self.make_damage_error(table, f"not every state has a move nearer to {goal}")
        return merge_answers(keys, answers, answer_singly)

    def _read_distances(self, table: str) -> npt.NDArray[np.uint8]:
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

    def answer_briefly(self, key: str, goal: str | None) -> tuple[str, str, int, str]:
        """Return state, goal, distance and best moves: the columns of a batch."""
        state, goal_state = self.parse_ends(key, goal)
        distance, _ = self.find_distance(state, goal_state)
        best_moves = "".join(letter for letter, _ in self.list_best_moves(state, goal_state))
        return state, goal_state, distance, best_moves


class SlidingReader(Reader):
    options = BoardReader.options
    sample_options = BoardReader.sample_options
    keyless = BoardReader.keyless
    key = "STATE"
    columns = COLUMNS

    def select_reader(self, options: OptionValues) -> BoardReader:
        if "board" not in options:
            raise BadRequest("Missing option --board", "Example: --board 3x4")
        return BoardReader(parse_board(str(options["board"])), self.store)

    def list_explorer_readers(self) -> list[Reader]:
        """Return the readers of boards up to `MAX_LISTED_CELLS` that have tables for every goal.

        Tables of larger boards are too large for a page.
        """
        readers: list[Reader] = []
        for board, published in self._find_published().items():
            names = [table.name for table in parse_board(board).tables]
            if published == {*names} and parse_board(board).cells <= MAX_LISTED_CELLS:
                readers.append(self.select_reader({"board": board}))
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
