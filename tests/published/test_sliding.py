"""Tests of the tables of sliding boards: rows, records, resumed builds, tables without rows."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from puzzle_tablebase.errors import MemoryShort
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline import tasks
from puzzle_tablebase.pipeline.recipes.boards import make
from puzzle_tablebase.pipeline.searches import checkpoints
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles.sliding import PUZZLE, parse_board
from puzzle_tablebase.queries.index_reader import IndexReader
from puzzle_tablebase.queries.status import list_status
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.folder import Folder
from tests.support import reference_numbers
from tests.support import sliding_oracle as oracle
from tests.support.build_recorder import build_tables, contents
from tests.support.sliding_tables import require_oracles, treat_as_large


def build_boards(
    folder: Path, boards: list[str], *, all_goals: bool = False, jobs: int = 2
) -> list[str]:
    """Build the tables of some boards; return the names of those that were built."""
    names = [f"sliding_{board}{'_all' * all_goals}" for board in boards]
    tables = [table for name in names for table in PUZZLE.find_tables(name)]
    return build_tables(folder, PUZZLE, *tables, jobs=jobs).finished


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the tables of some small boards."""
    place = tmp_path_factory.mktemp("sliding")
    build_boards(place, ["2x2", "2x3", "2x4", "3x3"])
    return place


@pytest.fixture
def with_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat boards of 8 cells as large: one goal, and only an index, with a bit for each state."""
    treat_as_large(monkeypatch, 8)


@pytest.mark.parametrize(
    "name", ["2x2", "2x3", "2x4", pytest.param("3x3", marks=pytest.mark.nightly)]
)
def test_every_row_and_record_is_the_oracles(folder: Path, name: str) -> None:
    tables = parse_board(name).tables
    # the search of 3x3 equals an oracle for each goal, in tests/search/test_word_bfs.py
    for table in tables[1:2] if name == "3x3" else tables:
        require_oracles(folder, table)


def test_states_at_each_distance_are_as_many_as_published(folder: Path) -> None:
    entries, compared = read_manifest(Folder(folder)), 0
    farthest = reference_numbers.read_named_numbers("sliding.txt", "farthest")
    for name, entry in entries.items():
        assert entry.counts
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
    build_boards(tmp_path, ["3x3"], jobs=3)
    build_boards(tmp_path, ["2x4", "3x2", "2x2"], jobs=1)
    assert contents(tmp_path) == contents(folder)


@pytest.mark.usefixtures("with_bits")
def test_a_table_may_have_only_an_index(tmp_path: Path) -> None:
    assert build_boards(tmp_path, ["2x4"]) == ["sliding_2x4_8"]
    assert build_boards(tmp_path, ["4x2"]) == []
    store = Folder(tmp_path)
    assert store.list_names("sliding") == ["sliding_2x4_8.idx"]
    entry = read_manifest(store)["sliding_2x4_8"]
    assert entry.parquet is None
    (row,) = [row for row in list_status(store) if row["table"] == "sliding_2x4_8"]
    assert row["state"] == "published"
    assert row["bytes"] == entry.total_bytes
    assert build_boards(tmp_path, ["2x4"], all_goals=True) == ["sliding_2x4_7"]


def test_a_killed_search_leaves_nothing_and_begins_again(folder: Path, tmp_path: Path) -> None:
    table = parse_board("3x3").tables[0]
    saved = checkpoints(Folder(tmp_path), table)

    def on_progress(doing: str, done: int, total: int | None) -> None:
        if doing == "layers" and done == 20:
            raise KeyboardInterrupt

    with ThreadPoolExecutor(2) as pool, pytest.raises(KeyboardInterrupt):
        make(table, PUZZLE, Tasks(pool, 2, on_progress, saved))
    assert not [*tmp_path.iterdir()]
    assert build_boards(tmp_path, ["3x3"]) == [table.name for table in parse_board("3x3").tables]
    files = {file: data for file, data in contents(folder).items() if "3x3" in file}
    assert files.items() <= contents(tmp_path).items()


def read_bits(folder: Path, table: Table) -> list[int]:
    """Return the bits of a table's records, the lowest bit of each byte first."""
    records = IndexReader(Folder(folder), table).read_records()
    return [byte >> bit & 1 for byte in records for bit in range(8)]


@pytest.mark.usefixtures("with_bits")
@pytest.mark.parametrize("name", ["2x4", pytest.param("3x3", marks=pytest.mark.nightly)])
def test_every_bit_is_that_of_the_oracles_distance(tmp_path: Path, name: str) -> None:
    build_boards(tmp_path, [name], all_goals=True)
    board = parse_board(name)
    for table, goal in zip(board.tables, board.goals, strict=True):
        bits = read_bits(tmp_path, table)
        known = oracle.distances(goal, board.height, board.width)
        assert len(bits) == len(known) == board.size
        assert all(bits[board.rank(state)] == known[state] >> 1 & 1 for state in known)
        entry = read_manifest(Folder(tmp_path))[table.name]
        assert (entry.rows, entry.index and entry.index.records) == (len(known) // 360,) * 2


@pytest.mark.usefixtures("with_bits")
def test_the_content_hash_is_that_of_the_records(tmp_path: Path) -> None:
    build_boards(tmp_path, ["2x4"])
    table = parse_board("2x4").tables[0]
    records = IndexReader(Folder(tmp_path), table).read_records()
    line = f"bits bits {hashlib.sha256(records).hexdigest()}\n"
    content = hashlib.sha256(line.encode()).hexdigest()
    assert read_manifest(Folder(tmp_path))[table.name].content == content


def test_a_search_that_does_not_fit_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "get_free_memory", lambda: 50_000_000)
    with pytest.raises(MemoryShort) as caught:
        build_boards(tmp_path, ["3x4"])
    assert 60_000_000 < caught.value.needed < 70_000_000
    assert str(caught.value).startswith("sliding_3x4_12 needs 0.07 GB of memory")
    assert build_boards(tmp_path, ["3x3"])
    monkeypatch.setattr(Folder, "get_free_space", lambda store: None)
    for board, needed in (("2x7", 1.19e10), ("3x5", 1.78e11), ("4x4_16", 2.85e12)):
        with pytest.raises(MemoryShort) as caught:
            build_boards(tmp_path, [board])
        assert 0.99 < caught.value.needed / needed < 1.01
        assert [*tmp_path.glob(f"*{board}*")] == []
