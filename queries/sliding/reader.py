"""Sliding boards of every size: for each that is asked about, a reader of its tables."""

from __future__ import annotations

from queries.goal_reader import GoalReader
from queries.query_options import SVG, Asked, Option
from queries.reader import Reader
from queries.sliding.board_facts import BoardFacts
from tablebase.errors import BadRequest
from tablebase.puzzle import View
from tablebase.puzzles.sliding.definition import LISTED, TabledBoard, goal_of, parse_board

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from queries.answer_frames import Answers
    from tablebase.puzzle import Column
    from tablebase.tables.store import Store

COLUMNS = ("state", "goal", "distance", "best_moves")
FEW = 2_000
"""Keys that are asked one by one: a large board's whole index takes longer to read."""


class BoardReader(GoalReader):
    """Answers for one board."""

    puzzle: TabledBoard
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

    def __init__(self, asked_of: TabledBoard, store: Store) -> None:
        super().__init__(asked_of, store)
        self._distances: dict[str, npt.NDArray[np.uint8]] = {}

    def record(self, view: View, state: str) -> tuple[int, None]:
        seen = self.puzzle.wide.rank(view.state(state))
        return self.index(self._tables[view.layout]).record(seen)[0], None

    def unreached_layouts(self, state: str, goal: str) -> list[str]:
        return []

    def facts(self, key: str, asked: Asked) -> BoardFacts:
        return BoardFacts(self, key, asked, self.puzzle.width)

    def declared(self, asked: Asked) -> dict[str, Column]:
        columns = {column.name: column for column in self.puzzle.listed_columns()}
        del columns["goal"]
        return columns

    def answers(self, keys: pl.Series, asked: Asked) -> Answers:
        if asked.get("path") or asked.get("solutions"):
            return super().answers(keys, asked)
        from queries.answer_frames import looked_up, matched

        goal = str(asked.get("goal", self.puzzle.example))

        def alone(some: pl.Series) -> Answers:
            def ask(key: str) -> dict[str, object]:
                return dict(zip(COLUMNS, self.brief(key, goal), strict=True))

            return looked_up(some, ask, self.schema(asked), self.on_progress)

        if len(keys) < FEW:
            return alone(keys)
        from queries.sliding.vectorized import answers_to

        view = self.puzzle.view(goal)
        table = self._tables[view.layout]
        found = answers_to(self.puzzle, goal, view, self._records(table), keys)
        if found is None:
            raise self.damaged(table, f"not every state has a move nearer to {goal}")
        return matched(keys, found, alone)

    def _records(self, table: str) -> npt.NDArray[np.uint8]:
        """All distances of a table, read once."""
        if table not in self._distances:
            import numpy as np

            index, at = self.index(table), 0
            found = np.empty(index.count, dtype=np.uint8)
            for stretch in index.stretches():
                found[at : at + len(stretch)] = np.frombuffer(stretch, np.uint8)
                at += len(stretch)
            self._distances[table] = found
        return self._distances[table]

    def brief(self, key: str, goal: str | None) -> tuple[str, str, int, str]:
        """What a batch answers with: state, goal, distance and best moves."""
        state, to = self.ends(key, goal)
        distance, _ = self.to_goal(state, to)
        return state, to, distance, "".join(letter for letter, _ in self.best(state, to))


class SlidingReader(Reader):
    options = BoardReader.options
    key = "STATE"
    columns = COLUMNS

    def meant(self, asked: Asked) -> BoardReader:
        if "board" not in asked:
            raise BadRequest("A board is needed", "Add its rows and columns, such as --board 3x4")
        return BoardReader(parse_board(str(asked["board"])), self.store)

    def explorers(self) -> list[Reader]:
        """Those of the boards that always have every goal; a page does not carry larger ones."""
        found: list[Reader] = []
        for board, published in self._published().items():
            names = [table.name for table in parse_board(board).tables]
            if published == {*names} and parse_board(board).cells <= LISTED:
                found.append(self.meant({"board": board}))
                found[-1].explored = dict.fromkeys(names, 0)
        return found

    def values(self, option: str) -> tuple[str, ...]:
        if option == "goal":
            return ("corner",)
        return tuple(self._published()) if option == "board" else ()

    def _published(self) -> dict[str, set[str]]:
        """The boards with tables, each with their names."""
        from tablebase.tables.manifest import read_manifest

        found: dict[str, set[str]] = {}
        for name in read_manifest(self.store):
            if known := goal_of(name):
                found.setdefault(str(known[0]), set()).add(name)
        return found
