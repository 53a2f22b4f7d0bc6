"""Huge, negative and wrapped numbers in place of each of a file, and what readers make of it.

The program runs in a process of its own, whose memory is limited: `python -m
tests.support.huge_numbers KIND FOLDER SEED COUNT`. It prints a line for each change after which a
command gives neither an answer nor an error of ours.
"""

from __future__ import annotations

import io
import json
import random
import re
import resource
import shutil
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from struct import calcsize
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from puzzle_tablebase.formats.index import HEADER
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.pipeline.runs import RUNS
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import BACKUP, MANIFEST
from puzzle_tablebase.stores.folder import Folder
from tests.support.tampered import (
    FIELDS,
    change_header,
    describe_file,
    edit_manifest,
    place,
    replace_link,
    reseal,
    seal_values,
    sha256,
)

MAX_BYTES = 200 << 20
"""The most memory that a command may use beyond what it uses for whole files."""
MAX_MAPPED_BYTES = 1 << 30
"""The most address space beyond that: threads reserve some, and do not use it."""
EXTREMES = [
    *(0, 1, -1, 127, 255, 32_767, 65_535),
    *((1 << bits) + more for bits in (31, 32, 40, 62, 63, 64) for more in (-1, 0)),
    *(-(1 << 31), -(1 << 63), 10**30),
]
COMMANDS: dict[str, list[str]] = {
    "eight": [
        "query eight 378546201 --solutions",
        "query eight 283104765 --goal centre --path",
        "query eight --hardest --goal centre",
        "sample eight --size 3 --distance 9",
    ],
    "senet": ["query senet .....BBBBBAAAAA", "sample senet --size 3 --distance 5"],
    "knight_tours_5x5": [
        "query knight a1 --board 5x5 --number 300",
        "sample knight --board 5x5 --size 3",
    ],
    "knight_tours_8x8": ["query knight b1 --closed", "query knight h8 --to a2"],
    "knight_counts": ["query knight c3 --board 5x5 --count"],
    "knight_ranks_5x4": ["query knight a1 --board 5x4 --rank 5"],
    "knight_closed_ranks_5x6": [
        "query knight b1 --board 5x6 --closed --rank 5",
        "sample knight --board 5x6 --closed --size 3",
    ],
    "sliding_2x4_8": [
        "query sliding 12345607 --board 2x4",
        "query sliding --hardest --board 2x4",
        "sample sliding --board 2x4 --size 3",
        "histogram sliding --board 2x4",
    ],
    "sliding_3x4_12": [
        "query sliding 213456789ab0 --board 3x4",
        "query sliding 13256789ab04 --board 3x4 --path",
        "sample sliding --board 3x4 --size 3",
    ],
    "fifteen_12356": ["query fifteen 123456789abc0def --patterns 5-5-5"],
}
"""Commands that read each table."""
OVERVIEWS = ["status --json", "histogram sliding --board 2x4", "precompute --dry-run"]
LOG = ["runs", "runs --json"]


class Splice(NamedTuple):
    """Other bytes from a place of a file to another."""

    begin: int
    end: int
    new: bytes


class Change(NamedTuple):
    """A change of a store: what it is, what makes it, and the commands that then read the store."""

    what: str
    make: Callable[[], object]
    commands: list[str]


