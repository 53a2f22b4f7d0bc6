"""The proof of tables that rank tours: every layer is counted again, and numbers are tried.

The walker makes all layers from the empty board (`tour_walker`): the records must have exactly its
states and numbers. docs/format/tours.md puts the partial tours that lead to a state, and the ways
to complete it, in an order; so where every number is right, each rank is one tour and each tour has
one rank. Besides, ranks are followed back to their tours in that order, all of them on a small
board. The code for this is its own, too: lookups are tested elsewhere.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, combinations, groupby, pairwise
from typing import NamedTuple

import numpy as np

from pipeline.verify.claims import ClaimCheck, Proof, PublishedTable, Seen, Verdict
from pipeline.verify.files import iter_records, view_field
from pipeline.verify.knight_counts import find_known_closed, find_known_total
from pipeline.verify.tour_walker import (
    FREE,
    MATCHING_BITS,
    MAX_CELLS,
    CountedLayer,
    HalfBoard,
    decode_state,
    join,
    make_matching_code,
    walk,
)
from tablebase.jit import Array, compiled
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.tables import RANKING_FIELDS, TourRanking
from tablebase.tables.index_format import BLOCK_BYTES, BODY_BYTES, make_record_type

Edge = tuple[int, int]


class RankingLimits(NamedTuple):
    """The number of ranks that are tried."""

    tours: int = 1_000
    """The number of tours up to which all ranks of a board are tried."""
    sample: int = 200
    """The number of ranks tried on a board with more tours."""


LIMITS = RankingLimits()


def prove_ranks(published: PublishedTable, earlier: Seen, limits: RankingLimits = LIMITS) -> Proof:
    """Prove the ranking of a board's tours."""
    recipe = published.definition.recipe
    assert isinstance(recipe, TourRanking)
    board, is_open = recipe.board, not recipe.closed
    half = HalfBoard(KnightBoard(*sorted((board.files, board.ranks))), is_open=is_open)
    colours = ", of those whose colours need as many edges" * is_open
    text = (
        "every layer is counted again from the empty board: each state with the partial tours that "
        f"lead to it, at the cut with the tours that pass it, and no other state{colours}"
    )
    order = "layer after layer, each sum is that of the numbers before it"
    with (
        published.begin_claim(order) as order_check,
        published.begin_claim(text) as check,
    ):
        comparison = _Comparison(_iter_parts(published, order_check), check)
        totals = walk(half, comparison.require_layer)
        comparison.require_end()
    squares = range(board.squares if is_open else 1)
    turns = [half.find_turn(at) if is_open else None for at in squares]
    total = sum(totals.get(turn, 0) for turn in turns)
    known = find_known_total(board) if is_open else find_known_closed(board)
    # the ranking counts a closed tour and its reverse as one
    kind, directions = ("tours", 1) if is_open else ("closed tours", 2)
    if known:
        text = f"there are as many {kind} as known ({known[1]})"
        with published.begin_claim(text, total, "tours") as check:
            check.require_equal(kind, total, known[0] // directions)
    ranked = sum(totals.values())
    tried = try_ranks(published, half, totals, comparison.records, limits)
    published.note_missing_proofs((), [name for name, _ in RANKING_FIELDS])
    numbers = f"all {ranked:,}" if tried == ranked else f"{tried:,} of {ranked:,}"
    how = "every layer was counted again from the empty board, so each rank is one tour"
    how = f"{how}; {numbers} ranks were followed to their tours"
    return published.make_proof(Verdict.PROVED, how)


LONGEST_STATE = 18
"""The bytes of a difference of keys and a number, nine each at most."""

# ---- records ----------------------------------------------------------------------------------


class _Part(NamedTuple):
    """Consecutive states of a layer, and the numbers of their records."""

    layer: int
    states: CountedLayer
    records: range


def _iter_parts(published: PublishedTable, check: ClaimCheck) -> Iterator[_Part]:
    """Yield all states, layer after layer; refute the claim at a record that is out of order."""
    at = np.array([-1, 0, 0])
    for begin, records in iter_records(published, check):
        layers = records["layer"].astype(np.int64)
        states, ends = _decode(records, at, check, begin)
        edges = np.flatnonzero(np.diff(layers)) + 1
        for first, last in pairwise([0, *edges.tolist(), len(records)]):
            span = slice(ends[first], ends[last])
            part = CountedLayer(states.keys[span], states.numbers[span])
            yield _Part(int(layers[first]), part, range(begin + first, begin + last))


def _decode(
    records: Array, at: Array, check: ClaimCheck, begin: int
) -> tuple[CountedLayer, list[int]]:
    """Return the states of some records, and where those of each record end, from 0.

    `at`: the layer, the sum and the used bytes at the end of the record before, to be updated.
    """
    packed = view_field(records, "states")
    # signed, or compiled code compares them as floating point numbers
    fields = [records[name].astype(np.int64) for name, _ in RANKING_FIELDS[:3]]
    count = len(records) + int(np.count_nonzero((packed > 0) & (packed < 128))) // 2
    states, ends = np.empty((2, count), dtype=np.int64), np.zeros(len(records) + 1, np.int64)
    layers, firsts, sums = fields
    keys, numbers = states
    wrong = _decode_records(layers, firsts, sums, packed, keys, numbers, ends, at)
    if wrong < len(records):
        check.refute(f"layer {records['layer'][wrong]}", "one in order", begin + wrong)
    return CountedLayer(keys[: ends[-1]], numbers[: ends[-1]]), ends.tolist()


@compiled
def _decode_records(
    layers: Array, firsts: Array, sums: Array, packed: Array, keys: Array, numbers: Array,
    ends: Array, at: Array,
) -> int:  # fmt: skip
    """Decode records, and return the first one that is out of order, or their number.

    A record is followed by one of the same layer when the longest state no longer fits.
    """
    state, last_begin = 0, packed.shape[1] - LONGEST_STATE
    for record in range(len(layers)):
        is_new = layers[record] > at[0] and sums[record] == 0
        if not is_new and (layers[record] != at[0] or sums[record] != at[1]):
            return record
        if not is_new and at[2] <= last_begin:
            return record
        at[0], at[1] = layers[record], sums[record]
        key, value, shift, is_key, ended = firsts[record], 0, 0, False, False
        for place, byte in enumerate(packed[record]):
            if (ended and byte) or shift > 56:
                return record
            if byte and is_key and shift == 0 and place > last_begin:
                return record
            value |= int(byte & 127) << shift
            shift += 7
            if byte & 128:
                continue
            if byte == 0:
                ended = True
                if shift > 7:
                    return record
            elif is_key:
                key += value
            else:
                keys[state], numbers[state] = key, value
                at[1] += value
                at[2] = place + 1
                state += 1
            is_key = is_key != (byte > 0)
            value = shift = 0
        if not is_key or shift or at[1] < 0:
            return record
        ends[record + 1] = state
    return len(layers)


class _Comparison:
    """The comparison of a table's layers with those of the walker, in order."""

    def __init__(self, parts: Iterator[_Part], check: ClaimCheck) -> None:
        self._parts, self._check = parts, check
        self._part = next(parts, None)
        self.records = list[range]()
        """The records of each layer."""

    def require_layer(self, expected: CountedLayer) -> None:
        """Refute the claim unless the next layer has these states and numbers."""
        first = self.records[-1].stop if self.records else 0
        done, last = 0, first
        while self._part and self._part.layer == len(self.records):
            found = self._part.states
            self._require_same(found, CountedLayer(*(a[done:][: len(found[0])] for a in expected)))
            done, last = done + len(found.keys), self._part.records.stop
            self._check.report_progress(last)
            self._part = next(self._parts, None)
        rest = CountedLayer(*(values[done:] for values in expected))
        self._require_same(CountedLayer(*(values[:0] for values in rest)), rest)
        self.records.append(range(first, last))

    def _require_same(self, found: CountedLayer, expected: CountedLayer) -> None:
        if all(map(np.array_equal, found, expected)):
            return
        shorter = min(len(found.keys), len(expected.keys))
        differ = np.zeros(1 + shorter, dtype=np.bool_)
        for one, other in zip(found, expected, strict=True):
            differ[:-1] |= one[:shorter] != other[:shorter]
        at = np.argmax(np.append(differ[:-1], True))
        states = [
            dict(zip(keys[at : at + 1].tolist(), numbers[at : at + 1].tolist(), strict=True))
            for keys, numbers in (found, expected)
        ]
        key = min(chain(*states))
        what = f"ways to the state {key:#x} of layer {len(self.records)}:"
        self._check.require_equal(what, *(each.get(key, 0) for each in states))

    def require_end(self) -> None:
        """Refute the claim if there are more layers."""
        if self._part:
            self._check.refute(f"layer {self._part.layer}", f"{len(self.records)} layers")


# ---- ranks ------------------------------------------------------------------------------------


class _Route(NamedTuple):
    """The layers that tours pass: after each number of squares, and at the cut."""

    layers: list[int]
    cut: int


def _list_routes(half: HalfBoard) -> dict[int | None, _Route]:
    routes, begin = dict[int | None, _Route](), half.longer + 1
    for turn in half.turns:
        shared = half.longer if turn is None else min(turn, half.longer)
        cut = begin + half.longer - shared
        routes[turn] = _Route([*range(shared + 1), *range(begin, cut)], cut)
        begin = cut + 1
    return routes


class _Walk:
    """A partial tour on its way back to the empty board, and the edges on the way."""

    def __init__(self, key: int, number: int, layers: list[int], turn: int | None) -> None:
        self.key, self.number, self.layers, self.turn = key, number, [*layers], turn
        self.edges = list[Edge]()

    def step_back(self, half: HalfBoard, layer: CountedLayer) -> None:
        """Go to the state in the layer before."""
        self.layers.pop()
        square = len(self.layers) - 1
        for key, joined in _iter_steps_back(half, self.key, square, starts=square == self.turn):
            ways = _find_number(layer, key)
            if self.number < ways:
                self.key = key
                self.edges += [(square, _find_square(half, cell, square)) for cell in joined]
                return
            self.number -= ways


def _find_number(layer: CountedLayer, key: int) -> int:
    """Return the number of a state, 0 if it is missing."""
    at = int(np.searchsorted(layer.keys, key))
    return int(layer.numbers[at]) if at < len(layer.keys) and layer.keys[at] == key else 0


def _find_square(half: HalfBoard, cell: int, square: int) -> int:
    """Return the square of a cell before the step of `square`; the virtual one follows all."""
    return half.board.squares if cell < half.here else square + cell - half.here


def _iter_steps_back(
    half: HalfBoard, key: int, square: int, *, starts: bool
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield each state from which the step of a square may lead to a key, with the joined cells.

    They come in the order of the format; some are in no layer.
    """
    mate = np.empty(MAX_CELLS, dtype=np.int64)
    packed, here = decode_state(key, mate), half.here
    needs = [packed >> 2 * cell & 3 for cell in range(half.cells)]
    needs.insert(here, 0)
    place = [cell + (cell >= here) for cell in range(half.cells)]
    pairs = sorted(
        (place[cell], place[mate[cell]]) for cell in range(half.cells) if mate[cell] > cell
    )
    others = half.list_others(square)
    for joined in chain([()], *(combinations(others, size) for size in (1, 2))):
        before = [need + (cell in joined) for cell, need in enumerate(needs)]
        before[here] = len(joined)
        if max(before) > FREE or before.pop() != FREE or (starts and 0 not in joined):
            continue
        total = sum(need << 2 * cell for cell, need in enumerate(before))
        one, other = [here, here, *joined][-2:]
        for low, high in pairs if joined else [(one, one)]:
            # the path that the step made is cut in two; an end of it now had no edge before
            for near, far in ((low, high), (high, low))[: len(joined) + 1]:
                was_free = near == one, far == other
                if joined and was_free != (needs[one] == 1, needs[other] == 1):
                    continue
                partner = np.arange(MAX_CELLS)
                for a, b in [*pairs, *[(near, one), (far, other)] * bool(joined)]:
                    partner[a], partner[b] = b, a
                yield total << MATCHING_BITS | make_matching_code(total, partner), joined


def _iter_completions(
    needs: int, mate: Array, edges: Sequence[Edge]
) -> Iterator[tuple[list[Edge], int, Array]]:
    """Yield each set of these edges that a state can get, in order, with the state after them."""
    yield [], needs, mate
    for place, edge in enumerate(edges):
        after = mate.copy()
        left = join(needs, after, *edge)
        if left >= 0:
            for chosen, needed, partner in _iter_completions(left, after, edges[place + 1 :]):
                yield [edge, *chosen], needed, partner


@compiled
def _find_other_half(
    keys: Array, numbers: Array, mate: Array, facing: Array, ends: Array, rest: int
) -> tuple[int, int]:
    """Return the state of the other half that a number falls in, and what is left of the number.

    -1 if it falls in none of those whose paths and these form one cycle.
    """
    other = np.empty(MAX_CELLS, dtype=np.int64)
    for row in range(len(keys)):
        decode_state(keys[row], other)
        here, seen = ends[0], 0
        while seen == 0 or here != ends[0]:
            here, seen = facing[other[facing[mate[here]]]], seen + 2
        if seen == len(ends):
            if rest < numbers[row]:
                return row, rest
            rest -= numbers[row]
    return -1, rest


def _meet_halves(
    half: HalfBoard, key: int, rest: int, turn: int | None, other: CountedLayer
) -> tuple[int, int, list[Edge]]:
    """Return the state of the other half that completion number `rest` of a state has, its number
    there, and the edges of the cut. No state has key 0."""
    edges, begin = half.between, list[Edge]()
    mate = np.empty(MAX_CELLS, dtype=np.int64)
    needs = decode_state(key, mate)
    if turn is not None and turn >= half.longer:
        start = 0, half.here + turn - half.longer
        needs, begin = join(needs, mate, *start), [start]
        edges = [edge for edge in edges if edge != start]
    cut = range(half.cells - 1)
    for chosen, left, after in _iter_completions(needs, mate, edges):
        left_by_cell = [left >> 2 * cell & 3 for cell in cut]
        ends = np.array([cell for cell in cut if left_by_cell[cell] == 1])
        wanted = sum((FREE - left_by_cell[cell]) << 2 * int(half.facing[cell]) for cell in cut)
        lowest = (wanted | FREE << 2 * len(cut)) << MATCHING_BITS
        span = slice(*np.searchsorted(other.keys, [lowest, lowest + (1 << MATCHING_BITS)]))
        keys, numbers = other.keys[span], other.numbers[span]
        row, rest = _find_other_half(keys, numbers, after, half.facing, ends, rest)
        if row >= 0:
            return int(keys[row]), rest, [*begin, *chosen]
    return 0, 0, begin


class _TableLayers:
    """The layers of a table, each read when it is needed."""

    def __init__(self, published: PublishedTable, records: list[range], check: ClaimCheck) -> None:
        self._records, self._check = records, check
        self._record_type = make_record_type(published.definition)
        self._file = published.store.open_random_access(published.index.file)

    def read(self, layer: int) -> CountedLayer:
        """Return a layer."""
        span, width = self._records[layer], self._record_type.itemsize
        per_block = BODY_BYTES // width
        begin, end = span.start // per_block, -(-span.stop // per_block)
        data = self._file.read(BLOCK_BYTES * (end - begin), BLOCK_BYTES * (1 + begin))
        blocks = np.frombuffer(data, np.uint8).reshape(-1, BLOCK_BYTES)
        used = np.ascontiguousarray(blocks[:, : per_block * width]).view(self._record_type).ravel()
        records = used[span.start - begin * per_block :][: len(span)]
        return _decode(records, np.array([-1, 0]), self._check, span.start)[0]


def try_ranks(
    published: PublishedTable,
    half: HalfBoard,
    totals: Mapping[int | None, int],
    records: list[range],
    limits: RankingLimits = LIMITS,
) -> int:
    """Follow all ranks, or a sample of them, to their tours, and return how many.

    `totals`: the number of ranks of each of `half.turns`; `records`: those of each layer.
    """
    ends, turns = [*accumulate(totals.values())], [*totals]
    chosen: Sequence[int] = range(ends[-1])
    if not (is_complete := ends[-1] <= limits.tours):
        generator = random.Random(published.name)  # noqa: S311  # not a secret
        chosen = sorted(generator.randrange(ends[-1]) for _ in range(limits.sample))
    kind, scope = ("tour", " of a start") if half.is_open else ("closed tour", "")
    which = f"each rank{scope} is another" if is_complete else f"{len(chosen)} ranks are each a"
    text = f"{which} {kind}: it visits each square once, by knight's jumps"
    with published.begin_claim(text, len(chosen), "tours") as check:
        layers, tours = _TableLayers(published, records, check), set[tuple[int, ...]]()
        for turn, places in groupby(chosen, lambda place: turns[bisect_right(ends, place)]):
            before = ends[turns.index(turn)] - totals[turn]
            numbers = [place - before for place in places]
            for number, tour in zip(numbers, _follow(half, layers, turn, numbers), strict=True):
                if not half.board.is_tour(tour) or not (
                    half.is_open or half.board.is_jump(tour[-1], tour[0])
                ):
                    check.refute(tour, f"a {kind}", number)
                tours.add(tuple(tour))
            check.report_progress(len(tours))
        if is_complete:
            check.require_equal(f"different {kind}s:", len(tours), len(chosen))
    return len(chosen)


def _follow(
    half: HalfBoard, layers: _TableLayers, turn: int | None, numbers: list[int]
) -> list[list[int]]:
    """Return the squares of the tours of some numbers, among those from `turn`.

    They are no tour where the layers have none of that number.
    """
    route = _list_routes(half)[turn]
    needed = route.cut, route.layers[-1], half.shorter
    # the halves of a board of even length have the same last layer
    read = {layer: layers.read(layer) for layer in {*needed}}
    cut, last, other = (read[layer] for layer in needed)
    sums, walks, edges = np.cumsum(cut.numbers), list[_Walk](), list[list[Edge]]()
    for number in numbers:
        at = int(np.searchsorted(sums, number, side="right"))
        key, passing = int(cut.keys[at]), int(cut.numbers[at])
        ways = max(1, _find_number(last, key))
        near, completion = divmod(number - int(sums[at]) + passing, passing // ways)
        far_key, far, crossing = _meet_halves(half, key, completion, turn, other)
        walks.append(_Walk(key, near, route.layers, turn))
        walks.append(_Walk(far_key, far, [*range(half.shorter + 1)], None))
        edges.append(
            [
                (_find_square(half, one, half.longer), _find_square(half, two, half.longer))
                for one, two in crossing
            ]
        )
    del read, cut, last, other, sums
    while waiting := [each for each in walks if len(each.layers) > 1]:
        before = max(each.layers[-2] for each in waiting)
        layer = layers.read(before)
        for each in waiting:
            if each.layers[-2] == before:
                each.step_back(half, layer)
    height, count = half.board.files, half.board.squares
    flip = [count - height - at + 2 * (at % height) for at in range(count)] + [count]
    for near_walk, far_walk, crossing in zip(walks[::2], walks[1::2], edges, strict=True):
        crossing += [*near_walk.edges, *((flip[one], flip[two]) for one, two in far_walk.edges)]
    begin = [0] if turn is None else [count, turn]
    return [_order_squares(tour, begin) for tour in edges]


def _order_squares(edges: list[Edge], tour: list[int]) -> list[int]:
    """Return the squares of a tour in their order, given its edges and how it begins.

    The virtual square is left out.
    """
    beside = defaultdict[int, list[int]](list)
    for one, other in edges:
        beside[one].append(other)
        beside[other].append(one)
    begin = len(tour) - 1
    while options := [square for square in beside[tour[-1]] if square not in tour]:
        tour = [*tour, min(options)]
    return tour[begin:]
