"""Tests of signals: any command ends at any moment, soon, quietly and without leftover files."""

import fcntl
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from itertools import cycle
from pathlib import Path
from subprocess import PIPE
from threading import Event
from typing import Any

import pytest

from puzzle_tablebase.process import SIGNALS
from puzzle_tablebase.stores import MANIFEST, Folder
from tests import usual_or_nightly
from tests.support.hosts import Request, answer_connections, serve
from tests.support.shell import SCRIPT, begin_python, environment

MAX_SECONDS = usual_or_nightly(3.0, 1.5)
"""Seconds from the signal to the end, at most: a busy machine may delay it."""

SLOW_HOST = {
    "query eight 378546201": "eight.idx",
    "query senet ABAAABBB.B...A.": "senet.idx",
    "query knight b1": "knight_tours_8x8.idx",
    "query knight a1 --board 5x5": "knight_tours_5x5.parquet",
    "query knight a1 --board 6x6 --svg tour.svg": "knight_tours_6x6.parquet",
    "check eight 378546201 UL": "eight.idx",
    "check eight 378546201 UL --goal corner": "eight.idx",
    "sample eight --output sample.csv": "eight.parquet",
    "histogram eight": MANIFEST,
    "status": "senet.idx",
    "verify senet": "senet.parquet",
    "verify --quick": "senet.parquet",
    "report --output report.html": "senet.parquet",
    "explore --output explorer.html": "senet.idx",
    "site website --quick": "",
}
"""Commands that read, each with the file for which a host lets it wait; "": any, once it writes."""
SISTERS = {
    *("query senet ABAAABBB.B...A.", "query knight a1 --board 6x6 --svg tour.svg"),
    *("query knight b1", "query knight a1 --board 5x5", "verify senet", "histogram eight"),
    *("report --output report.html", "explore --output explorer.html", "diff {} s3://puzzles/x"),
    *("query eight --output answers.csv", "query senet --output answers.csv.gz"),
    "query knight --board 6x6 --format jsonl --input /dev/stdin",
}
"""Commands that wait as another one does."""
SLOW_BUCKET = ("copy {} s3://puzzles/x eight", "diff {} s3://puzzles/x")
"""Commands that a bucket lets wait; the tables are at {}."""
BUCKET = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
}
BATCHES = {
    "query eight": b" ",
    "query eight --output answers.csv": b" ",
    "query eight --output answers.parquet --input /dev/stdin": b"123456780 ",
    "query senet --output answers.csv.gz": b"ABABABABAB..... ",
    "query knight --board 6x6 --format jsonl --input /dev/stdin": b"a1 ",
    "check eight --output judged.csv": b"123456780,UL\n",
}
"""Batches, each with the keys that it has read when the signal comes."""
RANDOM_MOMENTS = {
    "query eight --input keys.txt --output answers.csv": 1.0,
    "query senet --input keys.txt --output answers.parquet": 1.0,
    "verify": 8.0,
    "verify --quick": 1.0,
    "precompute --force --outputs again": 8.0,
    "report --output report.html": 3.0,
    "explore --output explorer.html": 1.0,
    "site website --quick": 1.5,
    "status": 0.5,
}
"""Commands that work for a while, each with the seconds within which it is interrupted."""
LONE_LOOKUP = re.compile(r"(query|check \w+) \w+ \S+$")
"""Commands that the system ends: they write nothing, and take over no signal."""


@pytest.fixture(autouse=True)
def obeyed_hangup() -> Iterator[None]:
    """Undo `nohup` for the commands that a test starts: they would ignore SIGHUP, as they must."""
    before = signal.getsignal(signal.SIGHUP)
    if before == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def begin(
    words: list[str | Path], folder: Path, **variables: str
) -> AbstractContextManager[subprocess.Popen[bytes]]:
    env = environment(variables)
    return subprocess.Popen(words, cwd=folder, env=env, stdin=PIPE, stdout=PIPE, stderr=PIPE)


def await_blocked_signals(process: subprocess.Popen[bytes]) -> None:
    """Wait until a command has started Python and blocks the signals, or ended."""
    while True:
        status = Path(f"/proc/{process.pid}/status").read_text()
        blocked = int(status.partition("SigBlk:")[2].split()[0], 16)
        if "State:\tZ" in status or blocked >> (signal.SIGINT - 1) & 1:
            break
        time.sleep(0.001)


