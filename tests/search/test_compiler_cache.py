"""A compiler's cache that is damaged, full or not writable: kernels work, and one line says it."""

import importlib
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numba
import pytest

from puzzle_tablebase import jit
from tests.support.shell import python

KERNELS = """
from puzzle_tablebase.jit import compiled

@compiled
def double(number):
    return 2 * number

@compiled
def triple(number):
    return 3 * number
"""


CALLER = """
from puzzle_tablebase.jit import compiled
import others
from others import PART, add

@compiled
def call(number):
    return add(number) + others.WHOLE + PART[1]
"""
OTHERS = """
from puzzle_tablebase.jit import compiled
from deeper import grow

PART, WHOLE = (1, 20), 300

@compiled
def add(number, more=0):
    return grow(number) + more
"""
DEEPER = """
from puzzle_tablebase.jit import compiled

@compiled
def grow(number):
    return number + 1
"""

Import = Callable[[str], ModuleType]


@pytest.fixture
def import_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Import:
    """Return a function that imports a module, and those beside it, as a new process would."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two versions may be of one second
    monkeypatch.syspath_prepend(tmp_path)

    def import_again(name: str) -> ModuleType:
        for file in tmp_path.glob("*.py"):
            sys.modules.pop(file.stem, None)
        importlib.invalidate_caches()
        jit._noted.clear()
        return importlib.import_module(name)

    return import_again


def test_a_change_that_a_kernel_of_another_module_makes_is_noticed(
    tmp_path: Path, import_again: Import
) -> None:
    """Change other modules, one thing after the other; import them twice after each change."""
    for name, source in {"caller": CALLER, "others": OTHERS, "deeper": DEEPER}.items():
        (tmp_path / f"{name}.py").write_text(source)
    for module, old, new, answer in (
        ("caller", "", "", 4321),
        ("deeper", "number + 1", "number + 2", 4322),
        ("others", "grow(number)", "grow(number) + 3", 4325),
        ("others", "more=0", "more=7", 4332),
        ("others", "(1, 20)", "(1, 50)", 4362),
        ("others", "300", "600", 4662),
    ):
        file = tmp_path / f"{module}.py"
        file.write_text(file.read_text().replace(old, new))
        for hits in (0, 1):
            caller = import_again("caller")
            assert caller.call(4000) == answer
            assert sum(caller.call.stats.cache_hits.values()) == hits


@pytest.fixture
def list_notes(
    tmp_path: Path, import_again: Import, caplog: pytest.LogCaptureFixture
) -> Callable[[], list[str]]:
    """Return a function that runs kernels as a new process would, and lists what it says."""
    (tmp_path / "small_kernels.py").write_text(KERNELS)

    def list_notes() -> list[str]:
        caplog.clear()
        kernels = import_again("small_kernels")
        assert (kernels.double(21), kernels.triple(14)) == (42, 42)
        return caplog.messages

    return list_notes


def list_files(folder: Path) -> list[Path]:
    return [file for file in (folder / "cache").rglob("*") if file.is_file()]


def test_a_named_pipe_in_the_cache_is_not_read(
    tmp_path: Path, list_notes: Callable[[], list[str]]
) -> None:
    list_notes()
    files = list_files(tmp_path)
    for file in files:
        file.unlink()
        os.mkfifo(file)
    assert list_notes() == []
    assert [*filter(Path.is_file, files)] == files, "it was replaced by the code"


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut": lambda data: data[:-40],
    "zero": lambda data: bytes(len(data)),
    "zero in part": lambda data: data[: len(data) // 2] + bytes(500) + data[len(data) // 2 + 500 :],
}


def test_a_damaged_cache_is_replaced(tmp_path: Path, list_notes: Callable[[], list[str]]) -> None:
    assert list_notes() == []
    files = list_files(tmp_path)
    assert len(files) >= 2
    for damage in DAMAGES.values():
        for file in files:
            file.write_bytes(damage(file.read_bytes()))
        (note,) = list_notes()
        assert note.startswith("note: the compiler's cache cannot be used ('")
        assert note.endswith(" is damaged); functions are compiled again")
        assert list_notes() == []


def test_a_cache_on_a_full_disk_is_left_out(
    tmp_path: Path, list_notes: Callable[[], list[str]]
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    try:
        notes = list_notes()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    problem = "(file too large); functions are compiled again"
    assert notes == [f"note: the compiler's cache cannot be used {problem}"]
    assert list_files(tmp_path) == []


def test_a_cache_that_cannot_be_written_is_left_out(tmp_path: Path) -> None:
    """Run a process, which says it on standard error."""
    (tmp_path / "small_kernels.py").write_text(KERNELS)
    (tmp_path / "cache").write_bytes(b"")
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DISABLE_JIT": "0"}
    cache["NUMBA_CACHE_LOCATOR_CLASSES"] = "UserProvidedCacheLocator"
    program = "import sys; sys.path.insert(0, sys.argv[1]); import small_kernels as kernels; "
    program += "print(kernels.double(21))"
    said = python(program, str(tmp_path), env=cache)
    problem = "(no folder for it can be written to); functions are compiled again"
    assert said == (0, "42\n", f"note: the compiler's cache cannot be used {problem}\n")
