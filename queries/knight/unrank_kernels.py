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

from tablebase.frontier.bits import lowest, ones
from tablebase.frontier.keys import (
    BEGINS,
    ENDS,
    MATCHING,
    MATCHINGS,
    MOST_CELLS,
    MOST_PAIRS,
    Array,
    all_partners,
    numbered,
    unpack,
)
from tablebase.frontier.layer_reader import Contradiction
from tablebase.frontier.state import END, FREE, MATCHING_BITS
from tablebase.jit import compiled
from tablebase.puzzles.knight.tour_ranker import NONE, Route, Sweep
from tablebase.resources import cores

MOST_STEPS = 512
"""Steps that may have led to a state, at most: two of five cells joined in either order to nine
pairs."""
MOST_EDGES = 32
"""Edges between the cells of the cut, at most."""

Layer = tuple[Array, Array]
"""Ascending keys, and their numbers."""


class Cells(NamedTuple):
    """What the kernels know of a sweep (`numbered_tours.Sweep`)."""

    here: int
    rows: int
    cells: int
    virtual: int
    partners: Array
    """Of `all_partners`, with those of as many ends as there can be at the cut."""


def tours(
    sweep: Sweep,
    route: Route,
    layer: Callable[[int], Layer],
    chosen: Array,
    starts: Array,
    told: Callable[[int, int], None],
) -> Array:
    """The tours with these numbers on a route, from these squares: a row each; a closed one goes
    towards the lower of its start's neighbours. `told(layers, all)` is called after each layer."""
    cut, squares = sweep.longer, np.arange(sweep.virtual + 1)
    partners = all_partners(sweep.cells + 2)
    of = Cells(sweep.here, sweep.rows, sweep.cells, sweep.virtual, partners)
    joined = np.full((len(chosen), sweep.virtual + 1, 2), NONE, dtype=np.int8)
    far = np.array(sweep.far)
    keys, cycles = layer(route.cut)
    ends = np.cumsum(cycles)
    places = np.searchsorted(ends, chosen, side="right")
    if (places == len(keys)).any():
        raise Contradiction("there are fewer tours than were counted")
    at_cut, rest, cycles = keys[places], chosen - (ends - cycles)[places], cycles[places]
    del keys, ends, places
    states = layer(route.layers[-1])
    places = np.minimum(np.searchsorted(states[0], at_cut), len(states[0]) - 1)
    ways = np.where(states[0][places] == at_cut, states[1][places], 0)
    if (ways < 1).any() or (cycles % ways).any():
        raise Contradiction("tours pass a state in other numbers than drawings lead there")
    left, right = np.divmod(rest, cycles // ways)
    mine, theirs = (at_cut.copy(), left), (at_cut.copy(), right)
    between = np.array(sweep.between)
    begun = sweep.cell(route.start, cut) if route.start >= cut else NONE
    for number in reversed(range(cut + 1)):
        if number < cut:
            others = np.array(sweep.steps[number], dtype=np.int64)
            states = layer(route.layers[number])
            step = number, others, number == route.start, of, *states
            _each(_step_back, (*mine, joined), (*step, squares))
        if number <= sweep.shorter and route.layers[number] != number:
            states = layer(number)  # the other half has the layers of all
        if number < sweep.shorter:
            step = number, others, False, of, *states
            _each(_step_back, (*theirs, joined), (*step, far))
        if number == sweep.shorter:
            _each(_meet, (*theirs, joined), (cut, between, begun, of, *states))
        told(cut - number, cut)
    found = np.empty((len(chosen), sweep.virtual), dtype=np.int8)
    image = np.array([sweep.place(start) for start in range(sweep.virtual)])
    _each(_walk, (found, joined, starts), (image, np.argsort(image), sweep.paths, sweep.virtual))
    return found


def sound(states: Layer, cells: int) -> Layer:
    """The states of a layer, if they are such, and none comes twice."""
    keys, numbers = states
    needs = keys >> MATCHING_BITS
    ends = np.bitwise_count(needs & ENDS)
    pairs = np.minimum(ends // 2, MOST_PAIRS)
    if (
        (needs >> 2 * cells).any()
        or (needs & needs >> 1 & ENDS).any()
        or (ends % 2).any()
        or (keys & MATCHING >= MATCHINGS[pairs]).any()
        or (keys[1:] <= keys[:-1]).any()
        or numbers.min(initial=1) < 1
    ):
        raise Contradiction("a layer has what is no state")
    return states


def _each(kernel: Callable[..., bool], tours: tuple[Array, ...], given: tuple[object, ...]) -> None:
    """Have a kernel done for all tours, some by each processor."""
    ends = np.linspace(0, len(tours[0]), cores() + 1).astype(int).tolist()
    with ThreadPoolExecutor(cores()) as pool:
        parts = (slice(*part) for part in pairwise(ends))
        done = [pool.submit(kernel, *(of[part] for of in tours), *given) for part in parts]
        if not all(part.result() for part in done):
            raise Contradiction("there are fewer drawings than were counted")


@compiled
def _place_of(key: int, keys: Array) -> int:
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
def _join(joined: Array, one: int, other: int) -> None:
    for square, to in ((one, other), (other, one)):
        joined[square, int(joined[square, 0] != NONE)] = to


# ---- a step back ----------------------------------------------------------------------------


@compiled
def _step_back(
    keys: Array, numbers: Array, joined: Array, square: int, others: Array, begins: bool,
    of: Cells, layer_keys: Array, layer_ways: Array, place: Array,
) -> bool:  # fmt: skip
    """Go to the states of the layer before, and draw what the step had laid.

    Where the tours begin, that was an edge to the virtual square.
    """
    before = np.empty(MOST_STEPS, dtype=np.int64)
    laid = np.empty((MOST_STEPS, 2), dtype=np.int64)
    room = np.zeros((3, MOST_CELLS + 1), dtype=np.int64)
    for tour in range(len(keys)):
        many, chosen = earlier(keys[tour], others, of, room, before, laid), -1
        for step in range(many):
            if begins and laid[step, 0] != 0 and laid[step, 1] != 0:
                continue
            at = _place_of(before[step], layer_keys)
            if at < len(layer_keys) and layer_keys[at] == before[step]:
                if numbers[tour] < layer_ways[at]:
                    chosen = step
                    break
                numbers[tour] -= layer_ways[at]
        if chosen < 0:
            return False
        keys[tour] = before[chosen]
        for other in laid[chosen]:
            if other != NONE:
                _join(joined[tour], place[square], place[_square(other, square, of)])
    return True


@compiled
def _square(cell: int, after: int, of: Cells) -> int:
    """The square of a cell in the frontier after so many squares."""
    return of.virtual if cell < of.here else cell + after - of.here


@compiled
def earlier(key: int, others: Array, of: Cells, room: Array, keys: Array, laid: Array) -> int:
    """`tablebase.frontier.state.before`: keys, and the cells that were joined, `NONE` for none."""
    unpacked, ends, partner = room
    here, cells = of.here, of.cells
    many = unpack(key, of.partners, unpacked, ends)
    for at in range(many):
        far = unpacked[ends[at]]
        ends[at] += ends[at] >= here
        partner[ends[at]] = far + (far >= here)
    needs, lower = key >> MATCHING_BITS, (1 << 2 * here) - 1
    needs = (needs & ~lower) << 2 | needs & lower
    found = _add(needs, partner, cells, NONE, NONE, 0, keys, laid)
    for one in others:
        need = needs >> 2 * one & 3
        if need == END:
            far = partner[one]
            partner[here], partner[far] = far, here
            then = needs + (END << 2 * here) + (1 << 2 * one)
            found = _add(then, partner, cells, one, NONE, found, keys, laid)
            partner[far] = one
        elif need == 0:
            then = needs + (END << 2 * here) + (END << 2 * one)
            found = _split(
                then, partner, ends[:many], cells, here, one, one, NONE, found, keys, laid
            )
    for place in range(len(others)):
        one = others[place]
        for two in others[place + 1 :]:
            need, need_two = needs >> 2 * one & 3, needs >> 2 * two & 3
            then = needs + (FREE << 2 * here) + (1 << 2 * one) + (1 << 2 * two)
            if need == END and need_two == END:
                if partner[one] == two:
                    found = _add(then, partner, cells, one, two, found, keys, laid)
            elif need == 0 and need_two == 0:
                found = _split(
                    then, partner, ends[:many], cells, one, two, one, two, found, keys, laid
                )
            elif need + need_two == END:
                end, done = (one, two) if need == END else (two, one)
                far = partner[end]
                partner[done], partner[far] = far, done
                found = _add(then, partner, cells, one, two, found, keys, laid)
                partner[far] = end
    return found


@compiled
def _split(
    needs: int, partner: Array, ends: Array, cells: int, near: int, far: int, one: int, two: int,
    found: int, keys: Array, laid: Array,
) -> int:  # fmt: skip
    """Every piece cut in two that end at two more cells, either way."""
    for end in ends:
        low, high = end, partner[end]
        if low < high:
            for first, second in ((low, high), (high, low)):
                partner[near], partner[first] = first, near
                partner[far], partner[second] = second, far
                found = _add(needs, partner, cells, one, two, found, keys, laid)
            partner[low], partner[high] = high, low
    return found


@compiled
def _add(
    needs: int, partner: Array, cells: int, one: int, two: int, found: int, keys: Array, laid: Array
) -> int:
    if needs >> 2 * cells & 3 != FREE:  # the last cell enters with this step
        return found
    then = needs & ((1 << 2 * cells) - 1)
    keys[found] = then << MATCHING_BITS | numbered(then, partner)
    laid[found, 0], laid[found, 1] = one, two
    return found + 1


# ---- where the halves meet ------------------------------------------------------------------


@compiled
def _meet(
    keys: Array, numbers: Array, joined: Array, begin: int, between: Array, start: int,
    of: Cells, layer_keys: Array, layer_ways: Array,
) -> bool:  # fmt: skip
    """Go from states of the longer half to those of the other, and draw the edges of the cut; first
    that from a start there to the virtual square."""
    ends = np.zeros(MOST_CELLS + 1, dtype=np.int64)
    partner = np.zeros((MOST_EDGES + 1, MOST_CELLS + 1), dtype=np.int64)
    needs, following, chosen = np.zeros((3, MOST_EDGES + 1), dtype=np.int64)
    for tour in range(len(keys)):
        needs[0] = keys[tour] >> MATCHING_BITS
        unpack(keys[tour], of.partners, partner[0], ends)
        depth = following[0] = 0
        if start != NONE:
            needs[0] = _laid(needs[0], partner[0], 0, start)
            if needs[0] < 0:
                return False
            _join(joined[tour], of.virtual, _square(start, begin, of))
        found, rest = _other(needs[0], partner[0], of, layer_keys, layer_ways, numbers[tour])
        while found < 0 and depth >= 0:
            if following[depth] == len(between):
                depth -= 1
                continue
            number = following[depth]
            following[depth] += 1
            one, two = between[number]
            partner[depth + 1] = partner[depth]
            needs[depth + 1] = _laid(needs[depth], partner[depth + 1], one, two)
            if needs[depth + 1] < 0:
                continue
            depth += 1
            following[depth], chosen[depth] = number + 1, number
            found, rest = _other(needs[depth], partner[depth], of, layer_keys, layer_ways, rest)
        if found < 0:
            return False
        keys[tour], numbers[tour] = found, rest
        for number in chosen[1 : depth + 1]:
            one, two = between[number]
            _join(joined[tour], _square(one, begin, of), _square(two, begin, of))
    return True


@compiled
def _laid(needs: int, partner: Array, one: int, two: int) -> int:
    """What is needed after an edge is laid, -1 where it cannot be; the partners are then others."""
    need, need_two = needs >> 2 * one & 3, needs >> 2 * two & 3
    near = one if need == FREE else partner[one]
    far = two if need_two == FREE else partner[two]
    if need == 0 or need_two == 0 or near == two:
        return -1
    partner[near], partner[far] = far, near
    return needs - (1 << 2 * one) - (1 << 2 * two)


@compiled
def _other(
    needs: int, partner: Array, of: Cells, keys: Array, ways: Array, rest: int
) -> tuple[int, int]:
    """The other half's state in whose drawings a number falls, and which of them that is; -1 and
    the number that is left where it falls in none."""
    here, half = 2 * of.here, 2 * of.rows  # bits of the virtual cell, and of a column
    every = (1 << here + 2 * half) - 1
    wanted = FREE * (ENDS & every) - (needs & every)
    one, other = wanted >> here & (1 << half) - 1, wanted >> here + half
    facing = wanted & (1 << here) - 1 | (one << half | other | FREE << 2 * half) << here
    first = facing << MATCHING_BITS
    at = _place_of(first, keys)
    if at == len(keys) or keys[at] >> MATCHING_BITS != facing:
        return -1, rest
    end_of = np.empty(MOST_CELLS, dtype=np.int64)
    place = np.zeros(MOST_CELLS, dtype=np.int64)
    many, left = 0, facing & ENDS
    while left:
        cell = lowest(left) // 2
        in_cut = (cell - of.here + of.rows) % half
        end_of[many] = cell if cell < of.here else of.here + in_cut
        place[end_of[many]] = many
        many += 1
        left &= left - 1
    begin = BEGINS[ones(facing & ENDS) // 2]
    while at < len(keys) and keys[at] >> MATCHING_BITS == facing:
        across = of.partners[begin + (keys[at] & MATCHING)]
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
def _walk(
    found: Array, joined: Array, starts: Array, image: Array, square: Array, paths: bool,
    virtual: int,
) -> bool:  # fmt: skip
    for tour in range(len(found)):
        begin = image[starts[tour], starts[tour]]
        before, here = virtual if paths else NONE, begin
        for at in range(len(image)):
            one, two = joined[tour, here]
            if one == NONE or two == NONE or here == virtual or (at and here == begin):
                return False
            found[tour, at] = square[starts[tour], here]
            if before != NONE:
                towards = two if one == before else one
            else:
                towards = one if square[starts[tour], one] < square[starts[tour], two] else two
            before, here = here, towards
        if here != (virtual if paths else begin):
            return False
    return True
