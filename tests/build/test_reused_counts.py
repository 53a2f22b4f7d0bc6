"""Counts that are published are not made again when boards join them; others are."""

from pathlib import Path

import pytest

from pipeline import part_files
from pipeline.builders.sweep_driver import counts
from tablebase.puzzles.knight.definition import PUZZLE, counts_table
from tests.support.build_recorder import built, contents

FEW = [(2, 2), (3, 4)]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The boards that were counted since, and whether their closed tours alone."""
    boards = list[str]()

    def noting(board, work, *, paths):  # type: ignore[no-untyped-def]  # as what it stands for
        boards.append(f"{board}{'' if paths else ' closed'}")
        return counts(board, work, paths=paths)

    monkeypatch.setattr("pipeline.builders.count_table.counts", noting)
    return boards


def test_boards_join_those_that_are_counted(tmp_path: Path, counted: list[str]) -> None:
    at_once, grown, more = tmp_path / "at once", tmp_path / "grown", [(4, 3), (3, 7), (7, 3)]
    built(at_once, PUZZLE, counts_table(FEW + more))
    assert counted == ["2x2", "3x4", "3x7"]
    built(grown, PUZZLE, counts_table(FEW))
    counted.clear()
    built(grown, PUZZLE, counts_table(FEW + more))
    assert counted == ["3x7"], "the others are known, turned too"
    assert contents(grown) == contents(at_once)


def test_a_board_that_lies_is_known_upright(tmp_path: Path, counted: list[str]) -> None:
    built(tmp_path / "lying", PUZZLE, counts_table([(7, 3)]))
    built(tmp_path / "lying", PUZZLE, counts_table([(3, 7)]))
    assert counted == ["3x7"]
    built(tmp_path / "upright", PUZZLE, counts_table([(3, 7)]))
    assert contents(tmp_path / "lying") == contents(tmp_path / "upright")


def test_closed_tours_alone_do_not_tell_of_all(tmp_path: Path, counted: list[str]) -> None:
    lying, both = [(10, 3)], [(10, 3), (3, 9)]
    built(tmp_path, PUZZLE, counts_table([], lying))
    built(tmp_path, PUZZLE, counts_table([(3, 9)], lying))
    assert counted == ["3x10 closed", "3x9"]
    built(tmp_path, PUZZLE, counts_table(both))
    built(tmp_path, PUZZLE, counts_table([(3, 9)], lying))
    assert counted[2:] == ["3x10"]


def test_all_is_counted_again_when_asked_or_not_to_be_trusted(
    tmp_path: Path, counted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def again(*more: tuple[int, int], force: bool = False) -> list[str]:
        counted.clear()
        built(tmp_path, PUZZLE, counts_table([*FEW, *more]), force=force)
        return list(counted)

    every = ["2x2", "3x4"]
    assert again() == again(force=True) == every
    table = tmp_path / "knight_counts.parquet"
    whole = table.read_bytes()
    table.write_bytes(whole[:100] + b"?" + whole[101:])
    assert again() == every
    table.unlink()
    assert again() == every
    assert again((3, 3)) == ["3x3"]
    monkeypatch.setattr(part_files, "MADE_BY", "puzzle-tablebase 0.0.1")
    assert again() == every, "another version's"
