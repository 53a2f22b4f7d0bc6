"""The program, run as at the shell: in a process of its own, or in that of the tests.

A command takes half a second to start, so `run_here` runs most of them in this process. Tests of
the start, of signals and of pipes run the installed script.
"""

import io
import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple, NoReturn, TypeAlias
from unittest.mock import patch

import pytest

from puzzle_tablebase.pipeline.run import run_command

ROOT = Path(__file__).parents[2]
SCRIPT = Path(sysconfig.get_path("scripts")) / "pipeline"
INHERITED = ("COVERAGE_PROCESS_CONFIG", "HOME", "NUMBA_CACHE_DIR", "PATH", "PYTHONPATH", "TMPDIR")
"""The caller's variables that a process inherits; no other can change its output."""


STREAMS = {1: ("stdout", "surrogateescape"), 2: ("stderr", "backslashreplace")}
"""The standard outputs, each with its name and what Python does about a character's error."""


class Completed(NamedTuple):
    """The exit code of a process and its output."""

    code: int
    out: str
    err: str


Cli: TypeAlias = Callable[..., Completed]
"""A function that runs `pipeline`, or queries the published tables."""


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment without a terminal, of 80 columns.

    A bug in the program ends it with a traceback and exit code 1, which no error of a user has.
    """
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    fixed = {"COLUMNS": "80", "LC_ALL": "C.UTF-8", "PIPELINE_TRACEBACK": "1"}
    return {**inherited, **fixed, **(extra or {})}


def require_no_bug(errors: str) -> None:
    """Fail the test if a command's standard error shows a bug, whatever the test expects of it."""
    signs = "Traceback (most recent call last)", "internal error", "terminate called"
    if any(sign in errors for sign in signs):
        pytest.fail(f"a bug in the program: {errors[-5_000:]}", pytrace=False)


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
    **options: Any,
) -> Completed:
    """Run a command; `options` are those of `subprocess.run`.

    By default, the output is captured, and standard input is empty. A bug fails the test.
    """
    usual: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if "stdin" not in options:
        usual["input"] = b""
    ended: subprocess.CompletedProcess[bytes] = subprocess.run(
        command, check=False, cwd=cwd, env=environment(env), **(usual | options)
    )
    out, err = ((text or b"").decode() for text in (ended.stdout, ended.stderr))
    require_no_bug(err)
    return Completed(ended.returncode, out, err)


def run_here(
    *words: str, cwd: Path = ROOT, env: Mapping[str, str] | None = None, stdin: str = ""
) -> Completed:
    """Run `pipeline` with these words in this process; a bug in it raises."""
    source = io.TextIOWrapper(io.BufferedReader(io.BytesIO(os.fsencode(stdin))))
    with ExitStack() as stack:
        stack.enter_context(chdir(cwd))
        stack.enter_context(patch.dict(os.environ, environment(env), clear=True))
        stack.enter_context(patch.object(sys, "stdin", source))
        output, errors = (stack.enter_context(_capture(at)) for at in (1, 2))
        code = run_command([*words])
        return Completed(code, output(), errors())


@contextmanager
def _capture(descriptor: int) -> Iterator[Callable[[], str]]:
    """Send a standard stream into a file; yield what reads it."""
    name, on_error = STREAMS[descriptor]
    kept = os.dup(descriptor)
    with (
        TemporaryFile() as file,
        open(descriptor, "w", encoding="utf-8", errors=on_error, closefd=False) as stream,
    ):

        def read_back() -> str:
            stream.flush()
            file.seek(0)
            return file.read().decode()

        os.dup2(file.fileno(), descriptor)
        try:
            with patch.object(sys, name, stream):
                yield read_back
        finally:
            stream.flush()
            os.dup2(kept, descriptor)
            os.close(kept)


def python(code: str, *words: str, env: Mapping[str, str] | None = None) -> Completed:
    """Run Python code in the project's folder."""
    return run([sys.executable, "-c", code, *words], env=env)


def start_build(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start a build in a process of its own, which somebody must read if it says much."""
    return subprocess.Popen(
        [SCRIPT, "precompute", *words, "--outputs", folder],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def await_checkpoints(
    build: subprocess.Popen[str], folder: Path, table: str, number: int = 1
) -> list[Path]:
    """Wait until a build has saved so many checkpoints of a table; return them."""
    while len(saved := [*folder.glob(f".work/{table}.*.kept")]) < number:
        assert build.poll() is None
        time.sleep(0.01)
    return saved


@contextmanager
def begin_python(code: str, *words: object) -> Iterator[subprocess.Popen[bytes]]:
    """Start Python code in the project's folder, and wait until it prints `begun`."""
    with subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        yield process


def skip(reason: str) -> NoReturn:
    """Skip the test that cannot run here, or fail in CI."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


UNPRIVILEGED = """
import ctypes, sys
from puzzle_tablebase.pipeline.run import main

of_this_process, none = (ctypes.c_uint32 * 2)(0x20080522), (ctypes.c_uint32 * 6)()
assert ctypes.CDLL(None).capset(of_this_process, none) == 0
main()
"""


def without_privileges(*words: str) -> Completed:
    """Run `pipeline` so that permissions bind it, even where everything runs as root."""
    return run([sys.executable, "-c", UNPRIVILEGED, *words])


def with_a_disk(script: str) -> Completed:
    """Run a script that mounts its own disks; exit code 9 means that it could not."""
    completed = run(["unshare", "--map-root-user", "--mount", "sh", "-c", script])
    if completed.code == 9 or "unshare" in completed.err:
        skip("here a test cannot have a disk of its own")
    return completed
