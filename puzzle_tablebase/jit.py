"""Numba decorator: kernels are compiled once, cached on disk if possible, and release the GIL."""

from __future__ import annotations

import functools
import os
import pickle
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

Array = npt.NDArray[Any]
Kernel = TypeVar("Kernel", bound=Callable[..., Any])
CHECKSUM_BYTES = 32


def compiled(kernel: Kernel) -> Kernel:
    """Compile a kernel at its first call; with `NUMBA_DISABLE_JIT=1` it stays plain Python."""
    dispatcher: Any = numba.njit(nogil=True)(kernel)
    if dispatcher is not kernel:
        dispatcher._cache = _CheckedCache(kernel)
    return cast(Kernel, dispatcher)


class _CheckedCache(NullCache):
    """A cache on disk for the machine code of one kernel: a file for each signature.

    A file begins with a checksum over its name and everything that the code depends on: a damaged
    or outdated file is compiled again and replaced. Numba's own cache checks neither its files nor
    the kernels of other modules, and two processes that write its index at the same time corrupt
    it.
    """

    def __init__(self, kernel: Callable[..., Any]) -> None:
        self._kernel = kernel

    @functools.cached_property
    def _digest(self) -> bytes:
        """The digest of everything that the machine code depends on."""
        digest = sha256(repr((numba.__version__, sys.version)).encode())
        for part in _list_dependencies(self._kernel, set()):
            digest.update(part)
        return digest.digest()

    def load_overload(self, signature: object, target: Any) -> Any:
        """Return the code for a signature; None if there is none."""
        target.refresh()
        path = self._locate(signature, target.codegen())
        try:
            # or a named pipe, which nobody may ever write to
            if not self._has_folder() or not os.path.isfile(path):
                return None
            with open(path, "rb") as file:
                checksum, code = file.read(CHECKSUM_BYTES), file.read()
        except OSError:
            return None
        if checksum != self._compute_checksum(path, code):
            return None
        return CompileResult._rebuild(target, *pickle.loads(code))  # type: ignore[no-untyped-call]  # noqa: S301

    def save_overload(self, signature: object, result: Any) -> None:
        """Write the code for a signature; where that fails, it is compiled again next time."""
        if result.library.has_dynamic_globals:  # addresses of this process
            return
        path, code = self._locate(signature, result.codegen), dumps(result._reduce())  # type: ignore[no-untyped-call]
        temporary = f"{path}.{os.getpid()}"  # one thread at a time compiles
        try:
            if not self._has_folder(is_made=True):
                return
            with open(temporary, "wb") as file:
                file.write(self._compute_checksum(path, code) + code)
            os.replace(temporary, path)
        except OSError:
            with suppress(OSError):
                os.unlink(temporary)

    @functools.cached_property
    def _sources(self) -> str:
        """The folder of the kernel's source."""
        return os.path.dirname(self._kernel.__code__.co_filename)

    @functools.cached_property
    def _folder(self) -> str:
        """The folder for machine code: by default beside the source."""
        if given := os.environ.get("NUMBA_CACHE_DIR"):
            return os.path.abspath(given)
        if os.access(self._sources, os.W_OK):
            return os.path.join(self._sources, "__pycache__")
        return os.path.expanduser("~/.cache/puzzle-tablebase")

    def _has_folder(self, *, is_made: bool = False) -> bool:
        """Return whether there is a folder that nobody else may write to, as its files are run.

        Beside the source, users who may write to the source may write to it too. `is_made`: make
        the folder if it is missing; OSError if that fails.
        """
        if not os.path.isabs(self._folder):  # `~` of a user without a home
            return False
        is_beside = self._folder == os.path.join(self._sources, "__pycache__")
        if is_made:
            os.makedirs(self._folder, 0o777 if is_beside else 0o700, exist_ok=True)
        folder, source = os.stat(self._folder), os.stat(self._sources)
        owners, others = {os.geteuid()}, stat.S_IWGRP | stat.S_IWOTH
        if is_beside:
            owners, others = {*owners, source.st_uid}, others & ~source.st_mode
        return folder.st_uid in owners and not folder.st_mode & others

    def _compute_checksum(self, path: str, code: bytes) -> bytes:
        return sha256(self._digest + os.path.basename(path).encode() + code).digest()

    def _locate(self, signature: object, generator: Any) -> str:
        key = self._kernel.__code__.co_filename, signature, generator.magic_tuple()
        name = f"{self._kernel.__module__}.{self._kernel.__qualname__}"
        file = f"{name}-{sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
        return os.path.join(self._folder, file)


def _list_dependencies(
    kernel: Callable[..., Any], known: set[Callable[..., Any]]
) -> Iterator[bytes]:
    """Yield what a kernel's machine code depends on: its code, and the values that it names.

    Those values are constants in the machine code. The kernels that it calls follow, but those in
    `known`.
    """
    if kernel in known:
        return
    known.add(kernel)
    names, pending = list[str](), [kernel.__code__]
    # the machine code imports the modules of the kernels that it calls
    yield repr((kernel.__module__, kernel.__qualname__, kernel.__defaults__)).encode()
    for code in pending:
        constants = [each for each in code.co_consts if not isinstance(each, CodeType)]
        yield repr((code.co_code, constants, code.co_names, code.co_varnames)).encode()
        names += code.co_names
        pending += [each for each in code.co_consts if isinstance(each, CodeType)]
    values = [kernel.__globals__[name] for name in names if name in kernel.__globals__]
    modules = [value for value in values if isinstance(value, ModuleType)]
    values += [getattr(module, name, None) for module in modules for name in names]
    values += [cell.cell_contents for cell in kernel.__closure__ or ()]
    for value in values:
        if hasattr(value, "py_func"):
            yield from _list_dependencies(value.py_func, known)
        elif isinstance(value, FunctionType):  # an intrinsic: its module defines the instruction
            with open(value.__code__.co_filename, "rb") as file:
                yield file.read()
        elif isinstance(value, np.ndarray):
            yield repr((value.dtype, value.shape)).encode() + value.tobytes()
        elif isinstance(value, int | float | str | bytes | tuple | np.generic):
            yield repr(value).encode()
