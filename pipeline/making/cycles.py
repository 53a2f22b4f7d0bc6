"""The tours of a board, counted without a list: two halves of a sweep, and back from the cut.

Large layers are kept beside the table: memory holds a few of them, and a killed build goes on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pipeline.making.boards import Array
from pipeline.search.frontier import Step
from pipeline.search.halves import Half, half
from pipeline.search.join import complements, completions, dropping, most_pairs
from pipeline.search.sweep import Layer, TooMany, back, cycles, forward, in_table
from pipeline.work import Work
from tablebase.errors import SearchError
from tablebase.puzzles.knight import Board

LARGE = 1 << 20
"""States of a layer that is kept in the store rather than in memory."""
SLICE = 1 << 18
"""States whose onward numbers are found at once."""


class Counts(NamedTuple):
    """Of a board: tours by starting square, or None; and the closed ones from each square."""

    tours: Array | None
    closed: int


class Layers:
    """The layers of a half: each found where it is kept, or made of the one before."""

    def __init__(self, half: Half, name: str, work: Work) -> None:
        self._half = half
        self._name = name
        self._work = work
        self._small = {0: half.first}
        self._last = 0, half.first

    def __getitem__(self, number: int) -> Layer:
        if number in self._small:
            return self._small[number]
        if self._last[0] == number:
            return self._last[1]
        part, kept = f"{self._name}, layer {number}", self._work.kept
        if kept and (found := kept.load(part)):
            layer = Layer(*found)
        else:
            steps = len(self._half.steps)
            layer = forward(
                self[number - 1],
                self._half.steps[number - 1],
                lambda: self._work.told(f"{self._name}, steps", number - 1, steps),
            )
            if kept and len(layer.keys) > LARGE:
                kept.store(part, list(layer))
        if len(layer.keys) <= LARGE or not kept:
            self._small[number] = layer
        self._last = number, layer
        return layer

    def last(self) -> Layer:
        for number in range(len(self._half.steps)):
            self[number]
        return self[len(self._half.steps)]


def counts(board: Board, work: Work, *, paths: bool) -> Counts:
    """Its squares numbered along its files, of which there are at most as many as ranks."""
    if board.files < 3:
        # one file has no jumps, and on two a knight never leaves every second rank; the tour of
        # one square has one end, where all others have two
        alone = [1] if board.squares == 1 else [0] * board.squares
        return Counts(np.array(alone), 0)
    try:
        closed, _ = _cycles(board, work, paths=False)
        tours = _cycles(board, work, paths=True)[1] if paths else None
    except TooMany:
        raise SearchError(f"The tours of {board} are more than a table can hold (2^63).") from None
    # a closed tour can be told from each of its squares, in two directions
    return Counts(tours, 2 * closed)


def _cycles(board: Board, work: Work, *, paths: bool) -> tuple[int, Array]:
    """How many there are, and how many use each square's edge to the virtual one."""
    later = [[to for to in board.neighbours(at) if to > at] for at in range(board.squares)]
    left, right = (half(later, left=left, paths=paths) for left in (True, False))
    name = f"{board} {'open' if paths else 'closed'}"
    other = Layers(right, f"{name}, right half", work).last()
    other = complements(other, right.steps[-1], paths=paths)
    layers = Layers(left, f"{name}, left half", work)
    layer = layers.last()
    onward = _completed(layer, other, name, work)
    total = cycles(layer.ways, onward)
    ends = np.zeros(board.squares, dtype=np.int64)
    for number in reversed(range(len(left.steps)) if paths and total else ()):
        work.told(f"{name}, steps back", len(left.steps) - number, len(left.steps))
        table, layer = in_table(layer.keys, onward), layers[number]
        onward, uses = _back(layer, left.steps[number], table, work)
        for square, used in zip(left.ends[number], uses, strict=True):
            if square >= 0:
                ends[[square, board.squares - 1 - square]] = used
    if paths and ends.sum(dtype=object) != 2 * total:
        raise SearchError(f"The paths of {board} do not have two ends each.")
    return total, ends


def _completed(layer: Layer, other: Layer, name: str, work: Work) -> Array:
    """In how many ways the other half completes each state of the cut."""
    by_key = np.argsort(layer.keys)
    keys, drop = layer.keys[by_key], dropping(most_pairs(layer.keys))
    pieces = [(keys[at : at + SLICE], other, drop) for at in range(0, len(keys), SLICE)]
    onward = np.empty_like(layer.ways)
    for number, found in enumerate(replace(work, kept=None).each(completions, pieces)):
        work.told(f"{name}, parts joined", number, len(pieces))
        onward[by_key[SLICE * number :][: len(found)]] = found
    return onward


def _back(layer: Layer, step: Step, table: tuple[Array, Array], work: Work) -> tuple[Array, Array]:
    keys, ways = layer
    slices = (slice(at, at + SLICE) for at in range(0, len(keys), SLICE))
    pieces = ((Layer(keys[some], ways[some]), step, *table) for some in slices)
    onward, uses = zip(*replace(work, kept=None).each(back, pieces), strict=True)
    return np.concatenate(onward), np.stack(uses).sum(axis=0)
