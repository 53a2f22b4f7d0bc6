"""Tests. `CI=true` runs the wide ones too; `LONG=1` repeats those of chance and faults."""

import os

import pytest

LONG = bool(os.environ.get("LONG"))
WIDE = os.environ.get("CI") == "true"
wide = pytest.mark.skipif(not WIDE, reason="a part of .ci/run")
"""A test that shows again, larger or elsewhere, what another one shows."""


def often(usual: int, long: int) -> int:
    """How many times: as usual, or in the long run."""
    return long if LONG else usual
