"""Tests of progress: a batch's on a terminal, a sample's, and what slow commands say they do."""

import io
import os
import re
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from rich.console import Console

from puzzle_tablebase.pipeline import reporter, terminal
from puzzle_tablebase.pipeline.build import build
from puzzle_tablebase.pipeline.reporter import Reporter
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.pipeline.terminal import announcing
from puzzle_tablebase.pipeline.workers import open_workers
from puzzle_tablebase.puzzles.knight.tables import PUZZLE
from puzzle_tablebase.queries import explorer
from puzzle_tablebase.queries.boards import EightProber
from puzzle_tablebase.queries.fifteen import FifteenProber
from puzzle_tablebase.stores import Folder
from tests import first
from tests.support.build_recorder import COUNTS
from tests.support.shell import Cli
from tests.support.terminal import render_screen, run_on_terminal


@pytest.mark.parametrize("output", first(2, [None, "file", "/dev/stdout"]))
def test_a_bar_is_shown_and_no_row_is_overwritten(
    outputs: Path, tmp_path: Path, output: str | None
) -> None:
    keys, answers = tmp_path / "keys.txt", tmp_path / "answers.csv"
    keys.write_text("123456780 378546201\n")
    options = [] if output is None else ["--output", str(answers) if output == "file" else output]
    words = ["query", "eight", "--input", str(keys), *options, "--outputs", str(outputs)]
    code, _, raw = run_on_terminal(words)
    assert code == 0
    assert re.search(r"rows.*2/", raw)
    visible = [line for line in render_screen(raw) if line]
    text = answers.read_text().splitlines() if output == "file" else visible
    assert text == [
        "state,goal,distance,best_moves,solutions,error",
        '123456780,corner,0,"",1,',
        "378546201,corner,27,ULR,15,",
    ]
    assert output != "file" or not visible


ANNOUNCED = ["", "--goal none", "--input -"]
SILENT = ["--hardest", "--goal edge 123456780"]


@pytest.mark.parametrize("words", [*first(2, ANNOUNCED), *first(1, SILENT)])
def test_a_batch_from_a_pipe_is_announced(outputs: Path, tmp_path: Path, words: str) -> None:
    keys = tmp_path / "keys.txt"
    keys.write_text("123456780 378546201\n")
    command = ["query", "eight", *words.split(), "--outputs", str(outputs)]
    completed = run_on_terminal(command, stdin=keys, shares_stdout=False)
    assert ("reading standard input" in completed.err) == (words in ANNOUNCED)
    if words in ANNOUNCED:
        assert (completed.code, len(completed.out.splitlines())) == (
            (2, 0) if len(words) > 9 else (0, 3)
        )


def test_a_bar_wipes_away_no_keys_that_are_typed(outputs: Path) -> None:
    terminal, child_end = os.openpty()
    os.write(terminal, b"123456780\n\x04")
    command = ["query", "eight", "--outputs", str(outputs)]
    completed = run_on_terminal(command, stdin=Path(os.ttyname(child_end)), shares_stdout=False)
    os.close(terminal)
    os.close(child_end)
    assert (completed.code, len(completed.out.splitlines())) == (0, 2)
    assert "press Ctrl-D" in completed.err
    assert "\x1b[" not in completed.err


@pytest.mark.parametrize("width", [40, 80])
def test_bars_fit_the_terminal_and_keep_their_numbers(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("sys.stderr", screen := io.StringIO())
    with Reporter() as bar:
        bar.update("knight_tours_6x6: every tour from each square " * 3, 1_234_567, 6_637_920)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.getvalue())
    lines = [line.rstrip() for line in re.split("[\r\n]+", shown) if line.strip()]
    assert {len(line) <= width for line in lines} == {True}
    assert lines[-1].split()[-3:-1] == ["1234567/6637920", "0:00:00"]


class Screen(io.StringIO):
    """A terminal that knows when something long was announced."""

    def __init__(self) -> None:
        super().__init__()
        self.has_announced = Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        written = super().write(text)
        if text.endswith("…\n"):
            self.has_announced.set()
        return written


