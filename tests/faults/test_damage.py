"""Every reader of every file, in the face of every change: the right answer, or an error.

Random changes of bytes never change an answer, and `verify` names the file. Files that are
shortened, replaced, gone or withheld have one class of error for all readers; the next build
replaces them.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from puzzle_tablebase import registry
from puzzle_tablebase.errors import TableDamaged, TableError, TableMissing, TableUnreadable
from puzzle_tablebase.formats.index import BLOCK_BYTES, BODY_BYTES
from puzzle_tablebase.pipeline.proofs.claims import VerifyFailed
from puzzle_tablebase.pipeline.terminal import format_repair
from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.queries.files import IndexReader
from puzzle_tablebase.queries.prober import answer_as_text, open_prober
from puzzle_tablebase.queries.scans import scan_table
from puzzle_tablebase.queries.status import list_status
from puzzle_tablebase.stores import MANIFEST, Folder
from tests import usual_or_nightly
from tests.support.build_recorder import TOURS, build_tables, contents
from tests.support.default_tables import INDEXES
from tests.support.made_once import make_once
from tests.support.pancakes import PUZZLE as PANCAKES
from tests.support.querying import query_one
from tests.support.shell import without_privileges
from tests.support.tampered import replace_link

Given = dict[str, str | bool]
"""Options by name, as on a command line."""
QUERIES: list[tuple[str, str | None, Given]] = [
    ("eight", "378546201", {}),
    ("eight", "152703846", {"goal": "edge"}),
    ("eight", "738046521", {"goal": "283104765"}),
    ("senet", ".....BBBBBAAAAA", {}),
    ("knight", "b1", {"closed": True}),
    ("knight", "h8", {"to": "a2"}),
    ("knight", "a1", {"board": "5x5", "number": "300"}),
    ("knight", "c3", {"board": "5x5", "count": True}),
]
ROW_QUERIES: dict[str, tuple[str, str | None, Given]] = {
    "eight.parquet": ("eight", None, {"hardest": True}),
    "senet.parquet": ("senet", None, {"hardest": True}),
    "knight_tours_6x6.parquet": ("knight", "a1", {"board": "6x6", "number": "300"}),
}
"""Queries of large files, which run on these alone."""
FILES = {
    "eight.idx": 15,
    "eight.parquet": 1,
    "eight_edge.idx": 15,
    "senet.idx": 6,
    "senet.parquet": 1,
    "knight_tours_8x8.idx": 25,
    "knight_tours_5x5.parquet": 15,
    "knight_counts.parquet": 15,
    "knight_tours_6x6.parquet": 1,
    MANIFEST: 40,
}
"""How often each file is changed in each way."""


def flip(data: bytearray, draw: random.Random) -> None:
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def truncate(data: bytearray, draw: random.Random) -> None:
    del data[draw.randrange(len(data)) :]


def grow(data: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(data) + 1)
    data[at:at] = draw.randbytes(draw.randrange(1, 100))


def zero(data: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(data))
    end = min(len(data), at + draw.choice([1, 8, 4096]))
    data[at:end] = bytes(end - at)


@pytest.fixture(scope="module")
def damaged_folder(outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damaged")
    for name in [*FILES, "eight_edge.parquet", "knight_tours_8x8.parquet"]:
        shutil.copy(outputs / name, folder)
    return folder


def answer(folder: Path, name: str, key: str | None, options: Given) -> object:
    """Answer a query; None if a table is refused."""
    try:
        return query_one(open_prober(name, Folder(folder)), key, **options).to_dict()
    except TableError:
        return None


def require_refused_blocks(path: Path, original: bytes) -> None:
    """Require that a damaged index is refused, or each of its damaged blocks."""
    data, size = path.read_bytes(), BLOCK_BYTES
    offsets = range(0, len(original), size)
    changed = [at // size for at in offsets if data[at : at + size] != original[at : at + size]]
    try:
        index = IndexReader(Folder(path.parent), INDEXES[path.name])
    except TableError:
        return
    assert changed
    assert 0 not in changed
    for number in changed:
        with pytest.raises(TableError, match=f"block {number:,}"):
            index.read_record((number - 1) * (BODY_BYTES // index.width))


@pytest.mark.parametrize("damage", [flip, truncate, grow, zero], ids=lambda one: one.__name__)
@pytest.mark.parametrize("name", FILES)
def test_no_change_of_bytes_changes_an_answer(
    damaged_folder: Path,
    outputs: Path,
    name: str,
    damage: Callable[[bytearray, random.Random], None],
) -> None:
    path, draw = damaged_folder / name, random.Random(f"{name} {damage.__name__}")
    original = path.read_bytes()
    queries = [query for query in QUERIES if name.startswith((query[0], MANIFEST))]
    queries += [ROW_QUERIES[name]] if name in ROW_QUERIES else []
    right = [answer(outputs, *query) for query in queries]
    assert None not in right
    try:
        for time in range(usual_or_nightly(1, 10) * FILES[name]):
            data = bytearray(original)
            while data == original:
                damage(data, draw)
            path.write_bytes(data)
            answers = [answer(damaged_folder, *query) for query in queries]
            assert all(
                one in (None, expected) for one, expected in zip(answers, right, strict=True)
            )
            if path.suffix == ".idx":
                require_refused_blocks(path, original)
            if time == 0:
                with pytest.raises(TableError, match=re.escape(name)):
                    verify(Folder(damaged_folder), quick=True).require_no_trouble()
    finally:
        path.write_bytes(original)


SIDEWAYS = make_tour_table(KnightBoard(4, 3))
OTHERS = {"pancakes.parquet": TOURS.file, "pancakes.idx": "eight.idx", TOURS.file: SIDEWAYS.file}


def edit(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(path.read_bytes()))


def put_other(path: Path) -> None:
    """Put another table's file of the same type instead of a file."""
    shutil.copy(path.parent / OTHERS[path.name], path)


