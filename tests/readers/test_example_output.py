"""Readers in `examples/` that cannot write an answer report it, and do not exit with 0."""

import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.reader_programs import COMMANDS, EXAMPLES, tool
from tests.support.shell import environment

PROGRAMS: dict[str, Callable[[Path], list[str]]] = {
    **COMMANDS, "mjs": lambda _: [tool("node"), str(EXAMPLES / "reader.mjs")]
}  # fmt: skip
CLOSED = {"c": -signal.SIGPIPE, "py": 2, "mjs": 2}
"""The exit code of each program whose output is closed: the system ends the one in C."""


@pytest.fixture(scope="module", params=sorted(PROGRAMS))
def program(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, list[str]]:
    """Return the name of one of the readers, and its command."""
    return request.param, PROGRAMS[request.param](tmp_path_factory.mktemp("reader"))


def run_reader(command: list[str], output: int, *words: object) -> tuple[int, str]:
    """Run a reader with an output; return its exit code and its message."""
    words = (*command, *words)
    ended = subprocess.run(
        [*map(str, words)],
        env=environment(), stdout=output, stderr=subprocess.PIPE, timeout=120, check=False,
    )  # fmt: skip
    return ended.returncode, ended.stderr.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full disk to try")
@pytest.mark.parametrize("keys", [1, 5000])
def test_a_reader_reports_a_full_disk(
    program: tuple[str, list[str]], outputs: Path, keys: int
) -> None:
    with open("/dev/full", "wb") as full:
        code, text = run_reader(program[1], full.fileno(), outputs, "eight", *["123456780"] * keys)
    assert code == 2
    assert re.match("reader: (standard output cannot be written|ENOSPC: no space left)", text)
    assert text.count("\n") == 1, "a sentence, and no traceback"


def test_a_reader_with_a_closed_output_has_no_traceback(
    program: tuple[str, list[str]], outputs: Path
) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb"):
        code, text = run_reader(program[1], write_end, outputs, "eight", "378546201")
    assert code == CLOSED[program[0]]
    assert text.count("\n") == (code == 2), "a sentence at most, and no traceback"