class Numbers:
    """The numbers of the files of one kind in a store of tables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        entries = read_manifest(Folder(folder))
        self.tables: dict[str, Table] = {
            table.name: table
            for puzzle in list_puzzles()
            for table in puzzle.list_published(entries)
        }

    def list_indexes(self) -> Iterator[Change]:
        """List the changes of headers and records of indexes, with right checksums everywhere."""
        for name, table in self.tables.items():
            if not table.index:
                continue
            path = self.folder / table.index_file
            commands = [*COMMANDS.get(name, []), f"verify {name}", "precompute --dry-run"]
            data = path.read_bytes()
            for field in FIELDS[1:6]:
                bits = 8 * {"version": 2, "zero": 2, "count": 8}.get(field, 4)
                for number in {number % (1 << bits) for number in EXTREMES}:
                    for is_listed in (False, True):
                        yield Change(
                            f"{path.name}: {field} {number}, listed {is_listed}",
                            partial(self.write_field, path, data, field, number, is_listed),
                            commands,
                        )
            count, width = HEADER.unpack_from(data)[5], HEADER.unpack_from(data)[3]
            for rank in {0, count // 3, count // 2, count - 1}:
                at = place(data, rank)
                for begin, end in [(0, width), *_list_spans(table, width)]:
                    for fill in (b"\0", b"\1", b"\x7f", b"\x80", b"\xff"):
                        part = Splice(at + begin, at + end, fill * (end - begin))
                        yield Change(
                            f"{path.name}: record {rank}, bytes {begin} to {end}: {fill!r}",
                            partial(self.write_record, path, data, part),
                            commands,
                        )

    def write_field(
        self, path: Path, data: bytes, field: str, number: int, is_listed: bool
    ) -> None:
        """Write a header with another number, which the manifest has too if it is listed."""
        count = number if is_listed and field == "count" else None
        self.write_index(path, change_header(data, **{field: number}), count)

    def write_record(self, path: Path, data: bytes, part: Splice) -> None:
        """Write an index with other bytes in a record, and right checksums."""
        self.write_index(path, reseal(data[: part.begin] + part.new + data[part.end :]))

    def write_index(self, path: Path, data: bytes, count: int | None = None) -> None:
        """Write an index; the manifest lists it, with `count` as its number of records."""
        replace_link(path).write_bytes(data)
        with edit_manifest(self.folder) as entries:
            entry = entries[path.stem]
            entry["index"] |= {"bytes": len(data), "sha256": sha256(path)}
            if count is not None:
                entry["index"]["records"] = entry["rows"] = count

    def list_manifests(self) -> Iterator[Change]:
        """List the changes of every number in the manifest, with right checksums."""
        text = (self.folder / MANIFEST).read_text()
        for keys in _list_places(json.loads(text)):
            name = next((str(key) for key in keys if key in COMMANDS), "sliding_2x4_8")
            commands = [*COMMANDS[name], f"verify {name} --quick", *OVERVIEWS]
            for number in (*EXTREMES, -0.5, 1e308):
                yield Change(
                    f"manifest: {'.'.join(map(str, keys))} {number}",
                    partial(self.write_manifest, text, keys, number),
                    commands,
                )

    def write_manifest(self, text: str, keys: list[Any], number: float) -> None:
        """Write a manifest with another number, and right checksums."""
        manifest = json.loads(text)
        _put(manifest, keys, number)
        del manifest["checksum"]
        (self.folder / MANIFEST).write_bytes(seal_values(manifest))

    def list_runs(self) -> Iterator[Change]:
        """List the changes of every number in a line of the log of builds."""
        path = self.folder / RUNS
        text = path.read_text().splitlines()[-1]
        for keys in _list_places(json.loads(text)):
            for number in (*EXTREMES, -0.5, 1e308, float("inf")):
                record = json.loads(text)
                _put(record, keys, number)
                yield Change(
                    f"run: {'.'.join(map(str, keys))} {number}",
                    partial(path.write_text, json.dumps(record)),
                    LOG,
                )

    def list_footers(self) -> Iterator[Change]:
        """List the changes of every number in the footers of Parquet files, and in a page header.

        The manifest lists the changed files, and once it is gone: then the files speak alone.
        """
        for name in ("knight_tours_5x5", "sliding_2x4_8"):
            path = self.folder / f"{name}.parquet"
            commands = [*COMMANDS.get(name, []), f"verify {name}"]
            data = path.read_bytes()
            for what, part in iter_footers(data):
                yield Change(
                    f"{path.name}: {what}",
                    partial(self.write_rows, path, data, part, is_listed=True),
                    commands,
                )
                yield Change(
                    f"{path.name}, no manifest: {what}",
                    partial(self.write_rows, path, data, part, is_listed=False),
                    ["precompute --dry-run", "status"],
                )

    def write_rows(self, path: Path, data: bytes, part: Splice, *, is_listed: bool) -> None:
        """Write a Parquet file; the manifest lists it, or there is none."""
        replace_link(path).write_bytes(splice(data, part))
        if not is_listed:
            (self.folder / MANIFEST).unlink()
            (self.folder / BACKUP).unlink(missing_ok=True)
            return
        with edit_manifest(self.folder) as entries:
            entries[path.stem]["parquet"] = describe_file(path)


def _list_spans(table: Table, width: int) -> Iterator[tuple[int, int]]:
    """List where each field of a record begins and ends; of many fields, the first and the last."""
    begin, spans = 0, []
    for _, letter in table.index:
        spans.append((begin, begin + calcsize(f"<{letter}")))
        begin = spans[-1][1]
    yield from spans if len(spans) < 8 else (spans[0], spans[-1])


def _list_places(values: Any, keys: tuple[Any, ...] = ()) -> Iterator[list[Any]]:
    """List the keys that lead to each number in JSON; of a long list, its first and last values."""
    if isinstance(values, dict):
        for key, value in values.items():
            yield from _list_places(value, (*keys, key))
    elif isinstance(values, list):
        for at in sorted({0, 1, len(values) - 1} & {*range(len(values))}):
            yield from _list_places(values[at], (*keys, at))
    elif isinstance(values, int | float) and not isinstance(values, bool):
        yield [*keys]


def _put(values: Any, keys: list[Any], number: float) -> None:
    for key in keys[:-1]:
        values = values[key]
    values[keys[-1]] = number


# ---- Thrift's compact protocol: the footers of Parquet files -------------------------------------

BINARY, LIST, SET, MAP, STRUCT = 8, 9, 10, 11, 12
SIZES = {1: 0, 2: 0, 3: 1, 7: 8}
"""Bytes of a value by its type: true, false, a byte, a double."""
TYPES = {(2, 1), (4, 1, 3, 1)}
"""The fields that lead to a column's type in the schema and in a row group.

