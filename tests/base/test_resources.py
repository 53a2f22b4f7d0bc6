"""Tests of the machine's limits: too little memory is one sentence and exit 3."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from puzzle_tablebase import resources
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.queries.batch_input import translate_input_errors
from puzzle_tablebase.resources import CONTROL_GROUPS, count_cores, get_free_memory
from tests.support.shell import SCRIPT, run

GIB = 1 << 30


@pytest.mark.parametrize(
    ("words", "limit", "reason"),
    [
        ("query eight", 300 << 20, "GB of address space (ulimit -v)"),
        ("query eight", 1000 << 20, "GB of address space (ulimit -v)"),
        ("query eight 123456780", 300 << 20, ""),
        ("report --output -", 8 * GIB, "Charts need"),
        ("report --output -", 64 * GIB, "Charts need"),
    ],
)
def test_a_limit_on_address_space_is_reported(
    words: str, limit: int, reason: str, outputs: Path
) -> None:
    import resource

    limits = limit, resource.RLIM_INFINITY
    code, out, text = run(
        [SCRIPT, *words.split(), "--outputs", outputs],
        input=b"123456780\n",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits),
    )
    assert (code, out == "") == ((3, True) if reason else (0, False))
    assert reason in text
    assert text.count("\n") == bool(reason)


def test_a_proof_that_does_not_fit_has_no_verdict(outputs: Path) -> None:
    import resource

    limits = 4 * GIB, resource.RLIM_INFINITY
    code, out, text = run(
        [SCRIPT, "verify", "senet", "knight_tours_5x5", "--outputs", outputs],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits),
    )
    assert (code, text.count("\n")) == (3, 1)
    assert "The proof of senet needs" in text
    assert "1 proved, 1 without a verdict" in out


@pytest.mark.parametrize("error", [MemoryError(), pa.ArrowMemoryError("malloc of size 64 failed")])
def test_too_little_memory_is_one_sentence(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        with translate_input_errors("Standard input"):
            raise error

    monkeypatch.setattr("puzzle_tablebase.pipeline.run.answer_fast", fail)
    assert run_command(["query", "eight", "123456780"]) == 3
    text = "There is not enough memory. Close other programs, or raise the limit."
    assert capsys.readouterr() == ("", f"pipeline: {text}\n")


@pytest.mark.parametrize(
    ("path", "group", "limits", "free"),
    [
        ("/jobs/box", "", [], 8 * GIB),
        ("/jobs/box", "jobs/box", [GIB, 24], GIB - 24),
        ("/jobs/box", "jobs", [GIB, 24, "anon 4\ninactive_file 20\n"], GIB - 4),
        ("/jobs/box", "jobs/box", [5, 9], 0),
        ("/jobs/box", "other", [5, 1], 8 * GIB),
        ("/outside/of/the/container", "", [GIB, 24], GIB - 24),
    ],
)
def test_the_limit_of_a_container_is_respected(
    path: str, group: str, limits: list[object], free: int,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(resources, "get_address_space_limit", lambda: None)
    content: dict[str, object] = {
        "proc/meminfo": f"MemAvailable:  {8 << 20} kB\n",
        "proc/self/cgroup": f"0::{path}\n",
    }
    for name, value in zip(("max", "current", "stat"), limits, strict=False):
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


@pytest.mark.parametrize(("limit", "free"), [(GIB, (GIB - (1 << 20)) // 3), (None, None)])
def test_the_limit_on_address_space_is_respected(
    limit: int | None, free: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "get_address_space_limit", lambda: limit)
    write_files(tmp_path, {"proc/self/status": "Name:\tx\nVmSize:\t  1024 kB\n"})
    assert get_free_memory(str(tmp_path)) == free
