"""Tests of tables in several part files, as readers, `verify` and builds see them."""

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queries import open_tables
from queries.dispatch import open_reader
from queries.figure import Sources
from queries.knight.explorer_data import make_signposts
from queries.reader import Reader
from queries.report.writer import list_figures, list_sections
from queries.scans import scan_table
from queries.status import list_status
from tablebase.answer_errors import NoSuchTour
from tablebase.puzzles.knight.definition import PUZZLE as KNIGHT
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests import wide
from tests.support.build_recorder import build_tables
from tests.support.shell import ROOT, Cli, environment, program
from tests.support.tampered import (
    CUTS,
    SMALL,
    TABLES,
    link_copy,
    prove_one,
    split,
)

MANIFEST = (ROOT / "docs" / "manifest.md").read_text("utf-8")
FIVE = "knight_tours_5x5"

# ---- readers --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CUTS)
def test_part_files_have_the_rows_of_a_single_file(
    name: str, several_files: Path, outputs: Path
) -> None:
    assert len(read_manifest(Folder(several_files))[name].files) == len(CUTS[name]) + 1
    assert not (several_files / f"{name}.parquet").exists()
    rows, expected = (
        scan_table(Folder(folder), KNIGHT.catalogue, TABLES[name])
        for folder in (several_files, outputs)
    )
    assert rows.collect().equals(expected.collect())


@settings(max_examples=25)
@given(st.lists(st.integers(0, 1728), min_size=1, max_size=6))
def test_files_may_end_after_any_row(
    outputs: Path, tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    folder = link_copy(outputs, tmp_path_factory.mktemp("cut"))
    split(folder, FIVE, *sorted(cuts))
    rows, expected = (
        scan_table(Folder(store_folder), KNIGHT.catalogue, TABLES[FIVE])
        for store_folder in (folder, outputs)
    )
    assert rows.collect().equals(expected.collect())
    prove_one(folder, FIVE)


def test_the_code_in_the_docs_reads_part_files(
    several_files: Path, monkeypatch: pytest.MonkeyPatch, outputs: Path
) -> None:
    monkeypatch.chdir(several_files.parent)
    (several_files.parent / "outputs").symlink_to(several_files)
    (code,) = re.findall(r"```python\n(.*?)```", MANIFEST, re.DOTALL)
    text: dict[str, Any] = {}
    exec(code, text)
    result = text["tours"].drop("row").collect()
    assert result.equals(pl.read_parquet(outputs / f"{FIVE}.parquet"))


def test_the_docs_name_every_manifest_key(outputs: Path) -> None:
    manifest = json.loads((outputs / "manifest.json").read_text("utf-8"))
    table = manifest["tables"]["eight"]
    words = []
    for heading in ("The object", "A table", "A file"):
        section = MANIFEST.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        rows = "".join(re.findall(r"^\|.*\n", section, re.MULTILINE))
        words.append({*re.findall(r"`([a-z_0-9]+)`", rows)})
    assert words[0] == {*manifest, "pages", "bytes", "sha256", "made_from", "command"}
    assert words[1] == {*table, *table["index"]}
    assert words[2] - {"start", "number"} == {*table["files"][0], "begins"}


def test_the_docs_describe_the_manifest_checksum(outputs: Path) -> None:
    text = (outputs / "manifest.json").read_text("utf-8")
    result = re.fullmatch(r'(.*),\n "checksum": "([0-9a-f]{64})"(\n})\n', text, re.DOTALL)
    assert result
    assert hashlib.sha256((result[1] + result[3]).encode()).hexdigest() == result[2]


@pytest.fixture(scope="module")
def both_readers(several_files: Path, outputs: Path) -> list[Reader]:
    """Return the reader of the part files, and the reader of the single files."""
    return [open_reader("knight", Folder(folder)) for folder in (several_files, outputs)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"number": "0"},
        {"number": "99"},
        {"number": "100"},
        {"number": "250"},
        {"number": "303"},
        {"to": "e5"},
        {"to": "c3"},
        {"closed": True},
        {"count": True},
    ],
    ids=str,
)
def test_answers_are_the_same_as_from_a_single_file(
    options: dict[str, Any], both_readers: list[Reader]
) -> None:
    for start in ("a1", "c1", "e5", "b1"):
        answers = []
        for reader in both_readers:
            try:
                answers.append(
                    reader.make_query(**{"board": "5x5", **options}).answer(start).to_dict()
                )
            except NoSuchTour as error:
                answers.append({"error": str(error)})
        assert answers[0] == answers[1]


