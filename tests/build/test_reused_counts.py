"""Counts that are published are not made again when boards join them; others are."""

from pathlib import Path

import pytest

from pipeline import part_files
from pipeline.builders.sweep_driver import count_tours
from tablebase.puzzles.knight.definition import PUZZLE, make_count_table
from tests.support.build_recorder import build_tables, contents

FEW = [(2, 2), (3, 4)]


@pytest.fixture
def counted_boards(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The boards that were counted since, and whether their closed tours alone."""
    boards = list[str]()

    def count_and_note(board, work, *, paths):  # type: ignore[no-untyped-def]  # as what it stands for
        boards.append(f"{board}{'' if paths else ' closed'}")
        return count_tours(board, work, paths=paths)

    monkeypatch.setattr("pipeline.builders.count_table.count_tours", count_and_note)
    return boards


def test_boards_join_those_that_are_counted(tmp_path: Path, counted_boards: list[str]) -> None:
    at_once, grown, more = tmp_path / "at once", tmp_path / "grown", [(4, 3), (3, 7), (7, 3)]
    build_tables(at_once, PUZZLE, make_count_table(FEW + more))
    assert counted_boards == ["2x2", "3x4", "3x7"]
    build_tables(grown, PUZZLE, make_count_table(FEW))
    counted_boards.clear()
    build_tables(grown, PUZZLE, make_count_table(FEW + more))
    assert counted_boards == ["3x7"], "the others are known, turned too"
    assert contents(grown) == contents(at_once)


def test_a_board_that_lies_is_known_upright(tmp_path: Path, counted_boards: list[str]) -> None:
    build_tables(tmp_path / "lying", PUZZLE, make_count_table([(7, 3)]))
    build_tables(tmp_path / "lying", PUZZLE, make_count_table([(3, 7)]))
    assert counted_boards == ["3x7"]
    build_tables(tmp_path / "upright", PUZZLE, make_count_table([(3, 7)]))
    assert contents(tmp_path / "lying") == contents(tmp_path / "upright")


def test_closed_tours_alone_do_not_tell_of_all(tmp_path: Path, counted_boards: list[str]) -> None:
    lying, both = [(10, 3)], [(10, 3), (3, 9)]
    build_tables(tmp_path, PUZZLE, make_count_table([], lying))
    build_tables(tmp_path, PUZZLE, make_count_table([(3, 9)], lying))
    assert counted_boards == ["3x10 closed", "3x9"]
    build_tables(tmp_path, PUZZLE, make_count_table(both))
    build_tables(tmp_path, PUZZLE, make_count_table([(3, 9)], lying))
    assert counted_boards[2:] == ["3x10"]


def test_all_is_counted_again_when_asked_or_not_to_be_trusted(
    tmp_path: Path, counted_boards: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def recount(*more: tuple[int, int], force: bool = False) -> list[str]:
        counted_boards.clear()
        build_tables(tmp_path, PUZZLE, make_count_table([*FEW, *more]), force=force)
        return list(counted_boards)

    every = ["2x2", "3x4"]
    assert recount() == recount(force=True) == every
    table = tmp_path / "knight_counts.parquet"
    whole = table.read_bytes()
    table.write_bytes(whole[:100] + b"?" + whole[101:])
    assert recount() == every
    table.unlink()
    assert recount() == every
    assert recount((3, 3)) == ["3x3"]
    monkeypatch.setattr(part_files, "MADE_BY", "puzzle-tablebase 0.0.1")
    assert recount() == every, "another version's"
