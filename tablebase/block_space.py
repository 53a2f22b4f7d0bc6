"""A puzzle with goals and too many states for a graph, and the recipe of its tables."""

from __future__ import annotations

from tablebase.puzzle import BreadthFirst, GoalPuzzle

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tablebase.graph import Blocks
    from tablebase.puzzle import Columns

    Depths = npt.NDArray[np.uint8]


class BlockSpace(GoalPuzzle):
    """One with too many states for a graph: they are numbered in blocks, and moves are computed."""

    def __repr__(self) -> str:
        """The same for the same space: parts of its search are named by it."""
        return f"{self.name} {self}"

    @property
    def measurable_space(self) -> BlockSpace:
        """One of its kind that can be searched here: what its layers take is what these take."""
        return self

    def count_max_shards(self) -> int:
        """How many stretches its rows are, and so how many shards there can be."""
        space = self.make_blocks(self.example)
        return len(space.row_kinds) // space.rows_per_prefix

    def make_blocks(self, root: str) -> Blocks:
        """The states that reach a root, and their moves."""
        raise NotImplementedError

    def make_rows(
        self, root: str, space: Blocks, depth: Depths, block: int, first: int, last: int
    ) -> Columns:
        """A table's columns for some rows of a block, from the distances of all states."""
        raise NotImplementedError


class BlockBreadthFirst(BreadthFirst):
    """Search a space that is numbered in blocks from one root, keeping a byte a state.

    `rows`: whether a table of rows is made of it too, or an index alone.
    """

    __slots__ = ("rows", "space")
    search = "breadth first in blocks"

    def __init__(self, space: BlockSpace, root: str, *, rows: bool) -> None:
        super().__init__({root: root})
        self.space = space
        self.rows = rows

    def list_parameters(self) -> dict[str, object]:
        return {**super().list_parameters(), "board": str(self.space), "rows": self.rows}
