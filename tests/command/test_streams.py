"""Answers to a pipe whose reader has enough, and to a terminal."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.support.shell import SCRIPT, environment


def test_the_first_line_alone(place: Path) -> None:
    ended = subprocess.run(
        f"set -o pipefail; {shlex.quote(str(SCRIPT))} query eight 867254301 --path | head -1",
        cwd=place,
        env=environment(),
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"867254301\n", b"")


@pytest.mark.parametrize(("more", "bold"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_labels_are_bold_on_a_terminal_alone(place: Path, more: dict[str, str], bold: bool) -> None:
    import pty

    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            [str(SCRIPT), "query", "eight", "378546201"],
            cwd=place,
            env=environment(more),
            stdout=theirs,
            check=True,
        )
        text = os.read(ours, 10_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert ("\x1b[1mdistance\x1b[0m      27 moves" in text) == bold
    assert ("\x1b" in text) == bold


def test_keys_are_asked_for_at_a_terminal(place: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            [str(SCRIPT), "query", "eight"],
            cwd=place,
            env=environment(),
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            os.write(ours, b"123456780\n\x04")
            text, reported = process.communicate(timeout=60)
    finally:
        os.close(ours)
        os.close(theirs)
    assert text.splitlines()[1] == b'123456780,corner,0,"",1,'
    assert reported == b"pipeline: reading keys from standard input (press Ctrl-D to finish)\n"
