"""The tours of a board, counted without a list: two halves of a sweep, and back from the cut.

Large layers are kept beside the table: memory holds a few of them, and a killed build goes on.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import NamedTuple

import numpy as np

from pipeline.making.boards import Array
from pipeline.search.halves import Half, half
from pipeline.search.join import complements, completions, dropping, most_pairs
from pipeline.search.sweep import Layer, TooMany, back, cycles, forward, in_table
from pipeline.work import Work, in_threads
from tablebase.errors import SearchError
from tablebase.puzzles.knight import Board

LARGE = 1 << 20
"""States of a layer that is kept in the store rather than in memory."""
SLICE = 1 << 18
"""States whose onward numbers are found by one thread at a time."""
AT_ONCE = 1 << 20
"""States of the cut that are joined with the other half at a time: their layers are not kept."""


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
    other = Layers(right, f"{name}, right half", work)[len(right.steps)]
    other = complements(other, right.steps[-1], paths=paths)
    layers = Layers(left, f"{name}, left half", work)
    layer = layers[left.finished]
    cut, ends = Cut(left, other, name, work), [0] * board.squares
    by_key = np.argsort(layer.keys)
    onward = np.zeros_like(layer.ways)
    for begin in range(0, len(by_key), AT_ONCE):
        work.told(f"{name}, states of the cut", begin, len(by_key))
        some = by_key[begin : begin + AT_ONCE]
        onward[some] = cut.onward(Layer(layer.keys[some], layer.ways[some]), left.finished)
    total = cycles(layer.ways, onward)
    for number in reversed(range(left.finished) if paths and total else ()):
        work.told(f"{name}, steps back", left.finished - number, left.finished)
        table, layer = in_table(layer.keys, onward), layers[number]
        onward = cut.back(layer, number, table)
    for square, used in cut.ends.items():
        ends[square] = ends[-1 - square] = used
    if paths and sum(ends) != 2 * total:
        raise SearchError(f"The paths of {board} do not have two ends each.")
    return total, np.array(ends)


class Cut:
    """From the states of a layer to the other half and back, counting ends by the way."""

    def __init__(self, half: Half, other: Layer, name: str, work: Work) -> None:
        self._half = half
        self._other = other
        self._name = name
        self._work = work
        self._drop = dropping(most_pairs(other.keys))
        self.ends = Counter[int]()

    def onward(self, layer: Layer, number: int) -> Array:
        """Each state's onward number, before the half's step of that number."""
        if number == len(self._half.steps):
            return self._completed(layer)
        going = partial(self._work.told, f"{self._name}, edges of the cut", number)
        after = forward(layer, self._half.steps[number], going)
        return self.back(layer, number, in_table(after.keys, self.onward(after, number + 1)))

    def back(self, layer: Layer, number: int, table: tuple[Array, Array]) -> Array:
        step, (keys, ways) = self._half.steps[number], layer
        pieces = ((Layer(keys[some], ways[some]), step, *table) for some in _slices(len(keys)))
        onward = np.zeros_like(ways)
        for some, (found, uses) in zip(_slices(len(keys)), in_threads(back, pieces), strict=True):
            onward[some] = found
            for square, used in zip(self._half.ends[number], uses.tolist(), strict=True):
                if square >= 0:
                    self.ends[square] += used
        return onward

    def _completed(self, layer: Layer) -> Array:
        """In how many ways the other half completes each state."""
        by_key = np.argsort(layer.keys)
        keys, onward = layer.keys[by_key], np.zeros_like(layer.ways)
        pieces = ((keys[some], self._other, self._drop) for some in _slices(len(keys)))
        found = in_threads(completions, pieces)
        for some, ways in zip(_slices(len(keys)), found, strict=True):
            onward[by_key[some]] = ways
        return onward


def _slices(states: int) -> list[slice]:
    return [slice(at, at + SLICE) for at in range(0, states, SLICE)]
