"""Tours by number: which is which, told by the layers of a sweep through half of a board.

Squares are numbered along the short side, column after column. Both halves of the board finish
whole columns and leave two, the *cut*; the half from the far end is the same sweep, turned round. A
*layer* has the states of the frontier after so many squares, and how many drawings lead to each;
the last layer has those at the cut, each with the number of cycles that pass it. Cycles are
numbered by their state at the cut, then by the drawing that leads to it, then by the edges between
the two columns of the cut, then by the other half's state and its drawing. Drawings are numbered by
their last step, as `before` tells of steps, then by all steps before it.

An open tour is a cycle through one more square, the *virtual* one, which is beside all others and
the first cell of the frontier. Tours are numbered among those from their start, to which the
virtual square is joined when its turn comes, at the latest at the cut: until then the layers are
the same for all starts, and from there on each has its own. A start that comes late has few; so the
tours from all squares that are each other's images have the numbers of those from the last one.
"""

from __future__ import annotations

from functools import lru_cache

from tablebase.frontier.layer_reader import Contradiction, chosen
from tablebase.frontier.state import END, FREE, MATCHING_BITS, State, after, before, paired
from tablebase.puzzles.knight.board import Board

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tablebase.frontier.layer_reader import Layers
    from tablebase.frontier.state import Laid

    Edge = tuple[int, int]

NONE = -1
"""No square."""


class Route:
    """How tours from a start go through the layers."""

    __slots__ = ("cut", "layers", "start")

    def __init__(self, start: int, layers: list[int], cut: int) -> None:
        self.start = start
        """The square that is joined to the virtual one, as the sweep calls it; or `NONE`."""
        self.layers = layers
        """Which layer has the states after so many squares of the longer half."""
        self.cut = cut
        """The layer with those at the cut, and how many cycles pass each."""