def put(make: Callable[[Path], object]) -> Callable[[Path], object]:
    def change(path: Path) -> None:
        path.unlink()
        make(path)

    return change


DAMAGED = (TableDamaged, "damaged", "damaged")
KINDS: dict[str, tuple[Callable[[Path], object], tuple[type[TableError], str, str]]] = {
    "flipped": (edit(lambda data: data[:-40] + bytes([data[-40] ^ 1]) + data[-39:]), DAMAGED),
    "truncated": (edit(lambda data: data[:-1]), DAMAGED),
    "grown": (edit(lambda data: data + b"\0"), DAMAGED),
    "empty": (edit(lambda _: b""), DAMAGED),
    "another table's": (put_other, DAMAGED),
    "gone": (Path.unlink, (TableMissing, "damaged", "missing")),
    "a pipe": (put(os.mkfifo), (TableUnreadable, "unreadable", "cannot be read")),
    "a folder": (put(Path.mkdir), (TableUnreadable, "unreadable", "")),
}
"""For each change the error of a reader, the state of the table, and why it is built again."""


@pytest.fixture
def whole(
    outputs: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.setitem(registry.MODULES, PANCAKES.name, "tests.support.pancakes")

    def make(folder: Path) -> None:
        build_tables(folder, PANCAKES)
        build_tables(folder, KNIGHT, TOURS, SIDEWAYS)
        shutil.copy(outputs / "eight.idx", folder)

    return make_once(tmp_path_factory, "whole_files", make)


def look_up(folder: Path, file: str) -> object:
    if file == TOURS.file:
        return answer_as_text("knight", "a1", {"board": "3x4", "outputs": str(folder)})
    return answer_as_text("pancakes", "45321", {"outputs": str(folder)})


def scan(folder: Path, file: str) -> object:
    table = TOURS if file == TOURS.file else PANCAKES.tables[0]
    return scan_table(Folder(folder), table).collect().height


def compare_files(folder: Path, file: str) -> object:
    verified = verify(Folder(folder), quick=True)
    verified.require_no_trouble()
    return verified.claims


READERS: dict[str, tuple[Callable[[Path, str], object], ...]] = {
    "pancakes.parquet": (scan, compare_files),
    "pancakes.idx": (look_up, compare_files),
    TOURS.file: (look_up, scan, compare_files),
}


@pytest.mark.parametrize("change", KINDS)
@pytest.mark.parametrize("file", READERS)
def test_a_changed_file_is_named_by_all_that_reads_it(
    whole: Path, tmp_path: Path, file: str, change: str
) -> None:
    folder, name = tmp_path / "tables", file.partition(".")[0]
    shutil.copytree(whole, folder)
    for read in READERS[file]:
        assert read(folder, file)
    make, (error_class, state, reason) = KINDS[change]
    make(folder / file)
    for read in READERS[file]:
        with pytest.raises(TableError) as caught:
            read(folder, file)
        is_refuted = error_class is TableDamaged and read is compare_files
        assert isinstance(caught.value, VerifyFailed if is_refuted else error_class)
        force = " --force" * is_refuted
        command = f"pipeline precompute {name}{force} --outputs {folder}"
        assert (caught.value.file, format_repair(caught.value)) == (str(folder / file), command)
        assert caught.value.exit_code == 3
    (row,) = (row for row in list_status(Folder(folder)) if row["table"] == name)
    assert row["state"] == state
    if reason:
        own = (KNIGHT, TOURS) if file == TOURS.file else (PANCAKES,)
        report = build_tables(folder, *own)
        assert report.reasons == {name: f"{file} {reason}"}
        assert contents(folder) == contents(whole)


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("eight.idx", "query eight 123456780"),
        ("senet.parquet", "verify --quick"),
        ("knight_counts.parquet", "query knight a1 --board 5x5 --count"),
        (MANIFEST, "precompute eight"),
        (".", "query eight 123456780"),
    ],
)
def test_a_file_without_permission_is_neither_missing_nor_damaged(
    copy: Path, file: str, words: str
) -> None:
    path = copy / file
    (replace_link(path) if path.is_symlink() else path).chmod(0)
    completed = without_privileges(*words.split(), "--outputs", str(copy))
    copy.chmod(0o755)
    named = path if file != "." else copy / MANIFEST
    assert completed.code == 3
    assert f"{named} cannot be read" in completed.err
    assert ("verify" in words) == (completed.out != ""), "the other tables have their verdicts"
