"""A puzzle with goals and too many states for a graph, and the recipe of its tables."""

from __future__ import annotations

from tablebase.puzzle import GoalPuzzle
from tablebase.schema import BITS_INDEX, BreadthFirst

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tablebase.puzzle import Columns
    from tablebase.schema import Table
    from tablebase.word_space import WordSpace

    Depths = npt.NDArray[np.uint8]


class BlockSpace(GoalPuzzle):
    """A puzzle with too many states for a graph: numbered in blocks, with computed moves."""

    def __repr__(self) -> str:
        """Return a text that is equal for equal spaces: it is part of checkpoints' names."""
        return f"{self.name} {self}"

    def make_words(self, root: str) -> WordSpace:
        """Make the blocks of the states that reach a root, in words of bits, with their moves."""
        raise NotImplementedError

    def make_rows(
        self, root: str, space: WordSpace, depth: Depths, block: int, first: int, last: int
    ) -> Columns:
        """Make a table's columns for the rows `first` to below `last` of a block.

        `depth`: the distances of all states.
        """
        raise NotImplementedError


class BlockBreadthFirst(BreadthFirst):
    """Recipe of a search from one root in a space numbered in blocks.

    `rows`: whether the table has rows beside its index.
    """

    __slots__ = ("rows", "space")
    search = "breadth first in blocks"

    def __init__(self, space: BlockSpace, root: str, *, rows: bool) -> None:
        super().__init__({root: root})
        self.space = space
        self.rows = rows

    def estimate_memory(self, table: Table) -> int | None:
        from tablebase.cost import PROCESS_BYTES, WORD_BYTES_PER_STATE

        has_bytes = bool(table.columns) or table.index != BITS_INDEX
        return PROCESS_BYTES + int((WORD_BYTES_PER_STATE + has_bytes) * self.space.size)

    def list_parameters(self) -> dict[str, object]:
        return {**super().list_parameters(), "board": str(self.space), "rows": self.rows}
