"""A compiler's cache: damaged, full, shared or not writable, it changes no answer."""

import importlib
import os
import resource
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.shell import python
from tests.support.tampered import flip_byte

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
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two versions may be of one second
    monkeypatch.syspath_prepend(tmp_path)

    def import_again(name: str) -> ModuleType:
        for file in tmp_path.glob("*.py"):
            sys.modules.pop(file.stem, None)
        importlib.invalidate_caches()
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
def run_kernels(tmp_path: Path, import_again: Import) -> Callable[[], None]:
    """Return a function that runs kernels as a new process would."""
    (tmp_path / "small_kernels.py").write_text(KERNELS)

    def run_kernels() -> None:
        kernels = import_again("small_kernels")
        assert (kernels.double(21), kernels.triple(14)) == (42, 42)

    return run_kernels


def list_files(folder: Path) -> list[Path]:
    return [file for file in (folder / "cache").rglob("*") if file.is_file()]


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def list_others(path: Path) -> list[Path]:
    return [file for file in path.parent.iterdir() if file != path]


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "zero": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "flipped": flip_byte,
    "another kernel's": lambda path: path.write_bytes(
        b"".join(map(Path.read_bytes, list_others(path)))
    ),
    "a named pipe": make_pipe,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_replaced(
    damage: str, tmp_path: Path, run_kernels: Callable[[], None]
) -> None:
    run_kernels()
    files = list_files(tmp_path)
    whole = {file: file.read_bytes() for file in files}
    assert len(files) == 2
    for file in files:
        DAMAGES[damage](file)
    run_kernels()
    assert {file: file.read_bytes()[32:] for file in list_files(tmp_path)}.keys() == whole.keys()
    assert all(file.is_file() and file.stat().st_size > 1000 for file in files)


def test_processes_may_share_a_cache(tmp_path: Path) -> None:
    """Compile the same kernels for several types in several processes at the same time."""
    (tmp_path / "small_kernels.py").write_text(KERNELS)
    program = "import sys; sys.path.insert(0, sys.argv[1]); import small_kernels as kernels; "
    program += "print(kernels.double(21), kernels.double(2.5), kernels.triple(14))"
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DISABLE_JIT": "0"}
    with ThreadPoolExecutor(3) as pool:
        said = [*pool.map(lambda _: python(program, str(tmp_path), env=cache), range(4))]
    assert said == [(0, "42 5.0 42\n", "")] * 4
    assert len(list_files(tmp_path)) == 3


def test_a_cache_that_cannot_be_written_is_left_out(
    tmp_path: Path, run_kernels: Callable[[], None]
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    try:
        run_kernels()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list_files(tmp_path) == []
    (tmp_path / "cache").rmdir()
    (tmp_path / "cache").write_bytes(b"")
    run_kernels()
