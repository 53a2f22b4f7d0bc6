"""Tests of too little memory or too few threads: one sentence and exit 3, in any library."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from pipeline.run import run_command
from queries.batch_input import translate_input_errors
from tablebase import resources
from tablebase.resources import get_free_memory
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


@pytest.mark.parametrize("threads", ["0", "1000000"])
def test_an_invalid_number_of_polars_threads_is_refused(outputs: Path, threads: str) -> None:
    words = ("query", "eight", "--outputs", str(outputs))
    text = run_under_limit(*words, address_space=1 << 46, POLARS_MAX_THREADS=threads)
    problem = f"POLARS_MAX_THREADS is {threads}. Set it to a number from 1 to 1,024."
    assert text == (3, "", f"pipeline: {problem}\n")


@pytest.mark.parametrize("threads", ["0", "-1", "many"])
def test_an_invalid_number_of_numba_threads_is_refused(outputs: Path, threads: str) -> None:
    words = ("verify", "--outputs", str(outputs))
    text = run_under_limit(*words, address_space=1 << 46, NUMBA_NUM_THREADS=threads)
    problem = f"NUMBA_NUM_THREADS is {threads}. Set it to a number from 1."
    assert text == (3, "", f"pipeline: {problem}\n")


def allocate() -> None:
    np.empty(1 << 56, dtype=np.int64)


def load() -> None:
    raise ImportError("libarrow.so.2600: failed to map segment from shared object")


def start() -> None:
    raise RuntimeError("can't start new thread")


def spawn() -> None:
    raise pl.exceptions.PanicException("could not spawn threads: Resource temporarily unavailable")


def read() -> None:
    with translate_input_errors("Standard input"):
        raise pa.ArrowMemoryError("malloc of size 64 failed")


def grow() -> None:
    raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))


@pytest.mark.parametrize("fail", [allocate, load, start, spawn, read, grow])
def test_exhausted_resources_are_reported(
    fail: Callable[[], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pipeline.single_query.answer_fast", lambda _: fail())
    assert run_command(["query", "eight", "123456780"]) == 3
    out, text = capsys.readouterr()
    short = (
        "The system starts no more threads"
        if fail in (start, spawn)
        else "There is not enough memory"
    )
    assert out == ""
    assert text.startswith(f"pipeline: {short}")
    assert text.count("\n") == 1


def test_a_process_that_cannot_start_a_thread(outputs: Path) -> None:
    words = ("status", "--outputs", str(outputs))
    code, out, text = run_under_limit(*words, address_space=20 << 20)
    assert (code, out, text.count("\n")) == (3, "", 1)
    assert text.startswith("pipeline: The system starts no more threads for this process.")


Tree = dict[str, str]
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


@pytest.mark.parametrize(
    ("files", "free"),
    [
        (V2, 8 * GIB),
        ({**V2, "cg/jobs/box/memory.max": "max", "cg/jobs/box/memory.current": "1"}, 8 * GIB),
        ({**V2, "cg/jobs/box/memory.max": f"{GIB}", "cg/jobs/box/memory.current": "24"}, GIB - 24),
        ({**V2, "cg/jobs/memory.max": f"{GIB}", "cg/jobs/memory.current": "24"}, GIB - 24),
        (
            {
                **V2,
                "cg/jobs/memory.max": f"{GIB}",
                "cg/jobs/memory.current": "24",
                "cg/jobs/memory.stat": "anon 4\ninactive_file 20\n",
            },
            GIB - 4,
        ),
        ({**V2, "cg/jobs/box/memory.max": "5", "cg/jobs/box/memory.current": "9"}, 0),
        ({**V2, "cg/other/memory.max": "5", "cg/other/memory.current": "1"}, 8 * GIB),
        (
            {
                **V1,
                "cg/jobs/box/memory.limit_in_bytes": f"{GIB}",
                "cg/jobs/box/memory.usage_in_bytes": "24",
                "cg/jobs/box/memory.stat": "inactive_file 1\ntotal_inactive_file 4\n",
                "cg/memory.limit_in_bytes": f"{(1 << 63) - 4096}",
                "cg/memory.usage_in_bytes": "99",
            },
            GIB - 20,
        ),
        ({**OWN_NAMESPACE, "cg/memory.max": f"{GIB}", "cg/memory.current": "24"}, GIB - 24),
    ],
)
def test_the_limit_of_a_container_is_respected(
    files: Tree, free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "address_space_limit", lambda: None)
    for name, text in ("proc/meminfo", f"MemAvailable:  {8 << 20} kB\n"), *files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert get_free_memory(str(tmp_path)) == free


def test_the_limit_on_address_space_is_respected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "address_space_limit", lambda: GIB)
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "self" / "status").write_text("Name:\tx\nVmSize:\t  1024 kB\n")
    assert get_free_memory(str(tmp_path)) == GIB - (1 << 20)


def test_free_bytes_are_none_where_they_are_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "address_space_limit", lambda: None)
    assert get_free_memory(str(tmp_path)) is None
