"""Checkpoints: results of finished tasks, saved in the store so that a killed build can resume.

A checkpoint belongs to the code that made it: a module, and the project's modules that it imports.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import io
import json
import threading
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from puzzle_tablebase import __version__
from puzzle_tablebase.errors import StoreError, Unreachable
from puzzle_tablebase.schema import Recipe, Table
from puzzle_tablebase.tables.access import is_unfinished, list_files, make_open_error
from puzzle_tablebase.tables.store import Store

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


PROJECT = __name__.partition(".")[0]
"""The package of this project."""

PARSING = threading.Lock()
"""Held while Python parses text: 3.11 may raise SystemError when two threads do (gh-106905)."""
SUFFIX = ".kept"
CHECKSUM_BYTES = 4
NOT_OURS = (OSError, ValueError, TypeError, OverflowError, MemoryError, pa.ArrowException)
"""What JSON, numpy and Arrow raise for arrays that no checkpoint has, or of an impossible size."""
Arrays = list[npt.NDArray[Any]]


@functools.cache
def digest_code(module: str) -> str:
    """Return a digest of the source of a module and of the project's modules that it imports.

    Imports inside functions count as well. For a module of another package, the modules of that
    package count too.

    >>> digest_code("puzzle_tablebase.errors") == digest_code("puzzle_tablebase.tables.checkpoints")
    False
    """
    packages = {PROJECT, module.partition(".")[0]}
    sources: dict[str, bytes] = {}
    pending_names = [module]
    while pending_names:
        name = pending_names.pop()
        if name in sources or name.partition(".")[0] not in packages:
            continue
        spec = _find(name)
        if spec is None:  # it names an object in a module
            continue
        sources[name] = _read_source(spec)
        pending_names += _list_imports(sources[name], spec)
        pending_names.append(name.rpartition(".")[0])  # importing a module runs its package first
    digest = hashlib.sha256()
    for name, source in sorted(sources.items()):
        digest.update(f"{name} {len(source)}\n".encode() + source)
    return digest.hexdigest()


@functools.cache
def _find(name: str) -> ModuleSpec | None:
    """Find a module without importing its package, which may take seconds."""
    package, _, _ = name.rpartition(".")
    if not package:
        try:
            return find_spec(name) if name else None
        except ValueError:  # it has no file: `__main__`, in a notebook
            return None
    parent = _find(package)
    if parent is None or parent.submodule_search_locations is None:
        return None
    return PathFinder.find_spec(name, parent.submodule_search_locations)


def _read_source(spec: ModuleSpec) -> bytes:
    if not spec.has_location or not str(spec.origin).endswith(".py"):
        return b""
    with open(str(spec.origin), "rb") as file:
        return file.read()


def _list_imports(source: bytes, spec: ModuleSpec) -> Iterator[str]:
    """List the names that a source imports: modules, or objects in modules."""
    with PARSING:
        tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                package = spec.name if spec.submodule_search_locations else spec.parent or ""
                parent_names = package.split(".")[: len(package.split(".")) - node.level + 1]
                module = ".".join([*parent_names, *([module] if module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


class Checkpoints:
    """The saved task results of one table, by name: those of this recipe, version and code.

    `builder`: the module that builds the table. Where its code has changed, or that of the rules
    that the recipe holds, or any that these import of the project, checkpoints are not used. Each
    has its name and its recipe under its checksum: exchanged files are no results.
    """

    def __init__(self, store: Store, table: Table, builder: str) -> None:
        self._store = store
        self._table = table.name
        self._modules = (builder, *_list_rules(table.recipe))
        self._version = _get_version(self._modules)
        description = json.dumps(
            [table.recipe.search, table.recipe.list_parameters(), self._version]
        )
        self._stem = f".{table.name}.{_digest(description)}"

    def __repr__(self) -> str:
        """Return a text that is equal for equal recipes and versions.

        A task's arguments, as text, name its checkpoint.
        """
        return self._stem

    def load(self, name: str) -> Arrays | None:
        """Load the arrays of a checkpoint; None if it is missing or damaged.

        Raise TableUnreadable if the store does not answer, or refuses to: nothing is known then.
        """
        try:
            data = memoryview(self._store.read(self.format_file_name(name)))
        except Unreachable as error:
            raise make_open_error(
                self._store.locate(self.format_file_name(name)), error, ""
            ) from error
        except OSError:
            return None
        compressed = data[:-CHECKSUM_BYTES]
        checksum = zlib.crc32(compressed, self.begin_checksum(name))
        if not compressed or data[-CHECKSUM_BYTES:] != _encode_checksum(checksum):
            return None
        arrays = list[npt.NDArray[Any]]()
        try:
            decompressed = pa.CompressedInputStream(pa.BufferReader(compressed), "zstd")
            with io.BufferedReader(decompressed) as file:
                while header := file.readline():
                    dtype, shape = json.loads(header)
                    arrays.append(np.empty(shape, dtype))
                    contents = arrays[-1].reshape(-1).view(np.uint8)
                    if file.readinto(contents.data) != contents.size:
                        return None
        except NOT_OURS:
            return None
        return arrays

    def require(self, name: str) -> Arrays:
        """Load the arrays of a checkpoint; raise StoreError if it is missing.

        A worker that uses another store saved it there.
        """
        arrays = self.load(name)
        if arrays is None:
            problem = "a worker's result is missing"
            raise StoreError(str(self._store), problem, "All workers must reach the same place.")
        return arrays

    def require_version(self) -> None:
        """Raise StoreError if this process has another version or code than the build."""
        version, code = _get_version(self._modules)
        if version != self._version[0]:
            problem = f"a worker has version {version} of the program"
            raise StoreError(str(self._store), problem, f"Install {self._version[0]} there.")
        if code != self._version[1]:
            problem = f"a worker has changed code of version {version}"
            raise StoreError(str(self._store), problem, "Install the same code there.")

    def save(self, name: str, arrays: Arrays) -> None:
        """Save the arrays of a checkpoint."""
        # no fsync: the checksum shows damage from a crash of the machine
        with self._store.write_atomically(self.format_file_name(name), durable=False) as (file,):
            checksummed = _ChecksumWriter(file, self.begin_checksum(name))
            with pa.CompressedOutputStream(checksummed, "zstd") as stream:
                for array in arrays:
                    # numpy's own header is Python text, which no two threads can parse at once
                    stream.write(f"{json.dumps([array.dtype.str, array.shape])}\n".encode())
                    stream.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
            file.write(_encode_checksum(checksummed.checksum))

    def require_space(self, needed: int) -> None:
        """Raise DiskShort if so many bytes do not fit the store, with those that are there."""
        if self._store.get_free_space() is None:  # a bucket would be asked for each size
            return
        present = map(self._store.get_size, self.list_files())
        self._store.require_space(f"A search for {self._table}", needed - sum(present))

    def remove(self, name: str) -> None:
        """Remove a checkpoint, if it exists; one that cannot be removed stays."""
        with suppress(StoreError):
            self._store.remove(self.format_file_name(name))

    def list_files(self) -> list[str]:
        """List the files of the checkpoints that a build resumes from."""
        names = list_checkpoint_files(self._store, self._table)
        return [
            name for name in names if name.startswith(f"{self._stem}.") and name.endswith(SUFFIX)
        ]

    def clear_others(self) -> None:
        """Remove the table's checkpoints of other recipes, versions and code."""
        for name in {*list_checkpoint_files(self._store, self._table)} - {*self.list_files()}:
            self._store.remove(name)

    def begin_checksum(self, name: str) -> int:
        """Return the checksum that a checkpoint's bytes continue: that of its whole name."""
        return zlib.crc32(f"{self._stem} {name}".encode())

    def format_file_name(self, name: str) -> str:
        """Return the name of a checkpoint's file."""
        return f"{self._stem}.{_digest(name)}{SUFFIX}"


def list_checkpoint_files(store: Store, table: str) -> list[str]:
    """List the files of a table's checkpoints, of all recipes, and those of killed writers."""
    return [
        name
        for name in list_files(store, f".{table}.")
        if name.endswith(SUFFIX) or is_unfinished(store, name)
    ]


class _ChecksumWriter(io.RawIOBase):
    """Writer that continues a checksum with what it writes to a file."""

    def __init__(self, file: IO[bytes], checksum: int) -> None:
        self._file = file
        self.checksum = checksum

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        return self._file.write(data)


def _list_rules(recipe: Recipe) -> list[str]:
    """List the modules of a recipe and of what it holds, such as the board that is searched."""
    slots = {name for kind in type(recipe).__mro__ for name in getattr(kind, "__slots__", ())}
    values = [getattr(recipe, name) for name in slots if hasattr(recipe, name)]
    return sorted({type(value).__module__ for value in (recipe, *values)})


def _get_version(modules: Iterable[str]) -> tuple[str, str]:
    """Return the program's version and the digest of the modules' code."""
    return __version__, _digest(" ".join(map(digest_code, modules)))


def _encode_checksum(checksum: int) -> bytes:
    return checksum.to_bytes(CHECKSUM_BYTES, "little")


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]
