"""A batch's progress on a terminal, also where its answers go to the same one."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from pipeline.progress import BatchProgress
from queries import answer_frames
from queries.batch import Batch, run_batch
from queries.dispatch import open_reader
from tablebase.tables.store import Folder
from tests.support.shell import environment, program

PART = re.compile(r"\x1b\[([0-9;?]*)([a-zA-Z])|[\r\n]|[^\x1b\r\n]+")


def screen(raw: str) -> list[str]:
    """The lines that a terminal shows after these characters."""
    lines, row, column = [""], 0, 0
    for part in PART.finditer(raw):
        text, (given, what) = part[0], part.groups()
        if text == "\r":
            column = 0
        elif text == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif what == "A":
            row -= int(given or 1)
        elif what == "K":
            lines[row] = ""
        elif what == "J":
            lines[row:] = [lines[row][:column]]
        elif not what:
            lines[row] = lines[row][:column].ljust(column) + text + lines[row][column + len(text) :]
            column += len(text)
    return [line.rstrip() for line in lines]


def on_a_terminal(words: list[str], outputs: Path) -> str:
    """All that the program writes to a terminal that has both of its streams."""
    termios = pytest.importorskip("termios")
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (40, 200))
    command = [program(), *words, "--outputs", str(outputs)]
    terminal = environment({"TERM": "xterm", "COLUMNS": "200"})
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=terminal) as process:
        os.close(theirs)
        raw = b""
        try:
            while data := os.read(ours, 1 << 16):
                raw += data
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        assert process.wait() == 0
    return raw.decode()


@pytest.mark.parametrize("output", [None, "-", "/dev/stdout", "file"])
def test_a_bar_is_shown_and_no_row_is_touched(
    outputs: Path, tmp_path: Path, output: str | None
) -> None:
    keys, answers = tmp_path / "keys.txt", tmp_path / "answers.csv"
    keys.write_text("123456780 378546201\n")
    named = [] if output is None else ["--output", str(answers) if output == "file" else output]
    raw = on_a_terminal(["query", "eight", "--input", str(keys), *named], outputs)
    assert re.search(r"rows.*2/", raw)
    shown = [line for line in screen(raw) if line]
    text = answers.read_text().splitlines() if output == "file" else shown
    assert text == [
        "state,goal,distance,best_moves,solutions,error",
        '123456780,corner,0,"",1,',
        "378546201,corner,27,ULR,15,",
    ]
    assert output != "file" or not shown


def test_slow_lookups_tell_how_many_are_done(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_frames, "REPORTED", 2)
    keys, answers = tmp_path / "keys.txt", tmp_path / "answers.csv"
    keys.write_text("b1 b2 b3 b4 b5")
    done = list[int]()
    request = Batch(str(keys), "csv", str(answers))
    assert run_batch(open_reader("knight", Folder(outputs)), {}, request, done.append) == 0
    assert done == [2, 4, 5]


def test_without_a_terminal_there_is_no_bar(capfd: pytest.CaptureFixture[str]) -> None:
    with BatchProgress(output=None) as bar:
        bar.on_rows(7)
        with bar.printing():
            pass
    assert capfd.readouterr() == ("", "")
