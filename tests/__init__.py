"""Tests. Those marked `slow` run in CI, those marked `nightly` in `make nightly`."""

import os
import sys
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

# without cached bytecode, every process that tests would rewrite the asserts of all tests again
sys.dont_write_bytecode = False

NIGHTLY = bool(os.environ.get("NIGHTLY"))
CI = os.environ.get("CI") == "true"


def first(
    usual: int, values: Iterable[Any], *, rest: pytest.MarkDecorator = pytest.mark.slow
) -> list[Any]:
    """Return a test's parameters, all but the first `usual` of them with a mark."""
    result = [value if isinstance(value, tuple) else (value,) for value in values]
    marks = [()] * usual + [rest] * (len(result) - usual)
    return [pytest.param(*value, marks=mark) for value, mark in zip(result, marks, strict=True)]


T = TypeVar("T")


def usual_or_nightly(usual: T, nightly: T) -> T:
    """Return the number of repetitions, say: `usual`, or `nightly` in the nightly run."""
    return nightly if NIGHTLY else usual
