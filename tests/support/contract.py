"""The contract of each published table: its columns, their types, its rows."""

from pathlib import Path
from string import ascii_lowercase

import polars as pl

from tests.support import oracles

GOAL_COLUMNS: dict[str, pl.DataType] = {
    "state": pl.String(),
    "goal": pl.Enum(["corner", "centre", "edge"]),
    "distance": pl.Int16(),
    "best_moves": pl.String(),
    "solutions": pl.Int16(),
    **dict.fromkeys(oracles.eight_features("123456780", "123456780"), pl.Int16()),
    "rank": pl.Int32(),
}
SQUARES = pl.Enum([f"{file}{rank}" for rank in range(1, 10) for file in ascii_lowercase])
TOUR_COLUMNS: dict[str, pl.DataType] = {
    "board": pl.String(),
    "start": SQUARES,
    "finish": SQUARES,
    "number": pl.Int64(),
    "closed": pl.Boolean(),
    "path": pl.String(),
}

# what the contract says: columns in order with their types, rows, columns that may be null
CONTRACT: dict[str, tuple[dict[str, pl.DataType], int, set[str]]] = {
    "eight": (GOAL_COLUMNS, 362_880, set()),
    "eight_edge": (GOAL_COLUMNS, 181_440, set()),
    "senet": (
        {
            "position": pl.String(),
            "plies": pl.Int16(),
            "plies_even": pl.Int16(),
            "plies_odd": pl.Int16(),
            "dice": pl.String(),
            "moves": pl.String(),
            "lines": pl.Int64(),
        },
        756_756,
        {"plies", "plies_even", "plies_odd", "dice", "moves", "lines"},
    ),
    "knight_tours_5x5": (TOUR_COLUMNS, 1_728, set()),
    "knight_tours_6x6": (TOUR_COLUMNS, 6_637_920, set()),
    "knight_tours_8x8": (TOUR_COLUMNS, 2_048, set()),
    "knight_counts": (
        {
            "board": pl.String(),
            "files": pl.Int16(),
            "ranks": pl.Int16(),
            "start": SQUARES,
            "tours": pl.Int64(),
            "closed": pl.Int64(),
        },
        1_066,
        {"tours"},
    ),
}


def file_of(outputs: Path, name: str) -> Path:
    return outputs / f"{name}.parquet"