def test_commands_read_all_part_files(cli: Cli, several_files: Path, outputs: Path) -> None:
    for words in (
        "query knight a1 --board 5x5 --number 303",
        "query knight --board 5x5 --count",
        "histogram eight",
        "histogram senet",
    ):
        text, expected = (
            cli(*words.split(), "--outputs", str(f)) for f in (several_files, outputs)
        )
        assert text == expected
        assert text.code == 0


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("knight --board 5x5 --number 250", "a1\nb1\nc1\na3\n"),
        ("knight --board 5x5 --to c3", "a1\ne5\n"),
        ("knight --closed", "a1\nh8\n"),
        ("eight", "123456780\n876543210\n123456708\n"),
        ("senet", "ABAAABBB.B...A.\nABABABABAB.....\n"),
    ],
)
def test_batches_are_the_same_as_from_a_single_file(
    cli: Cli, words: str, keys: str, several_files: Path, outputs: Path
) -> None:
    command = ("query", *words.split(), "-")
    text, expected = (
        cli(*command, "--outputs", str(f), stdin=keys) for f in (several_files, outputs)
    )
    assert text == expected
    assert len(text.out.splitlines()) == 1 + len(keys.splitlines())


def test_python_tables_read_all_part_files(several_files: Path, outputs: Path) -> None:
    with open_tables(str(several_files)) as tables, open_tables(str(outputs)) as single_files:
        for start in ("a1", "a3", "e5"):
            result = tables.knight.probe(start, board="5x5", number=150 if start == "a1" else 20)
            assert result == single_files.knight.probe(start, board="5x5", number=result.number)
            counts = [each.knight.count(start, board="5x5") for each in (tables, single_files)]
            assert counts[0] == counts[1]
        frame = pl.DataFrame({"state": ["876543210", "123456708"]})
        assert tables.eight.annotate(frame).equals(single_files.eight.annotate(frame))


@wide
def test_report_and_explorer_read_all_part_files(several_files: Path, outputs: Path) -> None:
    sources, expected = Sources(Folder(several_files)), Sources(Folder(outputs))
    for figure in list_figures(list_sections()):
        assert sources.answer(figure).equals(expected.answer(figure)), figure.name
    assert {*sources.entries} == {*expected.entries}
    for name, entry in sources.entries.items():
        assert entry.rows == expected.entries[name].rows
    posts = [
        make_signposts(scan_table(Folder(folder), KNIGHT.catalogue, TABLES[FIVE]), TABLES[FIVE])
        for folder in (several_files, outputs)
    ]
    assert posts[0] == posts[1]


def test_status_adds_up_the_bytes_of_part_files(cli: Cli, several_files: Path) -> None:
    rows = {row["table"]: row for row in list_status(Folder(several_files))}
    for name in CUTS:
        files = [*several_files.glob(f"{name}.*.parquet")]
        assert len(files) == len(CUTS[name]) + 1
        assert rows[name]["state"] == "published"
        index = [path for path in [several_files / f"{name}.idx"] if path.exists()]
        assert rows[name]["bytes"] == sum(path.stat().st_size for path in [*files, *index])
    assert cli("status", "--outputs", str(several_files)).code == 0


# ---- builds ---------------------------------------------------------------------------------


@pytest.fixture
def small_folder(tmp_path: Path) -> Path:
    """Build a small table of tours, split into three files."""
    folder = tmp_path / "small"
    build_tables(folder, KNIGHT, SMALL)
    split(folder, SMALL.name, 1, 7)
    return folder


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.suffix == ".parquet"}


PART_FILES = {f"{SMALL.name}.{number}.parquet" for number in (1, 2, 3)}


