"""Many tours at once from their numbers: what `numbered_tours` tells of one, compiled.

All of a route go through the layers together, from the last one back, so that one layer at a time
is at hand. A tour is twice at some state with the number of a drawing that leads there: in the
longer half and in the shorter one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tablebase.frontier.bits import count_ones, find_lowest
from tablebase.frontier.keys import (
    END_BITS,
    MATCHING_COUNTS,
    MATCHING_MASK,
    MATCHING_STARTS,
    MAX_CELLS,
    MAX_PAIRS,
    Array,
    list_all_partners,
    rank_matching,
    unpack_key,
)
from tablebase.frontier.layer_reader import InconsistentLayers
from tablebase.frontier.state import END, FREE, MATCHING_BITS
from tablebase.jit import compiled
from tablebase.puzzles.knight.tour_ranker import NO_SQUARE, Route, Sweep
from tablebase.resources import count_cores

MAX_STEPS = 512
"""Steps that may have led to a state, at most: two of five cells joined in either order to nine
pairs."""
MAX_EDGES = 32
"""Edges between the cells of the cut, at most."""

Layer = tuple[Array, Array]
"""Ascending keys, and their numbers."""


class SweepCells(NamedTuple):
    """What the kernels know of a sweep (`numbered_tours.Sweep`)."""

    here: int
    rows: int
    cells: int
    virtual: int
    partners: Array
    """Of `list_all_partners`, with those of as many ends as there can be at the cut."""


def unrank_tours(
    sweep: Sweep,
    route: Route,
    load_layer: Callable[[int], Layer],
    ranks: Array,
    starts: Array,
    on_progress: Callable[[int, int], None],
) -> Array:
    """The tours with these numbers on a route, from these squares: a row each; a closed one goes
    towards the lower of its start's neighbours. `on_progress(layers, all)` is called after each
    layer."""
    cut, squares = sweep.longer, np.arange(sweep.virtual + 1)
    partners = list_all_partners(sweep.cells + 2)
    cells = SweepCells(sweep.here, sweep.rows, sweep.cells, sweep.virtual, partners)
    neighbours = np.full((len(ranks), sweep.virtual + 1, 2), NO_SQUARE, dtype=np.int8)
    far = np.array(sweep.far)
    keys, cycles = load_layer(route.cut)
    ends = np.cumsum(cycles)
    places = np.searchsorted(ends, ranks, side="right")
    if (places == len(keys)).any():
        raise InconsistentLayers("there are fewer tours than were counted")
    at_cut, rest, cycles = keys[places], ranks - (ends - cycles)[places], cycles[places]
    del keys, ends, places
    states = load_layer(route.layers[-1])
    places = np.minimum(np.searchsorted(states[0], at_cut), len(states[0]) - 1)
    ways = np.where(states[0][places] == at_cut, states[1][places], 0)
    if (ways < 1).any() or (cycles % ways).any():
        raise InconsistentLayers("tours pass a state in other numbers than drawings lead there")
    left, right = np.divmod(rest, cycles // ways)
    own_states, other_states = (at_cut.copy(), left), (at_cut.copy(), right)
    between = np.array(sweep.between)
    start_cell = sweep.find_cell(route.start, cut) if route.start >= cut else NO_SQUARE
    for number in reversed(range(cut + 1)):
        if number < cut:
            others = np.array(sweep.steps[number], dtype=np.int64)
            states = load_layer(route.layers[number])
            step = number, others, number == route.start, cells, *states
            _run_parallel(_step_back, (*own_states, neighbours), (*step, squares))
        if number <= sweep.shorter and route.layers[number] != number:
            states = load_layer(number)  # the other half has the layers of all
        if number < sweep.shorter:
            step = number, others, False, cells, *states
            _run_parallel(_step_back, (*other_states, neighbours), (*step, far))
        if number == sweep.shorter:
            _run_parallel(
                _meet, (*other_states, neighbours), (cut, between, start_cell, cells, *states)
            )
        on_progress(cut - number, cut)
    found_tours = np.empty((len(ranks), sweep.virtual), dtype=np.int8)
    image = np.array([sweep.map_squares(start) for start in range(sweep.virtual)])
    _run_parallel(
        _walk_tours,
        (found_tours, neighbours, starts),
        (image, np.argsort(image), sweep.paths, sweep.virtual),
    )
    return found_tours


def validate_layer(states: Layer, cells: int) -> Layer:
    """The states of a layer, if they are such, and none comes twice."""
    keys, numbers = states
    needs = keys >> MATCHING_BITS
    ends = np.bitwise_count(needs & END_BITS)
    pairs = np.minimum(ends // 2, MAX_PAIRS)
    if (
        (needs >> 2 * cells).any()
        or (needs & needs >> 1 & END_BITS).any()
        or (ends % 2).any()
        or (keys & MATCHING_MASK >= MATCHING_COUNTS[pairs]).any()
        or (keys[1:] <= keys[:-1]).any()
        or numbers.min(initial=1) < 1
    ):
        raise InconsistentLayers("a layer has what is no state")
    return states


def _run_parallel(
    kernel: Callable[..., bool], tours: tuple[Array, ...], given: tuple[object, ...]
) -> None:
    """Have a kernel done for all tours, some by each processor."""
    ends = np.linspace(0, len(tours[0]), count_cores() + 1).astype(int).tolist()
    with ThreadPoolExecutor(count_cores()) as pool:
        parts = (slice(*part) for part in pairwise(ends))
        done = [pool.submit(kernel, *(of[part] for of in tours), *given) for part in parts]
        if not all(part.result() for part in done):
            raise InconsistentLayers("there are fewer drawings than were counted")


@compiled
def _find_key(key: int, keys: Array) -> int:
    """The first place among ascending keys of one that is not below this."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _add_edge(neighbours: Array, one: int, other: int) -> None:
    for square, to in ((one, other), (other, one)):
        neighbours[square, int(neighbours[square, 0] != NO_SQUARE)] = to


