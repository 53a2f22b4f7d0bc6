"""Tests of too little memory or too few threads: one sentence and exit 3, in any library."""

import errno
import os
from contextlib import nullcontext
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from puzzle_tablebase import resources
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.queries.batch_input import translate_input_errors
from puzzle_tablebase.resources import get_free_memory
from tests.support.shell import SCRIPT, Said, run

GIB = 1 << 30


def run_under_limit(*words: str, address_space: int, **variables: str) -> Said:
    """Run the program in a process of its own with so many bytes of address space."""
    resource = pytest.importorskip("resource")
    limits = address_space, resource.RLIM_INFINITY
    return run(
        [SCRIPT, *words],
        env=variables,
        input=b"123456780\n",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits),
    )


@pytest.mark.parametrize("limit", [300 << 20, 1000 << 20])
def test_a_limit_on_address_space_is_reported(outputs: Path, limit: int) -> None:
    code, out, text = run_under_limit(
        "query", "eight", "--outputs", str(outputs), address_space=limit
    )
    assert (code, out, text.count("\n")) == (3, "", 1)
    needed = (2 * GIB + len(os.sched_getaffinity(0)) * GIB // 2) / 1e9
    assert f"may use {limit / 1e9:.2f} GB of address space (ulimit -v), and needs" in text
    assert f"needs {needed:.2f} GB" in text


def test_a_limit_on_open_files_is_reported(outputs: Path, tmp_path: Path) -> None:
    script = f"ulimit -n 8; {SCRIPT} query eight 123456780; {SCRIPT} precompute senet --outputs o"
    result = run(["sh", "-c", script], cwd=tmp_path, env={"PIPELINE_OUTPUTS": str(outputs)})
    assert "distance      0 moves" in result.out
    *_, text = result.err.splitlines()
    problem = "The system opens no more files for this process. Raise the limit (ulimit -n)."
    assert (result.code, text) == (3, f"pipeline: {problem}")


def test_a_lone_lookup_needs_little(outputs: Path) -> None:
    words = ("query", "eight", "123456780", "--outputs", str(outputs))
    assert run_under_limit(*words, address_space=300 << 20)[::2] == (0, "")


@pytest.mark.parametrize(
    ("words", "name", "numbers", "most"),
    [
        ("query eight", "POLARS_MAX_THREADS", ["0", "1000000"], " to 1,024"),
        ("verify", "NUMBA_NUM_THREADS", ["0", "-1", "many"], ""),
    ],
)
def test_an_invalid_number_of_threads_is_refused(
    outputs: Path, words: str, name: str, numbers: list[str], most: str
) -> None:
    for number in numbers:
        variables = {name: number, "PIPELINE_OUTPUTS": str(outputs)}
        text = run_under_limit(*words.split(), address_space=1 << 46, **variables)
        problem = f"{name} is {number}. Set it to a number from 1{most}."
        assert text == (3, "", f"pipeline: {problem}\n")


MEMORY, THREADS = "There is not enough memory", "The system starts no more threads"
UNMAPPED = "libarrow.so.2600: failed to map segment from shared object"
NO_SPAWN = "could not spawn threads: Resource temporarily unavailable"


@pytest.mark.parametrize(
    ("error", "short"),
    [
        (MemoryError(), MEMORY),
        (ImportError(UNMAPPED), MEMORY),
        (RuntimeError("can't start new thread"), THREADS),
        (pl.exceptions.PanicException(NO_SPAWN), THREADS),
        (pa.ArrowMemoryError("malloc of size 64 failed"), MEMORY),
        (OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), MEMORY),
    ],
)
def test_exhausted_resources_are_reported(
    error: BaseException,
    short: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_: object) -> None:
        is_of_input = isinstance(error, pa.ArrowMemoryError)
        with translate_input_errors("Standard input") if is_of_input else nullcontext():
            raise error

    monkeypatch.setattr("puzzle_tablebase.pipeline.single_query.answer_fast", fail)
    assert run_command(["query", "eight", "123456780"]) == 3
    out, text = capsys.readouterr()
    assert (out, text.count("\n")) == ("", 1)
    assert text.startswith(f"pipeline: {short}")


def test_a_process_that_cannot_start_a_thread(outputs: Path) -> None:
    words = ("status", "--outputs", str(outputs))
    code, out, text = run_under_limit(*words, address_space=20 << 20)
    assert (code, out, text.count("\n")) == (3, "", 1)
    assert text.startswith("pipeline: The system starts no more threads for this process.")


V2 = {
    "proc/self/cgroup": "0::/jobs/box\n",
    "proc/self/mountinfo": "41 31 0:38 / /cg rw,relatime shared:9 - cgroup2 cgroup2 rw\n",
}
V1 = {
    "proc/self/cgroup": "5:cpu:/else\n4:memory,x:/jobs/box\n0::/\n",
    "proc/self/mountinfo": "30 23 0:2 / /cpu rw - cgroup cgroup rw,cpu\n"
    "35 31 0:32 / /cg rw,relatime - cgroup cgroup rw,memory\n",
}
OWN_NAMESPACE = {
    "proc/self/cgroup": "0::/jobs/box\n",
    "proc/self/mountinfo": "41 31 0:38 /jobs/box /cg rw,relatime - cgroup2 cgroup2 rw\n",
}


NAMES_V1 = ("limit_in_bytes", "usage_in_bytes", "stat")
NAMES_V2 = ("max", "current", "stat")
STAT_V1 = "inactive_file 1\ntotal_inactive_file 4\n"


@pytest.mark.parametrize(
    ("files", "limits", "free"),
    [
        (V2, {}, 8 * GIB),
        (V2, {"jobs/box": ["max", 1]}, 8 * GIB),
        (V2, {"jobs/box": [GIB, 24]}, GIB - 24),
        (V2, {"jobs": [GIB, 24]}, GIB - 24),
        (V2, {"jobs": [GIB, 24, "anon 4\ninactive_file 20\n"]}, GIB - 4),
        (V2, {"jobs/box": [5, 9]}, 0),
        (V2, {"other": [5, 1]}, 8 * GIB),
        (V1, {"jobs/box": [GIB, 24, STAT_V1], "": [(1 << 63) - 4096, 99]}, GIB - 20),
        (OWN_NAMESPACE, {"": [GIB, 24]}, GIB - 24),
    ],
)
def test_the_limit_of_a_container_is_respected(
    files: dict[str, str],
    limits: dict[str, list[object]],
    free: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resources, "address_space_limit", lambda: None)
    content: dict[str, object] = {"proc/meminfo": f"MemAvailable:  {8 << 20} kB\n", **files}
    for group, values in limits.items():
        names = NAMES_V1 if files is V1 else NAMES_V2
        for name, value in zip(names, values, strict=False):
            content[f"cg/{group}/memory.{name}"] = value
    for name, value in content.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(value))
    assert get_free_memory(str(tmp_path)) == free


@pytest.mark.parametrize(("limit", "free"), [(GIB, GIB - (1 << 20)), (None, None)])
def test_the_limit_on_address_space_is_respected(
    limit: int | None, free: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "address_space_limit", lambda: limit)
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "self" / "status").write_text("Name:\tx\nVmSize:\t  1024 kB\n")
    assert get_free_memory(str(tmp_path)) == free
