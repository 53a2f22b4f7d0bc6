"""The proof of ranking tables: every record is made again, some at a time."""

from pathlib import Path

import pytest

from puzzle_tablebase.pipeline.proofs import knight_tours
from puzzle_tablebase.puzzles.knight.board import parse_board
from puzzle_tablebase.puzzles.knight.tables import make_ranking_table
from tests.support.tampered import prove_one

BOARDS = ["6x5", "6x6", "5x4 open", "5x5 open", pytest.param("8x3 open", marks=pytest.mark.slow)]


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("records", [1, 3, knight_tours.PART_RECORDS])
def test_ranks_are_proved(
    ranked_boards: Path, board: str, records: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knight_tours, "PART_RECORDS", records)
    name, _, kind = board.partition(" ")
    table = make_ranking_table(parse_board(name), closed=not kind)
    (verdict,) = prove_one(ranked_boards, table.name).verdicts
    assert verdict.verdict == "proved"
