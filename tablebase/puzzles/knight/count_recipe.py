"""Recipe of the counts of tours."""

from __future__ import annotations

from tablebase.schema import Recipe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tablebase.schema import Table

    Sides = tuple[int, int]


class TourCounts(Recipe):
    """Recipe of the number of tours from each square; `closed`: boards with closed tours only."""

    __slots__ = ("boards", "closed")
    search = "tour counts"

    def __init__(self, boards: Iterable[Sides], closed: Iterable[Sides] = ()) -> None:
        all_tours = {*boards}
        self.closed = frozenset(closed) - all_tours
        self.boards = tuple(sorted(all_tours | self.closed))

    def list_parameters(self) -> dict[str, object]:
        return {
            "search": self.search,
            "boards": [f"{files}x{ranks}" for files, ranks in self.boards],
            "closed": [f"{files}x{ranks}" for files, ranks in sorted(self.closed)],
        }

    def count_states(self, table: Table) -> float | None:
        from tablebase.puzzles.knight.memory import estimate_counted_states

        return sum(
            estimate_counted_states(sides, closed=sides in self.closed) for sides in self.boards
        )

    def estimate_memory(self, table: Table) -> int | None:
        from tablebase.puzzles.knight.memory import estimate_count_cost

        return max(
            (
                estimate_count_cost(sides, closed=sides in self.closed)
                for sides in self.boards
                if min(sides) > 2
            ),
            default=None,
        )
