"""Uniform samples: random numbers are drawn, then the rows with those numbers.

A set is a sample with as many states of each difficulty, or one that is divided into parts: it is
drawn as a whole, then divided and shuffled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from puzzle_tablebase.errors import BadRequest, MemoryShort, NoAnswer, require_whole_number
from puzzle_tablebase.puzzle import SymmetryView
from puzzle_tablebase.puzzles.sliding import SlidingBoard

if TYPE_CHECKING:
    from puzzle_tablebase.queries.options import Options

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

    `size` is None for the size that the other options give, or 1; `replacement` None for the usual,
    which is False for sets. `sorted`: rows come by distance and key. `chunk_numbers`: numbers that
    are drawn together. The more, the less often tables are read.
    """

    size: int | None = None
    seed: int = 0
    replacement: bool | None = None
    sorted: bool = False
    chunk_numbers: int = CHUNK_NUMBERS

    def check(self, *, is_set: bool = False) -> SampleRequest:
        """Return the request with whole numbers in it; raise BadRequest for others."""
        replacement = not is_set if self.replacement is None else self.replacement
        what, most = "The size of a sample", MAX_SIZE
        if not replacement:
            what, most = "The size of a distinct sample", MAX_DISTINCT
        size = require_whole_number(1 if self.size is None else self.size, what, 1, most)
        seed = require_whole_number(self.seed, "A seed", 0)
        return self._replace(size=size, seed=seed, replacement=replacement)

    def draw_numbers(self, total: int, noun: str) -> Iterator[Numbers]:
        """Draw random numbers from 0 to below `total`, and yield them a chunk at a time.

        `noun`: what has these numbers. The same seed draws the same numbers.
        """
        size = self.size or 1
        if size > total and not (self.replacement and total):
            problem = f"There are {total:,} {noun}s to draw {size:,} from"
            raise BadRequest(problem, "Draw fewer")
        random = np.random.Generator(np.random.PCG64(self.seed))
        if self.replacement:
            for begin in range(0, size, self.chunk_numbers):
                yield random.integers(total, size=min(self.chunk_numbers, size - begin))
        else:
            numbers = random.choice(total, size, replace=False)
            for begin in range(0, size, self.chunk_numbers):
                yield numbers[begin : begin + self.chunk_numbers]


def draw_frame(
    request: SampleRequest, samples: Iterable[pl.DataFrame], free: int | None
) -> pl.DataFrame:
    """Return the chunks of a sample as one frame; MemoryShort if they need more than is free."""
    frames = list[pl.DataFrame]()
    for frame in samples:
        if not frames:
            size = request.size or 1
            need = int(frame.estimated_size()) * size // len(frame)
            if free is not None and need > free:
                raise MemoryShort(f"A sample of {size:,} rows", need, free, SAMPLE_HINT)
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


CHUNK_STATES = 1 << 20
RARE_STATES = 1 << 17
"""The most states at a distance whose ranks are kept; others are drawn at random till they fit."""


class StatesByDistance:
    """The distances of all states by rank, from which states at some distances are drawn."""

    def __init__(self, distances: npt.NDArray[np.uint8]) -> None:
        self.distances = distances
        chunks = (
            np.bincount(distances[at : at + CHUNK_STATES], minlength=256)
            for at in range(0, len(distances), CHUNK_STATES)
        )
        self.counts: Numbers = sum(chunks, start=np.zeros(256, dtype=np.int64))
        """The number of states at each distance."""

    @property
    def most(self) -> int:
        """The largest distance."""
        return int(np.flatnonzero(self.counts).max())

    def list_ranks(self, wanted: range) -> Numbers:
        """List the ranks of the states at some distances; those of rare ones are found once."""
        if (self.counts[wanted.start : wanted.stop] <= RARE_STATES).all():
            at = self.distances[self._rare_ranks]
            return self._rare_ranks[(at >= wanted.start) & (at < wanted.stop)]
        is_wanted = np.zeros(256, dtype=np.bool_)
        is_wanted[wanted.start : wanted.stop] = True
        return self._find_ranks(is_wanted)

    @cached_property
    def _rare_ranks(self) -> Numbers:
        return self._find_ranks(self.counts <= RARE_STATES)

    def _find_ranks(self, is_wanted: npt.NDArray[np.bool_]) -> Numbers:
        chunks = range(0, len(self.distances), CHUNK_STATES)
        return np.concatenate(
            [
                np.flatnonzero(is_wanted[self.distances[at : at + CHUNK_STATES]]) + at
                for at in chunks
            ]
        )

    def draw(self, request: SampleRequest, wanted: range) -> Iterator[Numbers]:
        """Draw random ranks of the states at some distances, a chunk at a time."""
        total, size = int(self.counts[wanted.start : wanted.stop].sum()), request.size or 1
        if not total:
            raise make_depth_error("distance", wanted.start, self.most)
        if total <= RARE_STATES or size > total // 4:
            ranks = self.list_ranks(wanted)
            for numbers in request.draw_numbers(len(ranks), "state"):
                yield ranks[numbers]
            return
        random = np.random.Generator(np.random.PCG64(request.seed))
        drawn, given = np.empty(0, dtype=np.int64), 0
        while given < size:
            missing = min(request.chunk_numbers, size - given)
            tries = 100 + missing * len(self.distances) // total
            tried = random.integers(len(self.distances), size=tries)
            at = self.distances[tried]
            found = tried[(at >= wanted.start) & (at < wanted.stop)]
            if not request.replacement:
                drawn = np.append(drawn, found)
                drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
                found = drawn[given:]
            found = found[:missing]
            given += len(found)
            if len(found):
                yield found


