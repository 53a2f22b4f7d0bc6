"""What the table of Senet says about lines and moves; see docs/results.md.

`python -m benchmarks.results.senet_moves` writes three files: for each number of plies the
positions and their shortest lines, for each throw the moves that it allows, and the positions that
can arise in which the mover has no move at all.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from puzzle_tablebase.puzzles.senet import PUZZLE, SIDES, SIZE, THROWS

RESULTS = Path("docs/results")


def summarize_lines(table: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each number of plies: its positions, and the one with the most lines."""
    reached = table.filter(pl.col("plies").is_not_null())
    reached = reached.sort("lines", "position", descending=[True, False])
    return (
        reached.group_by("plies", maintain_order=True)
        .agg(
            pl.len().alias("positions"),
            pl.col("lines").min().alias("fewest_lines"),
            pl.col("lines").max().alias("most_lines"),
            pl.col("position").first().alias("example"),
        )
        .sort("plies")
    )


def list_moves(table: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the moves of each throw, and the positions without a move.

    A position counts for each side that may be to move in it. Both are over all positions that a
    line of play leads to.
    """
    graph = PUZZLE.make_graph()
    degree = np.diff(graph.offsets)
    plies = np.concatenate([table["plies_even"].to_numpy(), table["plies_odd"].to_numpy()])
    can_arise = ~np.isnan(plies)
    node = np.repeat(np.arange(2 * SIZE), degree)
    throw = graph.labels >> 4
    rows = []
    for number in THROWS:
        moves = np.bincount(node[throw == number], minlength=2 * SIZE)[can_arise]
        rows.append((number, len(moves), int(moves.sum()), int((moves == 0).sum())))
    columns = ["throw", "positions", "moves", "without_a_move"]
    blocked = np.flatnonzero(can_arise & (degree == 0))
    without_moves = pl.DataFrame(
        {
            "position": table["position"].gather(blocked % SIZE),
            "mover": [SIDES[side] for side in blocked // SIZE],
            "plies": plies[blocked].astype(np.int16),
        }
    )
    return pl.DataFrame(rows, columns, orient="row"), without_moves


def main() -> None:
    """Write the files and print what they say."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--outputs", type=Path, default=Path("outputs"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    table = pl.read_parquet(options.outputs / "senet.parquet")
    moves, blocked = list_moves(table)
    results = {"lines": summarize_lines(table), "moves": moves, "blocked": blocked}
    for name, rows in results.items():
        rows.write_csv(options.results / f"senet_{name}.csv")
        print(rows)
    (mean,) = moves.select(pl.col("moves").sum() / pl.col("positions").sum()).row(0)
    print(f"{mean:.4f} moves a throw")


if __name__ == "__main__":
    main()
