"""`docs/fifteen.svg`: a pattern of tiles among the others, and the partitions that have tables."""

from __future__ import annotations

from puzzle_tablebase.puzzles.fifteen import BOARD, PARTITIONS
from puzzle_tablebase.puzzles.sliding import CHARACTERS
from puzzle_tablebase.queries.svg import (
    AMBER,
    BLUE,
    BOLD,
    CELL_DARK,
    GREEN,
    INK,
    MUTED,
    ON_HIGH,
    Picture,
)

SIDE, TOP, GAP = 30, 84, 40
COLOURS = (BLUE, AMBER, GREEN)


def draw_partitions() -> str:
    """Draw the goal with the tiles of each pattern in one colour, for every partition."""
    picture = Picture("The patterns of the 15-puzzle")
    picture.add_text(24, 30, "Three partitions of the tiles", 15, INK, "start", BOLD)
    text = "For each colour, a table has the fewest moves of its tiles. The sum is a lower bound."
    picture.add_text(24, 50, text, 12, MUTED, "start")
    for number, (name, partition) in enumerate(PARTITIONS.items()):
        left = 24 + number * (BOARD.width * SIDE + GAP)
        picture.add_text(left, TOP - 10, name, 13, INK, "start", BOLD)
        side = BOARD.width * SIDE
        picture.add_rect(left, TOP, side, side, CELL_DARK, ' rx="4"')
        for colour, pattern in zip(COLOURS, partition.patterns, strict=False):
            for tile in pattern.tiles:
                row, column = divmod(tile - 1, BOARD.width)
                x, y = left + column * SIDE, TOP + row * SIDE
                picture.add_rect(x + 2, y + 2, SIDE - 4, SIDE - 4, colour, ' rx="3"')
                picture.add_text(x + SIDE / 2, y + 20, CHARACTERS[tile], 14, ON_HIGH)
        sizes = " + ".join(f"{pattern.size:,}" for pattern in partition.patterns)
        picture.add_text(left, TOP + side + 20 + 16 * number, sizes, 11, MUTED, "start")
    return picture.to_svg(24 + 3 * (BOARD.width * SIDE + GAP) + 40, TOP + BOARD.width * SIDE + 72)
