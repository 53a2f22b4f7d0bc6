"""Sets of samples: as many states of each distance, and split by name, symmetric states together.

A state's set follows from its symmetry class and the seed alone, not from the other rows.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import polars as pl

from tablebase.errors import BadRequest, quote
from tablebase.puzzle import SymmetryView
from tablebase.puzzles.sliding import SlidingBoard

if TYPE_CHECKING:
    from queries.sampling import SampleRequest

SEEDS = 1_000
"""The seeds of a spread sample's distances differ by their distance, other seeds by as much."""


def draw_set(
    query: Any, request: SampleRequest, on_progress: Callable[[int, int], None]
) -> Iterator[pl.DataFrame]:
    """Draw a sample as its query's options `spread` and `split` say, a chunk at a time."""
    given, wanted, parts = query.given, query.distance, [(query, request)]
    shares = parse_split(given["split"]) if "split" in given else {}
    if "spread" in given:
        if wanted is None:
            raise BadRequest("--spread needs a range of distances", "Example: --distance 5-25")
        parts, (share, rest) = [], divmod(request.check().size, len(wanted))
        for at, distance in enumerate(wanted[: request.size]):
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
