"""A search of a sliding board in words of bits, in this process."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from pipeline.search.word_bfs import Planes, search_words
from pipeline.tasks import TaskRunner, TimedThreadPool
from tablebase.word_space import WordSpace


def search_space(
    words: WordSpace, runner: TaskRunner, depth: npt.NDArray[np.uint8] | None = None
) -> tuple[Planes, list[int]]:
    """Search a space; return the planes, and the number of states at each depth.

    A search that is killed begins again, as it takes little time. `depth`: a byte for each state,
    which gets its depth.
    """
    layers: list[int] = []

    def layer_done(level: int, states: int) -> None:
        layers.append(states)
        runner.report_progress("layers", level)

    planes = search_words(
        words,
        runner.jobs,
        layer_done,
        runner.require_no_failure,
        depth,
        partial(TimedThreadPool, usage=runner.usage),
    )
    return planes, layers
