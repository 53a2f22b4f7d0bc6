"""Uniform samples: random numbers are drawn, then the rows with those numbers.

Sets of samples have as many states of each distance, or are split by name. A state's set follows
from its symmetry class and the seed alone, not from the other rows.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from hashlib import sha256
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from puzzle_tablebase.errors import BadRequest, MemoryShort, NoAnswer, quote, require_whole_number
from puzzle_tablebase.puzzle import SymmetryView
from puzzle_tablebase.puzzles.sliding import SlidingBoard

SAMPLE_HINT = "Draw fewer, or use pipeline sample, which writes rows while it draws"
CHUNK_NUMBERS = 1 << 18
MAX_SIZE = 1_000_000_000
"""The most rows in a sample."""
MAX_DISTINCT = 10_000_000
"""The most rows in a sample without replacement: their numbers are in memory together, and up to
fifty times as many if the sample is drawn from that many."""

Numbers = npt.NDArray[np.int64]


class SampleRequest(NamedTuple):
    """The size of a sample, its seed, and whether a row can be drawn twice.

    `chunk_numbers`: numbers that are drawn together. The more, the less often tables are read.
    """

    size: int
    seed: int = 0
    replacement: bool = True
    chunk_numbers: int = CHUNK_NUMBERS

    def check(self) -> SampleRequest:
        """Return the request with whole numbers in it; raise BadRequest for others."""
        what, most = "The size of a sample", MAX_SIZE
        if not self.replacement:
            what, most = "The size of a distinct sample", MAX_DISTINCT
        size = require_whole_number(self.size, what, 1, most)
        return self._replace(size=size, seed=require_whole_number(self.seed, "A seed", 0))

    def draw_numbers(self, total: int, noun: str) -> Iterator[Numbers]:
        """Draw random numbers from 0 to below `total`, and yield them a chunk at a time.

        `noun`: what has these numbers. The same seed draws the same numbers.
        """
        if self.size > total and not (self.replacement and total):
            problem = f"There are {total:,} {noun}s to draw {self.size:,} from"
            raise BadRequest(problem, "Draw fewer")
        random = np.random.Generator(np.random.PCG64(self.seed))
        if self.replacement:
            for begin in range(0, self.size, self.chunk_numbers):
                yield random.integers(total, size=min(self.chunk_numbers, self.size - begin))
        else:
            numbers = random.choice(total, self.size, replace=False)
            for begin in range(0, self.size, self.chunk_numbers):
                yield numbers[begin : begin + self.chunk_numbers]


def draw_frame(
    request: SampleRequest, samples: Iterable[pl.DataFrame], free: int | None
) -> pl.DataFrame:
    """Return the chunks of a sample as one frame; MemoryShort if they need more than is free."""
    frames = list[pl.DataFrame]()
    for frame in samples:
        if not frames:
            need = int(frame.estimated_size()) * request.size // len(frame)
            if free is not None and need > free:
                raise MemoryShort(f"A sample of {request.size:,} rows", need, free, SAMPLE_HINT)
        frames.append(frame)
    return pl.concat(frames)


def select_depth(rows: pl.DataFrame, depth: str, wanted: range | None) -> pl.DataFrame:
    """Select the rows at some depths; all rows that have one if they are None.

    `depth` is the name of the column.
    """
    if wanted is None:
        return rows.filter(pl.col(depth).is_not_null())
    selected = rows.filter(pl.col(depth).is_between(wanted[0], wanted[-1]))
    if selected.is_empty():
        raise make_depth_error(depth, wanted[0], rows[depth].max())
    return selected


def make_depth_error(depth: str, value: int, most: object) -> NoAnswer:
    """Make the error for a depth at which there is nothing to draw."""
    return NoAnswer(f"There is nothing to draw at {depth} {value:,}: the largest is {most}.")


Distances = Iterable[npt.NDArray[np.uint8]]
"""The distances of all states in the order of their ranks, a chunk at a time."""


def count_distances(distances: Distances) -> Numbers:
    """Count the states at each distance."""
    counts = np.zeros(256, dtype=np.int64)
    for chunk in distances:
        counts += np.bincount(chunk, minlength=256)
    return counts


def find_ranks(distances: Distances, distance: int, places: Numbers | None = None) -> Numbers:
    """Find the ranks of the states at a distance; with `places`, only of those so many-th.

    `places` are numbers among these states, from 0, in any order.
    """
    order = None if places is None else np.argsort(places, kind="stable")
    ascending = np.empty(0, np.int64) if places is None else places[order]
    first, seen, ranks = 0, 0, []
    for chunk in distances:
        here = first + np.flatnonzero(chunk == distance)
        first += len(chunk)
        if places is not None:
            begin, end = np.searchsorted(ascending, (seen, seen + len(here)))
            seen, here = seen + len(here), here[ascending[begin:end] - seen]
        ranks.append(here)
    result = np.concatenate(ranks)
    return result if order is None else result[np.argsort(order)]


def draw_ranks(
    states: int,
    read_distances: Callable[[], Distances],
    request: SampleRequest,
    wanted: range | None,
) -> Iterator[Numbers]:
    """Draw random ranks, of any states or of those at some distances, a chunk at a time.

    `states`: the number of all states.
    """
    if wanted is None:
        yield from request.draw_numbers(states, "state")
        return
    counts = count_distances(read_distances())
    most = int(np.flatnonzero(counts).max())
    ends = np.cumsum(counts[wanted.start : min(most + 1, wanted.stop)])
    if not len(ends) or not ends[-1]:
        raise make_depth_error("distance", wanted.start, most)
    for numbers in request.draw_numbers(int(ends[-1]), "state"):
        steps = np.searchsorted(ends, numbers, side="right")
        ranks = numbers - np.append(0, ends)[steps]
        for step in np.unique(steps).tolist():
            here = steps == step
            ranks[here] = find_ranks(read_distances(), wanted.start + step, ranks[here])
        yield ranks


SEEDS = 1_000
"""The seeds of a spread sample's distances differ by their distance, other seeds by as much."""


