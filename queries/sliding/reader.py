"""The readers of sliding boards: one for the puzzle, and one for each board's tables."""

from __future__ import annotations

from queries.board_facts import BoardFacts
from queries.goal_reader import GoalReader, refuse_key
from queries.query_options import SVG, Option, OptionValues
from queries.reader import Reader, ignore_progress, parse_distance
from tablebase.errors import BadRequest, MemoryShort
from tablebase.puzzle import View
from tablebase.puzzles.sliding.definition import (
    MAX_LISTED_CELLS,
    ROW_STATES,
    BoardWithTables,
    find_goal,
    parse_board,
)
from tablebase.resources import get_free_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from queries.answer_frames import Answers
    from queries.hardest import HardestFacts
    from queries.reader import ProgressCallback
    from queries.sampling import SampleRequest
    from queries.sliding.bit_lookup import BitLookup
    from queries.sliding.vectorized import GoalLookup
    from tablebase.puzzle import Column
    from tablebase.puzzles.sliding.board import BoardGoalView
    from tablebase.tables.store import Store

COLUMNS = ("state", "goal", "distance", "best_moves")
MAX_DIGITS = 10
"""Cells of the largest boards whose states are numbers."""
LONG_CELLS = ("10", "11", "12", "13", "14", "15")
MAX_SINGLE_KEYS = 2_000
"""A batch with fewer keys looks them up singly: reading a large board's index takes longer."""
MAX_SINGLE_WALKS, STATES_PER_WALK = 300, 20_000_000
"""The same of a table of bits: so many keys, and one more for so many states."""
MAX_KNOWN_STATES = 1 << 16
MAX_DISTANCE = 254


