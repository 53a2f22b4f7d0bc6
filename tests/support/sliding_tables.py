"""A check of a sliding board's published table against the oracle: every row and record."""

from pathlib import Path

import polars as pl

from queries.index_reader import IndexReader
from tablebase.puzzle import Table
from tablebase.puzzles.sliding.definition import find_goal
from tablebase.tables.store import Folder
from tests.support import sliding_oracle as oracle


def require_oracles(folder: Path, table: Table) -> None:
    """Require that each row and record of a table is right and is stored at its rank."""
    result = find_goal(table.name)
    assert result
    board, goal = result
    known = oracle.distances(goal, board.height, board.width)
    rows = pl.read_parquet(folder / table.file)
    records = IndexReader(Folder(folder), "", table).read_records()
    assert len(rows) == len(records) == len(known)
    for rank, (state, to, distance, best, manhattan) in enumerate(rows.iter_rows()):
        assert board.unrank(rank, goal) == state
        assert to == goal
        assert distance == records[rank] == known[state]
        assert best == oracle.best_moves(state, board.height, board.width, known)
        assert manhattan == oracle.manhattan(state, goal, board.width)