# ---- a step back ----------------------------------------------------------------------------


@compiled
def _step_back(
    keys: Array, numbers: Array, neighbours: Array, square: int, others: Array, begins: bool,
    sweep: SweepCells, layer_keys: Array, layer_ways: Array, place: Array,
) -> bool:  # fmt: skip
    """Go to the states of the layer before, and draw what the step had laid.

    Where the tours begin, that was an edge to the virtual square.
    """
    before = np.empty(MAX_STEPS, dtype=np.int64)
    joined_cells = np.empty((MAX_STEPS, 2), dtype=np.int64)
    room = np.zeros((3, MAX_CELLS + 1), dtype=np.int64)
    for tour in range(len(keys)):
        many, step_taken = (
            step_back_kernel(keys[tour], others, sweep, room, before, joined_cells),
            -1,
        )
        for step in range(many):
            if begins and joined_cells[step, 0] != 0 and joined_cells[step, 1] != 0:
                continue
            at = _find_key(before[step], layer_keys)
            if at < len(layer_keys) and layer_keys[at] == before[step]:
                if numbers[tour] < layer_ways[at]:
                    step_taken = step
                    break
                numbers[tour] -= layer_ways[at]
        if step_taken < 0:
            return False
        keys[tour] = before[step_taken]
        for other in joined_cells[step_taken]:
            if other != NO_SQUARE:
                _add_edge(
                    neighbours[tour], place[square], place[_find_square(other, square, sweep)]
                )
    return True


@compiled
def _find_square(cell: int, after: int, sweep: SweepCells) -> int:
    """The square of a cell in the frontier after so many squares."""
    return sweep.virtual if cell < sweep.here else cell + after - sweep.here


