"""`docs/jumps.svg`: how often each jump occurs among the closed tours of the chessboard.

The numbers are those of `pipeline sample knight --board 8x8 --closed --size 1000000 --seed 7`,
which takes minutes.
"""

from __future__ import annotations

from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.queries.knight.jump_report import draw_jumps

SAMPLE = 1_000_000
PER_CENT = {
    "a1c2": 100.000, "b1a3": 89.229, "d1b2": 76.192, "b1d2": 73.712, "d1e3": 53.068,
    "c1e2": 52.016, "d1f2": 39.179, "b1c3": 37.059, "c1d3": 35.726, "d2e4": 34.798,
    "d1c3": 31.561, "d3e5": 28.882, "b2d3": 23.808, "c1b3": 23.030, "c3e4": 19.323,
    "c2d4": 16.997, "d2c4": 16.867, "d3f4": 15.702, "d2f3": 12.056, "c2b4": 10.551,
    "c2e3": 10.244,
}  # fmt: skip
"""The result of `puzzle_tablebase.queries.knight.jump_report.compute_shares`, in per cent."""


def draw_chessboard_jumps() -> str:
    return draw_jumps(
        KnightBoard(8, 8), SAMPLE, {jump: share / 100 for jump, share in PER_CENT.items()}
    )