def test_a_build_accepts_part_files(small_folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in small_folder.iterdir()}
    report = build_tables(small_folder, KNIGHT, SMALL)
    assert report.reasons == {SMALL.name: "up to date"}
    assert {path: path.stat().st_mtime_ns for path in small_folder.iterdir()} == before
    assert names(small_folder) == PART_FILES


def test_a_forced_build_writes_a_single_file(small_folder: Path, tmp_path: Path) -> None:
    build_tables(tmp_path / "other", KNIGHT, SMALL)
    (small_folder / f"{SMALL.name}.mine.parquet").write_text("mine")
    assert build_tables(small_folder, KNIGHT, SMALL, force=True).reasons == {SMALL.name: "forced"}
    assert names(small_folder) == {f"{SMALL.name}.parquet", f"{SMALL.name}.mine.parquet"}
    assert read_manifest(Folder(small_folder)) == read_manifest(Folder(tmp_path / "other"))


def test_the_next_build_removes_files_of_a_killed_build(small_folder: Path) -> None:
    stray = Path(
        shutil.copy(
            small_folder / f"{SMALL.name}.1.parquet", small_folder / f"{SMALL.name}.4.parquet"
        )
    )
    assert build_tables(small_folder, KNIGHT, SMALL).reasons == {SMALL.name: "up to date"}
    assert not stray.exists()
    assert names(small_folder) == PART_FILES


def test_remove_deletes_all_part_files(small_folder: Path, cli: Cli) -> None:
    (small_folder / f"{SMALL.name}.mine.parquet").write_text("mine")
    text = cli("remove", SMALL.name, "--quiet", "--outputs", str(small_folder))
    assert text == (0, "", "")
    assert names(small_folder) == {f"{SMALL.name}.mine.parquet"}
    assert read_manifest(Folder(small_folder)) == {}


KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from tablebase.puzzles.knight.definition import PUZZLE
from tests.support.tampered import SMALL
from tests.support.build_recorder import build_tables

def kill_before(real, steps):
    def step(*args, **kwargs):
        if not steps:
            os.kill(os.getpid(), signal.SIGKILL)
        steps.pop()
        return real(*args, **kwargs)
    return step

def run_killed_build(folder, steps):
    "Return the exit code of a build that is killed at the rename or removal after these steps."
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    remaining = [None] * steps
    os.replace = kill_before(os.replace, remaining)
    os.unlink = kill_before(os.unlink, remaining)
    build_tables(folder, PUZZLE, SMALL, force=True)
    os._exit(0)

small, copies = map(Path, sys.argv[1:])
build_tables(copies / "compiled", PUZZLE, SMALL)
steps = 0
code = -signal.SIGKILL
while code == -signal.SIGKILL:
    folder = Path(shutil.copytree(small, copies / f"{steps:03}"))
    code = run_killed_build(folder, steps)
    steps += 1
"""
"""Script that runs each build in a fork of one process, as the imports take longer than a build."""


@pytest.mark.long
def test_killed_before_every_step(small_folder: Path, tmp_path: Path) -> None:
    """Expect three files until the manifest lists one; the next build then removes the others."""
    copies = tmp_path / "tried"
    command = [program("python"), "-c", KILLED, str(small_folder), str(copies)]
    result = subprocess.run(
        command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    listed, unlisted = [], set()
    answer = (
        open_reader("knight", Folder(small_folder))
        .make_query(board="3x4", number="1")
        .answer("a1")
        .to_dict()
    )
    for folder in sorted(copies.glob("[0-9]*")):
        listed.append(len(read_manifest(Folder(folder))[SMALL.name].files))
        reader = open_reader("knight", Folder(folder))
        assert reader.make_query(board="3x4", number="1").answer("a1").to_dict() == answer
        expected = PART_FILES if listed[-1] == 3 else {f"{SMALL.name}.parquet"}
        unlisted |= {(listed[-1], name) for name in names(folder) - expected}
        assert set(build_tables(folder, KNIGHT, SMALL).reasons.values()) == {"up to date"}
        assert names(folder) == expected
    assert listed == sorted(listed, reverse=True)
    assert set(listed) == {3, 1}
    assert unlisted == {(3, f"{SMALL.name}.parquet"), *((1, name) for name in PART_FILES)}
    assert names(folder) == {f"{SMALL.name}.parquet"}
