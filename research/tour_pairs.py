"""The tours of a board between each two squares; see docs/results.md.

`python -m research.tour_pairs 8x8` prints the pairs of squares with the most tours and
with the fewest, from the table `knight_pair_counts_8x8`. With `--results DIR` it also writes all
pairs, each for all of its images and both directions.
"""

from __future__ import annotations

import polars as pl

from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from research.report import make_parser, save, show

SHOWN = 5


def list_classes(rows: pl.DataFrame, board: KnightBoard) -> pl.DataFrame:
    """List the classes of pairs that are each other's images, by the first pair of each.

    A class has so many ordered pairs. ValueError if two of them have different numbers of tours.
    """
    names, classes = board.name_squares(), dict[tuple[int, int], list[int]]()
    for (one, other), tours in zip(board.list_pairs(), rows["tours"], strict=True):
        images = zip(board.find_images(one), board.find_images(other), strict=True)
        first = min(min(pair, pair[::-1]) for pair in images)
        classes.setdefault(first, []).append(tours)
    if any(len({*numbers}) > 1 for numbers in classes.values()):
        raise ValueError("images of a pair have different numbers of tours")
    found = [
        (names[one], names[other], len(numbers), board.is_jump(one, other), numbers[0])
        for (one, other), numbers in classes.items()
    ]
    return pl.DataFrame(found, ["start", "finish", "pairs", "closed", "tours"], orient="row")


def main() -> None:
    """Print the pairs with the most and the fewest tours, and write all."""
    parser = make_parser(main.__doc__)
    parser.add_argument("board")
    options = parser.parse_args()
    board = parse_board(options.board)
    rows = pl.read_parquet(options.outputs / f"knight_pair_counts_{board}.parquet")
    classes = list_classes(rows, board)
    tours = (classes["tours"] * classes["pairs"]).sum()
    print(f"{len(rows):,} pairs, {len(classes)} classes, {tours:,} tours")
    by_tours = classes.sort("tours", "start", "finish", descending=[True, False, False])
    for part in (by_tours.head(SHOWN), by_tours.tail(SHOWN)):
        show(part)
    save(options.results, **{f"knight_pairs_{board}": classes})


if __name__ == "__main__":
    main()
