"""Tests of run records: of builds that are completed, fail or are killed."""

import calendar
import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from puzzle_tablebase.errors import BadRequest
from puzzle_tablebase.pipeline.runs import RunRecorder
from puzzle_tablebase.tables.manifest import read_manifest
from puzzle_tablebase.tables.run_records import (
    COMPLETED,
    FAILED,
    KILLED,
    MAX_RECORDS,
    RUNNING,
    RUNS,
    UNKNOWN,
    RunRecord,
    TableRun,
    encode,
    find_table_run,
    list_run_names,
    list_runs,
    read_run,
)
from puzzle_tablebase.tables.store import Folder
from tests import first
from tests.support.shell import Cli, start_build

TIMEOUT_SECONDS = 60
SEVERAL = ("eight", "knight", "fifteen", "--jobs", "1")
"""A build whose first table is finished long before its last."""
FIRST = TableRun(
    table="eight",
    reason="missing",
    outcome=COMPLETED,
    parameters={"roots": ["corner", "centre"]},
    seconds=1.25,
    processor_seconds=1.5,
    rows=362_880,
    rows_per_second=290_304.0,
    bytes=2_016_545,
    process_peak_memory=379_000_000,
)
SECOND = TableRun(
    table="knight_tours_6x6",
    reason="forced",
    outcome=FAILED,
    parameters={"board": "6x6"},
    tasks_done=7,
    tasks_resumed=2,
    tasks_failed=1,
)
RECORD = RunRecord(
    name="20260102T030405006Z-a1b2",
    record_version=1,
    command=["precompute", "eight", "knight_tours_6x6", "--force"],
    versions={"puzzle-tablebase": "1.0.0", "python": "3.11.7"},
    machine={"system": "linux", "processor": "x86_64", "cores": 2},
    started="2026-01-02T03:04:05Z",
    ended="2026-01-02T03:04:08Z",
    seconds=3.21,
    outcome=FAILED,
    problem="SIGTERM",
    exit_code=143,
    tables=[FIRST, SECOND],
)


def write_record(folder: Path, **changes: object) -> RunRecord:
    """Write a record that differs from RECORD, and return it."""
    record = msgspec.structs.replace(RECORD, **changes)
    (folder / RUNS).mkdir(exist_ok=True)
    (folder / RUNS / f"{record.name}.json").write_bytes(encode(record))
    return record


def test_a_completed_build_leaves_its_figures(cli: Cli, tmp_path: Path) -> None:
    began = time.time()
    words = ("precompute", "knight_tours_5x5", "eight", "--outputs", str(tmp_path))
    text = cli(*words)
    assert text.code == 0
    record = read_run(Folder(tmp_path), "last")
    assert (record.outcome, record.exit_code, record.problem) == (COMPLETED, 0, "")
    assert record.command == [*words]
    libraries = {"numba", "numpy", "polars", "pyarrow"}
    assert {*record.versions} == libraries | {"puzzle-tablebase", "python"}
    assert record.machine["cores"] == os.cpu_count()
    assert "hostname" not in json.dumps(record.machine).lower()
    assert began - 1 <= calendar.timegm(time.strptime(record.started, "%Y-%m-%dT%H:%M:%SZ"))
    published = read_manifest(Folder(tmp_path))
    assert {table.table for table in record.tables} == {*published}
    for table in record.tables:
        entry = published[table.table]
        assert (table.reason, table.outcome) == ("missing", COMPLETED)
        assert table.rows == entry.rows
        assert table.bytes == sum((tmp_path / file.file).stat().st_size for file in entry.all_files)
        assert 0 < (table.seconds or 0) <= record.seconds
        assert table.rows_per_second == round(entry.rows / (table.seconds or 1), 1)
        assert 0 < (table.processor_seconds or 0) <= record.seconds * (os.cpu_count() or 1)
        assert 50 << 20 < (table.process_peak_memory or 0) < 4 << 30
    (tours,) = (table for table in record.tables if table.table == "knight_tours_5x5")
    assert (tours.tasks_done, tours.tasks_resumed, tours.tasks_failed) == (13, 0, 0)
    assert find_table_run(Folder(tmp_path), "knight_tours_5x5", tours.parameters) == tours
    assert find_table_run(Folder(tmp_path), "knight_tours_5x5", {"board": "6x6"}) is None
    assert RUNS not in (tmp_path / "manifest.json").read_text()
    assert cli("verify", "--quick", "--outputs", str(tmp_path)).code == 0

    assert cli(*words).code == 0  # it builds nothing, so it records nothing
    assert list_run_names(Folder(tmp_path)) == [record.name]


