"""Ranking and unranking of tours with the layers of a sweep through half of a board.

Squares are numbered along the short side, column after column. Both halves of the board finish
whole columns and leave two, the *cut*; the half from the far end is the same sweep in mirror image.
A *layer* has the states of the frontier after a number of squares, and the number of partial tours
that lead to each; the last layer has those at the cut, each with the number of cycles that pass it.
Cycles are ranked by their state at the cut, then by the partial tour that leads to it, then by the
edges between the two columns of the cut, then by the other half's state and its partial tour.
Partial tours are ranked by their last step, in the order in which `step_back` yields the steps,
then by all steps before it.

An open tour is a cycle through one more square, the *virtual* one, which is a neighbour of all
others and the first cell of the frontier. Tours are ranked among those from their start, which is
joined to the virtual square in the step of that square, or at the cut if it is there: before that
step the layers are the same for all starts, and from there on each start has its own. A start that
comes late in the sweep has few layers of its own; so the tours from all squares that are each
other's images have the ranks of the tours from the last of these squares.
"""

from __future__ import annotations

from functools import lru_cache

from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.tour_frontier.layers import InconsistentLayers, choose_option
from puzzle_tablebase.tour_frontier.states import (
    END,
    FREE,
    MATCHING_BITS,
    State,
    iter_pairs,
    step_back,
    step_forward,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from puzzle_tablebase.tour_frontier.layers import LayerReader
    from puzzle_tablebase.tour_frontier.states import JoinedCells

    Edge = tuple[int, int]

NO_SQUARE = -1
"""The start of closed tours, which have no fixed start."""


class Route:
    """The layers that the tours from a start pass."""

    __slots__ = ("cut", "layers", "start")

    def __init__(self, start: int, layers: list[int], cut: int) -> None:
        self.start = start
        """The square that is joined to the virtual one, as the sweep numbers it; or `NO_SQUARE`."""
        self.layers = layers
        """For each number of squares of the longer half, the layer with the states after them."""
        self.cut = cut
        """The layer with the states at the cut, and the number of cycles that pass each."""


class Sweep:
    """The steps of a sweep through half of a board, and the edges of the cut.

    Squares are numbered in the order of the sweep, and the virtual one has the number after the
    last.
    """

    def __init__(self, board: KnightBoard, *, paths: bool) -> None:
        rows, columns = board.sorted_sides
        squares = range(board.squares)
        upright = KnightBoard(rows, columns)
        later = upright.list_later_neighbours()
        ends = [paths and not (board.squares % 2 and upright.is_light(at)) for at in squares]
        self.board = board
        self.upright = upright
        self.paths = paths
        self.virtual = board.squares
        self.finished = int(paths)
        """The cell that a step finishes."""
        self.rows = rows
        self.cells = self.finished + 2 * rows + 1
        self.longer = (columns - 1) // 2 * rows
        self.shorter = (columns - 2) // 2 * rows
        """The numbers of squares of the longer half and of the shorter one."""
        self.steps = [
            [0] * ends[at] + [to - at + self.finished for to in later[at]]
            for at in squares[: self.longer]
        ]
        """For each step of the longer half, the cells that the finished one may be joined to."""
        begin = self.longer - self.finished
        cut = range(self.longer, self.longer + 2 * rows)
        self.cut_edges = [(0, at - begin) for at in cut if ends[at]]
        self.cut_edges += [(at - begin, to - begin) for at in cut for to in later[at] if to in cut]
        """The edges that a cycle can have at the cut, each as two of its cells."""
        one, other = (
            range(self.finished + rows * n, self.finished + rows * (n + 1)) for n in range(2)
        )
        self.mirrored_cells = [*range(self.finished), *other, *one, self.cells - 1]
        """For each cell of the cut, the cell of the same square in the other half's frontier."""
        self.mirrored_squares = [board.squares - rows - at + 2 * (at % rows) for at in squares] + [
            self.virtual
        ]
        """For each square, its number in the sweep from the far end: columns reversed, rows not."""
        is_wide = board.files > board.ranks
        numbers = [at % columns * rows + at // columns if is_wide else at for at in squares]
        images = zip(*map(board.find_images, squares), strict=True)
        self._images = [[numbers[to] for to in image] for image in images]
        last_squares = {self.map_squares(at)[at] for at in squares}
        self.routes = list[Route]()
        """One route for closed tours, or one for each start that has layers of its own."""
        last = self.longer
        for start in sorted(at for at in last_squares if ends[at]) if paths else [NO_SQUARE]:
            begin, last = last + 1, last + 1 + len(self.list_own_squares(start))
            shared = range(self.longer + 1 - len(self.list_own_squares(start)))
            self.routes.append(Route(start, [*shared, *range(begin, last)], last))

    def list_own_squares(self, start: int) -> range:
        """List the squares whose steps lead to layers that a start has for itself."""
        return range(self.longer if start == NO_SQUARE else start, self.longer)

    def find_route(self, start: int) -> Route | None:
        """Find the route of tours from a square of the board; None if the colours allow no tour."""
        square = self.map_squares(start)[start] if self.paths else NO_SQUARE
        return next((route for route in self.routes if route.start == square), None)

    def map_squares(self, start: int) -> list[int]:
        """Return the sweep's number of each square, in tours from a start.

        It depends on the image of the board: the one in which the start comes last, but not after
        the first of the cut's two columns.
        """
        if not self.paths:
            return self._images[0]
        half = self.longer + self.rows
        images = (image for image in self._images if image[start] < half)
        return max(images, key=lambda image: image[start])

    def find_cell(self, square: int, squares_done: int) -> int:
        """Return the cell of a square in the frontier after `squares_done` squares."""
        return 0 if square == self.virtual else square - squares_done + self.finished

    def find_square(self, cell: int, squares_done: int) -> int:
        """Return the square of a cell in the frontier after `squares_done` squares."""
        return self.virtual if cell < self.finished else cell + squares_done - self.finished

    def step_back(self, key: int, square: int, start: int) -> Iterator[tuple[int, JoinedCells]]:
        """Yield the possible steps of a square that lead to a key, in tours from a start."""
        steps = step_back(key, self.steps[square], self.cells, self.finished)
        return (step for step in steps if square != start or 0 in step[1])


class TourRanker:
    """Ranker of the tours of a board: of open ones from each start, or of all closed ones."""

    def __init__(self, board: KnightBoard, layers: LayerReader, *, paths: bool = False) -> None:
        self.sweep = Sweep(board, paths=paths)
        self._layers = layers

    def count_tours(self, start: int = 0) -> int:
        """Count the tours that have ranks: the open ones from a start, or all closed ones."""
        route = self.sweep.find_route(start)
        return self._layers.sum_layer(route.cut) if route else 0

    def unrank(self, number: int, start: int) -> list[int]:
        """Return the tour of a rank, from a start.

        `number` must be less than `count_tours`. A closed tour continues with the lower of the two
        squares that are next to the start in it.
        """
        sweep, route = self.sweep, self.sweep.find_route(start)
        assert route
        board_square = {number: square for square, number in enumerate(sweep.map_squares(start))}
        board_square[sweep.virtual] = sweep.virtual
        neighbours: dict[int, list[int]] = {at: [] for at in range(sweep.virtual + sweep.paths)}
        for edge in self._unrank_edges(number, route):
            one, two = (board_square[number] for number in edge)
            neighbours[one].append(two)
            neighbours[two].append(one)
        if any(len(squares) != 2 for squares in neighbours.values()):
            raise InconsistentLayers(f"the partial tours of tour {number:,} do not fit together")
        tour = [sweep.virtual, start] if sweep.paths else [start, min(neighbours[start])]
        while len(tour) < len(neighbours):
            one, two = neighbours[tour[-1]]
            tour.append(two if one == tour[-2] else one)
        return tour[int(sweep.paths) :]

    def rank(self, squares: list[int]) -> int:
        """Return the rank of a tour.

        An open tour is ranked among those from its first square. A closed tour may be given from
        any square in either direction.
        """
        sweep, route = self.sweep, self.sweep.find_route(squares[0])
        assert route
        numbers = sweep.map_squares(squares[0])
        path = [numbers[square] for square in squares] + [sweep.virtual] * sweep.paths
        jumps = zip(path, [*path[1:], path[0]], strict=True)
        return self._rank_edges([(min(jump), max(jump)) for jump in jumps], route)

    def _unrank_edges(self, number: int, route: Route) -> set[Edge]:
        """Return the edges of the tour with a rank, between squares as the sweep numbers them."""
        sweep = self.sweep
        key, begin, cycles = self._layers.find_state_at(route.cut, number)
        near_rank, completion = divmod(number - begin, self._count_completions(key, cycles, route))
        (cut_edges, far_key), far_rank = choose_option(
            self._iter_completions(key, route.start), completion
        )
        edges = set(self._unrank_partial_tour(route.layers, key, near_rank, route.start))
        other_edges = self._unrank_partial_tour(range(sweep.shorter + 1), far_key, far_rank)
        edges |= {
            (sweep.mirrored_squares[one], sweep.mirrored_squares[two]) for one, two in other_edges
        }
        return edges | cut_edges

    def _rank_edges(self, edges: list[Edge], route: Route) -> int:
        """Return the rank of the tour with these edges, each with its lower square first."""
        sweep = self.sweep
        near_edges = {edge for edge in edges if edge[0] < sweep.longer}
        mirrored = {
            (one, two): (sweep.mirrored_squares[one], sweep.mirrored_squares[two])
            for one, two in edges
        }
        far_edges = {edge: image for edge, image in mirrored.items() if min(image) < sweep.shorter}
        cut_edges = {*edges} - near_edges - {*far_edges}
        key, near_rank = self._rank_partial_tour(route.layers, near_edges, route.start)
        far_key, far_rank = self._rank_partial_tour(range(sweep.shorter + 1), {*far_edges.values()})
        begin, cycles = self._layers.find_state(route.cut, key)
        number = begin + near_rank * self._count_completions(key, cycles, route) + far_rank
        for completion, ways in self._iter_completions(key, route.start):
            if completion == (cut_edges, far_key):
                return number
            number += ways
        raise InconsistentLayers(f"a tour that passes the state {key:#x} is missing")

    def _count_completions(self, key: int, cycles: int, route: Route) -> int:
        """Count the ways to complete a partial tour that leads to a state at the cut."""
        _, ways = self._layers.find_state(route.layers[-1], key)
        if not cycles or not ways or cycles % ways:
            raise InconsistentLayers(
                f"the state {key:#x} has {ways:,} partial tours and {cycles:,} tours"
            )
        return cycles // ways

    # ---- completions at the cut -----------------------------------------------------------------

    def _iter_completions(
        self, key: int, start: int
    ) -> Iterator[tuple[tuple[set[Edge], int], int]]:
        """Yield the ways to complete a state at the cut.

        Each is the edges of the cut and the other half's state, with the number of partial tours
        that lead to that state. A start in the cut is joined to the virtual square first.
        """
        sweep = self.sweep
        first_state: State | None = State.from_key(key, sweep.cells)
        if first_state and start >= sweep.longer:
            first_state = first_state.add_edge(0, sweep.find_cell(start, sweep.longer))
        for cut_edges, state in self._iter_edge_sets(first_state, 0) if first_state else ():
            edges = {self._to_squares(edge) for edge in cut_edges}
            if start >= sweep.longer:
                edges.add((start, sweep.virtual))
            # the last cell has no edge yet, and needs two in both halves
            other_needs = [FREE - need for need in state.needs[:-1]] + [FREE]
            mirrored = State(other_needs, state.mate).relabel(sweep.mirrored_cells)
            ends = [cell for cell, need in enumerate(mirrored.needs) if need == END]
            mate = [ends.index(mirrored.mate[end]) for end in ends]
            lowest = mirrored.key >> MATCHING_BITS << MATCHING_BITS
            above = lowest + (1 << MATCHING_BITS)
            for far_key, _, ways in self._layers.iter_states(sweep.shorter, lowest, above):
                if _is_one_cycle(mate, far_key - lowest):
                    yield (edges, far_key), ways

    def _to_squares(self, edge: Edge) -> Edge:
        """Convert an edge between cells of the cut to one between squares, the lower one first."""
        one, two = sorted(self.sweep.find_square(cell, self.sweep.longer) for cell in edge)
        return one, two

    def _iter_edge_sets(self, state: State, begin: int) -> Iterator[tuple[list[Edge], State]]:
        """Yield each set of edges of the cut that can be added to a state, with the state after."""
        cut_edges = self.sweep.cut_edges
        yield [], state
        for at in range(begin, len(cut_edges)):
            if next_state := state.add_edge(*cut_edges[at]):
                for edges, last_state in self._iter_edge_sets(next_state, at + 1):
                    yield [cut_edges[at], *edges], last_state

    # ---- partial tours of a half ----------------------------------------------------------------

    def _unrank_partial_tour(
        self, layers: Sequence[int], key: int, number: int, start: int = NO_SQUARE
    ) -> Iterator[Edge]:
        """Yield the edges of the partial tour with a rank among those that lead to a state."""
        for square, layer in reversed([*enumerate(layers[:-1])]):
            steps = self.sweep.step_back(key, square, start)
            ways = ((step, self._layers.find_state(layer, step[0])[1]) for step in steps)
            (key, joined_cells), number = choose_option(ways, number)
            yield from ((square, self.sweep.find_square(other, square)) for other in joined_cells)

    def _rank_partial_tour(
        self, layers: Sequence[int], edges: set[Edge], start: int = NO_SQUARE
    ) -> tuple[int, int]:
        """Return the state that a partial tour leads to, and its rank among those leading there."""
        sweep = self.sweep
        joined_cells: list[JoinedCells] = [
            tuple(sorted(sweep.find_cell(max(edge), at) for edge in edges if min(edge) == at))
            for at in range(len(layers) - 1)
        ]
        keys = [State([FREE] * sweep.cells, {}).key]
        for step in joined_cells:
            key = step_forward(keys[-1], step, sweep.cells, sweep.finished)
            if key is None:
                raise InconsistentLayers("a tour closes too early")
            keys.append(key)
        number = 0
        for square, layer in enumerate(layers[:-1]):
            for key_before, step in sweep.step_back(keys[square + 1], square, start):
                if (key_before, step) == (keys[square], joined_cells[square]):
                    break
                number += self._layers.find_state(layer, key_before)[1]
        return keys[-1], number


def _is_one_cycle(mate: list[int], matching: int) -> bool:
    """Return whether paths, given as pairs of ends, and a matching of these ends form one cycle."""
    across = _list_mates(matching, len(mate))
    end, passed = across[mate[0]], 2
    while end:
        end, passed = across[mate[end]], passed + 2
    return passed == len(mate)


@lru_cache(1 << 16)
def _list_mates(matching: int, ends: int) -> list[int]:
    """List the mate of each end in a matching; cached, because lookups repeat matchings."""
    mates = [0] * ends
    for one, other in iter_pairs(matching, ends):
        mates[one], mates[other] = other, one
    return mates
