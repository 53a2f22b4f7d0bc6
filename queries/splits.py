"""Splits of a sample into sets by name: symmetric states are always in the same set.

A state's set follows from its symmetry class and the seed alone, not from the other rows.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from tablebase.errors import BadRequest, quote

EXAMPLE = "train=0.8,test=0.2"
MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
"""The shifts and factors of the finalizer of splitmix64, which mixes all bits of a number."""

Keys = npt.NDArray[np.uint64]


def parse_split(text: str) -> dict[str, float]:
    """Return the share of each set.

    >>> parse_split("train=0.8, test=0.2")
    {'train': 0.8, 'test': 0.2}
    """
    shares = dict[str, float]()
    for part in str(text).split(","):
        name, _, share = (word.strip() for word in part.partition("="))
        try:
            value = float(share) if share.isascii() and "_" not in share else 0.0
        except ValueError:
            value = 0.0
        if not name or name in shares or not 0 < value <= 1:
            raise BadRequest(f"{quote(part)} is not a set and its share", f"Example: {EXAMPLE}")
        shares[name] = value
    if abs(sum(shares.values()) - 1) > 1e-9:
        problem = f"The shares of --split add up to {sum(shares.values()):g}, not 1"
        raise BadRequest(problem, f"Example: {EXAMPLE}")
    return shares


def split_rows(
    rows: pl.DataFrame, shares: dict[str, float], goals: Mapping[str, str], width: int, seed: int
) -> pl.DataFrame:
    """Add the column `split` to rows with states; `goals` has each goal's state by its name."""
    classes = np.zeros(len(rows), dtype=np.uint64)
    for name in rows["goal"].unique():
        here = rows["goal"].eq(name).arg_true().to_numpy()
        states = rows["state"].gather(here).to_list()
        classes[here] = find_classes(states, goals.get(name, name), width)
    with np.errstate(over="ignore"):
        mixed = classes + np.uint64(seed % (1 << 64)) * np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in MIXERS:
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    ends = np.cumsum([*shares.values()])[:-1]
    at = np.searchsorted(ends, (mixed >> np.uint64(11)) / 2.0**53, side="right")
    return rows.with_columns(split=pl.Series([*shares]).gather(at))


def find_classes(states: list[str], goal: str, width: int) -> Keys:
    """Return a number for each state, the same for those that a symmetry maps to each other.

    A symmetry turns or mirrors the board, so that the goal's blank stays where it is, and renames
    the tiles, so that the goal becomes itself.
    """
    height, blank = len(goal) // width, goal.index("0")
    cells = np.arange(len(goal)).reshape(height, width)
    grids = [cells[::up, ::left] for up in (1, -1) for left in (1, -1)]
    if height == width:
        grids += [grid.T for grid in grids]
    marks = np.frombuffer("".join([goal, *states]).encode(), np.uint8).reshape(-1, len(goal)).T
    tiles = np.where(marks > ord("9"), marks - (ord("a") - 10), marks - ord("0")).astype(np.uint8)
    home, keys = tiles[:, 0], list[Keys]()
    for order in (grid.ravel() for grid in grids):
        if order[blank] == blank:
            names = np.zeros(len(goal), dtype=np.uint64)
            names[home[order]] = home
            key = np.zeros(len(states), dtype=np.uint64)
            for row in names[tiles[order, 1:]]:
                key = key << np.uint64(4) | row
            keys.append(key)
    least: Keys = np.minimum.reduce(keys)
    return least