def await_reader(process: subprocess.Popen[bytes], keys: bytes) -> None:
    """Write keys to a command's standard input, and wait until it has read them."""
    assert process.stdin
    os.write(process.stdin.fileno(), keys)
    while int.from_bytes(fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)), sys.byteorder):
        assert process.poll() is None
        time.sleep(0.001)


def stop(process: subprocess.Popen[bytes], number: int) -> tuple[int, bytes]:
    """Send a signal to a command, which ends soon; return its exit code and errors."""
    process.send_signal(number)
    try:
        process.wait(MAX_SECONDS)  # its standard input stays open
    finally:
        process.kill()
    lines = (process.communicate()[1] or b"").splitlines(keepends=True)
    return process.returncode, b"".join(line for line in lines if not line.startswith(b"note: "))


def number_signals(commands: Iterable[str]) -> list[Any]:
    """Pair each command with a signal, in turn; sisters are slow."""
    return [
        pytest.param(words, number, marks=[pytest.mark.slow] * (words in SISTERS))
        for words, number in zip(commands, cycle(SIGNALS), strict=False)
    ]


@pytest.mark.parametrize(("words", "number"), number_signals([*SLOW_HOST, *SLOW_BUCKET]))
def test_a_signal_while_a_host_lets_a_command_wait(
    words: str, number: int, outputs: Path, tmp_path: Path
) -> None:
    reached, has_ended = Event(), Event()

    def hold(request: object, _: object = None) -> None:
        name = request.name if isinstance(request, Request) else None
        file = SLOW_HOST.get(words)
        if any(tmp_path.iterdir()) if file == "" else name == file:
            reached.set()
            has_ended.wait(60)

    with ExitStack() as stack:
        variables = dict(BUCKET)
        if words in SLOW_HOST:
            variables["PIPELINE_OUTPUTS"] = stack.enter_context(serve(outputs, hold)).url
        else:
            variables["AWS_ENDPOINT_URL"] = stack.enter_context(answer_connections(hold))
        stack.callback(has_ended.set)
        process = stack.enter_context(
            begin([SCRIPT, *words.format(outputs).split()], tmp_path, **variables)
        )
        while not reached.wait(0.01):
            assert process.poll() is None
        code = -number if LONE_LOOKUP.match(words) else 128 + number
        assert stop(process, number) == (code, b"")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(("words", "number"), number_signals(BATCHES))
def test_a_signal_while_a_batch_reads_a_pipe(
    words: str, number: int, outputs: Path, tmp_path: Path
) -> None:
    with begin(
        [SCRIPT, *words.format(outputs).split()], tmp_path, PIPELINE_OUTPUTS=str(outputs)
    ) as process:
        await_reader(process, BATCHES[words])
        assert stop(process, number) == (128 + number, b"")
    assert not [*tmp_path.iterdir()]


@pytest.mark.nightly
@pytest.mark.long
def test_a_signal_at_random_moments(workspace: Path, tmp_path: Path) -> None:
    shutil.copytree(workspace / "outputs", tmp_path / "outputs", symlinks=True)
    (tmp_path / "keys.txt").write_text("378546201\n" * 500_000)
    draw, interrupted, tries = random.Random(2026), 0, 100
    for _ in range(tries):
        words, longest = draw.choice(list(RANDOM_MOMENTS.items()))
        number, after = draw.choice(SIGNALS), draw.uniform(0, longest)
        with begin([SCRIPT, *words.split()], tmp_path) as process:
            await_blocked_signals(process)
            time.sleep(after)
            code, text = stop(process, number)
        moment = f"{words}, signal {number} after {after:.3f} s"
        # it may have ended before the signal
        assert code in (128 + number, 0), (moment, code, text)
        interrupted += code != 0
        assert b"pipeline: " not in text, (moment, text)
        assert [*tmp_path.rglob("*.unpublished")] == [], moment
    assert interrupted > tries / 2


