"""Every goal of every sliding board, up to symmetry: the states at each distance.

    pipeline precompute sliding_2x6_all sliding_3x4_all
    pipeline histogram --output layers.csv
    python -m research.sliding_goals layers.csv 2x7_14.txt

The last command prints a row for each goal. With `--results DIR` it also writes these rows, and one
for each goal and distance. `pipeline histogram` counts the states of tables. Boards without a table
have a text file with what `benchmarks/reference/sliding_words.c` prints. Its name is the board and
the cell of the goal's blank: `ROWSxCOLUMNS_CELL.txt`.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import polars as pl

from research.report import make_parser, save, show

LAYER = re.compile(r"(\d+) (\d+)")
KEY = ["board", "blank"]


def read_layers(path: Path) -> pl.DataFrame:
    """Return a row for each goal and distance of a file."""
    if path.suffix == ".csv":
        tables = pl.read_csv(path, schema_overrides={"goal": pl.String})
        cell = pl.col("goal").str.find("0", literal=True) + 1
        layers = tables.filter(puzzle="sliding").with_columns(blank=cell)
    else:
        lines = map(LAYER.fullmatch, path.read_text().split("\n"))
        rows = [line.groups() for line in lines if line]
        layers = pl.DataFrame(rows, ["distance", "states"], orient="row")
        board, _, blank = path.stem.partition("_")
        layers = layers.with_columns(board=pl.lit(board), blank=pl.lit(blank))
    integers = pl.col("blank", "distance", "states").cast(pl.Int64)
    return layers.select(*KEY, "distance", "states").with_columns(integers)


def summarize(layers: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each goal; raise ValueError unless it has all states of its board.

    The mean is that of all distances, whose sum is `moves`.
    """
    by_distance = layers.sort(*KEY, "distance")
    states, distance = pl.col("states"), pl.col("distance")
    goals = by_distance.group_by(KEY, maintain_order=True).agg(
        states.sum().alias("states"),
        distance.last().alias("farthest"),
        states.last().alias("states_there"),
        (states * distance).sum().alias("moves"),
        (distance == pl.int_range(pl.len())).all().alias("is_complete"),
    )
    for board, _, total, *_, is_complete in goals.iter_rows():
        if total != math.factorial(math.prod(map(int, board.split("x")))) // 2 or not is_complete:
            raise ValueError(f"{board} has {total:,} states, or a distance without any")
    return goals.drop("is_complete").with_columns(mean=pl.col("moves") / pl.col("states"))


def main() -> None:
    """Print a row for each goal."""
    parser = make_parser(main.__doc__)
    parser.add_argument("layers", nargs="+", type=Path)
    options = parser.parse_args()
    layers = pl.concat(map(read_layers, options.layers)).sort(*KEY, "distance")
    goals = summarize(layers)
    show(goals)
    save(options.results, sliding_goals=goals, sliding_distances=layers)


if __name__ == "__main__":
    main()