@pytest.mark.parametrize(
    "number",
    first(1, [signal.SIGKILL, signal.SIGINT, signal.SIGTERM]),
    ids=lambda number: number.name,
)
def test_a_build_that_is_stopped_keeps_the_tables_so_far(
    number: signal.Signals, tmp_path: Path, cli: Cli
) -> None:
    store = Folder(tmp_path)
    with start_build(tmp_path, *SEVERAL) as build:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < deadline and build.poll() is None:
            runs = [*list_runs(store)]
            if runs and any(table.outcome == COMPLETED for table in runs[0].tables):
                break
            time.sleep(0.01)
        assert runs[0].outcome == RUNNING
        build.send_signal(number)
        build.communicate(timeout=TIMEOUT_SECONDS)
    run = read_run(store, "last")
    assert run.outcome == KILLED
    outcomes = {table.table: table.outcome for table in run.tables}
    assert COMPLETED in outcomes.values()
    assert {*outcomes.values()} <= {COMPLETED, RUNNING}
    shown = cli("runs", "--outputs", str(tmp_path)).out.splitlines()[1]
    assert shown.split()[-1] == KILLED
    kept = {".lock", ".manifest.backup"}
    leftovers = [
        path.name for path in tmp_path.rglob(".*") if path.is_file() and path.name not in kept
    ]
    if number == signal.SIGKILL:  # nobody can remove what it was writing
        leftovers = [name for name in leftovers if not name.endswith(".unpublished")]
        assert leftovers == [f".{run.name}.running"]
    else:
        assert leftovers == []


def test_the_last_fifty_are_kept(cli: Cli, tmp_path: Path) -> None:
    for number in range(MAX_RECORDS + 3):
        write_record(tmp_path, name=f"20260102T0304{number:02}006Z-a1b2")
    assert cli("precompute", "knight_tours_5x5", "--outputs", str(tmp_path)).code == 0
    names = list_run_names(Folder(tmp_path))
    assert len(names) == MAX_RECORDS
    assert names[-1] == "20260102T030404006Z-a1b2"
    assert names[0] > "20260103"


def test_a_record_that_cannot_be_written_does_not_end_the_build(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / RUNS).write_text("in the way")
    text = cli("precompute", "knight_tours_5x5", "--outputs", str(tmp_path))
    assert text.code == 0
    problem = f"Cannot build in {tmp_path / RUNS}: it is a file, not a folder. Move it away"
    assert f"pipeline: note: the run record was not written: {problem}" in text.err
    assert (tmp_path / "knight_tours_5x5.parquet").is_file()
    text = cli("runs", "--outputs", str(tmp_path))
    assert (text.code, text.out) == (3, "")
    assert f"{tmp_path / RUNS} cannot be read: it is a file, not a folder. Move it" in text.err


def test_golden(cli: Cli, tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    """Compare what `pipeline runs` prints of records that never change."""
    write_record(tmp_path)
    completed = {"outcome": COMPLETED, "problem": "", "exit_code": 0, "seconds": 1.5}
    completed |= {"started": "2026-01-01T00:00:00Z", "command": ["precompute"], "tables": [FIRST]}
    write_record(tmp_path, name="20260101T000000000Z-ffff", **completed)
    write_record(tmp_path, name="20251231T000000000Z-0000", outcome=RUNNING, problem="")
    commands = ("runs", "runs last", "runs 20260101", "runs 20251231", "runs last --json")
    answers = [
        f"$ pipeline {words}\n{cli(*words.split(), '--outputs', str(tmp_path)).out}"
        for words in commands
    ]
    golden("runs", "\n".join(answers))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("2026", "2 run records have names that begin with '2026'"),
        ("nope", "No run records have names that begin with 'nope'"),
        ("", "No run records have names that begin with ''"),
        ("20260103", "The run record 20260103T000000000Z-eeee cannot be read"),
    ],
)
def test_a_name_of_no_record_is_refused(name: str, problem: str, cli: Cli, tmp_path: Path) -> None:
    write_record(tmp_path)
    (tmp_path / RUNS / "20260103T000000000Z-eeee.json").write_text("{")
    text = cli("runs", name, "--outputs", str(tmp_path))
    assert (text.code, text.out) == (2, "")
    assert text.err.startswith(f"pipeline: {problem}. List the ")
    listed = cli("runs", "--outputs", str(tmp_path))
    assert len(listed.out.splitlines()) == 2
    assert listed.err == "pipeline: note: the run record 20260103T000000000Z-eeee cannot be read\n"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Return a folder of somebody else's files, whose names are like those of records."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    names = [f"report-{number:02}.json" for number in range(MAX_RECORDS + 3)]
    for name in (*names, ".hidden", ".notes.running", ".a.json.0123456789abcdef.unpublished"):
        (folder / name).write_text("precious")
    return folder


