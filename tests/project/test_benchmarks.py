"""Tests of the benchmarks' measuring: of a process alone, whatever the one that measures it has."""

import subprocess
import sys

import numpy as np
import pytest

from benchmarks.__main__ import SECTIONS, SINGLE_RUNS, read_sections
from benchmarks.measure import ROOT, measure_process

MIB = 1 << 20


def test_the_peak_memory_is_the_one_of_the_process_alone() -> None:
    mine = np.ones(300 * MIB, dtype=np.uint8)  # a child that is forked begins with this
    small = measure_process([sys.executable, "-S", "-c", "print('small')"])
    large = measure_process([sys.executable, "-S", "-c", f"x = b'1' * {200 * MIB}"])
    assert mine.sum() == 300 * MIB
    assert (small.output, large.output) == ("small", "")
    assert small.peak_mib < 50
    assert 200 < large.peak_mib < 250


def test_the_seconds_are_those_of_the_process() -> None:
    done = measure_process([sys.executable, "-S", "-c", "import time; time.sleep(0.3)"])
    assert 0.3 <= done.seconds < 3


def test_a_process_that_fails_is_not_measured() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        measure_process([sys.executable, "-c", "raise SystemExit(3)"])


def test_the_page_has_the_form_that_the_benchmarks_read() -> None:
    measured, heading, _ = (ROOT / "docs" / "benchmarks.md").read_text().partition(SINGLE_RUNS)
    assert heading
    assert {*SECTIONS, "machine"} == {*read_sections(measured)}
