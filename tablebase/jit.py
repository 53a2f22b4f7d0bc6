"""Numba decorator: kernels are compiled once, cached on disk if possible, and release the GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(kernel: Kernel) -> Kernel:
    """Compile a kernel at its first call; with `NUMBA_DISABLE_JIT=1` it stays plain Python."""
    try:
        return cast(Kernel, numba.njit(cache=True, nogil=True)(kernel))
    except RuntimeError:  # no cache can be written beside the code or in the user's folder
        return cast(Kernel, numba.njit(nogil=True)(kernel))
