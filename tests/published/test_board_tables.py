"""Tests of the tables of sliding boards: rows, records, tables without rows."""

import hashlib
from pathlib import Path

import pytest

from puzzle_tablebase.errors import MemoryShort
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline import kinds, memory
from puzzle_tablebase.puzzles.sliding import PUZZLE, parse_board
from puzzle_tablebase.queries.files import IndexReader
from puzzle_tablebase.stores import Folder
from tests.support import reference_numbers
from tests.support import sliding_oracle as oracle
from tests.support.build_recorder import build_tables, contents
from tests.support.made_once import make_once
from tests.support.sliding_tables import require_oracles, treat_as_large


def build_boards(folder: Path, *names: str, jobs: int = 2) -> list[str]:
    """Build the tables of some boards; return the names of those that were built."""
    tables = [table for name in names for table in PUZZLE.find_tables(f"sliding_{name}")]
    return build_tables(folder, PUZZLE, *tables, jobs=jobs).finished


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the tables of some small boards."""
    boards = "2x2", "2x3", "2x4", "3x3"
    return make_once(tmp_path_factory, "sliding", lambda folder: build_boards(folder, *boards))


@pytest.mark.parametrize(
    "name", ["2x2", "2x3", "2x4", pytest.param("3x3", marks=pytest.mark.nightly)]
)
def test_every_row_and_record_is_the_oracles(folder: Path, name: str) -> None:
    tables = parse_board(name).tables
    # the search of 3x3 equals an oracle for each goal, in tests/two_bit_bfs/test_search.py
    for table in tables[1:2] if name == "3x3" else tables:
        require_oracles(folder, table)


def test_states_at_each_distance_are_as_many_as_published(folder: Path) -> None:
    entries, compared = read_manifest(Folder(folder)), 0
    farthest = reference_numbers.read_named_numbers("sliding.txt", "farthest")
    for name, entry in entries.items():
        depths = {depth: states for _, depth, states in entry.list_depths()}
        board = name.split("_")[1]
        if name == parse_board(board).tables[0].name:
            assert max(filter(None, depths)) == farthest[board]
        if name in dict(reference_numbers.lines("sliding.txt")):
            expected = reference_numbers.numbers("sliding.txt", name)
            assert [depths[depth] for depth in range(len(depths))] == expected
            compared += 1
    assert compared == 5


def test_threads_and_turned_boards_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    build_boards(tmp_path, "3x3", jobs=3)
    build_boards(tmp_path, "2x4", "3x2", "2x2", jobs=1)
    assert contents(tmp_path) == contents(folder)


@pytest.mark.parametrize("name", ["2x4", pytest.param("3x3", marks=pytest.mark.nightly)])
def test_every_bit_is_that_of_the_oracles_distance(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Treat boards of 8 cells as large: one goal by default, and only an index, with bits."""
    treat_as_large(monkeypatch, 8)
    board, turned = parse_board(name), "x".join(reversed(name.split("x")))
    names = [table.name for table in board.tables]
    assert build_boards(tmp_path, name) == names[:1]
    assert build_boards(tmp_path, turned) == []
    assert build_boards(tmp_path, f"{name}_all") == names[1:]
    store = Folder(tmp_path)
    assert store.list_names("sliding") == sorted(f"{table}.idx" for table in names)
    for table, goal in zip(board.tables, board.goals, strict=True):
        records = IndexReader(store, table).read_records()
        bits = [byte >> bit & 1 for byte in records for bit in range(8)]
        known = oracle.distances(goal, board.height, board.width)
        assert len(bits) == len(known) == board.size
        assert all(bits[board.rank(state)] == known[state] >> 1 & 1 for state in known)
        entry = read_manifest(store)[table.name]
        assert (entry.parquet, entry.rows) == (None, len(known) // 360)
        assert entry.content == hashlib.sha256(store.read(table.index_file)).hexdigest()


def test_a_search_that_does_not_fit_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (memory, kinds):
        monkeypatch.setattr(module, "get_free_memory", lambda: 360_000_000)
    assert build_boards(tmp_path, "2x3")
    # not even one task of the smallest shards fits beside the program
    monkeypatch.setattr(kinds, "get_free_memory", lambda: 300_000_000)
    for board in ("3x4", "2x7", "3x5"):
        with pytest.raises(MemoryShort) as caught:
            build_boards(tmp_path, board)
        assert 340_000_000 < caught.value.needed < 360_000_000
        assert [*tmp_path.glob(f"*{board}*")] == []
