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
from pipeline.verify.knight.references import find_known_closed, find_known_total
from pipeline.verify.manifest_checks import ListedTable, iter_records
from pipeline.verify.verdicts import Grade, Outcome, Seen
from tablebase.frontier.layer_reader import InconsistentLayers, LayerReader
from tablebase.frontier.state import FREE, State, step_forward
from tablebase.jit import compiled
from tablebase.puzzles.knight.definition import COUNTS_TABLE, RANKING_FIELDS, ClosedTourRanking
from tablebase.puzzles.knight.tour_ranker import NO_SQUARE, Sweep, TourRanker
from tablebase.tables.content_hash import ContentHash
from tablebase.tables.index_format import BLOCK_BYTES, BODY_BYTES
from tablebase.tables.parquet import to_arrow

MAX_PROVED_STATES = 1 << 15
"""States of a table whose layers are all proved from the rules."""
MAX_PROVED_TOURS = 10_000
"""Tours of a board whose numbers are all tried."""
SAMPLED_TOURS = 200
"""How many numbers are tried of others."""


def prove_ranks(listed: ListedTable, earlier: Seen) -> Outcome:
    """Prove the numbers of a board's tours, given what the table of counts was seen to say.

    Where all numbers are tried, each is another tour; with as many as were counted, none lacks.
    """
    recipe = listed.definition.recipe
    assert isinstance(recipe, ClosedTourRanking)
    board, paths, states = recipe.board, recipe.is_open, _prove_records(listed)
    layers = LayerReader(_open_records(listed), listed.index.records)
    ranker = TourRanker(board, layers, paths=paths)
    if summed := states <= MAX_PROVED_STATES:
        _prove_layers(listed, ranker.sweep, layers)
    totals = [ranker.count_tours(start) for start in range(board.squares if paths else 1)]
    known = find_known_total(board) if paths else find_known_closed(board)
    counts = earlier.get(COUNTS_TABLE, Outcome((), {}))
    counted = counts.result.get(str(board), {}).get("tours" if paths else "closed")
    kind, each = ("tours", 1) if paths else ("closed tours", 2)
    if known:
        text = f"there are as many {kind} as known ({known[1]})"
        with listed.begin_claim(text, sum(totals), index=True) as check:
            check.require_equal(kind, sum(totals), known[0] // each)
    if counted:
        text = f"there are as many {kind}{' from each square' * paths} as known ({COUNTS_TABLE})"
        with listed.begin_claim(text, sum(totals), index=True) as check:
            for start, (total, expected) in enumerate(zip(totals, counted, strict=False)):
                what = f"{kind} from {board.name_square(start)}:" if paths else kind
                check.require_equal(what, total, expected // each)
    tried = _prove_numbers(listed, ranker, totals)
    listed.note_missing_proofs((), [name for name, _ in RANKING_FIELDS])
    again = bool(counted) and counts.shows(str(board), least=Grade.RECOUNTED)
    evidence = _Evidence(summed, tried, sum(totals), known[1] if known else "", again)
    return listed.make_outcome(evidence.grade(), evidence.how(kind))


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
        sources += [f"as {COUNTS_TABLE}, which was recounted"] * self.recounted
        totals = f"{kind} are as many {' and '.join(sources)}"
        if not sources:
            totals = f"the number of {kind} was compared with no other count"
        whole = self.tried == self.total
        numbers = f"all {self.total:,}" if whole else f"{self.tried:,} of {self.total:,}"
        return f"{layers}; {totals}; {numbers} numbers were tried, which tests the lookup"


def _prove_records(listed: ListedTable) -> int:
    """Read every record; returns how many states they have."""
    fields, states = listed.definition.list_fields(), 0
    at, content = np.zeros(3, dtype=np.int64), ContentHash(fields)
    text = "layer after layer, the keys ascend, and each sum is that of the numbers before it"
    with listed.begin_claim(text, index=True) as check:
        for begin, records_found in iter_records(listed):
            packed = np.ascontiguousarray(records_found["states"])
            # signed, or compiled code compares them as floating point numbers
            layer, key, sums = (
                records_found[name].astype(np.int64) for name, _ in listed.definition.index[:3]
            )
            record, state_count = _find_first_wrong(layer, key, sums, packed, at)
            if record < len(records_found):
                check.refute(
                    f"layer {records_found['layer'][record]}", "one in order", begin + record
                )
            states += state_count
            values = layer, key, sums, packed.view(f"S{packed.shape[1]}").ravel()
            arrays = map(to_arrow, fields, values)
            content.update(pa.record_batch([*arrays], [field.name for field in fields]))
            check.report_progress(begin + len(records_found))
        check.require_equal("content hash", content.hexdigest(), listed.entry.content)
    return states


@compiled
def _find_first_wrong(
    layers: Array, keys: Array, sums: Array, states: Array, at: Array
) -> tuple[int, int]:
    """The first record that is not in order, or how many there are; and the states before it.

    `at`: the layer, the key and the sum where the records before these end.
    """
    states_read = 0
    for record in range(len(layers)):
        layer, key, total = layers[record], keys[record], sums[record]
        follows = layer == at[0] and key > at[1] and total == at[2]
        begins = layer > at[0] and total == 0  # there are layers without a state
        if not follows and not begins:
            return record, states_read
        value, shift, numbers_read = 0, 0, 0
        ended = False
        for byte in states[record]:
            if ended and byte:
                return record, states_read
            value |= int(byte & 127) << shift
            shift += 7
            if byte & 128 == 0:
                ended = byte == 0
                if numbers_read % 2 and not ended:
                    key += value
                elif not ended:
                    total += value
                if total < 0 or key < 0:
                    return record, states_read
                numbers_read += not ended
                value = shift = 0
        if numbers_read % 2 == 0 or shift:
            return record, states_read
        states_read += (numbers_read + 1) // 2
        at[0], at[1], at[2] = layer, key, total
    return len(layers), states_read


def _open_records(listed: ListedTable) -> Callable[[int], tuple[int, int, int, bytes]]:
    """How a record is read, whose blocks are proved to be whole."""
    form = struct.Struct(listed.definition.record_format)
    file = listed.store.open_random_access(listed.index.file)

    @lru_cache(1 << 12)
    def block(number: int) -> bytes:
        return file.read(BLOCK_BYTES, BLOCK_BYTES * (1 + number))

    def record(number: int) -> tuple[int, int, int, bytes]:
        at, place = divmod(number, BODY_BYTES // form.size)
        layer, key, total, states = form.unpack_from(block(at), place * form.size)
        return layer, key, total, states

    return record


def _prove_layers(listed: ListedTable, sweep: Sweep, layers: LayerReader) -> None:
    """Each layer has the states that follow those of the layer before it, each with its number."""
    cells, every = sweep.cells, 1 << 63
    text = "each state's number is the sum of those that a step led from, and no state is missing"
    text += " whose colours need as much" * sweep.paths
    with listed.begin_claim(text, index=True) as check:

        def require(layer: int, ways: dict[int, int]) -> None:
            numbers_by_key = {key: number for key, _, number in layers.iter_states(layer, 0, every)}
            for key in sorted({*numbers_by_key, *ways}):
                what = f"ways to the state {key:#x} of layer {layer}:"
                check.require_equal(what, numbers_by_key.get(key, 0), ways.get(key, 0))

        require(0, {State([FREE] * cells, {}).key: 1})
        for then, layer, square, start in _iter_steps(sweep):
            ways = {key: number for key, _, number in layers.iter_states(then, 0, every)}
            others = sweep.steps[square]
            steps = [*chain.from_iterable(combinations(others, size) for size in range(3))]
            begun = [laid for laid in steps if square != start or 0 in laid]
            follow = {step_forward(key, laid, cells, sweep.here) for key in ways for laid in begun}
            require(
                layer,
                {
                    key: sum(ways.get(then, 0) for then, _ in sweep.step_back(key, square, start))
                    for key in follow
                    if key is not None and _is_completable(key, sweep, square + 1)
                },
            )


def _is_completable(key: int, sweep: Sweep, squares: int) -> bool:
    """Whether a state after so many squares needs as much of one colour as of the other, if no edge
    to the virtual square is left: all others join two colours."""
    needs, board = State.from_key(key, sweep.cells).needs, sweep.upright
    if not sweep.paths or needs[0]:
        return True
    reached = {sweep.find_square(cell, squares): need for cell, need in enumerate(needs)}
    left = {square: reached.get(square, FREE) for square in range(squares, board.squares)}
    light = sum(need for square, need in left.items() if board.is_light(square))
    return 2 * light == sum(left.values())


def _iter_steps(sweep: Sweep) -> Iterator[tuple[int, int, int, int]]:
    """Every step: from which layer to which, the square that it finishes, and whose tours start."""
    for square in range(sweep.longer):
        yield square, square + 1, square, NO_SQUARE
    for route in sweep.routes:
        for square in sweep.list_own_squares(route.start):
            yield route.layers[square], route.layers[square + 1], square, route.start


def _prove_numbers(listed: ListedTable, ranker: TourRanker, totals: list[int]) -> int:
    """Numbers and tours are one to one: all of them, or some. Returns how many were tried."""
    board, closed, every = ranker.sweep.board, not ranker.sweep.paths, sum(totals)
    chosen: Iterable[int] = range(every)
    if is_complete := every <= MAX_PROVED_TOURS:
        many = every
    else:
        draw = random.Random(str(board))  # noqa: S311  # nothing is kept secret
        chosen, many = [draw.randrange(every) for _ in range(SAMPLED_TOURS)], SAMPLED_TOURS
    kind, of = ("closed tour", "") if closed else ("tour", " of a start")
    which = (
        f"each number{of} is another {kind}"
        if is_complete
        else f"{SAMPLED_TOURS} numbers are {kind}s"
    )
    by_rule = "it visits each square once, by knight's jumps"
    text = f"{which}: {by_rule}; ranking the tour returns its number"
    ends, seen = [*accumulate(totals)], set[tuple[int, ...]]()
    with listed.begin_claim(text, many, index=True) as check:
        for done, place in enumerate(chosen):
            start = bisect_right(ends, place)
            number = place - (ends[start] - totals[start])
            try:
                squares = ranker.unrank(number, start)
                rank = ranker.rank(squares)
            except InconsistentLayers as error:
                check.refute(str(error), f"a {kind}", number)
            if {*squares} != {*range(board.squares)} or len(squares) != board.squares:
                check.refute(squares, "every square once", number)
            for one, two in pairwise(squares + squares[:1] * closed):
                if two not in board.list_neighbours(one):
                    check.refute(
                        f"{board.name_square(one)} to {board.name_square(two)}", "a jump", number
                    )
            check.require_equal(f"number of the tour of {number:,}:", rank, number)
            if is_complete and tuple(squares) in seen:
                check.refute("a tour of a lower number", "another one", number)
            seen.add(tuple(squares))
            check.report_progress(done)
    return many
