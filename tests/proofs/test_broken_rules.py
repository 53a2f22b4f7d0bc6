"""A table that a broken rule of the builder made is not proved, in the same process."""

from pathlib import Path

import pytest

from puzzle_tablebase.pipeline.proofs import VerifyFailed
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from tests.support.build_recorder import build_tables, contents
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