pyarrow ends the process if they differ, before code of ours can refuse the file; the manifest lists
the footer's hash, so only a forged one gets that far.
"""


def iter_footers(data: bytes) -> Iterator[tuple[str, Splice]]:
    """Yield another number for each place of a Parquet file's footer, and of its first page."""
    footer, places, in_page = find_footer(data), list[tuple[int, int]](), list[tuple[int, int]]()
    list_numbers(data, footer, places)
    chunk = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0)
    list_numbers(data, chunk.dictionary_page_offset or chunk.data_page_offset, in_page)
    for number in EXTREMES:
        zigzag = 2 * number if number >= 0 else -2 * number - 1
        new = write_varint(zigzag % (1 << 64))
        for begin, end in [*places, *in_page]:
            yield f"bytes {begin - footer} of the footer: {number}", Splice(begin, end, new)
        size = (number % (1 << 32)).to_bytes(4, "little")
        yield f"length of the footer: {number}", Splice(len(data) - 8, len(data) - 4, size)


def find_footer(data: bytes) -> int:
    """Return where the footer of a Parquet file begins."""
    return len(data) - 8 - int.from_bytes(data[-8:-4], "little")


def splice(data: bytes, part: Splice) -> bytes:
    """Return a Parquet file with a part of it changed, and the length of the footer as it is."""
    changed = data[: part.begin] + part.new + data[part.end :]
    footer = find_footer(data)
    if not footer <= part.begin < len(data) - 8:
        return changed
    return changed[:-8] + (len(changed) - 8 - footer).to_bytes(4, "little") + changed[-4:]


def list_numbers(
    data: bytes, at: int, places: list[tuple[int, int]], fields: tuple[int, ...] = ()
) -> int:
    """List where the numbers and lengths of a structure begin and end; return its end."""
    field = 0
    while kind := data[at] & 15:
        delta = data[at] >> 4
        at += 1
        field += delta
        if not delta:
            field, at = read_varint(data, at) >> 1, find_varint_end(data, at)
        at = _list_value(data, at, kind, places, (*fields, field))
    return at + 1


