"""Numba decorator: kernels are compiled once, cached on disk if possible, and release the GIL."""

from __future__ import annotations

import logging
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256
from types import CodeType, ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps

from puzzle_tablebase.errors import quote
from puzzle_tablebase.process import explain_os_error

Array = npt.NDArray[Any]
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
    processes that write it at the same time confuse. They are also used when a kernel of another
    module has changed that this one calls.
    """

    kernel: Callable[..., Any]

    @cached_property
    def _digest(self) -> bytes:
        """The digest of all that the machine code was made from."""
        digest = sha256()
        for part in _list_parts(self.kernel, {}):
            digest.update(part)
        return digest.digest()

    def load(self, key: object) -> Any:
        """Return the code for a key; None if there is none, or a damaged file to be replaced."""
        path = self._get_path(key)
        if not os.path.isfile(path):  # or a named pipe, which nobody may ever write to
            return None
        with open(path, "rb") as file:
            checksum, data = file.read(32), file.read()
        if checksum != sha256(data).digest():
            _note_failure(f"{quote(path, 200)} is damaged")
            return None
        stamp, code = pickle.loads(data)  # noqa: S301  # Numba's own files are pickled, too
        return code if stamp == self._digest else None

    def save(self, key: object, code: object) -> None:
        """Write the code for a key."""
        data = dumps((self._digest, code))  # type: ignore[no-untyped-call]
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
        self._cache_file.kernel = kernel

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


def _list_parts(kernel: Callable[..., Any], known: dict[int, object]) -> Iterator[bytes]:
    """List what a kernel's machine code depends on: the code of it and of all kernels that it
    calls, and the values that it names, which are constants in the machine code.

    `known`: the kernels that are listed already, by id.
    """
    if id(kernel) in known:
        return
    known[id(kernel)] = kernel
    names = list[str]()
    pending = [kernel.__code__]
    yield repr((kernel.__defaults__, kernel.__kwdefaults__)).encode()
    while pending:
        code = pending.pop()
        constants = [each for each in code.co_consts if not isinstance(each, CodeType)]
        yield repr((code.co_code, constants, code.co_names, code.co_varnames)).encode()
        names += code.co_names
        pending += [each for each in code.co_consts if isinstance(each, CodeType)]
    values = [kernel.__globals__[name] for name in names if name in kernel.__globals__]
    modules = [value for value in values if isinstance(value, ModuleType)]
    values += [getattr(module, name, None) for module in modules for name in names]
    values += [cell.cell_contents for cell in kernel.__closure__ or ()]
    for value in values:
        if isinstance(value, Dispatcher):
            yield from _list_parts(value.py_func, known)
        elif isinstance(value, np.ndarray):
            yield repr((value.dtype, value.shape)).encode() + value.tobytes()
        elif isinstance(value, int | float | str | bytes | tuple | np.generic):
            yield repr(value).encode()


def _note_failure(problem: str) -> None:
    """Say on standard error why kernels are compiled again; once in a process."""
    if not _noted:
        _noted.append(problem)
        text = "note: the compiler's cache cannot be used (%s); functions are compiled again"
        logging.getLogger(__name__).warning(text, problem)


_noted: list[str] = []
"""The first problem with the cache."""