class Sweep:
    """The steps of a sweep through half of a board, and what lies between both halves.

    Squares are called as the sweep takes them, and the virtual one has the number after the last.
    """

    def __init__(self, board: Board, *, paths: bool) -> None:
        rows, columns = sorted((board.files, board.ranks))
        squares = range(board.squares)
        upright = Board(rows, columns)
        later = [[to for to in upright.neighbours(at) if to > at] for at in squares]
        ends = [paths and not (board.squares % 2 and upright.light(at)) for at in squares]
        self.board = board
        self.upright = upright
        self.paths = paths
        self.virtual = board.squares
        self.here = int(paths)
        """The cell that a step finishes."""
        self.rows = rows
        self.cells = self.here + 2 * rows + 1
        self.longer = (columns - 1) // 2 * rows
        self.shorter = (columns - 2) // 2 * rows
        self.steps = [
            [0] * ends[at] + [to - at + self.here for to in later[at]]
            for at in squares[: self.longer]
        ]
        """Of each step of the longer half, the cells that may be joined."""
        begin = self.longer - self.here
        cut = range(self.longer, self.longer + 2 * rows)
        self.between = [(0, at - begin) for at in cut if ends[at]]
        self.between += [(at - begin, to - begin) for at in cut for to in later[at] if to in cut]
        one, other = (range(self.here + rows * n, self.here + rows * (n + 1)) for n in range(2))
        self.facing = [*range(self.here), *other, *one, self.cells - 1]
        """What each cell of the cut is to the other half."""
        self.far = [board.squares - rows - at + 2 * (at % rows) for at in squares] + [self.virtual]
        """What each square is to who looks from the far end: columns reversed, rows kept."""
        lying = board.files > board.ranks
        place = [at % columns * rows + at // columns if lying else at for at in squares]
        turned = zip(*map(board.turned, squares), strict=True)
        self._images = [[place[to] for to in image] for image in turned]
        latest = {self.place(at)[at] for at in squares}
        self.routes = list[Route]()
        """All of them: one for closed tours, one for each start that has layers of its own."""
        last = self.longer
        for start in sorted(at for at in latest if ends[at]) if paths else [NONE]:
            begin, last = last + 1, last + 1 + len(self.own(start))
            shared = range(self.longer + 1 - len(self.own(start)))
            self.routes.append(Route(start, [*shared, *range(begin, last)], last))

    def own(self, start: int) -> range:
        """The squares whose steps lead to layers of a start's own."""
        return range(self.longer if start == NONE else start, self.longer)

    def route(self, start: int) -> Route | None:
        """Of tours from a square of the board; None where their colours allow none."""
        wanted = self.place(start)[start] if self.paths else NONE
        return next((route for route in self.routes if route.start == wanted), None)

    def place(self, start: int) -> list[int]:
        """What the sweep calls each square in tours from one.

        That is the image of the board in which it comes last, but in the first of the two halves.
        """
        if not self.paths:
            return self._images[0]
        half = self.longer + self.rows
        return max(
            (image for image in self._images if image[start] < half),
            key=lambda image: image[start],
        )

    def cell(self, square: int, after: int) -> int:
        """The cell of a square in the frontier after so many squares."""
        return 0 if square == self.virtual else square - after + self.here

    def square(self, cell: int, after: int) -> int:
        """The square of a cell in the frontier after so many squares."""
        return self.virtual if cell < self.here else cell + after - self.here

    def before(self, key: int, square: int, start: int) -> Iterator[tuple[int, Laid]]:
        """The states that a square's step may have led from, on the way of tours from a start."""
        steps = before(key, self.steps[square], self.cells, self.here)
        return (step for step in steps if square != start or 0 in step[1])


class Numbers:
    """The tours of a board and their numbers: open ones from each start, or all closed ones."""

    def __init__(self, board: Board, layers: Layers, *, paths: bool = False) -> None:
        self.sweep = Sweep(board, paths=paths)
        self._layers = layers

    def total(self, start: int = 0) -> int:
        """How many tours have numbers; open ones only from a square."""
        route = self.sweep.route(start)
        return self._layers.total(route.cut) if route else 0

    def squares(self, number: int, start: int) -> list[int]:
        """The tour from a square with a number below the total: a closed one is told towards the
        lower one of the square's two neighbours there."""
        sweep, route = self.sweep, self._route(start)
        square = {to: at for at, to in enumerate(sweep.place(start))}
        square[sweep.virtual] = sweep.virtual
        joined: dict[int, list[int]] = {at: [] for at in range(sweep.virtual + sweep.paths)}
        for edge in self._edges(number, route):
            one, two = (square[at] for at in edge)
            joined[one].append(two)
            joined[two].append(one)
        if any(len(squares) != 2 for squares in joined.values()):
            raise Contradiction(f"the drawings of tour {number:,} do not fit together")
        found = [sweep.virtual, start] if sweep.paths else [start, min(joined[start])]
        while len(found) < len(joined):
            one, two = joined[found[-1]]
            found.append(two if one == found[-2] else one)
        return found[int(sweep.paths) :]

    def number(self, squares: list[int]) -> int:
        """The number of a tour: an open one among those from its first square, a closed one told
        from any square in either direction."""
        sweep, route, place = self.sweep, self._route(squares[0]), self.sweep.place(squares[0])
        places = [place[square] for square in squares] + [sweep.virtual] * sweep.paths
        jumps = zip(places, [*places[1:], places[0]], strict=True)
        return self._number([(min(jump), max(jump)) for jump in jumps], route)

    def _route(self, start: int) -> Route:
        if route := self.sweep.route(start):
            return route
        raise Contradiction(f"no tour starts at square {start}")

    def _edges(self, number: int, route: Route) -> set[Edge]:
        """The edges of the tour with a number, between squares as the sweep has them."""
        sweep = self.sweep
        key, begin, cycles = self._layers.holding(route.cut, number)
        left, rest = divmod(number - begin, self._onward(key, cycles, route))
        (laid, other), rest = chosen(self._met(key, route.start), rest)
        edges = set(self._drawing(route.layers, key, left, route.start))
        theirs = self._drawing(range(sweep.shorter + 1), other, rest)
        edges |= {(sweep.far[one], sweep.far[two]) for one, two in theirs}
        return edges | laid

    def _number(self, edges: list[Edge], route: Route) -> int:
        sweep = self.sweep
        mine = {edge for edge in edges if edge[0] < sweep.longer}
        turned = {(one, two): (sweep.far[one], sweep.far[two]) for one, two in edges}
        others = {edge: far for edge, far in turned.items() if min(far) < sweep.shorter}
        cut = {*edges} - mine - {*others}
        key, left = self._drawn(route.layers, mine, route.start)
        wanted, right = self._drawn(range(sweep.shorter + 1), {*others.values()})
        begin, cycles = self._layers.found(route.cut, key)
        number = begin + left * self._onward(key, cycles, route) + right
        for (laid, other), ways in self._met(key, route.start):
            if other == wanted and cut == laid:
                return number
            number += ways
        raise Contradiction(f"a tour that passes the state {key:#x} is missing")

    def _onward(self, key: int, cycles: int, route: Route) -> int:
        """In how many ways a drawing that leads to a state at the cut can be finished."""
        _, ways = self._layers.found(route.layers[-1], key)
        if not cycles or not ways or cycles % ways:
            raise Contradiction(f"the state {key:#x} has drawings: {ways:,}, tours: {cycles:,}")
        return cycles // ways

    # ---- where the halves meet ------------------------------------------------------------------

    def _met(self, key: int, start: int) -> Iterator[tuple[tuple[set[Edge], int], int]]:
        """How to finish from a state: edges of the cut and the other half's state; its number.

        A start in the cut is joined to the virtual square before all else.
        """
        sweep = self.sweep
        begun: State | None = State.of(key, sweep.cells)
        if begun and start >= sweep.longer:
            begun = begun.joined(0, sweep.cell(start, sweep.longer))
        for laid, state in self._with_edges(begun, 0) if begun else ():
            edges = {self._of_cut(edge) for edge in laid}
            if start >= sweep.longer:
                edges.add((start, sweep.virtual))
            # to the last cell no edge has come yet, and both halves need two
            wanted = [FREE - need for need in state.needs[:-1]] + [FREE]
            facing = State([*wanted], state.partner).moved(sweep.facing)
            ends = [cell for cell, need in enumerate(facing.needs) if need == END]
            partner = [ends.index(facing.partner[end]) for end in ends]
            lowest = facing.key >> MATCHING_BITS << MATCHING_BITS
            above = lowest + (1 << MATCHING_BITS)
            for other, _, ways in self._layers.states(sweep.shorter, lowest, above):
                if _closes(partner, other - lowest):
                    yield (edges, other), ways

    def _of_cut(self, edge: Edge) -> Edge:
        """An edge between cells of the cut as one between squares, the lower one first."""
        one, two = sorted(self.sweep.square(cell, self.sweep.longer) for cell in edge)
        return one, two

    def _with_edges(self, state: State, begin: int) -> Iterator[tuple[list[Edge], State]]:
        """The state with each set of edges of the cut for which there is room."""
        between = self.sweep.between
        yield [], state
        for place in range(begin, len(between)):
            if joined := state.joined(*between[place]):
                for laid, more in self._with_edges(joined, place + 1):
                    yield [between[place], *laid], more

    # ---- the drawings of a half -----------------------------------------------------------------

    def _drawing(
        self, layers: Sequence[int], key: int, number: int, start: int = NONE
    ) -> Iterator[Edge]:
        """The edges of the drawing with a number among those that lead to a state."""
        for square, layer in reversed([*enumerate(layers[:-1])]):
            steps = self.sweep.before(key, square, start)
            ways = ((step, self._layers.found(layer, step[0])[1]) for step in steps)
            (key, laid), number = chosen(ways, number)
            yield from ((square, self.sweep.square(other, square)) for other in laid)

    def _drawn(self, layers: Sequence[int], edges: set[Edge], start: int = NONE) -> tuple[int, int]:
        """The state that a drawing leads to, and its number among those that lead there."""
        sweep = self.sweep
        laid: list[Laid] = [
            tuple(sorted(sweep.cell(max(edge), at) for edge in edges if min(edge) == at))
            for at in range(len(layers) - 1)
        ]
        keys = [State([FREE] * sweep.cells, {}).key]
        for step in laid:
            key = after(keys[-1], step, sweep.cells, sweep.here)
            if key is None:
                raise Contradiction("a tour closes too early")
            keys.append(key)
        number = 0
        for square, layer in enumerate(layers[:-1]):
            for then, step in sweep.before(keys[square + 1], square, start):
                if (then, step) == (keys[square], laid[square]):
                    break
                number += self._layers.found(layer, then)[1]
        return keys[-1], number


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
