"""Folders that a run of the tests makes once, for all of its processes."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def make_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder shared by all test processes, created by the first one that needs it."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = factory.mktemp(name)
            make(unfinished)
            unfinished.rename(folder)
    return folder
