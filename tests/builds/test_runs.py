"""Tests of the log of builds: a line for each table, and what `pipeline runs` prints of them."""

import calendar
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.runs import COMPLETED, FAILED, RUNS, SHOWN_RUNS, read_last_runs
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


def write_log(folder: Path, *lines: dict[str, object] | str) -> None:
    texts = [line if isinstance(line, str) else json.dumps({**LINE, **line}) for line in lines]
    (folder / RUNS).write_text("".join(f"{text}\n" for text in texts))


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
    assert RUNS not in (tmp_path / "manifest.json").read_text()
    assert cli(*words).code == 0  # it builds nothing, so it appends nothing
    assert read_last_runs(Folder(tmp_path)) == runs
    assert cli(*words, "--force").code == 0
    assert read_last_runs(Folder(tmp_path))[: len(runs)] == runs


@pytest.mark.parametrize(
    ("obstruct", "problem"),
    [
        (Path.mkdir, "is a directory"),
        (lambda path: path.symlink_to("/dev/null"), "it is a device, not a file"),
    ],
)
def test_a_log_that_cannot_be_written_is_a_note(
    obstruct: Callable[[Path], None], problem: str, cli: Cli, tmp_path: Path
) -> None:
    obstruct(tmp_path / RUNS)
    text = cli("precompute", "eight", "--outputs", str(tmp_path))
    assert text.code == 0
    assert f"note: {tmp_path / RUNS} was not written: {problem}" in text.err
    assert {*read_manifest(Folder(tmp_path))} == {"eight", "eight_edge"}
    text = cli("runs", "--outputs", str(tmp_path))
    assert (text.code, text.out) == (3, "")


def test_golden(cli: Cli, tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    failed = {"table": "senet", "reason": "forced", "outcome": FAILED, "peak_memory": None}
    write_log(tmp_path, {}, {**failed, "seconds": 1234.5})
    answers = [
        f"$ pipeline {words}\n{cli(*words.split(), '--outputs', str(tmp_path)).out}"
        for words in ("runs", "runs --json")
    ]
    golden("runs", "\n".join(answers))


def test_the_last_lines_that_can_be_read_are_shown(cli: Cli, tmp_path: Path) -> None:
    lines = [{"seconds": float(number)} for number in range(SHOWN_RUNS + 3)]
    unreadable = ["{", "", "\udcff", "[" * 10_000, '{"when": 1}', '{"table": "eight"}']
    (tmp_path / RUNS).touch()
    with (tmp_path / RUNS).open("w", errors="surrogateescape") as file:
        for text in [*(json.dumps({**LINE, **line}) for line in lines), *unreadable]:
            file.write(f"{text}\n")
    shown = json.loads(cli("runs", "--json", "--outputs", str(tmp_path)).out)
    assert [row["seconds"] for row in shown] == [*range(3, SHOWN_RUNS + 3)]


def test_without_a_log_there_is_nothing_to_show(cli: Cli, tmp_path: Path) -> None:
    assert cli("runs", "--json", "--outputs", str(tmp_path)) == (0, "[]\n", "")
