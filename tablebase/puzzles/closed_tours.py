"""Closed tours by number: which is which, told by the layers of a sweep through half of a board.

Squares are numbered along the short side, column after column. Both halves of the board finish
whole columns and leave two, the *cut*; the half from the far end is the same sweep, turned round. A
*layer* has the states of the frontier after so many squares, and how many drawings lead to each;
the last layer has those at the cut, each with the number of cycles that pass it. Cycles are
numbered by their state at the cut, then by the drawing that leads to it, then by the edges between
the two columns of the cut, then by the other half's state and its drawing. Drawings are numbered by
their last step, as `before` tells of steps, then by all steps before it.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from itertools import accumulate

from tablebase.frontier import END, FREE, MATCHING_BITS, State, after, before, paired
from tablebase.puzzles.knight_board import Board

MOST_KEPT = 512
"""Unpacked records at hand: 20 MB."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    from tablebase.frontier import Laid

    Edge = tuple[int, int]
    Option = TypeVar("Option")


class Contradiction(Exception):
    """Layers that tell of more cycles, or of fewer, than there are."""


class Layers:
    """The layers in records (`knight.STATES`), which are read one by one."""

    def __init__(self, record: Callable[[int], tuple[int, int, int, bytes]], count: int) -> None:
        self._record = record
        self._count = count
        self._kept: dict[int, tuple[list[int], list[int]]] = {}

    def states(self, layer: int, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """The states with keys from the first to below the last: each one's key, the sum of the
        numbers of those before it, and its number."""
        for at in range(self._place(layer, first), self._count):
            of, _, total, _ = self._record(at)
            if of > layer:
                return
            keys, numbers = self._unpacked(at)
            begin, end = (bisect_left(keys, key) if of == layer else 0 for key in (first, last))
            total += sum(numbers[:begin])
            for key, number in zip(keys[begin:end], numbers[begin:end], strict=True):
                yield key, total, number
                total += number
            if of == layer and end < len(keys):
                return

    def found(self, layer: int, key: int) -> tuple[int, int]:
        """The sum of the numbers before a state, and its own: 0 where it is not there."""
        found = self.states(layer, key, key + 1)
        return next(((total, number) for _, total, number in found), (0, 0))

    def holding(self, layer: int, total: int) -> tuple[int, int, int]:
        """The state whose number, added to those before it, is the first to pass a total."""
        at = self._place(layer, total, key=False)
        of, _, begin, _ = self._record(at)
        keys, numbers = self._unpacked(at)
        ways = ((key, number) for key, number in zip(keys, numbers, strict=True) if of == layer)
        key, rest = _chosen(ways, total - begin)
        return key, total - rest, numbers[bisect_left(keys, key)]

    def total(self, layer: int) -> int:
        """The sum of the numbers of a layer's states."""
        at = self._place(layer, 1 << 63)
        return self._record(at)[2] + sum(self._unpacked(at)[1])

    def records(self, layer: int) -> range:
        """Where the records of a layer are."""
        begin, end = (self._place(at, -1) + 1 if at else 0 for at in (layer, layer + 1))
        return range(begin, end)

    def _place(self, layer: int, value: int, *, key: bool = True) -> int:
        """The last record of the layers up to this one whose key, or sum, is not above a value."""
        low, high = 0, self._count
        while high - low > 1:
            middle = (low + high) // 2
            of, first, total, _ = self._record(middle)
            if (of, first if key else total) > (layer, value):
                high = middle
            else:
                low = middle
        return low

    def _unpacked(self, at: int) -> tuple[list[int], list[int]]:
        """The keys of a record and their numbers."""
        found = self._kept.get(at)
        if found is None:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            _, key, _, packed = self._record(at)
            found = self._kept[at] = _unpacked(key, packed)
        return found


def _unpacked(key: int, packed: bytes) -> tuple[list[int], list[int]]:
    found, value, shift = list[int](), 0, 0
    for byte in packed.rstrip(b"\0"):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value)
            value = shift = 0
    if len(found) % 2 == 0:
        raise Contradiction("a record does not end with the number of a state")
    return [*accumulate(found[1::2], initial=key)], found[::2]


