"""Tests of damaged files: `verify` finds every seeded damage, and no lookup answers wrongly."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from puzzle_tablebase.errors import TableError
from puzzle_tablebase.formats.index import BLOCK_BYTES, BODY_BYTES
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.proofs import verify
from puzzle_tablebase.pipeline.single_query import OptionTexts
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.queries.dispatch import open_reader
from puzzle_tablebase.queries.index_reader import IndexReader
from puzzle_tablebase.stores import MANIFEST
from puzzle_tablebase.stores.folder import Folder
from tests import usual_or_nightly
from tests.support.asking import ask_one
from tests.support.tampered import replace_link

Damage = Callable[[bytearray, random.Random], None]
Query = tuple[str, str, OptionTexts]

QUERIES: list[Query] = [
    ("eight", "378546201", {}),
    ("eight", "152703846", {"goal": "edge"}),
    ("eight", "738046521", {"goal": "283104765"}),
    ("senet", ".....BBBBBAAAAA", {}),
    ("knight", "b1", {"closed": True}),
    ("knight", "h8", {"to": "a2"}),
    ("knight", "a1", {"board": "5x5", "number": "300"}),
    ("knight", "c3", {"board": "5x5", "count": True}),
]


def flip(data: bytearray, draw: random.Random) -> None:
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def cut(data: bytearray, draw: random.Random) -> None:
    del data[draw.randrange(len(data)) :]


def grow(data: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(data) + 1)
    data[at:at] = draw.randbytes(draw.randrange(1, 100))


def swap(data: bytearray, draw: random.Random) -> None:
    size = draw.choice([1, 2, 64, 4096])
    a, b = (draw.randrange(max(1, len(data) - size)) for _ in range(2))
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]


def zero(data: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(data))
    end = min(len(data), at + draw.choice([1, 8, 4096]))
    data[at:end] = bytes(end - at)


DAMAGES: tuple[Damage, ...] = (flip, cut, grow, swap, zero)


def answer(folder: Path, query: Query) -> dict[str, object]:
    name, key, options = query
    facts: dict[str, object] = ask_one(open_reader(name, Folder(folder)), key, **options).to_dict()
    return facts


def answer_or_error(folder: Path, query: Query) -> dict[str, object] | TableError:
    try:
        return answer(folder, query)
    except TableError as error:
        return error


@pytest.fixture(scope="module")
def damaged_folder(outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Copy the published files except the large list of tours, which would only be slow."""
    folder = tmp_path_factory.mktemp("damaged")
    for path in outputs.iterdir():
        if path.suffix in (".parquet", ".idx", ".json") and "6x6" not in path.name:
            shutil.copy(path, folder)
    yield folder
    shutil.rmtree(folder)


def count_damaged_blocks(path: Path, original: bytes, data: bytes) -> int:
    """Count the damaged blocks, and check that reading any of them raises an error."""
    tables = [table for puzzle in list_puzzles() for table in puzzle.tables]
    (table,) = [table for table in tables if table.index_file == path.name]
    changed = [
        at // BLOCK_BYTES
        for at in range(0, max(len(original), len(data)), BLOCK_BYTES)
        if data[at : at + BLOCK_BYTES] != original[at : at + BLOCK_BYTES]
    ]
    try:
        index = IndexReader(Folder(path.parent), table)
    except TableError:
        return len(changed)
    assert 0 not in changed
    for number in changed:
        with pytest.raises(TableError, match=f"the checksum of block {number:,} is wrong"):
            index.read_record((number - 1) * (BODY_BYTES // index.width))
    return len(changed)


FILES = {
    "eight.idx": 75,
    "eight_edge.idx": 75,
    "senet.idx": 30,
    "knight_tours_8x8.idx": 125,
    "knight_tours_5x5.parquet": 75,
    "knight_counts.parquet": 75,
    "manifest.json": 200,
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_no_damage_changes_an_answer(
    damaged_folder: Path, outputs: Path, name: str, damage: Damage
) -> None:
    path = damaged_folder / name
    original = path.read_bytes()
    queries = [query for query in QUERIES if name.startswith((query[0], MANIFEST))]
    right_answers = [answer(outputs, query) for query in queries]
    draw = random.Random(f"{name} {damage.__name__}")
    error_count = 0
    try:
        for _ in range(usual_or_nightly(1, 20) * FILES[name] // len(DAMAGES)):
            data = bytearray(original)
            damage(data, draw)
            path.write_bytes(data)
            for query, expected in zip(queries, right_answers, strict=True):
                result = answer_or_error(damaged_folder, query)
                if isinstance(result, TableError):
                    assert "Run: pipeline precompute" in str(result)
                    error_count += 1
                else:
                    assert result == expected, (query, "was answered wrong")
            if path.suffix == ".idx" and data != original:
                error_count += count_damaged_blocks(path, original, bytes(data))
        for query in QUERIES:  # of other puzzles
            if query not in queries:
                assert answer(damaged_folder, query) == answer(outputs, query)
    finally:
        path.write_bytes(original)
    assert error_count, "no damage was noticed at all"


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_verify_finds_every_damage(copy: Path, damage: Damage) -> None:
    """Damage every published file in turn, the largest too."""
    listed = read_manifest(Folder(copy)).values()
    files = [file.file for entry in listed for file in entry.all_files]
    for name in (*files, "manifest.json"):
        path = replace_link(copy / name) if (copy / name).is_symlink() else copy / name
        original = path.read_bytes()
        draw = random.Random(f"verify {name} {damage.__name__}")
        for _ in range(usual_or_nightly(1, 100)):
            data = bytearray(original)
            while data == original:
                damage(data, draw)
            path.write_bytes(data)
            with pytest.raises(TableError, match=re.escape(name)):
                verify(Folder(copy), quick=True)
        path.write_bytes(original)
    assert verify(Folder(copy), quick=True).claims
