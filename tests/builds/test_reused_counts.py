"""Tests of counts: published ones are reused when boards are added, others counted again."""

from pathlib import Path

import pytest

from pipeline import build as builds
from pipeline.builders.sweep_driver import count_tours
from tablebase.puzzles.knight.definition import PUZZLE
from tablebase.puzzles.knight.tables import make_count_table
from tests.support.build_recorder import build_tables, contents

BOARDS = [(2, 2), (3, 4)]


@pytest.fixture
def counted_boards(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the boards that are counted, and whether only their closed tours are."""
    boards = list[str]()

    def count_and_note(board, work, *, paths):  # type: ignore[no-untyped-def]  # as the function that it replaces
        boards.append(f"{board}{'' if paths else ' closed'}")
        return count_tours(board, work, paths=paths)

    monkeypatch.setattr("pipeline.builders.count_table.count_tours", count_and_note)
    return boards


def test_published_counts_are_reused_when_boards_are_added(
    tmp_path: Path, counted_boards: list[str]
) -> None:
    single, grown, added = tmp_path / "at once", tmp_path / "grown", [(4, 3), (3, 7), (7, 3)]
    build_tables(single, PUZZLE, make_count_table(BOARDS + added))
    assert counted_boards == ["2x2", "3x4", "3x7"]
    build_tables(grown, PUZZLE, make_count_table(BOARDS))
    counted_boards.clear()
    build_tables(grown, PUZZLE, make_count_table(BOARDS + added))
    assert counted_boards == ["3x7"], "the others are known, turned too"
    assert contents(grown) == contents(single)


def test_counts_of_a_turned_board_are_computed_once(
    tmp_path: Path, counted_boards: list[str]
) -> None:
    build_tables(tmp_path / "lying", PUZZLE, make_count_table([(7, 3)]))
    build_tables(tmp_path / "lying", PUZZLE, make_count_table([(3, 7)]))
    assert counted_boards == ["3x7"]
    build_tables(tmp_path / "upright", PUZZLE, make_count_table([(3, 7)]))
    assert contents(tmp_path / "lying") == contents(tmp_path / "upright")


def test_counts_of_closed_tours_do_not_replace_counts_of_all(
    tmp_path: Path, counted_boards: list[str]
) -> None:
    lying, boards = [(10, 3)], [(10, 3), (3, 9)]
    build_tables(tmp_path, PUZZLE, make_count_table([], lying))
    build_tables(tmp_path, PUZZLE, make_count_table([(3, 9)], lying))
    assert counted_boards == ["3x10 closed", "3x9"]
    build_tables(tmp_path, PUZZLE, make_count_table(boards))
    build_tables(tmp_path, PUZZLE, make_count_table([(3, 9)], lying))
    assert counted_boards[2:] == ["3x10"]


def test_forced_damaged_or_outdated_counts_are_computed_again(
    tmp_path: Path, counted_boards: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def recount(*added: tuple[int, int], force: bool = False) -> list[str]:
        counted_boards.clear()
        build_tables(tmp_path, PUZZLE, make_count_table([*BOARDS, *added]), force=force)
        return list(counted_boards)

    all_boards = ["2x2", "3x4"]
    assert recount() == recount(force=True) == all_boards
    table = tmp_path / "knight_counts.parquet"
    original = table.read_bytes()
    table.write_bytes(original[:100] + b"?" + original[101:])
    assert recount() == all_boards
    table.unlink()
    assert recount() == all_boards
    assert recount((3, 3)) == ["3x3"]
    monkeypatch.setattr(builds, "MADE_BY", "puzzle-tablebase 0.0.1")
    assert recount() == all_boards, "another version's"