@compiled
def step_back_kernel(
    key: int, others: Array, sweep: SweepCells, room: Array, keys: Array, joined_cells: Array
) -> int:
    """`tablebase.frontier.state.step_back`: keys, and the cells that were joined, `NO_SQUARE` for
    none."""
    unpacked, ends, partner = room
    here, cells = sweep.here, sweep.cells
    ends_count = unpack_key(key, sweep.partners, unpacked, ends)
    for at in range(ends_count):
        far = unpacked[ends[at]]
        ends[at] += ends[at] >= here
        partner[ends[at]] = far + (far >= here)
    needs, lower = key >> MATCHING_BITS, (1 << 2 * here) - 1
    needs = (needs & ~lower) << 2 | needs & lower
    count = _add_state(needs, partner, cells, NO_SQUARE, NO_SQUARE, 0, keys, joined_cells)
    for one in others:
        need = needs >> 2 * one & 3
        if need == END:
            far = partner[one]
            partner[here], partner[far] = far, here
            then = needs + (END << 2 * here) + (1 << 2 * one)
            count = _add_state(then, partner, cells, one, NO_SQUARE, count, keys, joined_cells)
            partner[far] = one
        elif need == 0:
            then = needs + (END << 2 * here) + (END << 2 * one)
            count = _split_pieces(
                then,
                partner,
                ends[:ends_count],
                cells,
                here,
                one,
                one,
                NO_SQUARE,
                count,
                keys,
                joined_cells,
            )
    for place in range(len(others)):
        one = others[place]
        for two in others[place + 1 :]:
            need, need_two = needs >> 2 * one & 3, needs >> 2 * two & 3
            then = needs + (FREE << 2 * here) + (1 << 2 * one) + (1 << 2 * two)
            if need == END and need_two == END:
                if partner[one] == two:
                    count = _add_state(then, partner, cells, one, two, count, keys, joined_cells)
            elif need == 0 and need_two == 0:
                count = _split_pieces(
                    then,
                    partner,
                    ends[:ends_count],
                    cells,
                    one,
                    two,
                    one,
                    two,
                    count,
                    keys,
                    joined_cells,
                )
            elif need + need_two == END:
                end, done = (one, two) if need == END else (two, one)
                far = partner[end]
                partner[done], partner[far] = far, done
                count = _add_state(then, partner, cells, one, two, count, keys, joined_cells)
                partner[far] = end
    return count


@compiled
def _split_pieces(
    needs: int, partner: Array, ends: Array, cells: int, near: int, far: int, one: int, two: int,
    count: int, keys: Array, joined_cells: Array,
) -> int:  # fmt: skip
    """Every piece cut in two that end at two more cells, either way."""
    for end in ends:
        low, high = end, partner[end]
        if low < high:
            for first, second in ((low, high), (high, low)):
                partner[near], partner[first] = first, near
                partner[far], partner[second] = second, far
                count = _add_state(needs, partner, cells, one, two, count, keys, joined_cells)
            partner[low], partner[high] = high, low
    return count


@compiled
def _add_state(
    needs: int,
    partner: Array,
    cells: int,
    one: int,
    two: int,
    count: int,
    keys: Array,
    joined_cells: Array,
) -> int:
    if needs >> 2 * cells & 3 != FREE:  # the last cell enters with this step
        return count
    then = needs & ((1 << 2 * cells) - 1)
    keys[count] = then << MATCHING_BITS | rank_matching(then, partner)
    joined_cells[count, 0], joined_cells[count, 1] = one, two
    return count + 1


# ---- where the halves meet ------------------------------------------------------------------


@compiled
def _meet(
    keys: Array, numbers: Array, neighbours: Array, begin: int, between: Array, start: int,
    sweep: SweepCells, layer_keys: Array, layer_ways: Array,
) -> bool:  # fmt: skip
    """Go from states of the longer half to those of the other, and draw the edges of the cut; first
    that from a start there to the virtual square."""
    ends = np.zeros(MAX_CELLS + 1, dtype=np.int64)
    partner = np.zeros((MAX_EDGES + 1, MAX_CELLS + 1), dtype=np.int64)
    needs, next_edge, chosen = np.zeros((3, MAX_EDGES + 1), dtype=np.int64)
    for tour in range(len(keys)):
        needs[0] = keys[tour] >> MATCHING_BITS
        unpack_key(keys[tour], sweep.partners, partner[0], ends)
        depth = next_edge[0] = 0
        if start != NO_SQUARE:
            needs[0] = _lay_edge(needs[0], partner[0], 0, start)
            if needs[0] < 0:
                return False
            _add_edge(neighbours[tour], sweep.virtual, _find_square(start, begin, sweep))
        state, rest = _find_other_half(
            needs[0], partner[0], sweep, layer_keys, layer_ways, numbers[tour]
        )
        while state < 0 and depth >= 0:
            if next_edge[depth] == len(between):
                depth -= 1
                continue
            number = next_edge[depth]
            next_edge[depth] += 1
            one, two = between[number]
            partner[depth + 1] = partner[depth]
            needs[depth + 1] = _lay_edge(needs[depth], partner[depth + 1], one, two)
            if needs[depth + 1] < 0:
                continue
            depth += 1
            next_edge[depth], chosen[depth] = number + 1, number
            state, rest = _find_other_half(
                needs[depth], partner[depth], sweep, layer_keys, layer_ways, rest
            )
        if state < 0:
            return False
        keys[tour], numbers[tour] = state, rest
        for number in chosen[1 : depth + 1]:
            one, two = between[number]
            _add_edge(
                neighbours[tour], _find_square(one, begin, sweep), _find_square(two, begin, sweep)
            )
    return True


