"""Tests of answers on a pipe that is closed early, and on a terminal."""

import os
import subprocess
from pathlib import Path

from tests.support.shell import SCRIPT, environment


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
