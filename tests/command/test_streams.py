"""Tests of answers on a pipe that is closed early, and on a terminal."""

import os
import subprocess
from pathlib import Path

import pytest

from puzzle_tablebase.pipeline.terminal import wrap_message
from tests.support.shell import SCRIPT, environment, pipeline
from tests.support.terminal import render_screen, run_on_terminal


@pytest.mark.parametrize(("variables", "bold"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_labels_are_bold_only_on_a_terminal(
    place: Path, variables: dict[str, str], bold: bool
) -> None:
    said = run_on_terminal(["query", "eight", "378546201"], cwd=place, env=variables)
    assert said.code == 0
    assert ("\x1b[1mdistance\x1b[0m      27 moves" in said.err) == bold
    assert ("\x1b" in said.err) == bold


def test_a_terminal_is_prompted_for_keys(place: Path) -> None:
    import pty

    parent_end, child_end = pty.openpty()
    try:
        with subprocess.Popen(
            [str(SCRIPT), "query", "eight"],
            cwd=place,
            env=environment(),
            stdin=child_end,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            os.write(parent_end, b"123456780\n\x04")
            text, errors = process.communicate(timeout=60)
    finally:
        os.close(parent_end)
        os.close(child_end)
    assert text.splitlines()[1] == b'123456780,corner,0,"",1,'
    assert errors == b"pipeline: reading keys from standard input (press Ctrl-D to finish)\n"


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_errors_are_wrapped_at_words_on_a_terminal(place: Path, columns: int) -> None:
    words = ["query", "eight", "123456780", "--goal", "centre"]
    sentence = pipeline(*words, cwd=place).err
    assert len(sentence) > 81
    code, _, screen = run_on_terminal(words, columns=columns, cwd=place)
    assert code == 1
    assert screen.replace("\r\n", " ").strip() == sentence.strip()
    lines = screen.splitlines()
    assert max(map(len, lines)) <= columns
    assert (len(lines) == 1) == (len(sentence) <= columns + 1)


def test_a_command_in_an_error_stays_in_one_line() -> None:
    command = "Run: pipeline precompute eight_edge --force --outputs 'a folder'"
    message = f"pipeline: 日本/eight.idx is damaged: it is no index of ours. {command}"
    assert wrap_message(message, 30).splitlines() == [
        "pipeline: 日本/eight.idx is",
        "damaged: it is no index of",
        "ours.",
        command,
    ]
    hint = "See: pipeline query --help."
    lines = wrap_message(f"pipeline: query has no puzzle 'Eight'. Did you mean eight? {hint}", 70)
    assert lines.splitlines()[1:] == [hint]


@pytest.mark.parametrize("line", ["precompute --dry-run", "verify --quick", "runs"])
def test_lines_fit_a_terminal(place: Path, tmp_path: Path, line: str) -> None:
    folder = tmp_path if line == "runs" else place
    if line == "runs":
        assert pipeline("precompute", "sliding_2x3", cwd=folder).code == 0
    said = run_on_terminal(line.split(), columns=72, cwd=folder)
    assert said.code == 0
    lines = [each for each in render_screen(said.err) if each]
    assert len(lines) > 1
    assert max(map(len, lines)) <= 72
