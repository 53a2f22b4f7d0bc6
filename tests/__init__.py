"""Tests. `LONG=1` repeats those of chance and of faults far more often (`make ordeal`)."""

import os

LONG = bool(os.environ.get("LONG"))


def often(usual: int, long: int) -> int:
    """How many times: as usual, or in the long run."""
    return long if LONG else usual
