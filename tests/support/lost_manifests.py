"""Small tables whose manifest is lost: a folder of them, and the ways to lose it."""

import shutil
from pathlib import Path

import pytest

from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import (
    make_board_counts,
    make_ranking_table,
    make_tour_table,
)
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.puzzles.sliding import parse_board
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tables import BACKUP, MANIFEST
from tests.conftest import make_once
from tests.support.build_recorder import build_tables
from tests.support.tampered import flip_byte

TOURS = make_tour_table(KnightBoard(3, 4))
COUNTS = make_board_counts(KnightBoard(5, 9))
CYCLES = make_ranking_table(KnightBoard(10, 3), closed=True)
GOAL = next(iter(parse_board("2x3").goals))
ROWS = parse_board("2x3").make_table(GOAL)
ALL_TABLES: list[tuple[Puzzle, Table]] = [
    (KNIGHT, TOURS),
    (KNIGHT, COUNTS),
    (KNIGHT, CYCLES),
    (SLIDING, ROWS),
]
"""Rows alone, of two kinds, records alone, and both."""


def publish_all(folder: Path) -> None:
    for puzzle, table in ALL_TABLES:
        build_tables(folder, puzzle, table)


def copy_published(factory: pytest.TempPathFactory, place: Path) -> Path:
    """Return a copy of a folder with all these tables, which may be changed."""
    published = make_once(factory, "lost_manifests", publish_all)
    return Path(shutil.copytree(published, place / "outputs"))


def remove_manifest(folder: Path) -> None:
    (folder / MANIFEST).unlink()


def damage_manifest(folder: Path) -> None:
    flip_byte(folder / MANIFEST)


def remove_both(folder: Path) -> None:
    (folder / MANIFEST).unlink()
    (folder / BACKUP).unlink()


def damage_both(folder: Path) -> None:
    damage_manifest(folder)
    (folder / BACKUP).write_bytes(b"{}")


def read_tree(folder: Path) -> dict[str, bytes]:
    """Read every file but the lock."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}