def show_errors(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Return the terminal to which errors go; what takes any time at all is announced there.

    This is no fixture: pytest sets the stream once more before it calls a test.
    """
    monkeypatch.setattr("sys.stderr", shown := Screen())
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    return shown


@pytest.mark.parametrize(
    ("words", "slow", "name", "message"),
    [
        ("query eight --hardest", EightProber, "answer_hardest", "reading all states"),
        (
            "query fifteen 123456789abcde0f",
            FifteenProber,
            "answer",
            "searching for a shortest solution",
        ),
        ("explore --output page.html", explorer, "write_explorer", "reading the tables for"),
    ],
)
def test_what_is_slow_says_what_it_does(
    monkeypatch: pytest.MonkeyPatch, words: str, slow: Any, name: str, message: str,
    outputs: Path, patterns_555: Path, tmp_path: Path,
) -> None:  # fmt: skip
    """Hold the work up until it is announced."""
    screen = show_errors(monkeypatch)
    work = getattr(slow, name)

    def wait(*given: Any) -> Any:
        assert screen.has_announced.wait(60)
        return work(*given)

    monkeypatch.setattr(slow, name, wait)
    monkeypatch.chdir(tmp_path)
    folder = patterns_555 if "fifteen" in words else outputs
    assert run_command([*words.split(), "--outputs", str(folder)]) == 0
    assert screen.getvalue().startswith(f"pipeline: {message}")
    assert screen.getvalue().count("\n") == 1


def test_quick_work_and_a_file_get_no_announcement(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = show_errors(monkeypatch)
    monkeypatch.setattr(terminal, "PATIENCE", 1e6)
    with announcing("working"):
        pass
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    monkeypatch.setattr(screen, "isatty", lambda: False)
    with announcing("working"):
        screen.has_announced.wait(0.05)
    assert screen.getvalue() == ""
    monkeypatch.setattr(screen, "isatty", lambda: True)
    with announcing("working"):
        assert screen.has_announced.wait(60)
    assert screen.getvalue() == "pipeline: working …\n"


@pytest.mark.parametrize(
    ("words", "done", "total"),
    [
        ("eight --size 300000", [262_144, 300_000], 300_000),
        ("eight --size 40 --distance 8-11 --spread", [10, 20, 30, 40, 40], 40),
        ("eight --split train=30,test=12", [42], 42),
        ("senet --size 7", [7], 7),
    ],
)
def test_a_sample_knows_how_much_is_left(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: str, done: list[int], total: int
) -> None:
    updates = list[tuple[Any, ...]]()
    monkeypatch.setattr(
        Reporter, "update", lambda _, *given, **named: updates.append((*given, *named.values()))
    )
    assert cli("sample", *words.split(), "--format", "csv").code == 0
    assert updates[0] == ("rows",)
    assert updates[1:] == [("rows", each, total) for each in done]


def test_a_notebook_that_cannot_draw_bars_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = list[str]()
    monkeypatch.setattr("rich.jupyter.display", lambda _, text: shown.append(text))
    monkeypatch.setattr(reporter, "Console", partial(Console, force_jupyter=True))
    monkeypatch.setattr(reporter, "find_spec", lambda _: None)
    monkeypatch.setattr(reporter, "LINE_INTERVAL", -1)
    with Reporter() as progress:
        progress.update("tours", 1, 2, of="knight")
    assert shown == ["  knight: tours 1 of 2 (50%), 0 s\n"]


def test_progress_is_printed_now_and_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Print every step, and none but the tables themselves."""
    tables = [(PUZZLE, table) for table in (PUZZLE.tables[0], COUNTS)]
    for interval in (-1, 3600):
        monkeypatch.setattr("puzzle_tablebase.pipeline.reporter.LINE_INTERVAL", interval)
        with Reporter() as reporter, open_workers(jobs=1) as tasks:
            build(Folder(tmp_path / str(interval)), tables, tasks, reporter)
        lines = capsys.readouterr().err.splitlines()
        steps = {re.sub(r", \d+ s$", "", line) for line in lines if line.startswith("  ")}
        assert not steps or interval < 0
        assert interval > 0 or steps >= {
            "  knight_tours_5x5: 1,728 tours found, prefixes 168 of 168 (100%)",
            "  knight_counts: 3x4 open, steps back 3 of 3 (100%)",
        }
        for _, table in tables:
            assert any(line.startswith(f"{table.name}: ") for line in lines)
            assert f"building {table.name} (missing)" in lines
