"""The proof of tours counted by both ends: its verdict for each way of counting again."""

from pathlib import Path

import pytest

from puzzle_tablebase.pipeline.proofs import knight_pair_counts
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE, make_pair_counts, make_tour_table
from tests.support.build_recorder import build_tables
from tests.support.tampered import get_refutation, prove_one
from tests.support.trust_page import require_rows

NAME = "knight_pair_counts_4x3"


def test_the_page_has_the_verdict_of_each_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Take a small board for a larger one, and its number of tours for the published one."""
    upright, wide = KnightBoard(3, 4), KnightBoard(4, 3)
    tables = make_tour_table(upright), make_pair_counts(upright), make_pair_counts(wide)
    build_tables(tmp_path, PUZZLE, *tables)
    monkeypatch.setattr(knight_pair_counts, "PUBLISHED_TOURS", 16)
    verdicts = prove_one(tmp_path, tables[1].name, tables[0].name).verdicts
    for way in ("walk", "sweep", "totals", ""):
        monkeypatch.setattr(knight_pair_counts, "choose_way", lambda *_, way=way, **__: way)
        verdicts += prove_one(tmp_path, NAME).verdicts
    names = ["proved", "recounted", "intact", "published", "intact"]
    assert [found.verdict for found in verdicts] == names
    require_rows(verdicts, 5)


def test_another_total_than_the_published_one_is_a_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_tables(tmp_path, PUZZLE, make_pair_counts(KnightBoard(4, 3)))
    monkeypatch.setattr(knight_pair_counts, "choose_way", lambda *_, **__: "totals")
    failure = get_refutation(tmp_path, NAME)
    assert failure.claim["claim"] == "all tours together are as many as published (OEIS A165134)"
    assert (failure.found, failure.expected) == ("tours 16", 19_591_828_170_979_904)
