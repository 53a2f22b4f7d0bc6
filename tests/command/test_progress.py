"""Tests of a batch's progress on a terminal, also when its answers go to the same terminal."""

import io
import os
import re
from pathlib import Path

import pytest

from pipeline.progress import BatchProgress
from pipeline.terminal import StepLine, clear_line, require_usual_width
from queries.batch import Batch, run_batch
from queries.dispatch import open_reader
from tablebase.tables.store import Folder
from tests.support.terminal import render_screen, run_on_terminal


@pytest.mark.parametrize("output", [None, "-", "/dev/stdout", "file"])
def test_a_bar_is_shown_and_no_row_is_overwritten(
    outputs: Path, tmp_path: Path, output: str | None
) -> None:
    keys, answers = tmp_path / "keys.txt", tmp_path / "answers.csv"
    keys.write_text("123456780 378546201\n")
    options = [] if output is None else ["--output", str(answers) if output == "file" else output]
    words = ["query", "eight", "--input", str(keys), *options, "--outputs", str(outputs)]
    code, _, raw = run_on_terminal(words, columns=200)
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


@pytest.mark.parametrize("option", ["--input ", "--input="])
def test_a_batch_is_announced_before_the_command_line_is_loaded(
    outputs: Path, tmp_path: Path, option: str
) -> None:
    keys = tmp_path / "keys.csv"
    keys.write_text("state\n123456780\n")
    line = f"query eight {option}{keys} --outputs {outputs} --goal none"
    said = run_on_terminal(line.split(), columns=300)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"\rreading {keys}\r\x1b[K")
    assert render_screen(said.err)[0].startswith("pipeline: 'none' is not")


@pytest.mark.parametrize("words", ["", "-", "--input -", "--goal none", "--column x -"])
def test_a_batch_from_a_pipe_is_announced_too(outputs: Path, tmp_path: Path, words: str) -> None:
    keys = tmp_path / "keys.txt"
    keys.write_text("123456780 378546201\n")
    command = ["query", "eight", *words.split(), "--outputs", str(outputs)]
    said = run_on_terminal(command, columns=200, stdin=keys, shares_stdout=False)
    assert said.err.startswith("\rreading standard input\r\x1b[K")
    assert (said.code, len(said.out.splitlines())) == ((2, 0) if len(words) > 9 else (0, 3))
    assert "reading standard input" in said.err.partition("\x1b[K")[2], "the bar says it, too"


@pytest.mark.parametrize("words", ["--hardest", "12 --column x", "--goal edge 123456780", "--help"])
def test_no_other_query_is_announced(outputs: Path, tmp_path: Path, words: str) -> None:
    (tmp_path / "empty").touch()
    command = ["query", "eight", *words.split(), "--outputs", str(outputs)]
    said = run_on_terminal(command, columns=200, stdin=tmp_path / "empty")
    assert "reading" not in said.err


def test_slow_lookups_report_their_progress(outputs: Path, tmp_path: Path) -> None:
    """Look up 130 different keys, of which one names a square."""
    keys, counts = tmp_path / "keys.txt", list[int]()
    keys.write_text(" ".join(["b1", *(f"z{number}" for number in range(129))]))
    request = Batch(str(keys), "csv", str(tmp_path / "answers.csv"))
    query = open_reader("knight", Folder(outputs)).make_query()
    assert run_batch(query, request, counts.append) == 129
    assert counts == [64, 128, 130]


def test_a_long_walk_is_counted_on_a_terminal_and_the_line_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter([0.0, 0.5, 1.5])
    monkeypatch.setattr("pipeline.terminal.time.monotonic", lambda: next(clock))
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    line = StepLine()
    line.show(3)
    clear_line()
    assert screen.getvalue() == "", "a short walk shows nothing"
    line.show(70)
    clear_line()
    assert screen.getvalue() == "\r70 moves\r\x1b[K"


@pytest.mark.parametrize("width", [40, 80])
def test_bars_fit_the_terminal_and_keep_their_numbers(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("sys.stderr", screen := io.StringIO())
    with BatchProgress(output="file") as bar:
        bar.show("knight_tours_6x6: every tour from each square " * 3, 1_234_567, 6_637_920)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.getvalue())
    lines = [line.rstrip() for line in re.split("[\r\n]+", shown) if line.strip()]
    assert {len(line) <= width for line in lines} == {True}
    assert lines[-1].endswith(" 1234567/6637920 0:00:00")


@pytest.mark.parametrize(
    ("text", "width"), [("0", None), ("1000000000", None), ("x", None), ("80", "80")]
)
def test_an_impossible_width_is_forgotten(
    monkeypatch: pytest.MonkeyPatch, text: str, width: str | None
) -> None:
    monkeypatch.setenv("COLUMNS", text)
    require_usual_width()
    assert os.environ.get("COLUMNS") == width
