"""Tests of the machine's limits: too little memory is one sentence and exit 3."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from puzzle_tablebase import resources
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.queries.batch_input import translate_input_errors
from puzzle_tablebase.resources import CONTROL_GROUPS, count_cores, get_free_memory
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
    needed = (2 * GIB + count_cores() * GIB // 2) / 1e9
    assert f"may use {limit / 1e9:.2f} GB of address space (ulimit -v), and needs" in text
    assert f"needs {needed:.2f} GB" in text


def test_a_lone_lookup_needs_little(outputs: Path) -> None:
    words = ("query", "eight", "123456780", "--outputs", str(outputs))
    assert run_under_limit(*words, address_space=300 << 20)[::2] == (0, "")


@pytest.mark.parametrize("limit", [8 * GIB, 64 * GIB])
def test_charts_that_would_abort_the_process_are_refused(outputs: Path, limit: int) -> None:
    words = ("report", "--outputs", str(outputs), "--output", "-")
    text = run_under_limit(*words, address_space=limit)
    assert (text.code, text.out) == (3, "")
    assert "Charts need" in text.err


@pytest.mark.parametrize("error", [MemoryError(), pa.ArrowMemoryError("malloc of size 64 failed")])
def test_too_little_memory_is_one_sentence(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> None:
        with translate_input_errors("Standard input"):
            raise error

    monkeypatch.setattr("puzzle_tablebase.pipeline.single_query.answer_fast", fail)
    assert run_command(["query", "eight", "123456780"]) == 3
    text = "There is not enough memory. Close other programs, or raise the limit."
    assert capsys.readouterr() == ("", f"pipeline: {text}\n")


@pytest.mark.parametrize(
    ("path", "limits", "free"),
    [
        ("/jobs/box", {}, 8 * GIB),
        ("/jobs/box", {"jobs/box": [GIB, 24]}, GIB - 24),
        ("/jobs/box", {"jobs": [GIB, 24, "anon 4\ninactive_file 20\n"]}, GIB - 4),
        ("/jobs/box", {"jobs/box": [5, 9]}, 0),
        ("/jobs/box", {"other": [5, 1]}, 8 * GIB),
        ("/outside/of/the/container", {"": [GIB, 24]}, GIB - 24),
    ],
)
def test_the_limit_of_a_container_is_respected(
    path: str,
    limits: dict[str, list[object]],
    free: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resources, "address_space_limit", lambda: None)
    content: dict[str, object] = {
        "proc/meminfo": f"MemAvailable:  {8 << 20} kB\n",
        "proc/self/cgroup": f"0::{path}\n",
    }
    for group, values in limits.items():
        for name, value in zip(("max", "current", "stat"), values, strict=False):
            content[f"{CONTROL_GROUPS}/{group}/memory.{name}"] = value
    write_files(tmp_path, content)
    assert get_free_memory(str(tmp_path)) == free


@pytest.mark.parametrize(
    ("quota", "cores"), [("max 100000", 16), ("150000 100000", 2), ("1000 100000", 1)]
)
def test_the_cores_of_a_container_are_respected(
    quota: str, cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {*range(16)})
    content = {"proc/self/cgroup": "0::/jobs/box\n", f"{CONTROL_GROUPS}/jobs/cpu.max": quota}
    write_files(tmp_path, content)
    assert count_cores(str(tmp_path)) == cores


def write_files(root: Path, content: Mapping[str, object]) -> None:
    for name, value in content.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(value))


@pytest.mark.parametrize(("limit", "free"), [(GIB, GIB - (1 << 20)), (None, None)])
def test_the_limit_on_address_space_is_respected(
    limit: int | None, free: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "address_space_limit", lambda: limit)
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "self" / "status").write_text("Name:\tx\nVmSize:\t  1024 kB\n")
    assert get_free_memory(str(tmp_path)) == free
