"""The tours of a board, counted without a list: two halves of a sweep, and back from the cut.

Large layers are kept beside the table: memory holds a few of them, and a killed build goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from pipeline.builders.tour_columns import Array
from pipeline.search.tour_counting.expand import Step
from pipeline.search.tour_counting.halves import Halves, halves
from pipeline.search.tour_counting.meet import dropping, left_over, met, most_pairs, sides
from pipeline.search.tour_counting.sweep import (
    MOST,
    Layer,
    TooMany,
    back,
    cycles,
    forward,
    in_table,
)
from pipeline.tasks import Work, in_threads
from tablebase.errors import SearchError
from tablebase.frontier.keys import MOST_CELLS
from tablebase.puzzles.knight.board import Board
from tablebase.resources import cores

LARGE = 1 << 24
"""Bytes of what is kept in the store rather than in memory."""
SLICE = 1 << 18
"""States whose onward numbers are found by one thread at a time."""

Table = tuple[Array, Array]
"""Keys and numbers in which `place_of` finds them."""
MOST_THREADS = 4
"""That find onward numbers where halves meet: each adds them up for all states."""
MEETINGS, ENOUGH = 512, 1000
"""Parts of what two halves can leave to each other, one for a thread at a time: at most so many,
and no more than that each has enough."""
ROUND, CHECKPOINT = 32, 300.0
"""So many parts, then all threads wait for each other; and seconds between two times that what they
found is kept."""


class Counts(NamedTuple):
    """Of a board: tours by starting square, or None; and the closed ones from each square."""

    tours: Array | None
    closed: int


class Layers:
    """The layers of the longer half, all made at once: a large one is read when it is asked for."""

    def __init__(self, halves: Halves, name: str, work: Work) -> None:
        self._name = name
        self._kept = work.kept
        self._small = {0: halves.first}
        layer = halves.first
        for done, step in enumerate(halves.steps):
            told = partial(work.told, f"{name}, steps", done, len(halves.steps))
            made = partial(forward, layer, step, told)
            layer = Layer(*large(self._part(done + 1), made, work))
            if self._kept is None or not is_large(layer):
                self._small[done + 1] = layer

    def __getitem__(self, number: int) -> Layer:
        if self._kept and number not in self._small:
            return Layer(*self._kept.required(self._part(number)))
        return self._small[number]

    def _part(self, number: int) -> str:
        return f"{self._name}, layer {number}"


def large(name: str, make: Callable[[], Sequence[Array]], work: Work) -> Sequence[Array]:
    """What is kept of this name; if nothing is, it is made, and kept where it is large."""
    found: Sequence[Array] | None = work.kept.load(name) if work.kept else None
    if found is None:
        found = make()
        if work.kept and is_large(found):
            work.kept.store(name, list(found))
    return found


def is_large(arrays: Sequence[Array]) -> bool:
    return sum(array.nbytes for array in arrays) > LARGE


def counts(board: Board, work: Work, *, paths: bool) -> Counts:
    """Its squares numbered along its files, of which there are at most as many as ranks."""
    if board.files < 3 or board.ranks < 4:
        # one file has no jumps, on two a knight never leaves every second rank, and from the middle
        # of nine squares none leads; the tour of one square has one end, where all others have two
        alone = [1] if board.squares == 1 else [0] * board.squares
        return Counts(np.array(alone), 0)
    try:
        # a closed tour can be told from each of its squares, in two directions
        closed = 2 * passing(board, work, paths=False)[0]
        if closed >= MOST:
            raise TooMany
        tours = passing(board, work, paths=True)[1] if paths else None
    except TooMany:
        raise SearchError(f"The tours of {board} are more than a table can hold (2^63).") from None
    return Counts(tours, closed)


def passing(board: Board, work: Work, *, paths: bool) -> tuple[int, Array]:
    """How many cycles pass all squares, and how many use each one's edge to the virtual square."""
    rows = board.files
    later = [[to for to in board.neighbours(at) if to > at] for at in range(board.squares)]
    both = halves(later, rows, paths=paths)
    name, steps = f"{board} {'open' if paths else 'closed'}", both.steps
    layers = Layers(both, name, work)

    def met() -> list[Array]:
        longer = layers[len(steps)]
        shorter = longer if both.shorter == len(steps) else layers[both.shorter]
        one, onward, uses = meeting(longer, shorter, both, f"{name}, where the halves meet", work)
        return [one.keys, onward, uses, np.array([cycles(one.ways, onward)])]

    keys, onward, uses, (total,) = large(f"{name}, met", met, work)
    ends = np.zeros((board.ranks, rows), dtype=np.int64)
    by_square = ends.ravel()
    if not paths or not total:
        return int(total), by_square
    by_square[len(steps) :][: 2 * rows] = uses[1 : 2 * rows + 1]
    states = [keys, onward]  # large: what is done with goes before more comes
    del keys, onward
    for number in reversed(range(len(steps))):
        work.told(f"{name}, steps back", len(steps) - number, len(steps))
        table = in_table(states[0], states[1])
        states.clear()
        layer = layers[number]
        by_square[number], onward = _back(layer, steps[number], table)
        states += layer.keys, onward
        del layer, table, onward
    # what is laid at a square of a state, is laid at the square's image in the state's image
    half = ends[: len(steps) // rows + 2]
    half[:] = (half + half[:, ::-1]) // 2
    ends[-len(half) :] = half[::-1]
    if by_square.sum() != 2 * total:
        raise SearchError(f"The paths of {board} do not have two ends each.")
    return int(total), by_square


class Sums:
    """Numbers that some threads add up: each adds to an array that it has for itself."""

    def __init__(self, begun: Array, threads: int) -> None:
        self._arrays = SimpleQueue[Array]()
        for array in (begun, *(np.zeros_like(begun) for _ in range(threads - 1))):
            self._arrays.put(array)

    @contextmanager
    def one(self) -> Iterator[Array]:
        array = self._arrays.get()
        yield array
        self._arrays.put(array)

    def together(self) -> Array:
        """All that was added, while no thread adds."""
        arrays = [self._arrays.get() for _ in range(self._arrays.qsize())]
        for more in arrays[1:]:
            arrays[0] += more
            more[:] = 0
            if arrays[0].min(initial=0) < 0:
                raise TooMany
        for array in arrays:
            self._arrays.put(array)
        return arrays[0]


def meeting(
    longer: Layer, shorter: Layer, both: Halves, name: str, work: Work
) -> tuple[Layer, Array, Array]:
    """The longer half's states by ascending key, in how many ways each can be finished, and how
    many cycles use each cell's edge to the virtual square.

    Where that takes long, what was found is kept now and then by this name.
    """
    one, other = sides(longer, shorter, both)
    del longer, shorter  # large as they are
    needs = left_over(one, other, len(both.mirror))
    drop = dropping(most_pairs(needs))
    parts, threads = min(MEETINGS, 1 + len(needs) // ENOUGH), min(cores(), MOST_THREADS)
    none = np.zeros_like(one.ways), np.zeros(MOST_CELLS, dtype=np.int64), np.array([0])
    kept = work.kept if is_large(none) else None
    onward, uses, (done,) = (kept.load(name) if kept else None) or none
    sums, last_kept = Sums(onward, threads), time.monotonic()

    def part(number: int) -> Array:
        with sums.one() as onward:
            return met(needs[number::parts], one, other, drop, onward)

    while done < parts:
        some = range(done, min(parts, done + ROUND))
        for number, used in zip(some, in_threads(part, zip(some), threads), strict=True):
            work.told(name, number, parts)
            uses += used
        done = some.stop
        if kept and done < parts and time.monotonic() - last_kept >= CHECKPOINT:
            kept.store(name, [sums.together(), uses, np.array([done])])
            last_kept = time.monotonic()
    return Layer(one.keys, one.ways), sums.together(), uses


def _back(layer: Layer, step: Step, table: Table) -> tuple[int, Array]:
    """How many cycles use a step's edge to the virtual square, and the layer's onward numbers."""
    slices = [slice(at, at + SLICE) for at in range(0, len(layer.keys), SLICE)]
    some = ((Layer(layer.keys[of], layer.ways[of]), step, *table) for of in slices)
    onward, uses = np.empty_like(layer.ways), 0
    for of, (found, used) in zip(slices, in_threads(back, some), strict=True):
        onward[of] = found
        uses += int(used[step.others == 0].sum())
    return uses, onward
