"""Uniform samples: random numbers are drawn, then the rows with those numbers.

A *set* is stratified by distance or divided into parts: it is drawn as a whole, then shuffled and
divided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from puzzle_tablebase.errors import BadRequest, NoAnswer, require_whole_number
from puzzle_tablebase.puzzles.sliding import SlidingBoard, SymmetryView
from puzzle_tablebase.queries.questions import format_count

if TYPE_CHECKING:
    from puzzle_tablebase.queries.questions import Options

CHUNK_NUMBERS = 1 << 18
MAX_SIZE = 100_000_000
"""The most rows in a sample: their numbers are in memory together."""
MAX_SET = 10_000_000
"""The most rows in a set, which is in memory itself."""

Numbers = npt.NDArray[np.int64]


class SampleRequest(NamedTuple):
    """The size of a sample, and its seed.

    `size` None: the sum of the parts, or 1. `chunk_numbers`: how many numbers are drawn together;
    with more, tables are read less often.
    """

    size: int | None = None
    seed: int = 0
    chunk_numbers: int = CHUNK_NUMBERS

    def check(self, most: int = MAX_SIZE) -> SampleRequest:
        """Return the request with its whole numbers checked; raise BadRequest for invalid ones."""
        size = 1 if self.size is None else self.size
        size = require_whole_number(size, "The size of a sample", 1, most)
        return self._replace(size=size, seed=require_whole_number(self.seed, "A seed", 0))

    def count_rows(self, options: Options) -> int:
        """Return the requested number of rows."""
        parts: dict[str, int] = options.split or {}
        return sum(parts.values()) or (1 if self.size is None else self.size)

    def draw_numbers(self, total: int, noun: str) -> Iterator[Numbers]:
        """Draw distinct numbers below `total` from the seed, and yield them in chunks."""
        size = self.size or 1
        if size > total:
            problem = f"{size:,} is more than the {format_count(total, noun)} to draw from"
            raise BadRequest(problem, "Draw fewer")
        numbers = draw_distinct(np.random.Generator(np.random.PCG64(self.seed)), total, size)
        for begin in range(0, size, self.chunk_numbers):
            yield numbers[begin : begin + self.chunk_numbers]


def draw_distinct(random: np.random.Generator, total: int, size: int) -> Numbers:
    """Draw distinct numbers below `total`, in random order; every order is equally likely."""
    if size > total // 2:
        return random.permutation(total)[:size]
    numbers = pl.Series(random.integers(total, size=size)).unique(maintain_order=True)
    while len(numbers) < size:
        more = pl.Series(random.integers(total, size=size - len(numbers)))
        numbers = numbers.append(more).unique(maintain_order=True)
    return numbers.to_numpy()


def select_depth(rows: pl.DataFrame, depth: str, wanted: range | None) -> pl.DataFrame:
    """Select the rows at some depths, or all with a depth; `depth` is the column's name."""
    if wanted is None:
        return rows.filter(pl.col(depth).is_not_null())
    selected = rows.filter(pl.col(depth).is_between(wanted[0], wanted[-1]))
    if selected.is_empty():
        raise make_depth_error(depth, wanted[0], rows[depth].max())
    return selected


def make_depth_error(depth: str, value: int, most: object) -> NoAnswer:
    """Make the error for a depth without states."""
    return NoAnswer(f"There is nothing to draw at {depth} {value:,}: the largest is {most}.")


def find_ranks(distances: npt.NDArray[np.integer[Any]], wanted: range) -> Numbers:
    """Find the ranks of the states at some distances, given those of all states by rank."""
    is_wanted = (distances >= wanted.start) & (distances < wanted.stop)
    ranks = pl.Series(is_wanted).arg_true()
    if ranks.is_empty():
        raise make_depth_error("distance", wanted.start, distances.max())
    return ranks.to_numpy()


SEEDS = 1_000
"""Each distance of a stratified sample gets its own seed: this times the seed, plus the
distance.
"""


def draw_set(
    prober: Any,
    options: Options,
    request: SampleRequest,
    on_note: Callable[[str], None],
    on_rows: Callable[[int], None] = lambda _: None,
) -> Iterator[pl.DataFrame]:
    """Draw a sample by the options, in chunks; a set is one chunk.

    `on_rows` is called with the number of rows of a set that are drawn so far.
    """
    is_stratified, parts = options.spread, options.split
    distances: range | None = options.distance
    if is_stratified and distances is None:
        raise BadRequest("--spread needs a range of distances", "Example: --distance 5-25")
    if parts and request.size is not None:
        raise BadRequest("--split says how many rows are drawn", "Leave out --size")
    if parts:
        request = request._replace(size=sum(parts.values()))
    has_features = options.features

    def draw(request: SampleRequest, distances: range | None) -> Iterator[pl.DataFrame]:
        for rows in prober.draw(request, distances, options):
            yield prober.add_features(rows, rows["state"]) if has_features else rows

    if not (is_stratified or parts):
        unsolved = 0
        for rows in draw(request.check(), distances):
            if options.time_limit:
                unsolved += rows["distance"].null_count()
            yield rows
        if unsolved:
            whose = "its" if unsolved == 1 else "their"
            on_note(f"{format_count(unsolved, 'board')} took longer: {whose} distance is empty.")
        return
    request = request.check(MAX_SET)
    if parts and options.goal is None and not options.both_goals:
        # a model learns one goal, unless both are requested
        options = options.replace(goal=prober.puzzle.example)
    if is_stratified and distances:
        frames = list[pl.DataFrame]()
        for distance, size in share_distances(prober, options, distances, request, on_note).items():
            one = request._replace(size=size, seed=request.seed * SEEDS + distance)
            frames += draw(one, range(distance, distance + 1))
            on_rows(sum(map(len, frames)))
    else:
        frames = [*draw(request, distances)]
    rows, random = pl.concat(frames), np.random.Generator(np.random.PCG64(request.seed))
    rows = rows[random.permutation(len(rows))]
    yield split_rows(prober.puzzle, rows, parts, random) if parts else rows


