"""LLVM intrinsics for kernels: popcount, trailing zeros, prefetch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, type_callable


def count_ones(word: int) -> int:
    """Count the bits that are set.

    >>> count_ones(0b1011)
    3
    """
    return int(word).bit_count()


def count_trailing_zeros(word: int) -> int:
    """Count the zero bits below the lowest bit that is set, which is that bit's position.

    >>> count_trailing_zeros(0b1000)
    3
    """
    return (int(word) & -int(word)).bit_length() - 1


def prefetch(array: npt.NDArray[Any], index: int) -> None:
    """Ask the processor to fetch an element from memory, without waiting for it.

    >>> import numpy as np
    >>> prefetch(np.zeros(8), 7)
    """


# emitted as instructions: as functions, each would be compiled before its callers


@type_callable(count_ones)
@type_callable(count_trailing_zeros)
def _type_as_word(context: Any) -> Callable[[Any], Any]:
    return lambda word: types.unliteral(word)  # type: ignore[no-untyped-call]  # noqa: PLW0108  # numba reads it


@lower_builtin(count_ones, types.Integer)  # type: ignore[no-untyped-call, untyped-decorator]
def _emit_count_ones(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.ctpop(arguments[0])


@lower_builtin(count_trailing_zeros, types.Integer)  # type: ignore[no-untyped-call, untyped-decorator]
def _emit_count_trailing_zeros(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.cttz(arguments[0], context.get_constant(types.boolean, 1))


@type_callable(prefetch)
def _type_prefetch(context: Any) -> Callable[[Any, Any], Any]:
    return lambda array, index: types.void


@lower_builtin(prefetch, types.Array, types.Integer)  # type: ignore[no-untyped-call, untyped-decorator]
def _emit_prefetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    number = ir.IntType(32)
    function_type = ir.FunctionType(ir.VoidType(), [ir.PointerType(), number, number, number])
    instruction = builder.module.declare_intrinsic("llvm.prefetch.p0", (), function_type)
    address = builder.gep(array.data, [arguments[1]])
    # read (0), into all cache levels (3), data rather than instructions (1)
    numbers = [number(0), number(3), number(1)]
    builder.call(instruction, [builder.bitcast(address, ir.PointerType()), *numbers])
    return context.get_dummy_value()