@compiled
def _lay_edge(needs: int, partner: Array, one: int, two: int) -> int:
    """What is needed after an edge is laid, -1 where it cannot be; the partners are then others."""
    need, need_two = needs >> 2 * one & 3, needs >> 2 * two & 3
    near = one if need == FREE else partner[one]
    far = two if need_two == FREE else partner[two]
    if need == 0 or need_two == 0 or near == two:
        return -1
    partner[near], partner[far] = far, near
    return needs - (1 << 2 * one) - (1 << 2 * two)


@compiled
def _find_other_half(
    needs: int, partner: Array, sweep: SweepCells, keys: Array, ways: Array, rest: int
) -> tuple[int, int]:
    """The other half's state in whose drawings a number falls, and which of them that is; -1 and
    the number that is left where it falls in none."""
    here, half = 2 * sweep.here, 2 * sweep.rows  # bits of the virtual cell, and of a column
    every = (1 << here + 2 * half) - 1
    wanted = FREE * (END_BITS & every) - (needs & every)
    one, other = wanted >> here & (1 << half) - 1, wanted >> here + half
    facing = wanted & (1 << here) - 1 | (one << half | other | FREE << 2 * half) << here
    first = facing << MATCHING_BITS
    at = _find_key(first, keys)
    if at == len(keys) or keys[at] >> MATCHING_BITS != facing:
        return -1, rest
    end_of = np.empty(MAX_CELLS, dtype=np.int64)
    place = np.zeros(MAX_CELLS, dtype=np.int64)
    many, left = 0, facing & END_BITS
    while left:
        cell = find_lowest(left) // 2
        in_cut = (cell - sweep.here + sweep.rows) % half
        end_of[many] = cell if cell < sweep.here else sweep.here + in_cut
        place[end_of[many]] = many
        many += 1
        left &= left - 1
    begin = MATCHING_STARTS[count_ones(facing & END_BITS) // 2]
    while at < len(keys) and keys[at] >> MATCHING_BITS == facing:
        across = sweep.partners[begin + (keys[at] & MATCHING_MASK)]
        end, seen = 0, 0
        while seen == 0 or end:
            end = across >> 4 * place[partner[end_of[end]]] & 15
            seen += 2
        if seen == many:
            if rest < ways[at]:
                return keys[at], rest
            rest -= ways[at]
        at += 1
    return -1, rest


# ---- a tour, square by square ---------------------------------------------------------------


@compiled
def _walk_tours(
    found_tours: Array, neighbours: Array, starts: Array, image: Array, square: Array, paths: bool,
    virtual: int,
) -> bool:  # fmt: skip
    for tour in range(len(found_tours)):
        begin = image[starts[tour], starts[tour]]
        before, here = virtual if paths else NO_SQUARE, begin
        for at in range(len(image)):
            one, two = neighbours[tour, here]
            if one == NO_SQUARE or two == NO_SQUARE or here == virtual or (at and here == begin):
                return False
            found_tours[tour, at] = square[starts[tour], here]
            if before != NO_SQUARE:
                towards = two if one == before else one
            else:
                towards = one if square[starts[tour], one] < square[starts[tour], two] else two
            before, here = here, towards
        if here != (virtual if paths else begin):
            return False
    return True
