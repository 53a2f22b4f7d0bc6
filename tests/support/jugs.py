"""A state space without a goal, written like a plugin: two jugs, of five litres and three.

A state is two digits, the litres in each jug; both are empty at first. A move fills a jug, empties
it, or pours it into the other until one is empty or full.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from puzzle_tablebase.errors import NotationError
from puzzle_tablebase.graph import Graph, SearchResult
from puzzle_tablebase.puzzles import StateSpace
from puzzle_tablebase.schema import UNREACHABLE, Column, Recipe, Table

if TYPE_CHECKING:
    from puzzle_tablebase.schema import Columns

LITRES = (5, 3)
MOVES = "FfEePp"
"""Fill, empty or pour: a capital for the large jug."""


def moves(large: int, small: int) -> Iterator[tuple[int, int]]:
    """Yield the state after each of the moves, in their order."""
    poured, back = min(large, LITRES[1] - small), min(small, LITRES[0] - large)
    yield from ((LITRES[0], small), (large, LITRES[1]), (0, small), (large, 0))
    yield from ((large - poured, small + poured), (large + back, small - back))


class Jugs(StateSpace):
    name = "jugs"
    title = "Two jugs"
    size = 24
    example = "43"
    depth = "steps"
    tables = (
        Table(
            "jugs",
            "What two jugs of 5 and 3 litres can hold, with the fewest moves to it",
            "rows in notation order; row number = rank",
            (
                Column(
                    "state",
                    "string",
                    "litres in the large jug and in the small one",
                    ascending=True,
                ),
                Column("steps", "int16", "fewest moves from two empty jugs", nullable=True),
                Column("ways", "int16", "number of different shortest lines"),
                Column("line", "string", "the first of them in the order FfEePp", nullable=True),
                Column("moves", "int16", "number of moves that change something"),
            ),
            Recipe("graph", roots={"empty": "00"}),
            index=(("steps", "B"), ("ways", "B"), ("last", "B")),
            rows=24,
        ),
    )

    def parse(self, text: str) -> str:
        state = text.strip()
        if len(state) != 2 or state[0] not in "012345" or state[1] not in "0123":
            raise NotationError("two jugs", text, "it needs 0-5, then 0-3", self.example)
        return state

    def rank(self, state: str) -> int:
        return 4 * int(state[0]) + int(state[1])

    def unrank(self, rank: int) -> str:
        return f"{rank // 4}{rank % 4}"

    def make_graph(self) -> Graph:
        after = np.array([list(moves(*divmod(rank, 4))) for rank in range(self.size)])
        ranks = after @ (4, 1)
        states = np.arange(self.size)
        changes = [(states[result != states], result[result != states]) for result in ranks.T]
        return Graph.from_moves(
            self.size, [(label << 4, *change) for label, change in enumerate(changes)]
        )

    def fill_columns(
        self, table: Table, graph: Graph, results: Mapping[str, SearchResult]
    ) -> Columns:
        result = results["empty"]
        is_unreachable = result.depth == UNREACHABLE
        lines = [""] * self.size
        for node in result.order[1:]:
            lines[node] = lines[result.parent[node]] + MOVES[result.label[node] >> 4]
        return {
            "state": self.list_states(),
            "steps": np.ma.MaskedArray(result.depth, is_unreachable),
            "ways": result.ways,
            "line": np.ma.MaskedArray(np.array(lines, dtype=np.bytes_), is_unreachable),
            "moves": np.diff(graph.offsets),
        }

    def make_records(self, table: Table, results: Mapping[str, SearchResult]) -> Columns:
        result = results["empty"]
        return {"steps": result.depth, "ways": result.ways, "last": result.label}


PUZZLE = Jugs()