class BoardReader(GoalReader):
    """A reader of one board's tables."""

    puzzle: BoardWithTables
    options = (
        Option("board", "Board, rows x columns, up to 16 cells.", "RxC"),
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
        self._records: dict[str, npt.NDArray[np.uint8]] = {}

    def find_record(self, view: View, state: str) -> int:
        return self.puzzle.wide.rank(view.map_state(state))

    def read_record(self, view: View, state: str) -> tuple[int, None]:
        index = self.open_index(self._tables[view.layout])
        return index.read_record(self.find_record(view, state))[0], None

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
        view = self._view_goal(options)
        drawn = draw_ranks(
            self.puzzle.size,
            lambda: self.iter_distances(view),
            request.check(),
            parse_distance(options),
        )
        for ranks in drawn:
            states = pl.Series("state", self._restore_states(view, ranks.tolist()))
            yield states.to_frame().hstack(self.annotate_keys(states, options))

    def find_hardest(self, options: OptionValues) -> HardestFacts:
        from queries.hardest import HardestFacts, refuse_others
        from queries.sliding.depth_ranks import count_distances, find_ranks

        refuse_others(options, self.options)
        view = self._view_goal(options)
        distance = max(count_distances(self.iter_distances(view)).nonzero()[0].tolist())
        ranks = find_ranks(self.iter_distances(view), distance)
        states = self._restore_states(view, ranks.tolist())
        goal = str(options.get("goal", self.puzzle.example))
        return HardestFacts("state", sorted(states), "distance", distance, goal)

    def _view_goal(self, options: OptionValues) -> BoardGoalView:
        """Return the view of the goal that the options name."""
        return self.puzzle.view_goal(str(options.get("goal", self.puzzle.example)))

    def iter_distances(self, view: BoardGoalView) -> Iterator[npt.NDArray[np.uint8]]:
        """Yield the distances of all states of a table in the order of ranks, a chunk at a time."""
        import numpy as np

        for records in self.open_index(self._tables[view.layout]).iter_chunks():
            yield np.frombuffer(records, np.uint8)

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

        if len(keys) < self.count_single_keys():
            return answer_singly(keys)
        from queries.sliding.vectorized import answer_keys

        view = self.puzzle.view_goal(goal)
        answers = answer_keys(self.puzzle, goal, self.make_lookup(view, goal), keys)
        if answers is None:
            table = self._tables[view.layout]
            raise self.make_damage_error(table, f"not every state has a move nearer to {goal}")
        return merge_answers(keys, answers, answer_singly)

    def count_single_keys(self) -> int:
        """Return how many keys are looked up singly: with more, it is faster to read the table."""
        return MAX_SINGLE_KEYS

    def make_lookup(self, view: BoardGoalView, goal: str) -> GoalLookup | BitLookup:
        """Make a lookup of many states at a time."""
        from queries.sliding.vectorized import GoalLookup

        return GoalLookup(self.puzzle, view, goal, self._read_table(view))

    def _read_table(self, view: View) -> npt.NDArray[np.uint8]:
        """Return all records of a table as bytes, read once."""
        table = self._tables[view.layout]
        if table not in self._records:
            import numpy as np

            index, at = self.open_index(table), 0
            records = np.empty(index.count * index.width, dtype=np.uint8)
            for chunk in index.iter_chunks():
                records[at : at + len(chunk)] = np.frombuffer(chunk, np.uint8)
                at += len(chunk)
            self._records[table] = records
        return self._records[table]

    def answer_briefly(self, key: str, goal: str | None) -> tuple[str, str, int, str]:
        """Return state, goal, distance and best moves: the columns of a batch."""
        state, goal_state = self.parse_ends(key, goal)
        distance, _ = self.find_distance(state, goal_state)
        best_moves = "".join(letter for letter, _ in self.list_best_moves(state, goal_state))
        return state, goal_state, distance, best_moves


class BitReader(BoardReader):
    """A reader of tables with one bit of each distance, which counts the steps to the goal.

    Each move changes the colour of the blank's cell, so this gives bit 0 of the distance, and the
    table bit 1: the distance modulo 4. A neighbour is one move nearer or farther, and this tells
    which.
    """

    def __init__(self, puzzle: BoardWithTables, store: Store) -> None:
        super().__init__(puzzle, store)
        self._walks: dict[tuple[str, str], int] = {}
        """Distances of the states that walks passed, by layout and state of its table."""
        self._distances: dict[str, npt.NDArray[np.uint8]] = {}
        """Distances of all states, by layout, as soon as a question needs them."""

    def find_record(self, view: View, state: str) -> int:
        return super().find_record(view, state) // ROW_STATES

    def count_single_keys(self) -> int:
        return MAX_SINGLE_WALKS + self.puzzle.size // STATES_PER_WALK

    def read_record(self, view: View, state: str) -> tuple[int, None]:
        """Walk to the goal, or to a state that an earlier walk passed, and count the moves."""
        walks, layout, passed = self._walks, view.layout, [view.map_state(state)]
        if len(walks) > MAX_KNOWN_STATES:
            walks.clear()
        here = state
        while (layout, passed[-1]) not in walks and passed[-1] != layout:
            self.prefetch(view, here)
            value = self._read_value(view, here)
            step = next(self._iter_moves_at(view, here, value - 1), None)
            if step is None or len(passed) > MAX_DISTANCE:
                problem = f"no walk leads from {state} to the goal"
                raise self.make_damage_error(self._tables[layout], problem)
            here = step[1]
            passed.append(view.map_state(here))
        last = walks.get((layout, passed[-1]), 0)
        for steps, passed_state in enumerate(reversed(passed)):
            walks[layout, passed_state] = last + steps
        return last + len(passed) - 1, None

    def _iter_moves_at(self, view: View, state: str, distance: int) -> Iterator[tuple[str, str]]:
        for letter, neighbour in self.puzzle.moves(state):
            if self._read_value(view, neighbour) == distance % 4:
                yield letter, neighbour

    def _read_value(self, view: View, state: str) -> int:
        """Return a state's distance modulo 4."""
        wide, mapped = self.puzzle.wide, view.map_state(state)
        record, bit = divmod(wide.rank(mapped), ROW_STATES)
        row: bytes = self.open_index(self._tables[view.layout]).read_record(record)[0]
        side = wide.count_steps(mapped.index("0"), view.layout.index("0")) % 2
        return side + 2 * (row[bit >> 3] >> (bit & 7) & 1)

    def iter_distances(self, view: BoardGoalView) -> Iterator[npt.NDArray[np.uint8]]:
        """Yield the distances of all states, which are measured together, in one chunk."""
        if view.layout not in self._distances:
            free = get_free_memory()
            if free is not None and free < self.puzzle.size:
                work = f"A list of the distances of all {self.puzzle.size:,} states"
                raise MemoryShort(work, self.puzzle.size, free, "Close other programs")
            from queries.sliding.bit_lookup import BitLookup

            layout_view = self.puzzle.wide.view_goal(view.layout)
            lookup = BitLookup(self.puzzle.wide, layout_view, view.layout, self._read_table(view))
            distances = lookup.measure_distances()
            if distances is None:
                problem = "not every walk leads to the goal"
                raise self.make_damage_error(self._tables[view.layout], problem)
            self._distances[view.layout] = distances
        yield self._distances[view.layout]

    def make_lookup(self, view: BoardGoalView, goal: str) -> BitLookup:
        from queries.sliding.bit_lookup import BitLookup

        return BitLookup(self.puzzle, view, goal, self._read_table(view))


class SlidingReader(Reader):
    options = BoardReader.options
    sample_options = BoardReader.sample_options
    keyless = BoardReader.keyless
    key = "STATE"
    columns = COLUMNS

    def select_reader(self, options: OptionValues) -> BoardReader:
        if "board" not in options:
            raise BadRequest("Missing option --board", "Example: --board 3x4")
        board = parse_board(str(options["board"]))
        return (BitReader if board.is_packed else BoardReader)(board, self.store)

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
