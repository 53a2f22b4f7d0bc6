"""Tests. `CI=true` runs the wide ones too; `LONG=1` repeats the random and fault-injection ones."""

import os
import sys
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

# without cached bytecode, every process that tests would rewrite the asserts of all tests again
sys.dont_write_bytecode = False

LONG = bool(os.environ.get("LONG"))
WIDE = os.environ.get("CI") == "true"
wide = pytest.mark.only_in(run=".ci/run (CI=true)", is_running=WIDE)
"""A larger sister of another test, left out outside CI."""
long_run = pytest.mark.only_in(run="make ordeal (LONG=1)", is_running=LONG)
"""A test that takes minutes, left out outside the long run."""


def first(usual: int, values: Iterable[Any], *, rest: pytest.MarkDecorator = wide) -> list[Any]:
    """Return a test's parameters, all but the first `usual` of them with a mark."""
    result = [value if isinstance(value, tuple) else (value,) for value in values]
    marks = [()] * usual + [rest] * (len(result) - usual)
    return [pytest.param(*value, marks=mark) for value, mark in zip(result, marks, strict=True)]


T = TypeVar("T")


def often(usual: T, long: T) -> T:
    """Return the number of repetitions, say: `usual`, or `long` in the long run.

    A test that calls it is a part of the long run, also if it is wide. If it calls it elsewhere,
    it needs the mark `often`.
    """
    return long if LONG else usual
