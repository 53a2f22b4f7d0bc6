"""Two builds of a table, whose blocks have right checksums in each other's place, are not mixed.

The JavaScript package has such tests in `tests/readers/test_index_file.mjs`.
"""

import os
from email.utils import formatdate
from pathlib import Path

import pytest

from puzzle_tablebase.queries.files import IndexReader
from puzzle_tablebase.stores import Folder, open_store
from tests.support.default_tables import INDEXES
from tests.support.hosts import Answer, Fault, Request, serve
from tests.support.tampered import change_records, replace_link


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
