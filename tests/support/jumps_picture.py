"""`docs/jumps.svg`: how often each jump occurs among the closed tours of the chessboard.

The numbers are those of `pipeline sample knight --closed --size 1000000 --seed 7`, one for each
jump that is not another's image when the board is turned or mirrored.
"""

from __future__ import annotations

from queries.drawings import BOLD, CELL, CELL_DARK, INK, MUTED, RAMP, Picture
from tablebase.puzzles.knight_board import Board

SAMPLE = 1_000_000
SHARES = {
    "a1c2": 100.000, "b1a3": 89.229, "d1b2": 76.192, "b1d2": 73.712, "d1e3": 53.068,
    "c1e2": 52.016, "d1f2": 39.179, "b1c3": 37.059, "c1d3": 35.726, "d2e4": 34.798,
    "d1c3": 31.561, "d3e5": 28.882, "b2d3": 23.808, "c1b3": 23.030, "c3e4": 19.323,
    "c2d4": 16.997, "d2c4": 16.867, "d3f4": 15.702, "d2f3": 12.056, "c2b4": 10.551,
    "c2e3": 10.244,
}  # fmt: skip
"""Of 100 closed tours, those with a jump: the mean of its images."""
SIDE, LEFT, TOP = 56, 30, 70
BOARD = Board(8, 8)


def images(jump: str) -> set[frozenset[int]]:
    """A jump wherever the board's symmetries bring it."""
    one, two = (BOARD.turned(BOARD.number(name)) for name in (jump[:2], jump[2:]))
    return {frozenset(pair) for pair in zip(one, two, strict=True)}


def jumps_svg() -> str:
    picture = Picture("How often each jump occurs among the closed tours of 8x8")
    picture.text(LEFT, 28, "The closed tours with each jump, of all", 15, INK, "start", BOLD)
    said = f"8x8, from {SAMPLE:,} uniform samples; the darker, the more"
    picture.text(LEFT, 48, said, 12, MUTED, "start")
    for square in range(BOARD.squares):
        x, y = LEFT + square % 8 * SIDE, TOP + (7 - square // 8) * SIDE
        picture.rect(x, y, SIDE, SIDE, CELL if BOARD.light(square) else CELL_DARK)
    for jump, share in reversed(SHARES.items()):
        colour = RAMP[min(int(share / 100 * len(RAMP)), len(RAMP) - 1)]
        for pair in sorted(map(sorted, images(jump))):
            ends = [
                (LEFT + (square % 8 + 0.5) * SIDE, TOP + (7.5 - square // 8) * SIDE)
                for square in pair
            ]
            picture.path(ends, colour, 1 + share / 25)
    across = LEFT + 8 * SIDE + 30
    for row, (jump, share) in enumerate(SHARES.items()):
        y = TOP + 14 + 21 * row
        picture.text(across, y, f"{jump[:2]}-{jump[2:]}", 12, INK, "start")
        error = 100 * (share / 100 * (1 - share / 100) / SAMPLE) ** 0.5
        picture.text(across + 105, y, f"{share:.2f} %", 12, INK, "end")
        picture.text(across + 120, y, f"± {error:.2f}", 12, MUTED, "start")
    return picture.svg(across + 180, TOP + 8 * SIDE + 24)
