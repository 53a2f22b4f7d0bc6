"""Tests of a batch's progress on a terminal, also when its answers go to the same terminal."""

import io
import os
import re
from pathlib import Path

import pytest

from puzzle_tablebase.pipeline.reporter import Reporter
from tests.support.terminal import render_screen, run_on_terminal


@pytest.mark.parametrize("output", [None, "/dev/stdout", "file"])
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


ANNOUNCED = ["", "--input -", "--goal none"]
SILENT = ["--hardest", "--goal edge 123456780"]


@pytest.mark.parametrize("words", [*ANNOUNCED, *SILENT])
def test_a_batch_from_a_pipe_is_announced(outputs: Path, tmp_path: Path, words: str) -> None:
    keys = tmp_path / "keys.txt"
    keys.write_text("123456780 378546201\n")
    command = ["query", "eight", *words.split(), "--outputs", str(outputs)]
    said = run_on_terminal(command, stdin=keys, shares_stdout=False)
    assert ("reading standard input" in said.err) == (words in ANNOUNCED)
    if words in ANNOUNCED:
        assert (said.code, len(said.out.splitlines())) == ((2, 0) if len(words) > 9 else (0, 3))


def test_a_bar_wipes_away_no_keys_that_are_typed(outputs: Path) -> None:
    terminal, child_end = os.openpty()
    os.write(terminal, b"123456780\n\x04")
    command = ["query", "eight", "--outputs", str(outputs)]
    said = run_on_terminal(command, stdin=Path(os.ttyname(child_end)), shares_stdout=False)
    os.close(terminal)
    os.close(child_end)
    assert (said.code, len(said.out.splitlines())) == (0, 2)
    assert "press Ctrl-D" in said.err
    assert "\x1b[" not in said.err


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
