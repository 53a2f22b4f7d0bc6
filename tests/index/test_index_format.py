"""Tests of what `docs/format/index.md` says of every index, against the real files."""

import doctest
import json
import re
import struct
import zlib
from pathlib import Path

import pytest

from queries.api import Tables
from tablebase.puzzles import eight
from tablebase.tables.index_format import BLOCK_BYTES, BODY_BYTES, HEADER
from tests.readers.test_example_readers import LINES
from tests.support.default_tables import INDEXES
from tests.support.format_page import (
    DOC,
    layout_of,
    number_in,
    numbers_in,
    place_of,
    read_fenced,
    section,
    tables_under,
    text,
)
from tests.support.reader_programs import EXAMPLES

FILES = "Index files"


def test_the_document_lists_the_index_files(outputs: Path, large_boards: Path) -> None:
    rows = {row["file"]: row for row in tables_under(FILES)[1]}
    assert {name for name in rows if not name.endswith("on request")} == set(INDEXES)
    files = {name: outputs / name for name in INDEXES}
    files["sliding_3x4_12.idx, on request"] = large_boards / "sliding_3x4_12.idx"
    for name, file in files.items():
        row, data = rows[name], file.read_bytes()
        _, _, _, width, _, count, *_ = HEADER.unpack_from(data)
        assert [width, count, len(data) // 4096, len(data)] == [
            number_in(row[key]) for key in ("width", "records", "blocks", "bytes")
        ]
        assert len(data) == 4096 * (1 + -(-count // (4092 // width)))
    for name, table in INDEXES.items():
        assert number_in(rows[name]["width"]) == struct.calcsize(table.record_format)


def test_the_header_is_laid_out_as_the_document_says(outputs: Path) -> None:
    (rows,) = tables_under("The header")
    assert layout_of(rows) == HEADER.format
    assert not any((outputs / "eight.idx").read_bytes()[HEADER.size : BODY_BYTES])
    assert f"zero bytes follow these {HEADER.size}." in section("The header")


def test_the_requested_range_is_the_block_of_the_example(outputs: Path) -> None:
    block, _ = place_of(2, eight.rank("378546201"))
    first, last = 4096 * block, 4096 * (block + 1) - 1
    assert f"\nRange: bytes={first}-{last}\n" in text()
    size = (outputs / "eight.idx").stat().st_size
    assert f"Content-Range: bytes {first}-{last}/{size}\n" in text()


def test_a_block_is_laid_out_as_the_document_says(outputs: Path) -> None:
    (rows,) = tables_under("The file")
    assert layout_of(rows) == f"<{BODY_BYTES}sI"
    assert sum(numbers_in(rows, "size")) == BLOCK_BYTES
    for file in INDEXES:
        data = (outputs / file).read_bytes()
        content = data[24:56]
        for number in range(len(data) // 4096):
            block = data[4096 * number : 4096 * (number + 1)]
            crc = zlib.crc32(content + number.to_bytes(8, "little") + block[:4092])
            assert crc.to_bytes(4, "little") == block[4092:]


def test_the_text_lists_the_keys_of_the_vectors() -> None:
    text = [key for row in tables_under("Test vectors")[0] for key in row["key"].split(", ")]
    listed = json.loads((DOC.parent / "vectors" / "vectors.json").read_text("utf-8"))
    assert all(set(vector) == set(text) for vector in listed)


def test_the_python_in_the_document_runs(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(outputs)
    text: list[str] = []
    examples = doctest.DocTestParser().get_doctest(
        "\n".join(read_fenced("pycon")), {}, "doc", None, 0
    )
    assert len(examples.examples) >= 5
    result = doctest.DocTestRunner().run(examples, out=text.append)
    assert result.failed == 0, "".join(text)


def test_the_checksum_is_computed_as_the_document_says() -> None:
    result = re.findall("`(0x[0-9A-F]{8})`", section("The checksum"))
    polynomial, begin, check = (int(number, 16) for number in result)
    crc = begin
    for byte in b"123456789":
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (polynomial if crc & 1 else 0)
    assert crc ^ 0xFFFFFFFF == zlib.crc32(b"123456789") == check


def test_the_answers_in_the_text_are_those_of_the_readers(tables: Tables) -> None:
    _, shown = read_fenced("text")
    queries = [line.split() for line in shown.splitlines()]
    # a key is one word, but two for the knight
    kinds = {9: ("eight", 1), 15: ("senet", 1), 2: ("knight", 2)}
    expected = []
    for words in queries:
        puzzle, count = kinds[len(words[0])]
        expected.append(LINES[puzzle](tables, " ".join(words[:count])))
    assert shown.splitlines() == expected
    assert {kinds[len(words[0])][0] for words in queries} == set(LINES)


def test_the_text_lists_the_example_readers() -> None:
    result = re.findall(r"^\| \[`(.*?)`\]\((.*?)\)", text(), re.MULTILINE)
    assert sorted(name for name, _ in result) == sorted(
        path.name for path in EXAMPLES.glob("read*")
    )
    for name, link in result:
        assert (DOC.parent / link).resolve() == EXAMPLES / name
