"""States of the frontier of a sweep, their keys and steps, in plain Python.

A sweep takes the squares of a board one after another and adds the edges of a cycle through all
of them. The edges so far are a *partial tour*. The *frontier* is a row of cells, each a square
whose edges are not all decided. A cell *needs* two more edges if it is free, one if a path of the
partial tour ends there, and none if it has both. The two ends of a path are *mates*.

A state's *key* has two bits for each cell's needs and, below them, the number of its *matching*:
the pairing of the ends. Matchings of 2k ends are numbered from 0 to 1*3*5*...*(2k-1) - 1, first by
which of the other ends is the first one's mate, then by the matching of the remaining ends.

A step finishes a cell: it gets as many edges to other cells as it needs, and leaves the frontier; a
free cell enters at the other end. `step_forward` takes a step, and `step_back` undoes one. The cell
`finished` is the first, or the second in sweeps whose first cell stays to the end.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    JoinedCells = tuple[int, ...]
    """The cells that a step joined to the finished one, ascending."""


FREE, END = 2, 1
"""Edges that a cell needs, unless it needs none."""
MATCHING_BITS = 26
"""Bits of a matching's number: enough for the 34,459,425 matchings of 9 pairs."""


class State:
    """The needs of each cell, and the mate of each end.

    >>> state = State.from_key(0b01_01_10_01_01 << MATCHING_BITS | 2, 5)
    >>> state.needs, state.mate
    ([1, 1, 2, 1, 1], {0: 4, 4: 0, 1: 3, 3: 1})
    """

    __slots__ = ("mate", "needs")

    def __init__(self, needs: list[int], mate: dict[int, int]) -> None:
        self.needs = needs
        self.mate = mate

    @classmethod
    def from_key(cls, key: int, cells: int) -> State:
        """Return the state of a key, with `cells` cells."""
        needs = [key >> MATCHING_BITS + 2 * cell & 3 for cell in range(cells)]
        ends = [cell for cell in range(cells) if needs[cell] == END]
        mate = {}
        for one, other in iter_pairs(key & (1 << MATCHING_BITS) - 1, len(ends)):
            mate[ends[one]], mate[ends[other]] = ends[other], ends[one]
        return cls(needs, mate)

    @property
    def key(self) -> int:
        needs_bits = sum(need << 2 * cell for cell, need in enumerate(self.needs))
        ends = [cell for cell, need in enumerate(self.needs) if need == END]
        matching = 0
        while ends:
            others = len(ends) - 1
            digit = ends.index(self.mate[ends.pop(0)])
            ends.pop(digit)
            matching = matching * others + digit
        return needs_bits << MATCHING_BITS | matching

    def add_edge(self, one: int, other: int) -> State | None:
        """Return the state with an edge between two cells.

        None if a cell needs no edge, or if the edge would close a cycle.
        """
        if not self.needs[one] or not self.needs[other]:
            return None
        near, far = self.mate.get(one, one), self.mate.get(other, other)
        if near == other:
            return None
        needs, mate = [*self.needs], {**self.mate, near: far, far: near}
        for cell in (one, other):
            needs[cell] -= 1
            if not needs[cell]:
                del mate[cell]
        return State(needs, mate)

    def relabel(self, to: list[int]) -> State:
        """Return the state after each cell has moved to cell `to[cell]`."""
        needs = [0] * len(to)
        for cell, target in enumerate(to):
            needs[target] = self.needs[cell]
        return State(needs, {to[one]: to[other] for one, other in self.mate.items()})


def iter_pairs(matching: int, ends: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of a matching, given by its number and the number of ends.

    >>> list(iter_pairs(2, 4))
    [(0, 3), (1, 2)]
    """
    digits = []
    for others in range(1, ends, 2):
        matching, digit = divmod(matching, others)
        digits.append(digit)
    free_ends = [*range(ends)]
    for digit in reversed(digits):
        yield free_ends.pop(0), free_ends.pop(digit)


def step_forward(key: int, joined_cells: JoinedCells, cells: int, finished: int = 0) -> int | None:
    """Return the key after a step that joins cell `finished` to others; None if it is illegal."""
    state = State.from_key(key, cells)
    state.needs.append(FREE)
    for other in joined_cells:
        next_state = state.add_edge(finished, other)
        if next_state is None:
            return None
        state = next_state
    if state.needs.pop(finished):
        return None
    mate = {one - (one > finished): other - (other > finished) for one, other in state.mate.items()}
    return State(state.needs, mate).key


def step_back(
    key: int, others: list[int], cells: int, finished: int = 0
) -> Iterator[tuple[int, JoinedCells]]:
    """Yield every key that a step may have led from, with the cells that it joined `finished` to.

    `others`: all cells to which it may be joined. No pair of key and cells is repeated. Some of the
    states may be unreachable: look them up in the layer before the step.
    """
    current = State.from_key(key, cells)
    needs = [*current.needs[:finished], 0, *current.needs[finished:]]
    mate = {
        one + (one >= finished): other + (other >= finished) for one, other in current.mate.items()
    }

    def make_key(changed: dict[int, int], *paths: tuple[int, int]) -> int:
        """Return the key with the needs of some cells changed, and with other pairs of ends.

        Return -1 if the cell that enters with this step is not free.
        """
        cell_needs = [changed.get(cell, need) for cell, need in enumerate(needs)]
        if cell_needs.pop() != FREE:  # the last cell enters with this step
            return -1
        ends = {**mate}
        for one, other in paths:
            ends[one], ends[other] = other, one
        return State(cell_needs, ends).key

    steps: list[tuple[int, JoinedCells]] = [(make_key({}), ())]
    for one in others:
        if needs[one] == END:  # it was free, and its mate was this cell's
            steps.append((make_key({finished: END, one: FREE}, (finished, mate[one])), (one,)))
        elif needs[one] == 0:  # both were ends, of two paths that are one now
            for near, far in mate.items():
                steps.append(
                    (make_key({finished: END, one: END}, (finished, near), (one, far)), (one,))
                )
    for at, one in enumerate(others):
        for two in others[at + 1 :]:
            joined_cells = one, two
            if needs[one] == needs[two] == END:
                if mate[one] == two:  # all three were free
                    steps.append((make_key({finished: FREE, one: FREE, two: FREE}), joined_cells))
            elif needs[one] == needs[two] == 0:
                for near, far in mate.items():
                    changed = {finished: FREE, one: END, two: END}
                    steps.append((make_key(changed, (one, near), (two, far)), joined_cells))
            elif {needs[one], needs[two]} == {0, END}:
                end, complete = joined_cells if needs[one] == END else (two, one)
                changed = {finished: FREE, end: FREE, complete: END}
                steps.append((make_key(changed, (complete, mate[end])), joined_cells))
    return ((key_before, joined_cells) for key_before, joined_cells in steps if key_before >= 0)
