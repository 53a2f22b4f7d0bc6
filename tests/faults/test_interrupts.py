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
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from subprocess import PIPE
from threading import Event
from typing import IO

import pytest

from puzzle_tablebase.process import SIGNALS
from puzzle_tablebase.stores import MANIFEST
from puzzle_tablebase.stores.folder import Folder
from tests import usual_or_nightly
from tests.support.hosts import Request, answer_connections, serve
from tests.support.shell import SCRIPT, begin_python, environment

TIMEOUT_SECONDS = 20.0
MAX_SECONDS = usual_or_nightly(2.0, 1.0)
"""Seconds from the signal to the end, at most."""
TRIES = 3
"""Tries to end so soon: a busy machine may delay one of them."""

SLOW_HOST = {
    "query eight 378546201": "eight.idx",
    "query senet ABAAABBB.B...A.": "senet.idx",
    "query knight b1": "knight_tours_8x8.idx",
    "query knight a1 --board 5x5": "knight_tours_5x5.parquet",
    "query knight a1 --board 6x6 --svg tour.svg": "knight_tours_6x6.parquet",
    "check eight 378546201 UL": "eight.idx",
    "sample eight --output sample.csv": "eight.parquet",
    "histogram eight": MANIFEST,
    "status": "senet.idx",
    "verify": "senet.parquet",
    "verify --quick": "senet.parquet",
    "report --output report.html": "senet.parquet",
    "explore --output explorer.html": "senet.idx",
    "site website --quick": "senet.parquet",
}
"""Commands that read, each with the file for which a host lets it wait."""
SLOW_BUCKET = ("precompute eight", "remove eight")
"""Commands that write, which a bucket lets wait."""
BATCHES = {
    "query eight --output answers.parquet": b"123456780 ",
    "query senet --output answers.csv.gz": b"ABABABABAB..... ",
    "query knight --board 6x6 --format jsonl": b"a1 ",
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
LONE_LOOKUP = re.compile(r"query \w+ \S+$")
"""Commands that the system ends: they write nothing, and take over no signal."""


@pytest.fixture
def folder(place: Path, tmp_path: Path) -> Path:
    """Make a folder to work in, with tables and a batch's keys."""
    shutil.copytree(place / "outputs", tmp_path / "outputs", symlinks=True)
    (tmp_path / "keys.txt").write_text("378546201\n" * 500_000)
    return tmp_path


@pytest.fixture(autouse=True)
def obeyed_hangup() -> Iterator[None]:
    """Undo `nohup` for the commands that a test starts: they would ignore SIGHUP, as they must."""
    before = signal.getsignal(signal.SIGHUP)
    if before == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def stop_command(
    words: str, number: int, after: float | None, folder: Path
) -> tuple[int, float, str]:
    """Send a command a signal; return its exit code, the seconds that it took, and its errors.

    `after`: seconds from its start; without them, wait until it reads keys. If it takes too long,
    try again.
    """
    for _ in range(TRIES):
        with begin_command([SCRIPT, *words.split()], folder) as process:
            if after is None:
                assert process.stdin is not None
                os.write(process.stdin.fileno(), b" ")
                await_reader(process, process.stdin)
            else:
                time.sleep(after)
            process.send_signal(number)
            signalled = time.monotonic()
            try:
                _, text = process.communicate(timeout=TIMEOUT_SECONDS)
            finally:
                process.kill()
            seconds = time.monotonic() - signalled
        if seconds < MAX_SECONDS:
            break
    return process.returncode, seconds, text.decode()


@contextmanager
def begin_command(words: list[str | Path], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command, and wait until it has started Python and blocks the signals, or ended."""
    with subprocess.Popen(
        words, cwd=folder, env=environment(), stdin=PIPE, stdout=PIPE, stderr=PIPE
    ) as process:
        while True:
            status = Path(f"/proc/{process.pid}/status").read_text()
            blocked = int(status.partition("SigBlk:")[2].split()[0], 16)
            if "State:\tZ" in status or blocked >> (signal.SIGINT - 1) & 1:
                break
            time.sleep(0.001)
        yield process


def await_reader(process: subprocess.Popen[bytes], pipe: IO[bytes]) -> None:
    """Wait until a command has read all that was written to a pipe."""
    while int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder):
        assert process.poll() is None
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        *(("query eight --output answers.csv", number) for number in SIGNALS),
        ("query eight", signal.SIGINT),
    ],
)
def test_a_signal_while_the_command_waits_for_keys(words: str, number: int, folder: Path) -> None:
    code, took, text = stop_command(words, number, None, folder)
    assert (code, text) == (128 + number, "")
    assert took < MAX_SECONDS
    assert {path.name for path in folder.iterdir()} == {"keys.txt", "outputs"}


def number_signals(commands: Iterable[str]) -> list[tuple[str, int]]:
    """Pair each command with a signal, in turn."""
    return [*zip(commands, cycle(SIGNALS), strict=False)]


class Obstacle:
    """Something that a command reaches, and that holds it until the test has ended."""

    def __init__(self) -> None:
        self._reached, self._removed = Event(), Event()

    def hold(self, *_: object) -> None:
        self._reached.set()
        self._removed.wait(60)

    @contextmanager
    def stand(self) -> Iterator["Obstacle"]:
        try:
            yield self
        finally:
            self._removed.set()

    def await_command(self, process: subprocess.Popen[bytes]) -> None:
        self._reached.clear()  # an earlier try has reached it
        while not self._reached.wait(0.01):
            assert process.poll() is None, process.communicate()


def require_end(
    words: str,
    number: int,
    folder: Path,
    await_work: Callable[[subprocess.Popen[bytes]], object],
    **variables: str,
) -> None:
    """Interrupt a command at its work: it ends soon, says nothing and leaves no file."""
    before = {*folder.rglob("*")}
    for _ in range(TRIES):
        with subprocess.Popen(
            [SCRIPT, *words.split()],
            cwd=folder,
            env=environment(variables),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
        ) as process:
            try:
                await_work(process)
                assert process.poll() is None
                process.send_signal(number)
                signalled = time.monotonic()
                _, text = process.communicate(timeout=TIMEOUT_SECONDS)
            finally:
                process.kill()
            seconds = time.monotonic() - signalled
        ended = -number if LONE_LOOKUP.match(words) else 128 + number
        text = b"".join(line for line in text.splitlines(True) if not line.startswith(b"note: "))
        assert (process.returncode, text) == (ended, b"")
        assert {*folder.rglob("*")} == before
        if seconds < MAX_SECONDS:
            break
    assert seconds < MAX_SECONDS


@pytest.mark.parametrize(("words", "number"), number_signals(SLOW_HOST))
def test_a_signal_while_a_command_reads(
    words: str, number: int, outputs: Path, tmp_path: Path
) -> None:
    def hold(request: Request, _: object) -> None:
        if request.name == SLOW_HOST[words]:
            obstacle.hold()

    with Obstacle().stand() as obstacle, serve(outputs, hold) as host:
        variables = {"PIPELINE_OUTPUTS": host.url}
        require_end(words, number, tmp_path, obstacle.await_command, **variables)


@pytest.mark.parametrize(("words", "number"), number_signals(SLOW_BUCKET))
def test_a_signal_while_a_command_asks_a_bucket(words: str, number: int, tmp_path: Path) -> None:
    with Obstacle().stand() as obstacle, answer_connections(obstacle.hold) as url:
        variables = {
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
            "PIPELINE_OUTPUTS": "s3://puzzles/x",
        }
        require_end(words, number, tmp_path, obstacle.await_command, **variables)


@pytest.mark.parametrize(("words", "number"), number_signals(BATCHES))
def test_a_signal_while_a_batch_reads_a_pipe(
    words: str, number: int, outputs: Path, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "keys")

    def write_keys(process: subprocess.Popen[bytes]) -> None:
        with (tmp_path / "keys").open("wb", buffering=0) as pipe:
            pipe.write(BATCHES[words])
            await_reader(process, pipe)
            pipes.append(os.dup(pipe.fileno()))

    pipes = list[int]()
    variables = {"PIPELINE_OUTPUTS": str(outputs)}
    require_end(f"{words} --input keys", number, tmp_path, write_keys, **variables)
    for number in pipes:
        os.close(number)


@pytest.mark.nightly
@pytest.mark.long
def test_a_signal_at_random_moments(folder: Path) -> None:
    draw, interrupted, tries = random.Random(2026), 0, 100
    for _ in range(tries):
        words, longest = draw.choice(list(RANDOM_MOMENTS.items()))
        number, after = draw.choice(SIGNALS), draw.uniform(0, longest)
        code, took, text = stop_command(words, number, after, folder)
        moment = f"{words}, signal {number} after {after:.3f} s"
        # it may have ended before the signal
        assert code in (128 + number, 0), (moment, code, text)
        interrupted += code != 0
        assert took < MAX_SECONDS or code == 0, (moment, took)
        assert "pipeline: " not in text, (moment, text)
        assert [*folder.rglob("**/*.unpublished")] == [], moment
    assert interrupted > tries / 2


def test_an_interrupt_restores_the_terminal(folder: Path) -> None:
    import pty

    parent_end, child_end = pty.openpty()
    with subprocess.Popen(
        [str(SCRIPT), "precompute", "--force", "--outputs", "again"],
        cwd=folder,
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
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_SECONDS) == 130
    while b"\x1b[?25h" not in output:
        output += os.read(parent_end, 10_000)
    os.close(parent_end)
    assert output.rindex(b"\x1b[?25h") > output.rindex(b"\x1b[?25l")


def test_an_ignored_signal_stays_ignored(folder: Path) -> None:
    """Start the command as `nohup` does."""
    words: list[str | Path] = ["sh", "-c", f"trap '' HUP; exec {SCRIPT} query eight"]
    with begin_command(words, folder) as process:
        process.send_signal(signal.SIGHUP)
        answers, _ = process.communicate(b"123456780\n", timeout=TIMEOUT_SECONDS)
    assert (process.returncode, len(answers.splitlines())) == (0, 2)


@pytest.mark.parametrize("first_call", ["pass", "count_tours_from(near, 0)"])
def test_a_signal_while_a_kernel_runs_in_the_main_thread(first_call: str) -> None:
    """Interrupt a kernel, while it is made or after its first call: no Python runs for seconds."""
    code = (
        "import sys; from puzzle_tablebase.process import take_over_signals, watch_signals\n"
        "take_over_signals(); watch_signals()\n"
        "import numpy as np\n"
        "from puzzle_tablebase.pipeline.proofs.knight_counts import list_jumps, count_tours_from\n"
        "from puzzle_tablebase.puzzles.knight.board import KnightBoard\n"
        f"near = list_jumps(KnightBoard(6, 6)); {first_call}; print('begun', flush=True)\n"
        "while True: count_tours_from(near, 0)\n"
    )
    seconds = MAX_SECONDS
    for _ in range(TRIES):
        with begin_python(code) as process:
            signalled = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.wait(TIMEOUT_SECONDS) == 130
        seconds = time.monotonic() - signalled
        if seconds < MAX_SECONDS:
            break
    assert seconds < MAX_SECONDS


@pytest.mark.parametrize("number", SIGNALS)
def test_a_cleanup_that_fails_leaves_nothing_locked(number: int, tmp_path: Path) -> None:
    """Fail in the first of two cleanups: the other one runs, and the store's lock is free again."""
    code = (
        "import sys; from pathlib import Path; from puzzle_tablebase.process import *\n"
        "from puzzle_tablebase.stores.folder import Folder\n"
        "def fail(): raise SystemError('a cleanup that fails')\n"
        "take_over_signals(); watch_signals()\n"
        "folder = Path(sys.argv[1]); done = folder / 'done'\n"
        "with CleanupOnSignal(fail), CleanupOnSignal(done.touch), Folder(folder).lock():\n"
        "    with cleanup_lock:\n"
        "        print('begun', flush=True); sys.stdin.read()\n"
    )
    with begin_python(code, tmp_path) as process:
        process.send_signal(number)
        assert process.wait(TIMEOUT_SECONDS) == 128 + number
    assert (tmp_path / "done").exists()
    with Folder(tmp_path).lock():  # it would wait for ever
        pass


@pytest.mark.parametrize("then", ["files.publish()", "raise FileNotFoundError(2, 'it is gone')"])
def test_what_a_signal_removes_is_no_error(then: str, tmp_path: Path) -> None:
    """Go on while a cleanup takes long: rename the file that another removed, or miss it."""
    code = (
        "import sys, time; from pathlib import Path; from puzzle_tablebase.process import *\n"
        "from puzzle_tablebase.pipeline import run, single_query\n"
        "from puzzle_tablebase.stores.folder import Folder\n"
        "folder = Path(sys.argv[1])\n"
        "def write(words):\n"
        "    written = Folder(folder).write_files('file')\n"
        "    with CleanupOnSignal(lambda: time.sleep(1)), written as files:\n"
        "        watch_signals(); print('begun', flush=True)\n"
        "        while [*folder.rglob('*.unpublished')]: time.sleep(0.01)\n"
        f"        {then}\n"
        "single_query.answer_fast = write; take_over_signals()\n"
        "sys.exit(run.run_command(['query']))\n"
    )
    with begin_python(code, tmp_path) as process:
        process.send_signal(signal.SIGINT)
        _, text = process.communicate(timeout=TIMEOUT_SECONDS)
    assert (process.returncode, text) == (130, b"")
