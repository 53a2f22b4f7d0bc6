"""Bit operations on words: plain Python, and one machine instruction each in compiled kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import lower_builtin, type_callable


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


# given to the compiler as instructions: as functions, each would be compiled before its callers


@type_callable(count_ones)
@type_callable(find_lowest)
def _type_as_word(context: Any) -> Callable[[Any], Any]:
    return lambda word: types.unliteral(word)  # type: ignore[no-untyped-call]  # noqa: PLW0108  # numba reads it


@lower_builtin(count_ones, types.Integer)  # type: ignore[no-untyped-call, untyped-decorator]
def _emit_count_ones(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.ctpop(arguments[0])


@lower_builtin(find_lowest, types.Integer)  # type: ignore[no-untyped-call, untyped-decorator]
def _emit_find_lowest(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.cttz(arguments[0], context.get_constant(types.boolean, 1))
