"""Many closed tours at once from their numbers: what `closed_tours` tells of one, compiled.

All go through the layers together, from the last one back, so that one layer at a time is at hand.
A tour is twice at some state with the number of a drawing that leads there: in the longer half and
in the shorter one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from tablebase.bits import lowest, ones
from tablebase.compiled import compiled
from tablebase.cores import cores
from tablebase.frontier import END, FREE, MATCHING_BITS
from tablebase.keys import BEGINS, ENDS, MATCHING, MOST_CELLS, Array, all_partners, numbered, unpack
from tablebase.puzzles.closed_tours import Contradiction, Numbers

MOST_STEPS = 512
"""Steps that may have led to a state, at most: two cells joined in either order to 8 pairs."""
MOST_EDGES = 16
"""Edges between the two columns of the cut, at most."""
NONE = -1
"""No square."""

Layer = tuple[Array, Array]
"""Ascending keys, and their numbers."""


def tours(
    numbers: Numbers,
    layer: Callable[[int], Layer],
    chosen: Array,
    told: Callable[[int, int], None],
) -> Array:
    """The closed tours with these numbers: a row each, from the first square towards the lower of
    its neighbours. `told(layers, all)` is called after each layer."""
    cut, squares = len(numbers.steps), np.arange(len(numbers.place))
    partners = all_partners(numbers.cells)
    joined = np.full((len(chosen), len(squares), 2), NONE, dtype=np.int8)
    far = np.array([*map(numbers.far, squares.tolist())])
    keys, cycles = layer(cut + 1)
    ends = np.cumsum(cycles)
    places = np.searchsorted(ends, chosen, side="right")
    at_cut, rest, cycles = keys[places], chosen - (ends - cycles)[places], cycles[places]
    del keys, ends, places
    for number in reversed(range(cut + 1)):
        states = layer(number)
        if number == cut:
            ways = states[1][np.searchsorted(states[0], at_cut)]
            left, right = np.divmod(rest, cycles // ways)
            mine, theirs = (at_cut.copy(), left), (at_cut.copy(), right)
        else:
            others = np.array(numbers.steps[number], dtype=np.int64)
            step = number, others, numbers.cells, partners, *states
            _each(_step_back, (*mine, joined), (*step, squares))
            if number < numbers.shorter:
                _each(_step_back, (*theirs, joined), (*step, far))
        if number == numbers.shorter:
            meeting = cut, np.array(numbers.between), numbers.cells, partners, *states
            _each(_meet, (*theirs, joined), meeting)
        told(cut - number, cut)
    found = np.empty((len(chosen), len(squares)), dtype=np.int8)
    square = np.argsort(np.array(numbers.place))
    _each(_walk, (found, joined), (np.array(numbers.place), square))
    return found


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
    keys: Array, numbers: Array, joined: Array, square: int, others: Array, cells: int,
    partners: Array, layer_keys: Array, layer_ways: Array, place: Array,
) -> bool:  # fmt: skip
    """Go to the states of the layer before, and draw what the step had laid."""
    before = np.empty(MOST_STEPS, dtype=np.int64)
    laid = np.empty((MOST_STEPS, 2), dtype=np.int64)
    room = np.zeros((3, MOST_CELLS + 1), dtype=np.int64)
    for tour in range(len(keys)):
        many, chosen = earlier(keys[tour], others, cells, partners, room, before, laid), -1
        for step in range(many):
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
            if other:
                _join(joined[tour], place[square], place[square + other])
    return True


@compiled
def earlier(
    key: int, others: Array, cells: int, partners: Array, room: Array, keys: Array, laid: Array
) -> int:
    """`tablebase.frontier.before`: keys, and the cells that were joined, 0 for none."""
    unpacked, ends, partner = room
    many = unpack(key, partners, unpacked, ends)
    for end in ends[:many]:
        partner[end + 1] = unpacked[end] + 1
    needs = key >> MATCHING_BITS << 2
    found = _add(needs, partner, cells, 0, 0, 0, keys, laid)
    for one in others:
        need = needs >> 2 * one & 3
        if need == END:
            far = partner[one]
            partner[0], partner[far] = far, 0
            then = needs + END + (1 << 2 * one)
            found = _add(then, partner, cells, one, 0, found, keys, laid)
            partner[far] = one
        elif need == 0:
            then = needs + END + (END << 2 * one)
            found = _split(then, partner, ends[:many], cells, 0, one, one, 0, found, keys, laid)
    for place in range(len(others)):
        one = others[place]
        for two in others[place + 1 :]:
            need, need_two = needs >> 2 * one & 3, needs >> 2 * two & 3
            then = needs + FREE + (1 << 2 * one) + (1 << 2 * two)
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
        low, high = end + 1, partner[end + 1]
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
    keys: Array, numbers: Array, joined: Array, begin: int, between: Array, cells: int,
    partners: Array, layer_keys: Array, layer_ways: Array,
) -> bool:  # fmt: skip
    """Go from states of the longer half to those of the other, and draw the edges of the cut."""
    ends = np.zeros(MOST_CELLS + 1, dtype=np.int64)
    partner = np.zeros((MOST_EDGES + 1, MOST_CELLS + 1), dtype=np.int64)
    needs, following, chosen = np.zeros((3, MOST_EDGES + 1), dtype=np.int64)
    for tour in range(len(keys)):
        needs[0] = keys[tour] >> MATCHING_BITS
        unpack(keys[tour], partners, partner[0], ends)
        depth = following[0] = 0
        found, rest = _other(
            needs[0], partner[0], cells, partners, layer_keys, layer_ways, numbers[tour]
        )
        while found < 0 and depth >= 0:
            if following[depth] == len(between):
                depth -= 1
                continue
            number = following[depth]
            following[depth] += 1
            one, two = between[number]
            need, need_two = needs[depth] >> 2 * one & 3, needs[depth] >> 2 * two & 3
            near = one if need == FREE else partner[depth, one]
            far = two if need_two == FREE else partner[depth, two]
            if need == 0 or need_two == 0 or near == two:
                continue
            partner[depth + 1] = partner[depth]
            partner[depth + 1, near], partner[depth + 1, far] = far, near
            needs[depth + 1] = needs[depth] - (1 << 2 * one) - (1 << 2 * two)
            depth += 1
            following[depth], chosen[depth] = number + 1, number
            found, rest = _other(
                needs[depth], partner[depth], cells, partners, layer_keys, layer_ways, rest
            )
        if found < 0:
            return False
        keys[tour], numbers[tour] = found, rest
        for number in chosen[1 : depth + 1]:
            _join(joined[tour], begin + between[number, 0], begin + between[number, 1])
    return True


@compiled
def _other(
    needs: int, partner: Array, cells: int, partners: Array, keys: Array, ways: Array, rest: int
) -> tuple[int, int]:
    """The other half's state in whose drawings a number falls, and which of them that is; -1 and
    the number that is left where it falls in none."""
    half = cells - 1  # bits of a column
    wanted = FREE * (ENDS & ((1 << 2 * half) - 1)) - (needs & ((1 << 2 * half) - 1))
    facing = (wanted & ((1 << half) - 1)) << half | wanted >> half | FREE << 2 * half
    first = facing << MATCHING_BITS
    at = _place_of(first, keys)
    if at == len(keys) or keys[at] >> MATCHING_BITS != facing:
        return -1, rest
    end_of = np.empty(MOST_CELLS, dtype=np.int64)
    place = np.zeros(MOST_CELLS, dtype=np.int64)
    many, left, rows = 0, facing & ENDS, half // 2
    while left:
        cell = lowest(left) // 2
        end_of[many] = (cell + rows) % half
        place[end_of[many]] = many
        many += 1
        left &= left - 1
    begin = BEGINS[ones(facing & ENDS) // 2]
    while at < len(keys) and keys[at] >> MATCHING_BITS == facing:
        across = partners[begin + (keys[at] & MATCHING)]
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
def _walk(found: Array, joined: Array, place: Array, square: Array) -> bool:
    for tour in range(len(found)):
        before, here = -1, place[0]
        for at in range(len(place)):
            one, two = joined[tour, here]
            if one == NONE or two == NONE or (at and here == place[0]):
                return False
            found[tour, at] = square[here]
            towards = one if square[one] < square[two] else two
            if at:
                towards = two if one == before else one
            before, here = here, towards
        if here != place[0]:
            return False
    return True
