"""The bits of a word: plain Python, and one instruction each where kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import intrinsic, overload


def count_ones(word: int) -> int:
    """How many bits are set.

    >>> count_ones(0b1011)
    3
    """
    return int(word).bit_count()


def find_lowest(word: int) -> int:
    """The number of the lowest bit that is set.

    >>> find_lowest(0b1000)
    3
    """
    return (int(word) & -int(word)).bit_length() - 1


@intrinsic
def _emit_count_ones(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return word(word), generate


@intrinsic
def _emit_find_lowest(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, 1))

    return word(word), generate


@overload(count_ones, strict=False)
def _compile_count_ones(word: Any) -> Callable[[int], int]:
    return lambda word: _emit_count_ones(word)  # type: ignore[call-arg]  # noqa: PLW0108  # numba reads it


@overload(find_lowest, strict=False)
def _compile_find_lowest(word: Any) -> Callable[[int], int]:
    return lambda word: _emit_find_lowest(word)  # type: ignore[call-arg]  # noqa: PLW0108
