"""The bits of a word: plain Python, and one instruction each where kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import intrinsic, overload


def ones(word: int) -> int:
    """How many bits are set.

    >>> ones(0b1011)
    3
    """
    return int(word).bit_count()


def lowest(word: int) -> int:
    """The number of the lowest bit that is set.

    >>> lowest(0b1000)
    3
    """
    return (int(word) & -int(word)).bit_length() - 1


@intrinsic
def _ones(typing: Any, word: Any) -> Any:
    def made(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return word(word), made


@intrinsic
def _lowest(typing: Any, word: Any) -> Any:
    def made(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, 1))

    return word(word), made


@overload(ones, strict=False)
def _ones_compiled(word: Any) -> Callable[[int], int]:
    return lambda word: _ones(word)  # type: ignore[call-arg]  # noqa: PLW0108  # numba reads it


@overload(lowest, strict=False)
def _lowest_compiled(word: Any) -> Callable[[int], int]:
    return lambda word: _lowest(word)  # type: ignore[call-arg]  # noqa: PLW0108
