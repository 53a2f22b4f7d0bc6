"""The table of a board's tours by number: its records, its layers, and its numbers.

The steps between layers, and the way from numbers to tours, are those that lookups take
(`numbered_tours`, `layers`): their faults are found only where a tour or a total shows them.
"""

from __future__ import annotations

import random
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, chain, combinations, pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pipeline.verify.claims import Array
from pipeline.verify.knight.references import known_closed, known_total
from pipeline.verify.manifest_checks import Listed, records
from pipeline.verify.verdicts import Grade, Outcome, Seen
from tablebase.frontier.layer_reader import Contradiction, Layers
from tablebase.frontier.state import FREE, State, after
from tablebase.jit import compiled
from tablebase.puzzles.knight.definition import COUNTS, STATES, NumberedCycles
from tablebase.puzzles.knight.tour_ranker import NONE, Numbers, Sweep
from tablebase.tables.content_hash import ContentHash
from tablebase.tables.index_format import BLOCK, BODY
from tablebase.tables.parquet import to_arrow

SMALL = 1 << 15
"""States of a table whose layers are all proved from the rules."""
FEW = 10_000
"""Tours of a board whose numbers are all tried."""
SOME = 200
"""How many numbers are tried of others."""


def prove_numbered(listed: Listed, seen: Seen) -> Outcome:
    """Prove the numbers of a board's tours, given what the table of counts was seen to say.

    Where all numbers are tried, each is another tour; with as many as were counted, none lacks.
    """
    recipe = listed.known.recipe
    assert isinstance(recipe, NumberedCycles)
    board, paths, states = recipe.board, recipe.paths, _prove_records(listed)
    layers = Layers(_record_of(listed), listed.index.records)
    numbers = Numbers(board, layers, paths=paths)
    if summed := states <= SMALL:
        _prove_layers(listed, numbers.sweep, layers)
    totals = [numbers.total(start) for start in range(board.squares if paths else 1)]
    known = known_total(board) if paths else known_closed(board)
    counts = seen.get(COUNTS, Outcome((), {}))
    counted = counts.result.get(str(board), {}).get("tours" if paths else "closed")
    kind, each = ("tours", 1) if paths else ("closed tours", 2)
    if known:
        text = f"there are as many {kind} as known ({known[1]})"
        with listed.claim(text, sum(totals), index=True) as fact:
            fact.same(kind, sum(totals), known[0] // each)
    if counted:
        text = f"there are as many {kind}{' from each square' * paths} as known ({COUNTS})"
        with listed.claim(text, sum(totals), index=True) as fact:
            for start, (total, expected) in enumerate(zip(totals, counted, strict=False)):
                what = f"{kind} from {board.name(start)}:" if paths else kind
                fact.same(what, total, expected // each)
    tried = _prove_numbers(listed, numbers, totals)
    listed.name_unproved((), [name for name, _ in STATES])
    again = bool(counted) and counts.shows(str(board), least=Grade.RECOUNTED)
    evidence = _Evidence(summed, tried, sum(totals), known[1] if known else "", again)
    return listed.outcome(evidence.grade(), evidence.how(kind))


class _Evidence(NamedTuple):
    """What was done to the table of a board's tours by number."""

    summed: bool
    """Whether the numbers of all layers were summed again."""
    tried: int
    total: int
    published: str
    """Who published the total, or nothing."""
    recounted: bool
    """Whether the total was counted by another method too."""

    def grade(self) -> Grade:
        """Return the verdict on layers and sums. What lies at the cut of the board is no sum of
        the layer before it: only all numbers, and as many as there are tours, show that."""
        known = self.published or self.recounted
        if self.summed and self.tried == self.total and known:
            return Grade.RECOUNTED
        return Grade.PUBLISHED if self.published else Grade.SAMPLED

    def how(self, kind: str) -> str:
        layers = (
            "each layer was summed again from the layer before it, by the steps that lookups take"
            if self.summed
            else "the layers were not summed again"
        )
        sources = [f"as published ({self.published})"] * bool(self.published)
        sources += [f"as {COUNTS}, which was recounted"] * self.recounted
        totals = f"{kind} are as many {' and '.join(sources)}"
        if not sources:
            totals = f"the number of {kind} was compared with no other count"
        whole = self.tried == self.total
        numbers = f"all {self.total:,}" if whole else f"{self.tried:,} of {self.total:,}"
        return f"{layers}; {totals}; {numbers} numbers were tried, which tests the lookup"


def _prove_records(listed: Listed) -> int:
    """Read every record; returns how many states they have."""
    fields, states = listed.known.fields(), 0
    at, content = np.zeros(3, dtype=np.int64), ContentHash(fields)
    text = "layer after layer, the keys ascend, and each sum is that of the numbers before it"
    with listed.claim(text, index=True) as fact:
        for begin, found in records(listed):
            packed = np.ascontiguousarray(found["states"])
            # signed, or compiled code compares them as floating point numbers
            layer, key, sums = (found[name].astype(np.int64) for name, _ in listed.known.index[:3])
            record, some = _first_wrong(layer, key, sums, packed, at)
            if record < len(found):
                fact.refuted(f"layer {found['layer'][record]}", "one in order", begin + record)
            states += some
            values = layer, key, sums, packed.view(f"S{packed.shape[1]}").ravel()
            arrays = map(to_arrow, fields, values)
            content.update(pa.record_batch([*arrays], [field.name for field in fields]))
            fact.step(begin + len(found))
        fact.same("content hash", content.hexdigest(), listed.entry.content)
    return states


@compiled
def _first_wrong(
    layers: Array, keys: Array, sums: Array, states: Array, at: Array
) -> tuple[int, int]:
    """The first record that is not in order, or how many there are; and the states before it.

    `at`: the layer, the key and the sum where the records before these end.
    """
    many = 0
    for record in range(len(layers)):
        layer, key, total = layers[record], keys[record], sums[record]
        follows = layer == at[0] and key > at[1] and total == at[2]
        begins = layer > at[0] and total == 0  # there are layers without a state
        if not follows and not begins:
            return record, many
        value, shift, found = 0, 0, 0
        ended = False
        for byte in states[record]:
            if ended and byte:
                return record, many
            value |= int(byte & 127) << shift
            shift += 7
            if byte & 128 == 0:
                ended = byte == 0
                if found % 2 and not ended:
                    key += value
                elif not ended:
                    total += value
                if total < 0 or key < 0:
                    return record, many
                found += not ended
                value = shift = 0
        if found % 2 == 0 or shift:
            return record, many
        many += (found + 1) // 2
        at[0], at[1], at[2] = layer, key, total
    return len(layers), many


def _record_of(listed: Listed) -> Callable[[int], tuple[int, int, int, bytes]]:
    """How a record is read, whose blocks are proved to be whole."""
    form = struct.Struct(listed.known.record)
    file = listed.store.opened(listed.index.file)

    @lru_cache(1 << 12)
    def block(number: int) -> bytes:
        return file.read(BLOCK, BLOCK * (1 + number))

    def record(number: int) -> tuple[int, int, int, bytes]:
        at, place = divmod(number, BODY // form.size)
        layer, key, total, states = form.unpack_from(block(at), place * form.size)
        return layer, key, total, states

    return record


def _prove_layers(listed: Listed, sweep: Sweep, layers: Layers) -> None:
    """Each layer has the states that follow those of the layer before it, each with its number."""
    cells, every = sweep.cells, 1 << 63
    text = "each state's number is the sum of those that a step led from, and no state is missing"
    text += " whose colours need as much" * sweep.paths
    with listed.claim(text, index=True) as fact:

        def require(layer: int, ways: dict[int, int]) -> None:
            found = {key: number for key, _, number in layers.states(layer, 0, every)}
            for key in sorted({*found, *ways}):
                what = f"ways to the state {key:#x} of layer {layer}:"
                fact.same(what, found.get(key, 0), ways.get(key, 0))

        require(0, {State([FREE] * cells, {}).key: 1})
        for then, layer, square, start in _steps(sweep):
            ways = {key: number for key, _, number in layers.states(then, 0, every)}
            others = sweep.steps[square]
            steps = [*chain.from_iterable(combinations(others, size) for size in range(3))]
            begun = [laid for laid in steps if square != start or 0 in laid]
            follow = {after(key, laid, cells, sweep.here) for key in ways for laid in begun}
            require(
                layer,
                {
                    key: sum(ways.get(then, 0) for then, _ in sweep.before(key, square, start))
                    for key in follow
                    if key is not None and _can_be_finished(key, sweep, square + 1)
                },
            )


def _can_be_finished(key: int, sweep: Sweep, squares: int) -> bool:
    """Whether a state after so many squares needs as much of one colour as of the other, if no edge
    to the virtual square is left: all others join two colours."""
    needs, board = State.of(key, sweep.cells).needs, sweep.upright
    if not sweep.paths or needs[0]:
        return True
    reached = {sweep.square(cell, squares): need for cell, need in enumerate(needs)}
    left = {square: reached.get(square, FREE) for square in range(squares, board.squares)}
    light = sum(need for square, need in left.items() if board.light(square))
    return 2 * light == sum(left.values())


def _steps(sweep: Sweep) -> Iterator[tuple[int, int, int, int]]:
    """Every step: from which layer to which, the square that it finishes, and whose tours start."""
    for square in range(sweep.longer):
        yield square, square + 1, square, NONE
    for route in sweep.routes:
        for square in sweep.own(route.start):
            yield route.layers[square], route.layers[square + 1], square, route.start


def _prove_numbers(listed: Listed, numbers: Numbers, totals: list[int]) -> int:
    """Numbers and tours are one to one: all of them, or some. Returns how many were tried."""
    board, closed, every = numbers.sweep.board, not numbers.sweep.paths, sum(totals)
    chosen: Iterable[int] = range(every)
    if whole := every <= FEW:
        many = every
    else:
        draw = random.Random(str(board))  # noqa: S311  # nothing is kept secret
        chosen, many = [draw.randrange(every) for _ in range(SOME)], SOME
    kind, of = ("closed tour", "") if closed else ("tour", " of a start")
    which = f"each number{of} is another {kind}" if whole else f"{SOME} numbers are {kind}s"
    text = f"{which}: it visits each square once, by knight's jumps; the tour gives its number back"
    ends, seen = [*accumulate(totals)], set[tuple[int, ...]]()
    with listed.claim(text, many, index=True) as fact:
        for done, place in enumerate(chosen):
            start = bisect_right(ends, place)
            number = place - (ends[start] - totals[start])
            try:
                squares = numbers.squares(number, start)
                back = numbers.number(squares)
            except Contradiction as error:
                fact.refuted(str(error), f"a {kind}", number)
            if {*squares} != {*range(board.squares)} or len(squares) != board.squares:
                fact.refuted(squares, "every square once", number)
            for one, two in pairwise(squares + squares[:1] * closed):
                if two not in board.neighbours(one):
                    fact.refuted(f"{board.name(one)} to {board.name(two)}", "a jump", number)
            fact.same(f"number of the tour of {number:,}:", back, number)
            if whole and tuple(squares) in seen:
                fact.refuted("a tour of a lower number", "another one", number)
            seen.add(tuple(squares))
            fact.step(done)
    return many
