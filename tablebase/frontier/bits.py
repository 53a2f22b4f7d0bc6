"""Bit operations on words: plain Python, and one machine instruction each in compiled kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import intrinsic, overload


def count_ones(word: int) -> int:
    """Count the bits that are set.

    >>> count_ones(0b1011)
    3
    """
    return int(word).bit_count()


def find_lowest(word: int) -> int:
    """Return the position of the lowest bit that is set, from 0.

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