MAX_LEVELS = 256
"""More distances than any state has from a goal."""
SEEDS = 1_000
"""Each level of a set gets a seed of its own: this times the seed, and its first distance."""


def draw_set(
    reader: Any,
    options: Options,
    request: SampleRequest,
    on_note: Callable[[str], None],
) -> Iterator[pl.DataFrame]:
    """Draw a sample as the options say, a chunk at a time; a set as one chunk.

    `on_note` gets a sentence if a distance has fewer states than its share of the set.
    """
    is_spread, parts = getattr(options, "spread", False), getattr(options, "split", None) or {}
    is_set = is_spread or bool(parts)
    levels: list[range] = [*(getattr(options, "distance", None) or ())]
    if sum(parts.values()) > 1.5:  # numbers of rows
        size = round(sum(parts.values()))
        if request.size not in (None, size):
            problem = f"The parts of --split have {size:,} rows, and --size is {request.size:,}"
            raise BadRequest(problem, "Leave out --size")
        request = request._replace(size=size)
    request = request.check(is_set=is_set)
    if is_spread:
        if not levels:
            raise BadRequest("--spread needs a range of distances", "Example: --distance 5-25")
        if sum(map(len, levels)) > MAX_LEVELS:
            farthest = levels[-1][-1]
            raise make_depth_error(reader.puzzle.depth, farthest, max(reader.count_depths(options)))
        levels = [range(each, each + 1) for level in levels for each in level]

    def draw(one: SampleRequest, level: range | None) -> Iterator[pl.DataFrame]:
        yield from reader.draw(one, level, options)

    if not is_set and len(levels) < 2 and not request.sorted:
        yield from draw(request, levels[0] if levels else None)
        return
    quotas = share_levels(reader, options, levels, request, on_note) if len(levels) > 1 else {}
    frames = list[pl.DataFrame]()
    for level, size in quotas.items():
        seed = request.seed * SEEDS + level.start
        frames += draw(request._replace(size=size, seed=seed), level)
    if not quotas:
        frames += draw(request, levels[0] if levels else None)
    rows, random = pl.concat(frames), np.random.Generator(np.random.PCG64(request.seed))
    rows = rows[random.permutation(len(rows))]
    if parts:
        rows = split_rows(reader.puzzle, rows, parts, random)
    depth, key = reader.puzzle.depth, reader.columns[0]
    names = [depth, key] if depth in rows.columns else rows.columns
    yield rows.sort(names) if request.sorted else rows


def share_levels(
    reader: Any,
    options: Options,
    levels: list[range],
    request: SampleRequest,
    on_note: Callable[[str], None],
) -> dict[range, int]:
    """Share the size of a sample out to levels of difficulty; a short one gets all it has."""
    size, counts = request.size or 1, reader.count_depths(options)
    if size < len(levels):
        what = "distances" if all(len(level) == 1 for level in levels) else "ranges"
        problem = f"A sample of {size:,} is too small for {len(levels)} {what}"
        raise BadRequest(problem, f"Draw {len(levels)} or more")
    states = {level: sum(counts.get(each, 0) for each in level) for level in levels}
    if empty := [level for level in levels if not states[level]]:
        raise make_depth_error(reader.puzzle.depth, empty[0].start, max(counts))
    quotas, left = dict[range, int](), size
    for done, level in enumerate(sorted(levels, key=lambda level: states[level])):
        share = left // (len(levels) - done)
        quotas[level] = share if request.replacement else min(share, states[level])
        left -= quotas[level]
    short = [level for level in levels if quotas[level] < size // len(levels)]
    if short:
        named = ", ".join(f"{format_level(level)} ({states[level]:,})" for level in short)
        rest = f"; the sample has {size - left:,} rows" if left else "; the others have more"
        on_note(f"all states are drawn where there are fewer than asked: distance {named}{rest}")
    return {level: quotas[level] for level in levels}


def format_level(level: range) -> str:
    """Format distances as `--distance` takes them.

    >>> format_level(range(5, 6)), format_level(range(5, 11))
    ('5', '5-10')
    """
    return str(level.start) if len(level) == 1 else f"{level.start}-{level[-1]}"


def split_rows(
    puzzle: Any, rows: pl.DataFrame, parts: dict[str, float], random: np.random.Generator
) -> pl.DataFrame:
    """Add the column `split` to rows with states; mirrored and turned twins are in one part.

    Each part gets its share of every distance, as nearly as twins allow, and of all rows. Distances
    with many rows come last, as these make up for what the others left uneven.
    """
    goals, whole = puzzle.goals, sum(parts.values())
    classes = dict[int, dict[str, list[int]]]()
    for row, (state, goal, depth) in enumerate(
        rows.select("state", "goal", "distance").iter_rows()
    ):
        twin = find_twin(state, goals.get(goal, goal), puzzle.width)
        classes.setdefault(depth, {}).setdefault(f"{goal} {twin}", []).append(row)
    names, done, taken = [""] * len(rows), 0, dict.fromkeys(parts, 0)
    for twins in sorted(classes.values(), key=len):
        done += sum(map(len, twins.values()))
        missing = {name: part / whole * done - taken[name] for name, part in parts.items()}
        groups = [*twins.values()]
        for at in sorted(random.permutation(len(groups)), key=lambda at: -len(groups[at])):
            name = max(parts, key=lambda name: missing[name])
            missing[name] -= len(groups[at])
            taken[name] += len(groups[at])
            for row in groups[at]:
                names[row] = name
    return rows.with_columns(split=pl.Series(names, dtype=pl.String))


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
