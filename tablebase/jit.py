"""How kernels are compiled: once, kept on disk where that can be, without the lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(kernel: Kernel) -> Kernel:
    """Compile a kernel at its first call. `NUMBA_DISABLE_JIT=1` leaves it plain Python."""
    try:
        return cast(Kernel, numba.njit(cache=True, nogil=True)(kernel))
    except RuntimeError:  # neither beside the code nor in the user's folder can a cache be kept
        return cast(Kernel, numba.njit(nogil=True)(kernel))