def draw_set(
    query: Any, request: SampleRequest, on_progress: Callable[[int, int], None]
) -> Iterator[pl.DataFrame]:
    """Draw a sample as its query's options `spread` and `split` say, a chunk at a time."""
    request = request.check()
    given, wanted, parts = query.given, query.distance, [(query, request)]
    shares = parse_split(given["split"]) if "split" in given else {}
    if "spread" in given:
        if wanted is None:
            raise BadRequest("--spread needs a range of distances", "Example: --distance 5-25")
        if request.size < len(wanted):
            problem = f"A sample of {request.size:,} is too small for {len(wanted)} distances"
            raise BadRequest(problem, f"Draw {len(wanted)} or more")
        parts, (share, rest) = [], divmod(request.size, len(wanted))
        for at, distance in enumerate(wanted):
            one = query.reader.make_query(**{**given, "distance": distance, "spread": None})
            seed = request.seed * SEEDS + distance
            parts.append((one, request._replace(size=share + (at < rest), seed=seed)))
    for one, part in parts:
        for rows in one.draw_samples(part, on_progress):
            yield split_rows(query, rows, shares, request.seed) if shares else rows


def parse_split(text: str) -> dict[str, float]:
    """Return the share of each set.

    >>> parse_split("train=0.8, test=0.2")
    {'train': 0.8, 'test': 0.2}
    """
    parts = [part.partition("=") for part in str(text).replace(" ", "").split(",")]
    is_number = re.compile("1|[01]?[.][0-9]+").fullmatch
    shares = {name: float(share) for name, _, share in parts if name and is_number(share)}
    if len(shares) < len(parts) or abs(sum(shares.values()) - 1) > 1e-9:
        problem = f"--split needs different names, with shares that add up to 1, not {quote(text)}"
        raise BadRequest(problem, "Example: train=0.8,test=0.2")
    return shares


def split_rows(query: Any, rows: pl.DataFrame, shares: dict[str, float], seed: int) -> pl.DataFrame:
    """Add the column `split` to rows with states."""
    goals, ends = query.reader.puzzle.goals, [*accumulate(shares.values())][:-1]
    sets = list[str]()
    for state, goal in rows.select("state", "goal").iter_rows():
        twin = find_twin(state, goals.get(goal, goal), query.width)
        number = int.from_bytes(sha256(f"{seed} {twin}".encode()).digest()[:8])
        sets.append([*shares][bisect(ends, number / 2**64)])
    return rows.with_columns(split=pl.Series(sets, dtype=pl.String))


def find_twin(state: str, goal: str, width: int) -> str:
    """Return one text for all states that a symmetry maps to each other.

    A symmetry turns or mirrors the board, so that the goal's blank has one place, and renames the
    tiles, so that the goal has one image.
    """
    return min([view.map_state(state) for view in _list_views(goal, width)])


@cache
def _list_views(goal: str, width: int) -> list[SymmetryView]:
    symmetries = SlidingBoard(len(goal) // width, width).list_symmetries()
    image = "".join([goal[cell] for cell in symmetries[0]])
    blank = image.index("0")
    return [SymmetryView("", image, goal, each) for each in symmetries if goal[each[blank]] == "0"]
