"""Small tables of each kind that a proof tells apart, some of them treated as larger ones."""

from pathlib import Path

import pytest

from puzzle_tablebase.pipeline.proofs import knight_counts, knight_tours
from puzzle_tablebase.puzzles import fifteen as fifteen_tables
from puzzle_tablebase.puzzles.fifteen import PUZZLE as FIFTEEN
from puzzle_tablebase.puzzles.fifteen import make_partition, make_pattern_table
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import Knight
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.registry import MODULES
from tests.support.build_recorder import build_tables
from tests.support.count_boards import TABLE
from tests.support.pancakes import PUZZLE as PANCAKES
from tests.support.sliding_tables import treat_as_large

TINY = make_partition(3, 3, "1 2 5", "3 6", "4 7 8")
LIST = "knight_tours_3x4"
PAIRS = "knight_tours_8x8"
RANKINGS = "knight_closed_ranks_5x6", "knight_ranks_4x5"
PAIR_COUNTS = "knight_pair_counts_3x4", "knight_pair_counts_4x3", "knight_pair_counts_4x5"
"""Of boards that are compared with a list, walked, and swept again."""


def use_small_tables(patch: pytest.MonkeyPatch) -> None:
    """Let builds and proofs know the small tables, instead of the large ones of their kind."""
    patch.setitem(MODULES, PANCAKES.name, "tests.support.pancakes")
    patch.setitem(fifteen_tables.PARTITIONS, "5-5-5", TINY)
    patch.setattr(Knight, "tables", (*KNIGHT.tables[:-1], TABLE))
    patch.setattr(knight_counts, "WALKED_SQUARES", 16)
    patch.setattr(knight_tours, "PART_ROWS", 100)
    treat_as_large(patch, 8)


def build_small_tables(folder: Path) -> None:
    """Build them all."""
    build_tables(folder, PANCAKES)
    build_tables(folder, FIFTEEN, *map(make_pattern_table, TINY))
    for name in ("sliding_2x3", "sliding_2x4"):
        build_tables(folder, SLIDING, *SLIDING.find_tables(name))
    for name in (TABLE.name, LIST, PAIRS, *RANKINGS, *PAIR_COUNTS):
        build_tables(folder, KNIGHT, *KNIGHT.find_tables(name))
