"""Huge, negative and wrapped numbers in files whose checksums are right: an answer, or an error.

The commands run in a process whose memory is limited; it prints a line for each that fails.
"""

from __future__ import annotations

import json
import random
import re
import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from puzzle_tablebase.formats.index import HEADER
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.registry import list_puzzles
from puzzle_tablebase.stores import MANIFEST, Folder
from tests import usual_or_nightly
from tests.support.made_once import make_once
from tests.support.shell import SCRIPT, run, run_here
from tests.support.tampered import (
    FIELDS,
    change_header,
    edit_manifest,
    link_copy,
    locate_record,
    replace_link,
    reseal,
    seal_values,
    sha256,
)

MAX_BYTES = 1200 << 20
"""The most address space that a command may use beyond what it uses for whole files."""
EXTREMES = [
    *(0, 1, -1, 255, 65_535, -(1 << 63), 10**30),
    *((1 << bits) + more for bits in (31, 32, 40, 62, 63, 64) for more in (-1, 0)),
]
COMMANDS = {
    "knight_tours_5x5": [
        "query knight a1 --board 5x5 --number 300",
        "sample knight --board 5x5 --size 3",
    ],
    "knight_ranks_5x4": ["query knight a1 --board 5x4 --rank 5"],
    "knight_closed_ranks_5x6": ["sample knight --board 5x6 --closed --size 3"],
    "sliding_2x4_8": [
        "query sliding 12345607 --board 2x4",
        "query sliding --hardest --board 2x4",
        "sample sliding --board 2x4 --size 3",
        "histogram sliding --board 2x4",
    ],
    "fifteen_12356": ["query fifteen 123456789abc0def --patterns 5-5-5"],
}
"""Commands that read each table."""


Change = tuple[str, Callable[[], object], list[str]]
"""What it is, what makes it, and the commands that then read the store."""


def iter_index_changes(folder: Path) -> Iterator[Change]:
    """Yield the changes of headers and records of indexes, with right checksums everywhere."""
    entries = read_manifest(Folder(folder))
    tables = (table for puzzle in list_puzzles() for table in puzzle.list_published(entries))
    for table in tables:
        if not table.index:
            continue
        path = folder / table.index_file
        commands = [*COMMANDS.get(table.name, []), f"verify {table.name}", "precompute --dry-run"]
        data = path.read_bytes()
        for field in FIELDS[1:6]:
            bits = 8 * {"version": 2, "zero": 2, "count": 8}.get(field, 4)
            for number in {number % (1 << bits) for number in EXTREMES}:
                changed = change_header(data, **{field: number})
                for listed in {None, number if field == "count" else None}:
                    what = f"{path.name}: {field} {number}, listed {listed}"
                    yield what, partial(write_index, path, changed, listed), commands
        count, width = HEADER.unpack_from(data)[5], HEADER.unpack_from(data)[3]
        for rank in {0, count // 3, count - 1}:
            at = locate_record(data, rank)
            for fill in (b"\0", b"\1", b"\x7f", b"\x80", b"\xff"):
                changed = reseal(data[:at] + fill * width + data[at + width :])
                what = f"{path.name}: record {rank}: {fill!r}"
                yield what, partial(write_index, path, changed), commands


def write_index(path: Path, data: bytes, count: int | None = None) -> None:
    """Write an index; the manifest lists it, with `count` as its number of records."""
    replace_link(path).write_bytes(data)
    with edit_manifest(path.parent) as entries:
        entry = entries[path.stem]
        entry["index"] |= {"bytes": len(data), "sha256": sha256(path)}
        if count is not None:
            entry["index"]["records"] = entry["rows"] = count


def iter_manifest_changes(folder: Path) -> Iterator[Change]:
    """Yield the changes of every number in the manifest, with right checksums."""
    text = (folder / MANIFEST).read_bytes()
    for found in re.finditer(rb"(?<=[:\[\s])\d+(?=[,}\]\s])", text):
        before = text[: found.start()]
        name = max(COMMANDS, key=lambda name: before.rfind(name.encode()))
        quick = (f"verify {name} --quick", "status --json", "precompute --dry-run")
        for number in (*EXTREMES, -0.5, 1e308):
            what = f"manifest: {before[-40:]!r} {number}"
            values = json.loads(before + json.dumps(number).encode() + text[found.end() :])
            values.pop("checksum")
            sealed = partial((folder / MANIFEST).write_bytes, seal_values(values))
            yield what, sealed, [*COMMANDS[name], *quick]


def main() -> None:
    changed_files, whole, target, count = sys.argv[1:]
    changing = {"indexes": iter_index_changes, "manifests": iter_manifest_changes}[changed_files]
    folder = link_copy(Path(whole), Path(target))
    changes = [*changing(folder)]
    tried = random.Random(1).sample(changes, min(len(changes), int(count)))
    for words in dict.fromkeys(words for _, _, commands in tried for words in commands):
        # everything is imported and compiled now, and no command is misspelt
        completed = run_here(*words.split(), "--outputs", str(folder))
        if completed.code and not words.startswith("status"):  # default tables are missing
            print(f"before any change: {words}: {completed}")
    status = Path("/proc/self/status").read_text()
    (mapped,) = re.findall(r"VmSize:\s+(\d+)", status)
    resource.setrlimit(
        resource.RLIMIT_AS, ((int(mapped) << 10) + MAX_BYTES, resource.RLIM_INFINITY)
    )
    for what, make, commands in tried:
        make()
        for words in commands:
            try:
                completed = run_here(*words.split(), "--outputs", str(folder))
                problem = (
                    ""
                    if completed.code in (0, 1, 2, 3) and "\x1b" not in completed.err
                    else str(completed)
                )
            except BaseException as error:
                problem = repr(error)
            if problem or "not enough memory" in completed.err:
                print(f"{what}: {words}: {problem or completed.err}", flush=True)
        shutil.rmtree(folder)
        link_copy(Path(whole), Path(target))


@pytest.fixture(scope="session")
def all_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small store with a file of every type."""
    names = ("knight_tours_5x5", "knight_ranks_5x4", "knight_closed_ranks_5x6", "sliding_2x4_8")

    def build(folder: Path) -> None:
        words = ("precompute", *names, "fifteen_5-5-5", "--quiet", "--outputs", str(folder))
        assert run([SCRIPT, *words]) == (0, "", "")

    return make_once(tmp_path_factory, "all_files", build)


@pytest.mark.slow
@pytest.mark.parametrize("changed_files", ["indexes", "manifests"])
def test_no_number_of_a_file_is_too_much_for_a_command(
    changed_files: str, all_files: Path, tmp_path: Path
) -> None:
    # proofs read indexes, which takes longer
    count = usual_or_nightly(2, 100) if changed_files == "indexes" else usual_or_nightly(4, 400)
    code = "from tests.faults.test_forged_numbers import main; main()"
    words = (sys.executable, "-c", code, changed_files, all_files, tmp_path, str(count))
    ended = run(words, env={"MALLOC_ARENA_MAX": "2"})  # each arena reserves address space
    assert ended[:2] == (0, ""), ended.err[-300:]
