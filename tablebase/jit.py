"""Numba decorator: kernels are compiled once, cached on disk if possible, and release the GIL."""

from __future__ import annotations

import logging
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.serialize import dumps

from tablebase.errors import quote
from tablebase.stdio import explain_os_error

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(kernel: Kernel) -> Kernel:
    """Compile a kernel at its first call; with `NUMBA_DISABLE_JIT=1` it stays plain Python."""
    dispatcher: Any = numba.njit(nogil=True)(kernel)
    if dispatcher is not kernel:
        try:
            dispatcher._cache = _KernelCache(kernel)
        except RuntimeError:  # neither beside the code nor in the user's folder
            _note_failure("no folder for it can be written to")
    return cast(Kernel, dispatcher)


class _CheckedFiles(IndexDataCacheFile):
    """The machine code of one kernel: a file for each signature, which begins with its checksum.

    Numba's own files have none, so that damaged machine code would run, and an index, which two
    processes that write it at the same time confuse.
    """

    def load(self, key: object) -> Any:
        """Return the code for a key; None if there is none, or a damaged file to be replaced."""
        path = self._get_path(key)
        try:
            with open(path, "rb") as file:
                checksum, data = file.read(32), file.read()
        except FileNotFoundError:
            return None
        if checksum != sha256(data).digest():
            _note_failure(f"{quote(path, 200)} is damaged")
            return None
        stamp, code = pickle.loads(data)  # noqa: S301  # Numba's own files are pickled, too
        return code if stamp == self._source_stamp else None

    def save(self, key: object, code: object) -> None:
        """Write the code for a key."""
        data = dumps((self._source_stamp, code))  # type: ignore[no-untyped-call]
        with self._open_for_write(self._get_path(key)) as file:
            file.write(sha256(data).digest() + data)

    def _get_path(self, key: object) -> str:
        name = sha256(repr((numba.__version__, key)).encode()).hexdigest()[:16]
        return os.path.join(self._cache_path, self._data_name_pattern.replace("{number:d}", name))


class _KernelCache(FunctionCache):
    """The cache of one kernel, which is compiled where its files cannot be read or written."""

    def __init__(self, kernel: Callable[..., Any]) -> None:
        super().__init__(kernel)  # type: ignore[no-untyped-call]
        stamp = self._impl.locator.get_source_stamp()
        base = self._impl.filename_base
        self._cache_file = _CheckedFiles(self._cache_path, base, stamp)  # type: ignore[no-untyped-call]

    @contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        """Go on after an error of the block, in which Numba loads or saves."""
        try:
            yield
        except Exception as error:  # such as code of another version of Numba's own libraries
            if isinstance(error, OSError):
                _note_failure(explain_os_error(error))
            else:
                _note_failure(quote(str(error), 200))


def _note_failure(problem: str) -> None:
    """Say on standard error why kernels are compiled again; once in a process."""
    if not _noted:
        _noted.append(problem)
        text = "note: the compiler's cache cannot be used (%s); functions are compiled again"
        logging.getLogger(__name__).warning(text, problem)


_noted: list[str] = []
"""The first problem with the cache."""
