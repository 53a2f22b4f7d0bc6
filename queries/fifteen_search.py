"""The searches of the 15-puzzle in plain Python, which read only the blocks that they need.

That for a shortest solution visits the same positions in the same order as the compiled search,
which takes longer to load than most searches take here. That for any solution searches positions
with small bounds first.
"""

from __future__ import annotations

from functools import cache
from heapq import heappop, heappush

from puzzle_tablebase.puzzles.fifteen import list_neighbours, mirror_cell, rank_order, rank_set
from puzzle_tablebase.queries.reader import ignore_progress
from puzzle_tablebase.tables.index_format import BODY_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from puzzle_tablebase.puzzles.fifteen import Pattern

    ReadBlock = Callable[[int], bytes]
    Change = tuple["Slot", int, bytes, int]
    """A slot with its cells, order and distance after a move."""


class SearchPaused(Exception):
    """The end of a search that its caller stopped before it had found a solution."""


class PlainSearchOver(Exception):
    """The end of a search in plain Python, which would take too long."""


class SearchState:
    """The state of a search: no solution is shorter than `limit`; it took so many positions.

    `bound` is the limit that the search began with. `pause` is called now and then, and may raise
    SearchPaused.
    """

    __slots__ = ("bound", "limit", "pause", "positions")

    def __init__(self, bound: int, pause: Callable[[], None] = ignore_progress) -> None:
        self.bound = self.limit = bound
        self.pause = pause
        self.positions = 0

    def raise_bound(self, bound: int) -> None:
        """Take note that no solution is shorter than this."""
        self.bound = max(self.bound, bound)
        self.limit = max(self.limit, bound)


PAUSE_POSITIONS = 256
"""Positions between two pauses."""
KEY_CELLS = 15
"""Cells whose tiles make the key of a position: on the largest board they determine the last."""
SEEN_BITS = 14
SHIFTS = (15, 29, 43)
"""Distances over which the bits of a key are mixed to find its place among those remembered."""


_rank_order = cache(rank_order)


@cache
def _rank_mask(mask: int) -> int:
    """Return the rank of a set of cells, given as the number that has a bit for each cell."""
    return rank_set([cell for cell in range(mask.bit_length()) if mask >> cell & 1])


class PatternReader:
    """The distances of a pattern; each block is read once."""

    def __init__(self, pattern: Pattern, read_block: ReadBlock) -> None:
        self.pattern = pattern
        self._read_block = read_block
        self._blocks = dict[int, bytes]()

    def read(self, mask: int, order: bytes) -> int:
        """Return the distance of a placement, by its cells and its order."""
        rank = _rank_order(order) * self.pattern.sets + _rank_mask(mask)
        number, at = divmod(rank, BODY_BYTES)
        block = self._blocks.get(number)
        if block is None:
            self._blocks[number] = block = self._read_block(number)
        return block[at]


class Slot:
    """The tiles of a pattern on the board or its mirror image: their cells, order and distance."""

    __slots__ = ("distances", "mask", "order", "value")

    def __init__(self, distances: PatternReader, cells: Sequence[int]) -> None:
        self.distances = distances
        self.mask = sum(1 << cell for cell in cells)
        self.order = bytes(sorted(range(len(cells)), key=[*cells].__getitem__))
        self.value = distances.read(self.mask, self.order)


