"""A search of all placements of a pattern's tiles, in this process."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from pipeline.search.pattern_search import search_pattern
from pipeline.tasks import TaskRunner, TimedThreadPool
from tablebase.puzzles.fifteen.pattern_moves import PatternMoves


def search_depths(moves: PatternMoves, runner: TaskRunner) -> npt.NDArray[np.uint8]:
    """Search a pattern; return the depth of each set of cells and each order of the tiles."""
    return search_pattern(
        moves.places,
        (moves.moves, moves.sources, moves.maps, moves.order_maps),
        moves.root,
        runner.jobs,
        partial(runner.report_progress, "layers"),
        partial(TimedThreadPool, usage=runner.usage),
    )
