"""Tests of the log of builds: a line for each table, and what `pipeline runs` prints of them."""

import calendar
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.jobs import COMPLETED, FAILED, RUNS, SHOWN_RUNS, read_last_runs
from puzzle_tablebase.stores.folder import Folder
from tests.support.shell import Cli

LINE = {
    "when": "2026-01-02T03:04:05Z",
    "table": "eight",
    "reason": "missing",
    "seconds": 1.25,
    "peak_memory": 379_000_000,
    "outcome": COMPLETED,
}


def test_a_build_appends_a_line_for_each_table(cli: Cli, tmp_path: Path) -> None:
    began = time.time()
    words = ("precompute", "knight_tours_5x5", "eight", "--outputs", str(tmp_path))
    assert cli(*words).code == 0
    runs = read_last_runs(Folder(tmp_path))
    assert {run.table for run in runs} == {*read_manifest(Folder(tmp_path))}
    for run in runs:
        assert (run.reason, run.outcome) == ("missing", COMPLETED)
        ended = calendar.timegm(time.strptime(run.when, "%Y-%m-%dT%H:%M:%SZ"))
        assert began - 1 <= ended <= time.time()
        assert 0 < run.seconds <= time.time() - began
        assert 50 << 20 < (run.peak_memory or 0) < 4 << 30
    assert cli(*words).code == 0  # it builds nothing, so it appends nothing
    assert read_last_runs(Folder(tmp_path)) == runs


@pytest.mark.parametrize("obstruct", [Path.mkdir, lambda path: path.symlink_to("/dev/null")])
def test_a_log_that_cannot_be_written_is_a_note(
    obstruct: Callable[[Path], None], cli: Cli, tmp_path: Path
) -> None:
    obstruct(tmp_path / RUNS)
    text = cli("precompute", "knight_tours_5x5", "--outputs", str(tmp_path))
    assert (text.code, f"note: {tmp_path / RUNS} was not written: " in text.err) == (0, True)
    assert {*read_manifest(Folder(tmp_path))} == {"knight_tours_5x5"}
    assert cli("runs", "--outputs", str(tmp_path)).code == 3


def test_the_last_lines_that_can_be_read_are_shown(
    cli: Cli, tmp_path: Path, golden: Callable[[str, str], None]
) -> None:
    assert cli("runs", "--json", "--outputs", str(tmp_path)) == (0, "[]\n", "")
    failed = {"table": "senet", "reason": "forced", "outcome": FAILED, "peak_memory": None}
    lines: list[dict[str, object]] = [{}, {**failed, "seconds": 1234.5}]
    write_log(
        tmp_path, *lines, "{", "", "\udcff", "[" * 10_000, '{"when": 1}', '{"table": "eight"}'
    )
    answers = [
        f"$ pipeline {words}\n{cli(*words.split(), '--outputs', str(tmp_path)).out}"
        for words in ("runs", "runs --json")
    ]
    golden("runs", "\n".join(answers))
    write_log(tmp_path, *({"seconds": float(number)} for number in range(SHOWN_RUNS + 3)))
    runs = read_last_runs(Folder(tmp_path))
    assert [run.seconds for run in runs] == [*range(3, SHOWN_RUNS + 3)]


def write_log(folder: Path, *lines: Mapping[str, object] | str) -> None:
    texts = [line if isinstance(line, str) else json.dumps({**LINE, **line}) for line in lines]
    text = "".join(f"{text}\n" for text in texts)
    (folder / RUNS).write_text(text, errors="surrogateescape")
