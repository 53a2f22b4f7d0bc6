"""Tests. `CI=true` runs the wide ones too; `LONG=1` repeats those of chance and faults."""

import os
import sys
from collections.abc import Iterable
from typing import Any

import pytest

# without their bytecode, every process that tests would rewrite the asserts of all tests anew
sys.dont_write_bytecode = False

LONG = bool(os.environ.get("LONG"))
WIDE = os.environ.get("CI") == "true"
wide = pytest.mark.skipif(not WIDE, reason="a part of .ci/run")
"""A test that shows again, larger or elsewhere, what another one shows."""


def first(usual: int, values: Iterable[Any]) -> list[Any]:
    """Of a test's parameters so many; with the others it is wide."""
    result = [value if isinstance(value, tuple) else (value,) for value in values]
    marks = [()] * usual + [wide] * (len(result) - usual)
    return [pytest.param(*value, marks=mark) for value, mark in zip(result, marks, strict=True)]


def often(usual: int, long: int) -> int:
    """How many times: as usual, or in the long run."""
    return long if LONG else usual
