"""Recipe of the counts of tours."""

from __future__ import annotations

from tablebase.schema import Recipe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tablebase.cost import Cost
    from tablebase.schema import PublishedParameters, Table

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

    def estimate_cost(
        self, table: Table, published: PublishedParameters | None = None
    ) -> Cost | None:
        from tablebase.puzzles.knight.cost import estimate_counts

        known = self._find_published(published or {})
        boards = [(sides, sides in self.closed) for sides in self.boards]
        rows = sum(files * ranks for files, ranks in self.boards)
        return estimate_counts([board for board in boards if board not in known], rows)

    def _find_published(self, published: PublishedParameters) -> list[tuple[Sides, bool]]:
        """Find the boards that are published, each with whether only closed tours are counted.

        A board and the same board on its side have the same counts.
        """
        closed = published.get("closed", ())
        return [
            (sides, text in closed)
            for text in published.get("boards", ())
            for files, _, ranks in [text.partition("x")]
            for sides in ((int(files), int(ranks)), (int(ranks), int(files)))
        ]

    def merge(self, other: TourCounts) -> TourCounts:
        """Return a recipe with the boards of both recipes."""
        all_tours = ({*self.boards} - self.closed) | ({*other.boards} - other.closed)
        return TourCounts(all_tours, self.closed | other.closed)
