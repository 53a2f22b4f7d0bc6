"""Checkpoints: results of finished tasks, saved in the store so that a killed build can resume.

A checkpoint belongs to the code that made it. It is a list of arrays, or a file that its task reads
and writes itself. A name may begin with a folder: `folder/name`.
"""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from puzzle_tablebase import __version__
from puzzle_tablebase.code_digest import Code
from puzzle_tablebase.errors import StoreError, Unreachable
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import WORK, Folder, RandomAccessFile, list_files, make_open_error

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# numpy and pyarrow are imported where arrays are read or written: most commands have none

SUFFIX = ".kept"
CHECKSUM_BYTES = 4
CHUNK_BYTES = 1 << 24
"""The bytes that are compressed at a time."""
Arrays: TypeAlias = "list[npt.NDArray[Any]]"


class Checkpoints:
    """The saved task results of one table, by name: those of this recipe and code.

    `code`: what makes the table. The CRC is seeded with the checkpoint's name and recipe, so a
    renamed file fails the check.
    """

    def __init__(self, store: Folder, table: Table, code: Code) -> None:
        self._store = store
        self.table = table.name
        self._code = code
        self._code_digest = code.digest
        recipe = [table.recipe.parameters, self._code_digest]
        self._stem = f"{table.name}.{_digest(json.dumps(recipe))}"

    def __repr__(self) -> str:
        """Return a text that is equal for equal recipes and code, as names of tasks contain it."""
        return self._stem

    def load(self, name: str) -> Arrays | None:
        """Load the arrays of a checkpoint; None if it is missing or damaged.

        Raise TableUnreadable if the store does not answer, or refuses to.
        """
        file_name = self.format_file_name(name)
        try:
            data = memoryview(self._store.read(file_name))
        except Unreachable as error:
            raise make_open_error(self._store, file_name, error) from error
        except OSError:
            return None
        compressed = data[:-CHECKSUM_BYTES]
        checksum = zlib.crc32(compressed, self._begin_checksum(name))
        if data[-CHECKSUM_BYTES:] != checksum.to_bytes(CHECKSUM_BYTES, "little"):
            return None
        import numpy as np
        import pyarrow as pa

        arrays: Arrays = []
        decompressed = pa.CompressedInputStream(pa.BufferReader(compressed), "zstd")
        with io.BufferedReader(decompressed) as file:
            while header := file.readline():
                dtype, shape = json.loads(header)
                arrays.append(np.empty(shape, dtype))
                file.readinto(arrays[-1].reshape(-1).view(np.uint8).data)
        return arrays

    def require(self, name: str) -> Arrays:
        """Load the arrays of a checkpoint; raise StoreError if it is missing or damaged.

        A damaged checkpoint is removed, so that a resumed build makes it again.
        """
        arrays = self.load(name)
        if arrays is None:
            raise self.make_damage_error(name)
        return arrays

    def require_same_code(self) -> None:
        """Raise StoreError if this process has other code than the build."""
        if self._code.digest != self._code_digest:
            problem = "a worker has other code than the build"
            raise StoreError(str(self._store), problem, f"Install {__version__} there.")

    def save(self, name: str, arrays: Arrays, *, is_synced: bool = False) -> None:
        """Save the arrays of a checkpoint.

        `is_synced`: it survives a crash of the machine; otherwise the checksum shows any damage.
        """
        import pyarrow as pa

        checksum = self._begin_checksum(name)
        with self._store.write_files(self.format_file_name(name)) as files:
            for chunk in _iter_chunks(arrays):
                compressed = pa.compress(chunk, "zstd", asbytes=True)
                checksum = zlib.crc32(compressed, checksum)
                files[0].write(compressed)
            files[0].write(checksum.to_bytes(CHECKSUM_BYTES, "little"))
            if is_synced:
                files.finish()
            files.publish()

    @contextmanager
    def write(self, name: str) -> Iterator[IO[bytes]]:
        """Open a checkpoint for writing in the block; it survives a crash once it has its name.

        The reader checks its contents, with `seed`.
        """
        with self._store.write_files(self.format_file_name(name)) as files:
            yield files[0]
            files.finish()
            files.publish()

    def open(self, name: str) -> RandomAccessFile:
        """Open a checkpoint that was written by `write`; raise FileNotFoundError if it is missing.

        Raise TableUnreadable if the store does not answer, or refuses to.
        """
        file_name = self.format_file_name(name)
        try:
            return self._store.open_random_access(file_name)
        except Unreachable as error:
            raise make_open_error(self._store, file_name, error) from error

    def compute_seed(self, name: str) -> int:
        """Compute the seed of a checkpoint's checksums, a number of 32 bits, from its name."""
        return self._begin_checksum(name)

    def get_size(self, name: str) -> int:
        """Return the bytes of a checkpoint's file."""
        return self._store.get_size(self.format_file_name(name))

    def make_damage_error(self, name: str) -> StoreError:
        """Make the error for a missing or damaged checkpoint, and remove a damaged one.

        So a resumed build makes it again.
        """
        self.remove(name)
        file = self.format_file_name(name)
        problem = f"checkpoint {file.removeprefix(WORK)} is missing or damaged"
        hint = "Do all workers see the same folder? Then run the command again."
        return StoreError(str(self._store), problem, hint)

    def count_bytes(self) -> int:
        """Count the bytes of all checkpoints that a build resumes from."""
        return sum(map(self._store.get_size, self.list_files()))

    def require_space(self, needed: int) -> None:
        """Raise StoreError unless `needed` bytes fit the store, present checkpoints included."""
        self._store.require_space(f"A search for {self.table}", needed - self.count_bytes())

    def remove(self, name: str) -> None:
        """Remove a checkpoint, if it exists; one that cannot be removed stays."""
        with suppress(StoreError):
            self._store.remove(self.format_file_name(name))

    def list_files(self) -> list[str]:
        """List the files of the checkpoints that a build resumes from."""
        return list_checkpoint_files(self._store, self._stem)

    def clear_except(self, names: Iterable[str]) -> None:
        """Remove all checkpoints of this recipe and code except some."""
        kept = {*map(self.format_file_name, names)}
        for name in self.list_files():
            if name not in kept:
                self._store.remove(name)

    def clear_others(self) -> None:
        """Remove the table's checkpoints of other recipes and code."""
        for name in list_checkpoint_files(self._store, self.table):
            if not name.startswith(f"{WORK}{self._stem}."):
                self._store.remove(name)

    def _begin_checksum(self, name: str) -> int:
        """Return the CRC of a checkpoint's full name, which is continued with its bytes."""
        return zlib.crc32(f"{self._stem} {name}".encode())

    def format_file_name(self, name: str) -> str:
        """Return the name of a checkpoint's file."""
        folder, slash, _ = name.rpartition("/")
        return f"{WORK}{self._stem}.{folder}{slash}{_digest(name)}{SUFFIX}"


def list_checkpoint_files(store: Folder, table: str = "") -> list[str]:
    """List the files of a table's checkpoints, of all recipes and code; by default all tables'."""
    names = list[str]()
    for name in list_files(store, f"{WORK}{table}." if table else WORK):
        names += [name] if name.endswith(SUFFIX) else list_files(store, f"{name}/")
    return [name for name in names if name.endswith(SUFFIX)]


def _iter_chunks(arrays: Arrays) -> Iterator[bytes | npt.NDArray[np.uint8]]:
    """Yield a file in chunks: for each array, a line with its type and shape, then its bytes."""
    import numpy as np

    for array in arrays:
        # numpy's own header is Python text, which no two threads can parse at once
        yield f"{json.dumps([array.dtype.str, array.shape])}\n".encode()
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        yield from (data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES))


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]
