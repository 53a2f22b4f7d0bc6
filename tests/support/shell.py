"""The program run at the shell: the installed script, or Python, in its own process."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Protocol

import pytest

from tests.support.preloaded import warm

ROOT = Path(__file__).parents[2]
SCRIPT = Path(sysconfig.get_path("scripts")) / "pipeline"
INHERITED = (
    "COVERAGE_PROCESS_CONFIG",
    "HOME",
    "LD_LIBRARY_PATH",
    "MUTANT_UNDER_TEST",
    "NUMBA_CACHE_DIR",
    "PATH",
    "PYTHONPATH",
    "TMPDIR",
)
"""The caller's variables that a process inherits; no other can change its output."""
LATE = {"COMP_CWORD", "COMP_WORDS", "PIPELINE_OUTPUTS", "PYTHONPATH", "_PIPELINE_COMPLETE"}
"""Variables that the program reads only once it runs, so that a preloaded process sees them."""


class Said(NamedTuple):
    """The exit code of a process and its output."""

    code: int
    out: str
    err: str


class Cli(Protocol):
    def __call__(
        self,
        *words: str,
        cwd: Path = ROOT,
        env: Mapping[str, str] | None = None,
        stdin: str = "",
        timeout: float = 120,
    ) -> Said:
        """Run `pipeline` with these arguments."""


class Ask(Protocol):
    def __call__(self, *words: str, text: bytes = b"") -> tuple[int, str, str]:
        """Run `pipeline query` with these arguments and this standard input."""


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


def program(name: str = "pipeline", env: Mapping[str, str] | None = None) -> str:
    """Return a preloaded `pipeline` or `python`, or the real one if `env` affects its start."""
    cold = "COVERAGE_PROCESS_CONFIG" in os.environ or {*(env or {})} - LATE
    return str(Path(sys.executable).with_name(name)) if cold else warm(name)


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
    **options: Any,
) -> Said:
    """Run a command; `options` are those of `subprocess.run`.

    What they do not name is captured, and standard input is empty. A bug in it fails the test.
    """
    usual: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if "stdin" not in options:
        usual["input"] = b""
    ended: subprocess.CompletedProcess[bytes] = subprocess.run(
        command, check=False, cwd=cwd, env=environment(env), **(usual | options)
    )
    out, err = ((text or b"").decode() for text in (ended.stdout, ended.stderr))
    require_no_bug(err)
    return Said(ended.returncode, out, err)


def pipeline(
    *words: str,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    timeout: float = 120,
) -> Said:
    """Run `pipeline` with these words."""
    lone = words[:1] == ("query",) and not stdin and "--input" not in words
    script = str(SCRIPT) if lone else program(env=env)
    return run([script, *words], cwd=cwd, env=env, input=stdin.encode(), timeout=timeout)


def python(
    code: str, *words: str, env: Mapping[str, str] | None = None, timeout: float = 120
) -> Said:
    """Run Python code in the project's folder."""
    return run([sys.executable, "-c", code, *words], env=env, timeout=timeout)


def start_build(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start a build in a process of its own, which somebody must read if it says much."""
    return subprocess.Popen(
        [SCRIPT, "precompute", *words, "--outputs", folder],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


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


def without_privileges(*words: str) -> Said:
    """Run `pipeline` so that permissions bind it, even where everything runs as root."""
    return run([program("python"), "-c", UNPRIVILEGED, *words])


def with_a_disk(script: str) -> subprocess.CompletedProcess[str]:
    """Run a script that mounts its own disks; exit code 9 means that it could not."""
    ended = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", script],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode == 9 or "unshare" in ended.stderr:
        skip("here a test cannot have a disk of its own")
    require_no_bug(ended.stderr)
    return ended