def test_an_interrupt_restores_the_terminal(tmp_path: Path) -> None:
    parent_end, child_end = os.openpty()
    with subprocess.Popen(
        [SCRIPT, "precompute", "--outputs", tmp_path],
        env=environment({"TERM": "xterm"}),
        stdin=child_end,
        stdout=child_end,
        stderr=child_end,
        start_new_session=True,
    ) as process:
        os.close(child_end)
        output = b""
        while b"\x1b[?25l" not in output:  # the bar is there, the cursor is not
            output += os.read(parent_end, 10_000)
        assert stop(process, signal.SIGINT)[0] == 130
    while b"\x1b[?25h" not in output:
        output += os.read(parent_end, 10_000)
    os.close(parent_end)
    assert output.rindex(b"\x1b[?25h") > output.rindex(b"\x1b[?25l")


def test_an_ignored_signal_stays_ignored(workspace: Path) -> None:
    """Start the command as `nohup` does."""
    with begin(["sh", "-c", f"trap '' HUP; exec {SCRIPT} query eight"], workspace) as process:
        await_blocked_signals(process)
        process.send_signal(signal.SIGHUP)
        answers, _ = process.communicate(b"123456780\n", timeout=20)
    assert (process.returncode, len(answers.splitlines())) == (0, 2)


@pytest.mark.parametrize("first_call", ["pass", "count_tours_from(near, 0)"])
def test_a_signal_while_a_kernel_runs_in_the_main_thread(first_call: str) -> None:
    """Interrupt a kernel, while it is made or after its first call: no Python runs for seconds."""
    code = (
        "import sys; from puzzle_tablebase.process import take_over_signals, watch_signals\n"
        "take_over_signals(); watch_signals()\n"
        "import numpy as np\n"
        "from puzzle_tablebase.pipeline.proofs.knight_counts import count_tours_from\n"
        "from puzzle_tablebase.pipeline.proofs.knight_rules import list_jumps\n"
        f"near = list_jumps(6, 6); {first_call}; print('begun', flush=True)\n"
        "while True: count_tours_from(near, 0)\n"
    )
    with begin_python(code) as process:
        assert stop(process, signal.SIGINT)[0] == 130


@pytest.mark.parametrize("number", SIGNALS)
def test_a_cleanup_that_fails_leaves_nothing_locked(number: int, tmp_path: Path) -> None:
    """Fail in the first of two cleanups: the other one runs, and the store's lock is free again."""
    code = (
        "import sys; from pathlib import Path; from puzzle_tablebase.process import *\n"
        "from puzzle_tablebase.stores import Folder\n"
        "def fail(): raise SystemError('a cleanup that fails')\n"
        "take_over_signals(); watch_signals()\n"
        "folder = Path(sys.argv[1]); done = folder / 'done'\n"
        "with CleanupOnSignal(fail), CleanupOnSignal(done.touch), Folder(folder).lock():\n"
        "    with cleanup_lock:\n"
        "        print('begun', flush=True); sys.stdin.read()\n"
    )
    with begin_python(code, tmp_path) as process:
        assert stop(process, number)[0] == 128 + number
    assert (tmp_path / "done").exists()
    with Folder(tmp_path).lock():  # it would wait for ever
        pass


@pytest.mark.parametrize("then", ["files.publish()", "raise FileNotFoundError(2, 'it is gone')"])
def test_what_a_signal_removes_is_no_error(then: str, tmp_path: Path) -> None:
    """Go on while a cleanup takes long: rename the file that another removed, or miss it."""
    code = (
        "import sys, time; from pathlib import Path; from puzzle_tablebase.process import *\n"
        "from puzzle_tablebase.pipeline import run\n"
        "from puzzle_tablebase.stores import Folder\n"
        "folder = Path(sys.argv[1])\n"
        "def write(*words):\n"
        "    written = Folder(folder).write_files('file')\n"
        "    with CleanupOnSignal(lambda: time.sleep(1)), written as files:\n"
        "        watch_signals(); print('begun', flush=True)\n"
        "        while [*folder.rglob('*.unpublished')]: time.sleep(0.01)\n"
        f"        {then}\n"
        "run.answer_fast = write; take_over_signals()\n"
        "sys.exit(run.run_command(['query']))\n"
    )
    with begin_python(code, tmp_path) as process:
        assert stop(process, signal.SIGINT) == (130, b"")
