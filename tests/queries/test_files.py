"""The index reader: the blocks that it reads, closing, threads, and manifests without it."""

import os
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from pathlib import Path

import pytest

from puzzle_tablebase import errors
from puzzle_tablebase.errors import TableDamaged
from puzzle_tablebase.formats.index import BLOCK_BYTES, BODY_BYTES, HEADER, count_blocks
from puzzle_tablebase.queries import files
from puzzle_tablebase.queries.files import MAX_CACHED_BLOCKS, IndexReader, _Build
from puzzle_tablebase.queries.prober import answer_as_text
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import BACKUP, MANIFEST, Folder, open_store
from tests.support import tampered
from tests.support.build_recorder import build_tables
from tests.support.default_tables import INDEXES
from tests.support.hosts import Answer, Fault, Request, serve
from tests.support.pancakes import Pancakes
from tests.support.tampered import change_records, replace_link, reseal, seal_values

EIGHT, SENET, KNIGHT = (INDEXES[f"{name}.idx"] for name in ("eight", "senet", "knight_tours_8x8"))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """Count the reads of each block."""
    real_pread, counts = os.pread, Counter[int]()

    def pread(file: int, size: int, at: int) -> bytes:
        assert (size, at % BLOCK_BYTES) == (BLOCK_BYTES, 0)
        counts[at // BLOCK_BYTES] += 1
        return real_pread(file, size, at)

    monkeypatch.setattr(os, "pread", pread)
    return counts


@pytest.mark.parametrize("table", [EIGHT, SENET, KNIGHT], ids=lambda table: table.name)
def test_a_record_costs_the_header_and_one_block(
    outputs: Path, table: Table, reads: Counter[int]
) -> None:
    index = IndexReader(Folder(outputs), table)
    assert reads == {0: 1}
    per_block, chance = BODY_BYTES // index.width, random.Random(table.name)
    ends = [0, per_block - 1, per_block, index.count - 1]
    for rank in [*ends, *chance.choices(range(index.count), k=20)]:
        reads.clear()
        index.read_record(rank)
        assert set(reads) <= {1 + rank // per_block}
        index.read_record(rank)
        assert sum(reads.values()) <= 1


@pytest.mark.parametrize(
    ("name", "key", "limit"),
    # the solution's states and the neighbours of each; a line's positions; one tour
    [("eight", "378546201", 1 + 28 * 4), ("senet", "ABAAABBB.B...A.", 1 + 3), ("knight", "b1", 2)],
)
def test_an_answer_reads_few_blocks_and_none_twice(
    outputs: Path, reads: Counter[int], name: str, key: str, limit: int
) -> None:
    assert answer_as_text(name, key, {"outputs": str(outputs)})
    assert 2 <= len(reads) <= limit
    assert set(reads.values()) == {1}


def test_the_cache_of_blocks_is_bounded(outputs: Path, reads: Counter[int]) -> None:
    index = IndexReader(Folder(outputs), SENET)
    all_blocks = range(count_blocks(index.width, index.count) - 1)
    assert len(all_blocks) > 2 * MAX_CACHED_BLOCKS
    for block in all_blocks:
        index.read_record(block * (BODY_BYTES // index.width))
        assert index._build
        assert len(index._build.cache) <= MAX_CACHED_BLOCKS
    assert set(reads.values()) == {1}


def test_an_open_index_that_is_replaced_answers_as_before(copy: Path) -> None:
    path = replace_link(copy / "eight.idx")
    index = IndexReader(Folder(copy), EIGHT)
    first = index.read_record(0)
    data = bytearray(path.read_bytes())
    data[tampered.locate_record(data, 3000)] ^= 1
    path.unlink()
    path.write_bytes(reseal(data))
    tampered.vouch(copy, "eight")
    other = IndexReader(Folder(copy), EIGHT)
    assert other.read_record(3000) != index.read_record(3000)
    assert other.read_record(0) == first


def test_an_open_index_that_is_overwritten_is_damaged(copy: Path) -> None:
    path = replace_link(copy / "eight.idx")
    index = IndexReader(Folder(copy), EIGHT)
    path.write_bytes(tampered.change_header(path.read_bytes(), digest=bytes(32)))
    with pytest.raises(TableDamaged):
        index.read_record(0)


def test_blocks_that_are_read_ahead_are_checked(copy: Path) -> None:
    path = replace_link(copy / "eight.idx")
    data = bytearray(path.read_bytes())
    data[tampered.locate_record(data, 3000)] ^= 1
    path.write_bytes(data)
    index = IndexReader(Folder(copy), EIGHT)
    index.prefetch([0, 3000])
    assert index.read_record(0)
    with pytest.raises(TableDamaged, match="checksum"):
        index.read_record(3000)


def test_all_records_are_of_one_build(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish the index anew while half of it is read."""
    path, real, calls = replace_link(copy / "eight.idx"), _Build.read_blocks, Counter[str]()
    newer = bytearray(path.read_bytes())
    newer[tampered.locate_record(newer, 0)] ^= 1
    newer[tampered.locate_record(newer, 362_879)] ^= 1
    newer = bytearray(tampered.change_header(bytes(newer), digest=bytes(32)))

    def read(build: _Build, first: int, count: int) -> bytes:
        calls["read"] += 1
        if calls["read"] == 3:
            path.write_bytes(newer)
            with tampered.edit_manifest(copy) as entries:
                entries["eight"]["index"]["digest"] = bytes(32).hex()
        return real(build, first, count)

    monkeypatch.setattr(files, "BLOCKS_PER_READ", 32)
    monkeypatch.setattr(_Build, "read_blocks", read)
    header, records = IndexReader(Folder(copy), EIGHT).read_build()
    assert header == newer[: HEADER.size]
    index = IndexReader(Folder(copy), EIGHT)
    assert [*records[:2]] == [*index.read_record(0)]
    assert records == index.read_records()


def test_a_closed_index_does_not_answer(outputs: Path) -> None:
    index = IndexReader(Folder(outputs), EIGHT)
    index.read_record(0)
    index.close()
    index.close()
    for call in (lambda: index.read_record(0), lambda: index.read_record(9999), index.read_records):
        with pytest.raises(ValueError, match=r"eight\.idx is closed"):
            call()


def test_a_fast_lookup_needs_the_records_of_neighbours(copy: Path) -> None:
    path = replace_link(copy / "eight.idx")
    few = path.read_bytes()[: 2 * BLOCK_BYTES]
    path.write_bytes(tampered.change_header(few, count=BODY_BYTES // 2))
    with open_tables(str(copy)) as tables, pytest.raises(TableDamaged, match="no record"):
        tables.eight.probe("012345678")


def list_open_files(folder: Path) -> list[str]:
    """Return the names of the folder's files that this process holds open."""
    files = map(Path.resolve, Path("/proc/self/fd").iterdir())
    return sorted(file.name for file in files if file.parent == folder.resolve())


def test_a_name_has_at_most_64_bytes(tmp_path: Path) -> None:
    puzzle = Pancakes()
    puzzle.name = "p" * 65
    puzzle.tables = (puzzle.make_goal_table(puzzle.name, "All stacks", ("stacked",)),)
    with pytest.raises(errors.BadRequest, match="65 characters are more than 64"):
        build_tables(tmp_path, puzzle)
    assert not list(tmp_path.glob("p*"))


def test_closed_tables_close_their_files(copy: Path) -> None:
    for path in copy.glob("*.idx"):  # those of links may be open in other tests
        replace_link(path)
    with open_tables(str(copy)) as tables:
        assert tables.senet.probe("ABAAABBB.B...A.").plies == 2
        assert tables.knight.probe("b1").number == 0
        assert tables.eight.probe("378546201", "edge").distance == 26
        assert list_open_files(copy) == ["eight_edge.idx", "knight_tours_8x8.idx", "senet.idx"]
    assert list_open_files(copy) == []
    tables.close()
    tables = open_tables(str(copy))
    assert tables.senet.probe("ABAAABBB.B...A.").plies == 2
    with pytest.raises(errors.NotationError), tables:
        tables.senet.probe("nothing")
    assert list_open_files(copy) == []
    (copy / "eight.idx").write_bytes(b"damaged")
    with pytest.raises(TableDamaged):
        IndexReader(Folder(copy), EIGHT)
    assert list_open_files(copy) == []


def test_threads_share_an_index(outputs: Path) -> None:
    single = IndexReader(Folder(outputs), SENET)
    ranks = random.Random("threads").choices(range(single.count), k=3_000)
    expected = [single.read_record(rank) for rank in ranks]
    shared = IndexReader(Folder(outputs), SENET)

    def is_right(step: int) -> bool:
        return [*map(shared.read_record, ranks[::step])] == expected[::step]

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(is_right, (1, 1, 2, 3, 5, 7)))


@pytest.mark.parametrize(
    ("manifest", "error_class", "file"),
    [
        (None, errors.TableMissing, "eight.idx"),
        (b"{", TableDamaged, MANIFEST),
        (seal_values({"format_version": 4}), errors.TableVersionError, MANIFEST),
        (seal_values({"format_version": 6}), errors.TableVersionError, MANIFEST),
    ],
)
def test_a_manifest_without_the_index(
    copy: Path, manifest: bytes | None, error_class: type[errors.TableError], file: str
) -> None:
    if manifest is None:
        tampered.write_manifest(Folder(copy), {})
    else:
        (copy / MANIFEST).write_bytes(manifest)
        (copy / BACKUP).unlink(missing_ok=True)
    with pytest.raises(error_class) as caught:
        answer_as_text("eight", "378546201", {"outputs": str(copy)})
    assert (caught.value.exit_code, caught.value.file) == (3, str(copy / file))
    for method in ("probe", "get"):
        with pytest.raises(error_class) as second:
            getattr(open_tables(str(copy)).eight, method)("378546201")
        assert str(second.value) == str(caught.value)


# ---- two builds whose blocks have right checksums, exchanged ----------------------------------


def name_no_version(_: Request, answer: Answer) -> None:
    answer.headers = {"Content-Range": answer.headers.get("Content-Range", "")}


def name_the_time_alone(_: Request, answer: Answer) -> None:
    answer.headers.pop("ETag", None)
    answer.headers["Last-Modified"] = formatdate(answer.file.stat().st_mtime, usegmt=True)


@pytest.mark.parametrize("fault", [None, name_the_time_alone, name_no_version])
def test_blocks_of_two_builds_are_not_mixed(copy: Path, fault: Fault | None) -> None:
    """Publish a build with the same seed, whose records are all others."""
    path = replace_link(copy / "senet.idx")
    os.utime(path, (1, 1))
    table = INDEXES["senet.idx"]
    ends = 0, 756_755
    with serve(copy, fault) as host:
        index = IndexReader(open_store(host.url), table)
        old = [index.read_record(rank) for rank in ends]
        newer = replace_link(path)
        change_records(lambda every: every.__ixor__(1)).edit(copy, "senet")
        os.utime(newer, (3, 3))
        middle = index.read_record(400_000)
        new = [IndexReader(Folder(copy), table).read_record(rank) for rank in (*ends, 400_000)]
        assert [*map(index.read_record, ends), middle] == new
        assert old[0] != new[0]


def test_a_host_that_tells_no_version_is_asked_past_caches_and_for_the_header_again(
    outputs: Path,
) -> None:
    with serve(outputs, name_no_version) as host:
        index = IndexReader(open_store(host.url), INDEXES["senet.idx"])
        host.requests.clear()
        index.read_record(756_755)
        assert [request.span for request in host.requests] == [
            (6_066_176, 6_070_271),
            (0, 4095),
        ]
        assert all("cache-control" in request.headers for request in host.requests)


@pytest.mark.parametrize("is_overwritten", [False, True])
def test_an_open_file_is_of_one_build(copy: Path, is_overwritten: bool) -> None:
    """The open file answers after another took its name; after it was written over, the new one."""
    path, table = replace_link(copy / "senet.idx"), INDEXES["senet.idx"]
    os.utime(path, (1, 1))
    other_name = copy / "older"
    os.link(path, other_name)
    ranks = (0, 400_000, 756_755)
    index, older = IndexReader(Folder(copy), table), IndexReader(Folder(copy), table)
    old = [*map(older.read_record, ranks)]
    assert index.read_record(0) == old[0]
    change_records(lambda every: every.__ixor__(1)).edit(copy, "senet")
    new = [*map(IndexReader(Folder(copy), table).read_record, ranks)]
    if is_overwritten:
        other_name.write_bytes(path.read_bytes())
    found = [*map(index.read_record, ranks[::-1])][::-1]
    assert found == (new if is_overwritten else old)
