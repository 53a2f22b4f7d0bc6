"""A compiler's cache: damaged, full, shared or not writable, it changes no answer."""

import importlib
import os
import pwd
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.shell import Completed, python
from tests.support.tampered import flip_byte

MODULES = {
    "caller": """
from puzzle_tablebase.jit import compiled
import others
from others import PART, add

@compiled
def call(number):
    return add(number) + others.WHOLE + PART[1]
""",
    "others": """
from puzzle_tablebase.jit import compiled
from deeper import grow

PART, WHOLE = (1, 20), 300

@compiled
def add(number, more=0):
    return grow(number) + more
""",
    "deeper": """
from numba import types
from numba.extending import lower_builtin, type_callable
from puzzle_tablebase.jit import compiled

def shift():
    pass

@type_callable(shift)
def type_shift(context):
    return lambda: types.int64

@lower_builtin(shift)
def emit_shift(context, builder, signature, arguments):
    return context.get_constant(types.int64, 0)

@compiled
def grow(number):
    return number + shift() + 1
""",
}

Import = Callable[[], ModuleType]


@pytest.fixture
def import_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Import:
    """Return a function that imports the modules as a new process would."""
    for name, source in MODULES.items():
        (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two versions may be of one second
    monkeypatch.syspath_prepend(tmp_path)

    def import_caller() -> ModuleType:
        for name in MODULES:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module("caller")

    return import_caller


def test_a_change_that_a_kernel_of_another_module_makes_is_noticed(
    tmp_path: Path, import_caller: Import
) -> None:
    """Change other modules, one thing after the other; import them twice after each change."""
    for module, old, new, answer in (
        ("caller", "", "", 4321),
        ("deeper", "shift() + 1", "shift() + 2", 4322),
        ("others", "grow(number)", "grow(number) + 3", 4325),
        ("others", "more=0", "more=7", 4332),
        ("others", "(1, 20)", "(1, 50)", 4362),
        ("others", "300", "600", 4662),
        ("deeper", "types.int64, 0", "types.int64, 5", 4667),
    ):
        file = tmp_path / f"{module}.py"
        file.write_text(file.read_text().replace(old, new))
        for hits in (0, 1):
            caller = import_caller()
            assert caller.call(4000) == answer
            assert sum(caller.call.stats.cache_hits.values()) == hits


def list_files(folder: Path) -> list[Path]:
    return [file for file in (folder / "cache").rglob("*") if file.is_file()]


def count_hits(import_caller: Import) -> int:
    caller = import_caller()
    assert caller.call(4000) == 4321
    return sum(caller.call.stats.cache_hits.values())


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "zero": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "flipped": flip_byte,
    "another kernel's": lambda path: path.write_bytes(
        next(each for each in path.parent.parent.rglob("*.*") if each != path).read_bytes()
    ),
    "a named pipe": make_pipe,
}


def test_a_damaged_file_is_replaced(tmp_path: Path, import_caller: Import) -> None:
    assert import_caller().call(4000) == 4321
    files = list_files(tmp_path)
    assert len(files) == 3
    for name, damage in DAMAGES.items():
        for file in files:
            damage(file)
        assert import_caller().call(4000) == 4321, name
        assert {*list_files(tmp_path)} == {*files}, name
        assert all(file.is_file() and file.stat().st_size > 1000 for file in files), name
        assert count_hits(import_caller) == 1, name


FORKS = """
import os, sys
import puzzle_tablebase.jit

processes = []
for _ in range(int(sys.argv[2])):
    processes.append(os.fork())
    if processes[-1] == 0:
        sys.path.insert(0, sys.argv[1])
        from caller import call
        print(call(4000), call(2.5), flush=True)
        os._exit(0)
sys.exit(any([os.waitpid(process, 0)[1] for process in processes]))
"""
"""Script that calls the kernel in several processes, which share the import of the compiler."""


def call_in_processes(folder: Path, count: int = 1) -> Completed:
    cache = {"NUMBA_CACHE_DIR": str(folder / "cache"), "NUMBA_DISABLE_JIT": "0"}
    return python(FORKS, str(folder), str(count), env=cache)


@pytest.mark.usefixtures("import_caller")
def test_processes_may_share_a_cache(tmp_path: Path) -> None:
    """Compile the same kernels for several types in several processes at the same time."""
    assert call_in_processes(tmp_path, 2) == (0, "4321 323.5\n" * 2, "")
    assert len(list_files(tmp_path)) == 6


def test_a_kernel_that_moved_to_another_module_is_found(
    tmp_path: Path, import_caller: Import
) -> None:
    """Compile here, and find the kernel in a process that never imported the module it was in."""
    assert import_caller().call(4000) == 4321
    others = tmp_path / "others.py"
    others.write_text(others.read_text().replace("from deeper", "from moved"))
    (tmp_path / "deeper.py").rename(tmp_path / "moved.py")
    assert call_in_processes(tmp_path) == (0, "4321 323.5\n", "")


def test_a_cache_that_cannot_be_written_is_left_out(tmp_path: Path, import_caller: Import) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    try:
        assert import_caller().call(1) == 322
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list_files(tmp_path) == []
    (tmp_path / "cache").rmdir()
    (tmp_path / "cache").write_bytes(b"")
    assert import_caller().call(4000) == 4321


def test_a_folder_that_others_own_or_may_write_to_is_not_used(
    tmp_path: Path, import_caller: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [count_hits(import_caller) for _ in range(2)] == [0, 1]
    cache = tmp_path / "cache"
    assert cache.stat().st_mode & 0o777 == 0o700
    files = {file: file.stat().st_mtime_ns for file in list_files(tmp_path)}
    for mode in (0o702, 0o720):
        cache.chmod(mode)
        assert count_hits(import_caller) == 0
    cache.chmod(0o755)
    assert count_hits(import_caller) == 1
    own = os.geteuid()
    with monkeypatch.context() as patched:
        patched.setattr(os, "geteuid", lambda: own + 1)
        assert count_hits(import_caller) == 0
    assert {file: file.stat().st_mtime_ns for file in list_files(tmp_path)} == files


def test_beside_the_source_may_write_who_may_write_to_the_source(
    tmp_path: Path, import_caller: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert [count_hits(import_caller) for _ in range(2)] == [0, 1]
    (tmp_path / "__pycache__").chmod(0o775)
    assert count_hits(import_caller) == 0
    tmp_path.chmod(0o775)
    assert count_hits(import_caller) == 1


def test_without_a_home_there_is_no_cache(
    tmp_path: Path, import_caller: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder `~` in the current one is not a home: what lies there is not run."""
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.delenv("HOME")

    def find_nobody(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", find_nobody)
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~").mkdir(0o700)
    assert [count_hits(import_caller) for _ in range(2)] == [0, 0]
    assert [*(tmp_path / "~").iterdir()] == []