class Image:
    """The board or its mirror image: its cells, and the slot of each tile of the board."""

    __slots__ = ("cells", "slots")

    def __init__(self, cells: list[int], tables: Sequence[PatternReader], board: list[int]) -> None:
        self.cells = cells
        self.slots = dict[int, Slot]()
        for distances in tables:
            # mirroring twice changes nothing, so it also leads back to the board's tiles
            tiles = [cells[tile - 1] + 1 for tile in distances.pattern.tiles]
            slot = Slot(distances, [cells[board.index(tile)] for tile in tiles])
            self.slots.update(dict.fromkeys(tiles, slot))

    def compute_bound(self) -> int:
        """Return the sum of the distances."""
        return sum(slot.value for slot in {*self.slots.values()})

    def find_change(self, tile: int, begin: int, end: int, width: int) -> Change:
        """Find what a move of a tile from a cell of the board to another changes."""
        slot, begin, end = self.slots[tile], self.cells[begin], self.cells[end]
        mask, order = slot.mask, slot.order
        if end - begin in (width, -width):
            first = (mask & ((1 << begin) - 1)).bit_count()
            mover = order[first : first + 1]
            if end > begin:
                last = first + (mask >> (begin + 1) & ((1 << (width - 1)) - 1)).bit_count()
                order = order[:first] + order[first + 1 : last + 1] + mover + order[last + 1 :]
            else:
                last = first - (mask >> (end + 1) & ((1 << (width - 1)) - 1)).bit_count()
                order = order[:last] + mover + order[last:first] + order[first + 1 :]
        mask ^= 1 << begin | 1 << end
        return slot, mask, order, slot.distances.read(mask, order)


class PlainSolver:
    """A solver that reads the tables a block at a time."""

    def __init__(self, tables: Sequence[PatternReader]) -> None:
        self._tables = tables
        self.height, self.width = tables[0].pattern.height, tables[0].pattern.width
        self.steps = list_neighbours(self.height, self.width)

    def make_images(self, board: list[int]) -> list[Image]:
        """Make the images of a board: itself, and its mirror image if it is square."""
        cells = [*range(len(board))]
        images = [Image(cells, self._tables, board)]
        if self.height == self.width:
            mirrored = [mirror_cell(cell, self.width) for cell in cells]
            images.append(Image(mirrored, self._tables, board))
        return images

    def compute_bound(self, board: list[int]) -> int:
        """Return a number of moves that no solution can be shorter than."""
        return max(image.compute_bound() for image in self.make_images(board))

    def search(self, board: list[int], state: SearchState, max_positions: int) -> list[int]:
        """Return the cells of the blank on a shortest solution, the first one included.

        The search continues from the limit of `state`, and changes it. After `max_positions` it
        raises PlainSearchOver; positions since the limit last changed are then not counted.
        """
        images = self.make_images(board)
        bounds = [image.compute_bound() for image in images]
        state.raise_bound(max(bounds))
        path = [board.index(0)]
        if bounds[0] == 0:
            return path
        search = _Iterations(self, board[:], images, state, max_positions)
        key = sum(tile << 4 * cell for cell, tile in enumerate(board[:KEY_CELLS]))
        while not search.visit(path, bounds, key):
            search.seen.clear()
            state.limit += 2
            state.positions = search.positions
        state.positions = search.positions
        return path