def _list_value(
    data: bytes, at: int, kind: int, places: list[tuple[int, int]], fields: tuple[int, ...]
) -> int:
    if kind in SIZES:
        return at + SIZES[kind]
    if kind == STRUCT:
        return list_numbers(data, at, places, fields)
    if kind in (LIST, SET):
        count, kind = data[at] >> 4, data[at] & 15
        at += 1
        if count == 15:
            count, begin, at = read_varint(data, at), at, find_varint_end(data, at)
            places.append((begin, at))
        for _ in range(count):
            at = _list_value(data, at, max(kind, 3) if kind in (1, 2) else kind, places, fields)
        return at
    begin, at = at, find_varint_end(data, at)
    if fields not in TYPES:
        places.append((begin, at))
    return at + read_varint(data, begin) if kind == BINARY else at


def find_varint_end(data: bytes, at: int) -> int:
    while data[at] >= 128:
        at += 1
    return at + 1


def read_varint(data: bytes, at: int) -> int:
    end = find_varint_end(data, at)
    return sum((byte & 127) << 7 * place for place, byte in enumerate(data[at:end]))


def write_varint(number: int) -> bytes:
    parts = list[int]()
    while number >= 128:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


# ---- the process -------------------------------------------------------------------------------


def run(folder: Path, words: str, expected: Collection[int] = (0, 1, 2, 3)) -> str:
    """Run a command; return what is wrong with how it ended, "" if nothing is."""
    command, *rest = words.split()
    where = ["--outputs", str(folder)]
    said = io.StringIO()
    said.isatty = lambda: False  # type: ignore[method-assign]
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = read_memory("VmRSS")
    try:
        with redirect_stdout(io.TextIOWrapper(io.BytesIO())), redirect_stderr(said):
            code = run_command([command, *rest, *where])
    except BaseException as error:  # polars raises a BaseException when it panics
        return f"{type(error).__name__}: {str(error)[:300]}"
    used = read_memory("VmHWM") - before
    if used > MAX_BYTES:
        return f"{used >> 20} MiB"
    if re.search("memory|internal error|Traceback", said.getvalue()) or code not in expected:
        return f"exit {code}: {said.getvalue()[-300:]}"
    return ""


def read_memory(name: str) -> int:
    """Return a size from this process's status, in bytes."""
    text = Path("/proc/self/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+)", text)[1]) << 10  # type: ignore[index]


def make_copy(whole: Path, copy: Path) -> None:
    """Make the copy of a store anew: its tables become links."""
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for path in whole.iterdir():
        if path.suffix == ".json" or path.name == RUNS:
            shutil.copy(path, copy)
        elif path.is_file():
            (copy / path.name).symlink_to(path)


def main() -> None:
    kind, whole, copy, seed, limit = sys.argv[1:]
    folder = Path(copy)
    make_copy(Path(whole), folder)
    changes = [*getattr(Numbers(folder), f"list_{kind}")()]
    tried = random.Random(seed).sample(changes, min(len(changes), int(limit)))
    for words in dict.fromkeys(words for change in tried for words in change.commands):
        # everything is imported and compiled now, and no command is misspelt
        known = (0, 3) if words.startswith("status") else (0,)  # default tables are missing
        if (problem := run(folder, words, known)).startswith("exit"):
            print(f"before any change: {words}: {problem}", flush=True)
    mapped = read_memory("VmSize") + MAX_MAPPED_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (mapped, mapped))
    for change in tried:
        print(f"now {change.what}", file=sys.stderr, flush=True)
        change.make()
        for words in change.commands:
            if problem := run(folder, words):
                print(f"{change.what}: {words}: {problem}", flush=True)
        make_copy(Path(whole), folder)
    print(f"{len(changes)} changes are possible", file=sys.stderr)


if __name__ == "__main__":
    main()