class Numbers:
    """The closed tours of a board and their numbers."""

    def __init__(self, board: Board, layers: Layers) -> None:
        rows, columns = sorted((board.files, board.ranks))
        lying = board.files > board.ranks
        squares = range(board.squares)
        self.place = [at % columns * rows + at // columns if lying else at for at in squares]
        """What the sweep calls each square."""
        upright = Board(rows, columns)
        later = [[to for to in upright.neighbours(at) if to > at] for at in squares]
        self._layers = layers
        self.rows = rows
        self.cells = 2 * rows + 1
        self.longer = (columns - 1) // 2 * rows
        self.shorter = (columns - 2) // 2 * rows
        cut = range(self.longer, self.longer + 2 * rows)
        self.between = [(at - cut[0], to - cut[0]) for at in cut for to in later[at] if to in cut]
        self.facing = [*range(rows, 2 * rows), *range(rows), 2 * rows]
        self.steps = [[to - at for to in later[at]] for at in squares[: self.longer]]
        """Of each step of the longer half, the cells that the first one may be joined to."""
        self.total = layers.total(self.longer + 1)

    def squares(self, number: int, start: int) -> list[int]:
        """The closed tour with a number below the total, told from a square towards the lower one
        of its two neighbours there."""
        joined: dict[int, list[int]] = {at: [] for at in range(len(self.place))}
        square = {place: at for at, place in enumerate(self.place)}
        for one, two in self._edges(number):
            joined[square[one]].append(square[two])
            joined[square[two]].append(square[one])
        if any(len(squares) != 2 for squares in joined.values()):
            raise Contradiction(f"the drawings of cycle {number:,} do not fit together")
        found = [start, min(joined[start])]
        while len(found) < len(joined):
            one, two = joined[found[-1]]
            found.append(two if one == found[-2] else one)
        return found

    def number(self, squares: list[int]) -> int:
        """The number of a closed tour, told from any square in either direction."""
        places = [self.place[square] for square in squares]
        jumps = zip(places, [*places[1:], places[0]], strict=True)
        return self._number([(min(jump), max(jump)) for jump in jumps])

    def _edges(self, number: int) -> set[Edge]:
        """The edges of the closed tour with a number, between squares as the sweep has them."""
        key, begin, cycles = self._layers.holding(self.longer + 1, number)
        left, rest = divmod(number - begin, self._onward(key, cycles))
        (laid, other), rest = _chosen(self._met(key), rest)
        edges = set(self._drawing(self.longer, key, left))
        theirs = self._drawing(self.shorter, other, rest)
        edges |= {(self.far(one), self.far(two)) for one, two in theirs}
        return edges | {(self.longer + one, self.longer + two) for one, two in laid}

    def _number(self, edges: list[Edge]) -> int:
        longer, end = self.longer, self.longer + 2 * self.rows
        mine = [edge for edge in edges if edge[0] < longer]
        cut = {(one - longer, two - longer) for one, two in edges if longer <= one and two < end}
        theirs = [(self.far(two), self.far(one)) for one, two in edges if two >= end]
        key, left = self._drawn(longer, mine)
        wanted, right = self._drawn(self.shorter, theirs)
        begin, cycles = self._layers.found(longer + 1, key)
        number = begin + left * self._onward(key, cycles) + right
        for (laid, other), ways in self._met(key):
            if other == wanted and cut == {*laid}:
                return number
            number += ways
        raise Contradiction(f"a cycle that passes the state {key:#x} is missing")

    def _onward(self, key: int, cycles: int) -> int:
        """In how many ways a drawing that leads to a state at the cut can be finished."""
        _, ways = self._layers.found(self.longer, key)
        if not cycles or not ways or cycles % ways:
            raise Contradiction(f"{cycles:,} cycles pass the state {key:#x} in {ways:,} ways")
        return cycles // ways

    def far(self, square: int) -> int:
        """What a square is to who looks from the far end: columns reversed, rows kept."""
        return len(self.place) - self.rows - square + 2 * (square % self.rows)

    # ---- where the halves meet ------------------------------------------------------------------

    def _met(self, key: int) -> Iterator[tuple[tuple[list[Edge], int], int]]:
        """How to finish from a state: edges of the cut and the other half's state; its number."""
        for laid, state in self._with_edges(State.of(key, self.cells), 0):
            # to the last cell no edge has come yet, and both halves need two
            wanted = [FREE - need for need in state.needs[:-1]] + [FREE]
            facing = State([*wanted], state.partner).moved(self.facing)
            ends = [cell for cell, need in enumerate(facing.needs) if need == END]
            partner = [ends.index(facing.partner[end]) for end in ends]
            first = facing.key >> MATCHING_BITS << MATCHING_BITS
            last = first + (1 << MATCHING_BITS)
            for other, _, ways in self._layers.states(self.shorter, first, last):
                if _closes(partner, other - first):
                    yield (laid, other), ways

    def _with_edges(self, state: State, begin: int) -> Iterator[tuple[list[Edge], State]]:
        """The state with each set of edges of the cut for which there is room."""
        yield [], state
        for place in range(begin, len(self.between)):
            if joined := state.joined(*self.between[place]):
                for laid, more in self._with_edges(joined, place + 1):
                    yield [self.between[place], *laid], more

    # ---- the drawings of a half -----------------------------------------------------------------

    def _drawing(self, layer: int, key: int, number: int) -> Iterator[Edge]:
        """The edges of the drawing with a number among those that lead to a state."""
        for square in reversed(range(layer)):
            steps = before(key, self.steps[square], self.cells)
            ways = ((step, self._layers.found(square, step[0])[1]) for step in steps)
            (key, laid), number = _chosen(ways, number)
            yield from ((square, square + other) for other in laid)

    def _drawn(self, layer: int, edges: list[Edge]) -> tuple[int, int]:
        """The state that a drawing leads to, and its number among those that lead there."""
        laid: list[Laid] = [
            tuple(sorted(abs(two - one) for one, two in edges if min(one, two) == at))
            for at in range(layer)
        ]
        keys = [State([FREE] * self.cells, {}).key]
        for step in laid:
            key = after(keys[-1], step, self.cells)
            if key is None:
                raise Contradiction("a cycle closes too early")
            keys.append(key)
        number = 0
        for square in reversed(range(layer)):
            for then, step in before(keys[square + 1], self.steps[square], self.cells):
                if (then, step) == (keys[square], laid[square]):
                    break
                number += self._layers.found(square, then)[1]
        return keys[-1], number


def _chosen(options: Iterable[tuple[Option, int]], number: int) -> tuple[Option, int]:
    """Of options with a number of ways each, the one in which a number falls, and which of its ways
    that is."""
    for option, ways in options:
        if number < ways:
            return option, number
        number -= ways
    raise Contradiction("there are fewer drawings than were counted")


def _closes(partner: list[int], matching: int) -> bool:
    """Whether ends that are paired so, and in a matching too, are one cycle."""
    across = _partners(matching, len(partner))
    end, seen = across[partner[0]], 2
    while end:
        end, seen = across[partner[end]], seen + 2
    return seen == len(partner)


@lru_cache(1 << 16)
def _partners(matching: int, ends: int) -> list[int]:
    """The partner of each of so many ends. A lookup asks again and again for the same."""
    found = [0] * ends
    for one, other in paired(matching, ends):
        found[one], found[other] = other, one
    return found