@pytest.mark.parametrize("is_link", [False, True])
def test_a_build_removes_no_file_of_others(
    is_link: bool, elsewhere: Path, tmp_path: Path, cli: Cli
) -> None:
    store = tmp_path / "tables"
    store.mkdir()
    if is_link:
        for number in range(MAX_RECORDS + 3):
            name = f"20260102T0304{number:02}006Z-a1b2.json"
            (elsewhere / name).write_bytes(encode(RECORD))
        (store / RUNS).symlink_to(elsewhere)
    else:
        shutil.copytree(elsewhere, store / RUNS)
    before = {path.name for path in (store / RUNS).iterdir()}
    words = ("precompute", "knight_tours_5x5", "--outputs", str(store))
    assert cli(*words, "--dry-run").code == 0
    text = cli(*words)
    assert text.code == 0
    after = {path.name for path in (store / RUNS).iterdir()}
    assert before <= after
    assert len(after - before) == (0 if is_link else 1)
    problem = "it is a link, which is not followed. Move it away"
    assert (problem in text.err) == is_link
    text = cli("runs", "--outputs", str(store))
    assert (text.code, problem in text.err) == ((3, True) if is_link else (0, False))


@pytest.mark.parametrize("command", ["runs", "clean"])
def test_stores_without_a_list_of_files_are_refused(command: str, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "file").write_text("")
    text = cli(command, "--outputs", str(tmp_path / "file"))
    assert (text.code, text.out) == (3, "")
    assert " is a file, not a folder. Move it away" in text.err
    text = cli(command, "--outputs", "http://127.0.0.1:9/tables")
    assert (text.code, text.out) == (2, "")
    assert "cannot be listed" in text.err


def test_a_forged_record_does_not_control_the_terminal(tmp_path: Path, cli: Cli) -> None:
    forged = "\x1b[31m" + "x" * 500
    table = msgspec.structs.replace(FIRST, table=forged, reason=forged)
    write_record(tmp_path, problem=forged, command=[forged], started=forged, tables=[table])
    for words in (["runs", "last"], ["runs"]):
        text = cli(*words, "--outputs", str(tmp_path))
        assert text.code == 0
        assert "\x1b" not in text.out + text.err
    assert max(map(len, text.out.splitlines())) < 200


def test_a_word_that_is_no_text_can_be_read_again(tmp_path: Path) -> None:
    with RunRecorder(Folder(tmp_path), ["precompute", "a\udcff"]) as recorder:
        recorder.record(FIRST)
    assert read_run(Folder(tmp_path), "last").command == ["precompute", "a\\udcff"]


def test_without_records_there_is_nothing_to_show(cli: Cli, tmp_path: Path) -> None:
    text = cli("runs", "last", "--outputs", str(tmp_path))
    assert text.code == 2
    assert text.err == (
        f"pipeline: {tmp_path} has no run record. pipeline precompute writes one.\n"
    )
    assert cli("runs", "--json", "--outputs", str(tmp_path)) == (0, "[]\n", "")


@pytest.mark.parametrize(
    "change",
    [
        {"reason": "eight.idx missing"},  # it may have used rows of the older table
        {"tasks_resumed": 3},
        {"outcome": "failed"},
        {"parameters": {"roots": ["edge"]}},
    ],
    ids=str,
)
def test_only_whole_builds_are_estimates(change: dict[str, object], tmp_path: Path) -> None:
    store = Folder(tmp_path)
    other = msgspec.structs.replace(FIRST, **change)
    write_record(tmp_path, tables=[other])
    assert find_table_run(store, "eight", FIRST.parameters) is None
    write_record(tmp_path, name="20250101T000000000Z-0000", tables=[FIRST])
    assert find_table_run(store, "eight", FIRST.parameters) == FIRST


@pytest.mark.parametrize(
    "change",
    [
        {"tables": [FIRST] * 16_000},
        {"seconds": -1.0},
        {"tables": [msgspec.structs.replace(FIRST, rows=-1)]},
        {"tables": [msgspec.structs.replace(FIRST, seconds=1e300)]},
        {"problem": "x" * 10_000},
    ],
    ids=lambda change: next(iter(change)),
)
def test_records_that_no_run_writes_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    write_record(tmp_path, **change)
    assert [*list_runs(Folder(tmp_path))] == []
    with pytest.raises(BadRequest, match="cannot be read"):
        read_run(Folder(tmp_path), RECORD.name)


class WithoutLocks(Folder):
    """A store that cannot show which processes run, as buckets cannot."""

    has_locks = False

    def open_subfolder(self, name: str) -> "WithoutLocks":
        return WithoutLocks(self.locate(name), is_inner=True)


def test_a_run_in_a_store_without_locks_is_not_called_killed(tmp_path: Path) -> None:
    write_record(tmp_path, outcome=RUNNING, ended=None)
    assert read_run(WithoutLocks(tmp_path), "last").outcome == UNKNOWN == "running or killed"
    assert read_run(Folder(tmp_path), "last").outcome == KILLED
