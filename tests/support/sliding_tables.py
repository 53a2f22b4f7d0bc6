"""Tables of sliding boards: small boards treated as large, and their oracle."""

from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.puzzles import sliding
from puzzle_tablebase.puzzles.sliding import SlidingBoard, find_goal
from puzzle_tablebase.queries.files import IndexReader
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import Folder
from tests.support import sliding_oracle as oracle


def treat_as_large(patch: pytest.MonkeyPatch, cells: int) -> None:
    """Treat boards of so many cells as large: one goal, and an index alone, with bits."""
    patch.setattr(sliding, "MAX_SMALL_CELLS", cells - 1)


def require_oracles(folder: Path, table: Table) -> None:
    """Require that each row and record of a table is right and is stored at its rank."""
    result = find_goal(table.name)
    assert result
    board, goal = result
    space = SlidingBoard(board.height, board.width, goal)
    known = oracle.distances(goal, board.height, board.width)
    rows = pl.read_parquet(folder / table.file)
    records = IndexReader(Folder(folder), table).read_records()
    assert len(rows) == len(records) == len(known)
    for rank, (state, to, distance, best, manhattan) in enumerate(rows.iter_rows()):
        assert space.unrank(rank) == state
        assert to == goal
        assert distance == records[rank] == known[state]
        assert best == oracle.best_moves(state, board.height, board.width, known)
        assert manhattan == oracle.manhattan(state, goal, board.width)