class _Iterations:
    """The iterations of a search, one for each limit."""

    def __init__(
        self, solver: PlainSolver, board: list[int], images: list[Image], state: SearchState,
        max_positions: int,
    ) -> None:  # fmt: skip
        self._board, self._images = board, images
        self._steps, self._width = solver.steps, solver.width
        self._state, self._max_positions = state, max_positions
        self.seen = dict[int, tuple[int, int]]()
        """Keys of positions that this iteration searched, and the room for moves that they had."""
        self.positions = state.positions

    def visit(self, path: list[int], bounds: list[int], key: int) -> bool:
        """Return whether a position has a solution within the limit, and append it to `path`."""
        self.positions += 1
        if self.positions % PAUSE_POSITIONS == 0:
            self._state.pause()
            if self.positions > self._max_positions:
                raise PlainSearchOver
        board, blank = self._board, path[-1]
        for _, _, cell, child_bounds, changes in self._list_children(path, bounds):
            child_key = key
            if blank < KEY_CELLS:
                child_key ^= board[cell] << 4 * blank
            if cell < KEY_CELLS:
                child_key ^= board[cell] << 4 * cell
            if child_bounds[0] and self._has_searched(child_key, self._state.limit - len(path)):
                continue
            board[blank], board[cell] = board[cell], 0
            path.append(cell)
            undo = [(slot, slot.mask, slot.order, slot.value) for slot, *_ in changes]
            _apply(changes)
            if child_bounds[0] == 0 or self.visit(path, child_bounds, child_key):
                return True
            _apply(undo)
            path.pop()
            board[cell], board[blank] = board[blank], 0
        return False

    def _has_searched(self, key: int, room: int) -> bool:
        """Return whether a position was searched with as much room for moves, and remember it."""
        place = (key ^ key >> SHIFTS[0] ^ key >> SHIFTS[1] ^ key >> SHIFTS[2]) % (1 << SEEN_BITS)
        seen, seen_room = self.seen.get(place, (-1, 0))
        if seen == key and seen_room >= room:
            return True
        self.seen[place] = key, room
        return False

    def _list_children(
        self, path: list[int], bounds: list[int]
    ) -> list[tuple[int, int, int, list[int], list[Change]]]:
        """List the children within the limit, those with the smallest bounds first."""
        board, blank, images = self._board, path[-1], self._images
        room = self._state.limit - (len(path) - 1)
        previous = path[-2] if len(path) > 1 else -1
        children: list[tuple[int, int, int, list[int], list[Change]]] = []
        for cell in self._steps[blank]:
            if cell == previous:
                continue
            tile = board[cell]
            changes = [image.find_change(tile, cell, blank, self._width) for image in images]
            child_bounds = [
                bound - change[0].value + change[3]
                for bound, change in zip(bounds, changes, strict=True)
            ]
            bound = max(child_bounds)
            # a move changes the true distance by one: if a child's bound is larger by more, the
            # bound of the position was too small, and it may be beyond the limit itself
            if bound > room + 1:
                return []
            if bound < room:
                children.append((sum(child_bounds), len(children), cell, child_bounds, changes))
        return sorted(children)


def _apply(changes: list[Change]) -> None:
    for slot, mask, order, value in changes:
        slot.mask, slot.order, slot.value = mask, order, value


WEIGHTS = (1.5, 2.0)
"""Weights of a position's bound against the moves to it: a larger one is faster, and finds longer
solutions."""
MAX_GOOD_POSITIONS = 5_000


def find_any_path(
    solver: PlainSolver,
    board: list[int],
    pause: Callable[[], None] = ignore_progress,
    max_good_positions: int = MAX_GOOD_POSITIONS,
) -> list[int]:
    """Return the cells of the blank on a solution, the first one included.

    The first weight is tried for `max_good_positions`, the second until it finds a solution.
    `pause` is called at each position, and may raise SearchPaused.
    """
    good, fast = WEIGHTS
    path = _search(solver, board, good, max_good_positions, pause)
    path = path or _search(solver, board, fast, None, pause)
    assert path
    return path


def _search(
    solver: PlainSolver,
    board: list[int],
    weight: float,
    most: int | None,
    pause: Callable[[], None],
) -> list[int] | None:
    """Search with a weight; None if it takes more than so many positions."""
    blank = board.index(0)
    start = tuple(board)
    goal = (*range(1, len(board)), 0)
    parents: dict[tuple[int, ...], tuple[int, ...] | None] = {start: None}
    moves_to = {start: 0}
    heap = [(0.0, 0, start, blank)]
    while heap:
        pause()
        _, _, position, blank = heappop(heap)
        if position == goal:
            break
        if most is not None and len(parents) > most:
            return None
        for cell in solver.steps[blank]:
            child = [*position]
            child[blank], child[cell] = child[cell], 0
            key = tuple(child)
            moves = moves_to[position] + 1
            if key in moves_to and moves_to[key] <= moves:
                continue
            moves_to[key], parents[key] = moves, position
            cost = moves + weight * solver.compute_bound(child)
            heappush(heap, (cost, -moves, key, cell))
    path = list[int]()
    here: tuple[int, ...] | None = goal
    while here is not None:
        path.append(here.index(0))
        here = parents[here]
    return path[::-1]
