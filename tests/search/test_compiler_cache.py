"""A compiler's cache that is damaged, full or not writable: kernels work, and one line says it."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numba
import pytest

from tablebase import jit
from tests.support.shell import python

PROGRAM = """
import resource, sys
sys.path.insert(0, sys.argv[1])
if sys.argv[2:]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
from small_kernels import double, triple
print(double(21), triple(14))
"""
KERNELS = """
from tablebase.jit import compiled

@compiled
def double(number):
    return 2 * number

@compiled
def triple(number):
    return 3 * number
"""


def run_kernels(folder: Path, *words: str, **variables: str) -> str:
    """Run both kernels in a process of their own; return what it writes to standard error."""
    (folder / "small_kernels.py").write_text(KERNELS)
    cache = {"NUMBA_CACHE_DIR": str(folder / "cache"), "NUMBA_DISABLE_JIT": "0"}
    said = python(PROGRAM, str(folder), *words, env={**cache, **variables})
    assert said[:2] == (0, "42 42\n"), said.err
    return said.err


CALLER = """
from tablebase.jit import compiled
import others
from others import PART, add

@compiled
def call(number):
    return add(number) + others.WHOLE + PART[1]
"""
OTHERS = """
from tablebase.jit import compiled
from deeper import grow

PART, WHOLE = (1, 20), 300

@compiled
def add(number, more=0):
    return grow(number) + more
"""
DEEPER = """
from tablebase.jit import compiled

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


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut": lambda data: data[:-40],
    "zero": lambda data: bytes(len(data)),
    "zero in part": lambda data: data[: len(data) // 2] + bytes(500) + data[len(data) // 2 + 500 :],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cache_is_replaced(
    damage: str,
    tmp_path: Path,
    import_again: Import,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "small_kernels.py").write_text(KERNELS)

    def list_notes() -> list[str]:
        caplog.clear()
        kernels = import_again("small_kernels")
        assert (kernels.double(21), kernels.triple(14)) == (42, 42)
        return caplog.messages

    assert list_notes() == []
    files = [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]
    assert len(files) >= 2
    for file in files:
        file.write_bytes(DAMAGES[damage](file.read_bytes()))
    (note,) = list_notes()
    assert note.startswith("note: the compiler's cache cannot be used ('")
    assert note.endswith(" is damaged); functions are compiled again")
    assert list_notes() == []


def test_a_cache_on_a_full_disk_is_left_out(tmp_path: Path) -> None:
    noted = run_kernels(tmp_path, "1024")
    problem = "(file too large); functions are compiled again"
    assert noted == f"note: the compiler's cache cannot be used {problem}\n"
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]


def test_a_cache_that_cannot_be_written_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"")
    noted = run_kernels(tmp_path, NUMBA_CACHE_LOCATOR_CLASSES="UserProvidedCacheLocator")
    problem = "(no folder for it can be written to); functions are compiled again"
    assert noted == f"note: the compiler's cache cannot be used {problem}\n"
