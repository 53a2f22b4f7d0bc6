"""A table that a broken rule of the builder made is not proved, in the same process."""

from collections.abc import Callable
from pathlib import Path

import pytest

from puzzle_tablebase.pipeline.proofs.claims import VerifyFailed
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.puzzles.sliding import SlidingBoard
from tests.support.build_recorder import build_tables, contents
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import prove_one

RANKINGS = {
    "knight_closed_ranks_6x6": (1, 14),
    "knight_closed_ranks_5x6": (1, 12),
    "knight_ranks_4x5": (1, 10),
}
"""Rankings, each with a jump between the squares of its board."""


@pytest.mark.parametrize("name", RANKINGS)
def test_a_ranking_without_some_jumps_is_not_proved(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Take a jump and its images out of the builder's list: the build completes, and is wrong."""
    true, false = tmp_path / "true", tmp_path / "false"
    build_tables(true, KNIGHT, *KNIGHT.find_tables(name))
    assert [str(each.verdict) for each in prove_one(true, name).verdicts] == ["proved"]
    list_true = KnightBoard.list_neighbours

    def list_some(board: KnightBoard, square: int) -> list[int]:
        images = zip(*map(board.find_images, RANKINGS[name]), strict=True)
        taken = {frozenset(image) for image in images}
        return [to for to in list_true(board, square) if frozenset((square, to)) not in taken]

    monkeypatch.setattr(KnightBoard, "list_neighbours", list_some)
    build_tables(false, KNIGHT, *KNIGHT.find_tables(name))
    assert contents(false)[f"{name}.idx"] != contents(true)[f"{name}.idx"]
    with pytest.raises(VerifyFailed, match="every layer is counted again"):
        prove_one(false, name)


CHANGES: dict[str, Callable[[int], int]] = {
    "rank": lambda number: number + 1,
    "is_odd": lambda is_odd: not is_odd,
}


@pytest.mark.parametrize("rule", CHANGES)
def test_bits_from_a_broken_number_of_the_goal_are_not_proved(
    rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Number the goal as another state, or give it the other parity."""
    treat_as_large(monkeypatch, 8)
    name, broken = "sliding_2x4_8", getattr(SlidingBoard, rule)
    true, false = tmp_path / "true", tmp_path / "false"
    build_tables(true, SLIDING, *SLIDING.find_tables(name))
    assert [str(each.verdict) for each in prove_one(true, name).verdicts] == ["proved"]
    change = CHANGES[rule]
    monkeypatch.setattr(SlidingBoard, rule, lambda board, state: change(broken(board, state)))
    build_tables(false, SLIDING, *SLIDING.find_tables(name))
    assert contents(false)[f"{name}.idx"] != contents(true)[f"{name}.idx"]
    with pytest.raises(VerifyFailed, match="each bit is bit 1"):
        prove_one(false, name)
