"""Arrays that do not fit the memory, in an unnamed file, a few of whose pages are in memory.

Because the file has no name, it disappears however the process ends. All its bytes are reserved
before the first array is used, because a full disk would later kill the process.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.errors import MachineLimit
from puzzle_tablebase.process import CleanupOnSignal, explain_os_error
from puzzle_tablebase.stores import TEMPORARY_SUFFIX, WORK, Folder, Store

Item = TypeVar("Item")


class Scratch:
    """Space for arrays of zeros: in memory, or in a file of a folder.

    `held`: the bytes of a file that are kept in memory, at most about twice as many.
    """

    def __init__(self, pages: mmap.mmap | None = None, held: int = 0) -> None:
        self._pages, self._held, self._used = pages, held, 0

    def allocate(self, shape: tuple[int, ...], dtype: type[Any]) -> npt.NDArray[Any]:
        """Allocate an array of zeros."""
        if self._pages is None:
            return np.zeros(shape, dtype)
        count = int(np.prod(shape))
        array = np.frombuffer(self._pages, dtype, count, self._used).reshape(shape)
        self._used += round_up(array.nbytes)
        return array

    def bound(self, items: Iterable[Item], size: int) -> Iterator[Item]:
        """Yield the items; drop the arrays from this process's memory from time to time.

        `size`: the bytes of arrays that an item uses.
        """
        touched = 0
        for item in items:
            yield item
            touched += size
            if self._pages is not None and touched >= self._held:
                self._pages.madvise(mmap.MADV_DONTNEED)  # of a shared file, nothing is lost
                touched = 0


def round_up(size: int) -> int:
    """Round up to whole pages."""
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE


@contextlib.contextmanager
def open_scratch(work: str, folder: str, size: int, held: int) -> Iterator[Scratch]:
    """Open space for arrays of `size` bytes in all, in a file of a folder.

    Raise MachineLimit, which names `work`, if the folder has too little space or is not writable.
    """
    hint = "Name a folder with more space by --scratch"
    with contextlib.ExitStack() as stack:
        try:
            opened = tempfile.TemporaryFile(dir=folder, suffix=TEMPORARY_SUFFIX)  # noqa: SIM115
            file = stack.enter_context(opened).fileno()
            status = os.fstatvfs(file)
            free = status.f_bavail * status.f_frsize
            if free < size:
                sizes = f"{size / 1e9:.2f} GB of disk; free in {folder}: {free / 1e9:.2f} GB"
                raise MachineLimit(f"{work} needs {sizes}", hint)
            os.posix_fallocate(file, 0, size)
            pages = mmap.mmap(file, size)
        except OSError as error:
            problem = f"{work} cannot use {folder} as scratch: {explain_os_error(error)}"
            raise MachineLimit(problem, hint) from error
        yield Scratch(pages, held)


@contextlib.contextmanager
def find_scratch_folder(work: str, store: Store, folder: str | None) -> Iterator[str]:
    """Yield the folder for scratch files: the named one, or the hidden folder of a store."""
    if folder is not None:
        yield os.path.expanduser(folder)
        return
    if not isinstance(store, Folder):
        problem = f"{work} needs a folder for scratch files, and {store} is none"
        raise MachineLimit(problem, "Name one by --scratch")
    hidden = store.locate(WORK.rstrip("/"))

    def remove() -> None:
        with contextlib.suppress(OSError):  # it is in use
            os.rmdir(hidden)

    with CleanupOnSignal(remove):
        with contextlib.suppress(OSError):
            os.mkdir(hidden)
        try:
            yield hidden
        finally:
            remove()
