"""One path per pair of ends: all of the chessboard's are tours, and always the same ones."""

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl

from puzzle_tablebase.pipeline.recipes.tour_pairs import MAX_SEEDS, MAX_VISITED, find_paths
from tests.support import oracles

NEIGHBOURS = [sorted(near) for near in oracles.knight_jumps(8, 8).values()]
COLOURS = [(square % 8 + square // 8) % 2 for square in range(64)]
ENDS = [(a, b) for a in range(64) for b in range(64) if COLOURS[a] != COLOURS[b]]
"""Every pair of squares of different colours, in order."""


def list_paths(ends: list[tuple[int, int]]) -> list[list[int]]:
    rows = np.array([near + [-1] * (8 - len(near)) for near in NEIGHBOURS])
    paths = find_paths(rows, np.array(ends))
    assert paths.dtype == np.uint8
    listed: list[list[int]] = paths.tolist()
    return listed


def test_every_pair_of_the_chessboard_has_the_published_tour(outputs: Path) -> None:
    tours = list_paths(ENDS)
    for pair, tour in zip(ENDS, tours, strict=True):
        oracles.knight_check(8, 8, tour)
        assert (tour[0], tour[-1]) == pair
    texts = ["".join(oracles.square_name(8, square) for square in tour) for tour in tours]
    assert len(set(texts)) == 2048
    assert texts == pl.read_parquet(outputs / "knight_tours_8x8.parquet")["path"].to_list()
    assert list_paths(ENDS[::-7]) == tours[::-7], "a tour depends on its ends alone"


def list_tours() -> str:
    """Return a few of the tours as text."""
    # the random numbers overflow on purpose, about which only uncompiled numpy would warn
    with np.errstate(over="ignore"):
        return json.dumps(list_paths(ENDS[:: len(ENDS) // 6]))


def draw_random(number: int) -> int:
    """Return the splitmix64 number of a number."""
    z = number * 0x9E3779B97F4A7C15 % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


class TooManyVisits(Exception):
    """A search with one seed visited too many nodes."""


def search_obviously(near: list[list[int]], start: int, end: int) -> tuple[list[int], int]:
    """Return the path that `find_paths` is to find, and the number of seeds tried."""
    everyone, width = set(range(len(near))), max(map(len, near))

    def extend(path: list[int], seed: int) -> list[int] | None:
        head = path[-1]
        if len(path) == len(near):
            return path
        visits.append(head)
        if len(visits) > MAX_VISITED:
            raise TooManyVisits
        free = everyone.difference(path)
        base = ((seed * len(near) + len(path) - 1) * len(near) + head) * width
        choices = sorted(
            (len(free.intersection(near[other])), draw_random(base + position), other)
            for position, other in enumerate(near[head])
            if other in free and (other != end or free == {end})
        )
        for _, _, following in choices:
            # each free node that the path leaves behind needs a way in and, but for the end, out
            others = free.intersection(near[head]) - {following}
            if all(len(free.intersection(near[node])) >= 1 + (node != end) for node in others):
                found = extend([*path, following], seed)
                if found:
                    return found
        return None

    for seed in range(MAX_SEEDS):
        visits: list[int] = []
        with suppress(TooManyVisits):
            if found := extend([start], seed):
                return found, seed + 1
    raise AssertionError("no path was found")


def test_tours_are_those_of_an_obvious_search() -> None:
    found = [search_obviously(NEIGHBOURS, *pair) for pair in ENDS[::9]]
    assert list_paths(ENDS[::9]) == [path for path, _ in found]
    assert max(seeds for _, seeds in found) > 1