def share_distances(
    prober: Any,
    options: Options,
    distances: range,
    request: SampleRequest,
    on_note: Callable[[str], None],
) -> dict[int, int]:
    """Divide the size of a sample among distances; one with too few states gives all of them."""
    size, counts = request.size or 1, prober.count_depths(options)
    if distances[-1] > max(counts):
        raise make_depth_error(prober.puzzle.depth, distances[-1], max(counts))
    chosen = select_evenly(distances, size)
    quotas, left = dict[int, int](), size
    for done, distance in enumerate(sorted(chosen, key=lambda each: counts.get(each, 0))):
        quotas[distance] = min(left // (len(chosen) - done), counts.get(distance, 0))
        left -= quotas[distance]
    short = [each for each in chosen if quotas[each] < size // len(chosen)]
    if short:
        subject, has = ("Distances", "have") if short[1:] else ("Distance", "has")
        few = f"{subject} {format_ranges(short)} {has} too few states"
        on_note(f"{few}; all of them are in the sample.")
    return {distance: quotas[distance] for distance in chosen}


def select_evenly(distances: range, size: int) -> list[int]:
    """Select `size` distances, at equal steps from the first to the last.

    >>> select_evenly(range(2, 21), 10)
    [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
    """
    last, steps = len(distances) - 1, max(1, size - 1)
    if size > last:
        return [*distances]
    # rounded to the nearest, as on the explorer's sheets
    return [distances[(2 * step * last + steps) // (2 * steps)] for step in range(size)]


def format_ranges(numbers: list[int]) -> str:
    """Format rising numbers as words, with three and more in a row as ranges.

    >>> format_ranges([1, 2, 3, 30, 31])
    '1 to 3, 30 and 31'
    """
    rows = list[list[int]]()
    for number in numbers:
        if rows and rows[-1][-1] == number - 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    words = list[str]()
    for row in rows:
        words += [f"{row[0]} to {row[-1]}"] if len(row) > 2 else map(str, row)
    return " and ".join([", ".join(words[:-1])] * (len(words) > 1) + words[-1:])


def split_rows(
    puzzle: Any, rows: pl.DataFrame, parts: dict[str, int], random: np.random.Generator
) -> pl.DataFrame:
    """Add the column `split` to rows with states; states with one canonical form share a part.

    Each part gets its share of every distance, and of all rows, as nearly as that allows. Distances
    with many rows come last, because they can even out the others.
    """
    goals, whole = puzzle.goals, sum(parts.values())
    classes = dict[int, dict[str, list[int]]]()
    for row, (state, goal, depth) in enumerate(
        rows.select("state", "goal", "distance").iter_rows()
    ):
        form = find_canonical_form(state, goals.get(goal, goal), puzzle.width)
        classes.setdefault(depth, {}).setdefault(f"{goal} {form}", []).append(row)
    names, done, taken = [""] * len(rows), 0, dict.fromkeys(parts, 0)
    for forms in sorted(classes.values(), key=len):
        done += sum(map(len, forms.values()))
        missing = {name: part / whole * done - taken[name] for name, part in parts.items()}
        groups = [*forms.values()]
        for at in sorted(random.permutation(len(groups)), key=lambda at: -len(groups[at])):
            name = max(parts, key=lambda name: missing[name])
            missing[name] -= len(groups[at])
            taken[name] += len(groups[at])
            for row in groups[at]:
                names[row] = name
    return rows.with_columns(split=pl.Series(names, dtype=pl.String))


def find_canonical_form(state: str, goal: str, width: int) -> str:
    """Return the least of the states that a state maps to by symmetries that keep the goal."""
    return min([view.map_state(state) for view in _list_views(goal, width)])


@cache
def _list_views(goal: str, width: int) -> list[SymmetryView]:
    symmetries = SlidingBoard(len(goal) // width, width).symmetries
    image = "".join([goal[cell] for cell in symmetries[0]])
    blank = image.index("0")
    return [SymmetryView("", image, goal, each) for each in symmetries if goal[each[blank]] == "0"]
