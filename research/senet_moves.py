"""Statistics of Senet's lines and moves, from its table; see docs/results.md.

`python -m research.senet_moves` prints totals, then two tables: the positions and their shortest
lines for each number of plies, and the moves that each throw allows. With `--results DIR` it also
writes these, and the positions that can arise in which the mover has no move at all.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from puzzle_tablebase.notation.senet import SIDES
from puzzle_tablebase.puzzles.senet import PUZZLE, SIZE, THROWS
from research.report import make_parser, save, show


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


def list_moves(table: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, int]:
    """Return the moves of each throw, the positions without a move, and the most moves of any.

    A position counts for each side that may be to move in it. All are over the positions that
    a line of play leads to.
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
    return pl.DataFrame(rows, columns, orient="row"), without_moves, int(degree[can_arise].max())


def main() -> None:
    """Print the statistics of Senet's lines and moves."""
    options = make_parser(main.__doc__).parse_args()
    table = pl.read_parquet(options.outputs / "senet.parquet")
    lines = summarize_lines(table)
    moves, blocked, most_moves = list_moves(table)
    mean = moves.select(pl.col("moves").sum() / pl.col("positions").sum()).item()
    print(f"{lines['positions'].sum():,} of {SIZE:,} arrangements can arise")
    print(f"{moves['positions'][0]:,} pairs of position and mover can arise")
    print(f"{blocked.height:,} of these without a move")
    for side in SIDES:
        print(f"{(blocked['mover'] == side).sum():,} of these with {side} to move")
    print(f"{mean:.4f} moves for a throw, mean")
    print(f"{most_moves} moves for all five throws together, at most\n")
    show(lines)
    show(moves.with_columns(mean=pl.col("moves") / pl.col("positions")))
    save(options.results, senet_lines=lines, senet_moves=moves, senet_blocked=blocked)


if __name__ == "__main__":
    main()
