"""Distances of patterns, beside a slow search that follows the blank cell by cell."""

import pytest

from puzzle_tablebase.puzzles.fifteen import Pattern
from tests import first
from tests.support import fifteen_oracle as oracle
from tests.support.fifteen_boards import search_depths

PATTERNS = [
    *((2, 2, (1, 2)), (2, 3, (2, 4)), (2, 3, (1, 3, 5)), (2, 4, (1, 3, 6, 7))),
    *((3, 3, (2, 5, 8)), (3, 3, (1, 2, 4, 6, 7)), (3, 4, (1, 2, 3, 5))),
    *((4, 4, (5, 11, 15)), (4, 3, (1, 6, 9, 11))),
]


@pytest.mark.parametrize(("height", "width", "tiles"), first(len(PATTERNS) - 1, PATTERNS))
def test_ranks_and_distances_are_those_of_a_slow_search(
    height: int, width: int, tiles: tuple[int, ...]
) -> None:
    pattern = Pattern(height, width, tiles)
    known = oracle.distances(height, width, [*tiles])
    placements = [*oracle.list_placements(height * width, len(tiles))]
    assert [*map(pattern.rank, placements)] == [*range(pattern.size)]
    expected = [known.get(placement, 255) for placement in placements]
    for threads in (1, 3):
        assert search_depths(pattern, threads).tolist() == expected
