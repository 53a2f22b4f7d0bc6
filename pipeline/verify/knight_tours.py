"""The proofs of tables that list knight's tours, and of those that rank them.

The proofs of tables that list knight's tours: every path is followed square by square.

The proof of the table that ranks a board's tours: its records, its layers and its ranks.

The steps between layers, and the code that unranks tours, are those of lookups (`tour_ranker`,
`frontier.layers`). A fault in them is found only if it shows in a tour or a total.
"""

from __future__ import annotations

import random
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import accumulate, chain, combinations, pairwise, permutations
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from pipeline.verify.claims import Array, ClaimCheck, Proof, PublishedTable, Rows, Seen, Verdict
from pipeline.verify.files import check_records, decode_rows, iter_records, view_field
from pipeline.verify.knight_counts import (
    COUNTED_AGAIN,
    FIVE_SQUARES,
    find_known_closed,
    find_known_total,
    list_jumps,
    recount_tours,
)
from tablebase.frontier.layers import FREE, InconsistentLayers, LayerReader, State, step_forward
from tablebase.jit import compiled
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.tables import (
    CLOSED_COUNTS_PREFIX,
    COUNTS_PREFIX,
    COUNTS_TABLE,
    RANKING_FIELDS,
    AllTours,
    TourPerPair,
    TourRanking,
)
from tablebase.puzzles.knight.tour_ranker import NO_SQUARE, Sweep, TourRanker
from tablebase.tables.index_format import BLOCK_BYTES, BODY_BYTES

HOW = (
    "every path was walked, none appears twice, and a second count, path by path, finds as many "
    "from every square"
)
HOW_OF_PAIRS = (
    "every path was walked, and there is one for every pair of squares whose colours allow it; "
    "which of a pair's tours is listed follows from no rule"
)
COLUMNS = ("board", "start", "finish", "number", "closed", "path")
UNKNOWN_SQUARE = 255


def prove_every_tour(published: PublishedTable, earlier: Seen) -> Proof:
    """Prove a table of all tours: in order, none twice, and none missing.

    The proof's result has the numbers of tours and of closed tours from each square.
    """
    board = _get_board(published)
    pairs, last = np.zeros(board.squares**2, dtype=np.int64), None
    text = "the paths strictly ascend in their square numbers: no tour appears twice"
    for rows, squares, check in _iter_checked_paths(published, text):
        # squares are numbered from 1 here, as numpy drops zeros at the end of such text
        texts = (squares + np.uint8(1)).view(f"S{board.squares}").ravel()
        rows.require_ascending(check, "path", texts, last)
        last = texts[-1]
        ends = squares[:, 0].astype(np.int64) * board.squares + squares[:, -1]
        pairs += np.bincount(ends, minlength=len(pairs))
    between = pairs.reshape(board.squares, board.squares)
    text = "equally many tours lead from a square to another and back, and between mirrored squares"
    with published.begin_claim(text) as check:
        symmetries = np.array([board.find_images(square) for square in range(board.squares)]).T
        mirrored = (("mirrored", between[np.ix_(image, image)]) for image in symmetries)
        images = [("back", between.T), *mirrored]
        for how, image in images:
            for start, end in np.argwhere(between != image)[:1]:
                pair = f"{board.name_square(start)} to {board.name_square(end)}"
                check.refute(
                    f"{between[start, end]:,} from {pair}", f"{image[start, end]:,}, as {how}"
                )
    closing = list_jumps(board)[:, None] >> np.arange(board.squares) & 1
    counts = {"tours": between.sum(axis=1), "closed": (between * closing).sum(axis=1)}
    _prove_counts(published, board, counts)
    published.note_missing_proofs(COLUMNS)
    return published.make_proof(Verdict.PROVED, HOW, counts)


def _prove_counts(
    published: PublishedTable, board: KnightBoard, counts: Mapping[str, Array]
) -> None:
    """Prove that no tour is missing, and compare the counts with published ones.

    The tours are already known to be different, so equal counts show that none is missing.
    """

    def prove(text: str, known: Callable[[], Mapping[str, ArrayLike]]) -> None:
        with published.begin_claim(text) as check:
            for what, expected in known().items():
                actual, wanted = counts[what], np.broadcast_to(expected, board.squares)
                for square in range(board.squares):
                    check.require_equal(
                        f"{what} from {board.name_square(square)}:", actual[square], wanted[square]
                    )

    prove(f"no tour is missing: from every square {COUNTED_AGAIN}", lambda: recount_tours(board))
    if total := find_known_total(board):
        with published.begin_claim(
            f"{board} has {total[0]:,} directed tours ({total[1]})"
        ) as check:
            check.require_equal("tours", int(counts["tours"].sum()), total[0])
    if closed := find_known_closed(board):
        text = f"{closed[0]:,} directed closed tours of {board} start at every square ({closed[1]})"
        prove(text, lambda: {"closed": closed[0]})
    if (board.files, board.ranks) == (5, 5):
        text = "the numbers of tours from each square match published numbers"
        known = [*FIVE_SQUARES, *FIVE_SQUARES[-2::-1]]
        prove(f"{text} (OEIS A165134, example)", lambda: {"tours": known})


def prove_pairs(published: PublishedTable, earlier: Seen) -> Proof:
    """Prove a table of one tour for every ordered pair of squares, and its index."""
    board, paths = _get_board(published), []
    ends = [pair for pair in permutations(range(board.squares), 2) if board.can_join(*pair)]
    pairs = [f"{board.name_square(start)} to {board.name_square(end)}" for start, end in ends]
    text = "there is one tour for every ordered pair of squares whose colours allow it, in order"
    for rows, squares, check in _iter_checked_paths(published, text):
        check.require_equal("rows", published.entry.rows, len(pairs))
        actual = [
            f"{board.name_square(path[0])} to {board.name_square(path[-1])}" for path in squares
        ]
        rows.require_column(check, "from", pairs[rows.begin :][: len(rows)], found=actual)
        paths.append(squares)
    text = "each record holds the squares of its row's path"
    check_records(published, text, {"squares": np.concatenate(paths)})
    published.note_missing_proofs(COLUMNS, ("squares",))
    return published.make_proof(Verdict.PROVED, HOW_OF_PAIRS)


def _get_board(published: PublishedTable) -> KnightBoard:
    recipe = published.definition.recipe
    assert isinstance(recipe, (AllTours, TourPerPair))
    return recipe.board


def _iter_checked_paths(
    published: PublishedTable, order: str
) -> Iterator[tuple[Rows, Array, ClaimCheck]]:
    """Yield the rows in chunks, each with its paths as square numbers and a check of their order.

    Two claims are proved here: that every path is a tour, and that the other columns match it. The
    caller uses the check to prove the third, `order`.
    """
    board = _get_board(published)
    tours = "every path is a tour: it visits each square once, by knight's jumps"
    with (
        published.begin_claim(order) as order_check,
        published.begin_claim(
            "board, start, finish, closed and number match the path"
        ) as column_check,
        published.begin_claim(tours) as tour_check,
    ):
        start, number = -1, 0
        for rows, squares in decode_rows(
            published, partial(_check_paths, tour_check, column_check, board)
        ):
            starts = np.append(start, squares[:, 0])  # numbers ascend by one within a start
            numbers = np.append(number, rows.read_numbers("number"))
            expected = np.where(starts[1:] == starts[:-1], numbers[:-1] + 1, 0)
            rows.require_column(column_check, "number", expected)
            yield rows, squares, order_check
            start, number = starts[-1], numbers[-1]
            tour_check.report_progress(rows.begin + len(rows))


def _check_paths(
    tour_check: ClaimCheck, column_check: ClaimCheck, board: KnightBoard, rows: Rows
) -> Array:
    """Follow every path and compare the other columns with it; return its squares as numbers.

    The returned array has a row for each path.
    """
    count, path = board.squares, rows.column("path")
    square_of_name = np.full(1 << 16, UNKNOWN_SQUARE, dtype=np.uint8)
    square_of_name[np.frombuffer("".join(board.name_squares()).encode(), "<u2")] = np.arange(count)
    # a name of no square has no bit, so a path with one never visits all squares
    bits, near = np.zeros((2, UNKNOWN_SQUARE + 1), dtype=np.int64)
    bits[:count], near[:count] = 1 << np.arange(count), list_jumps(board)
    squares: Array = square_of_name[rows.read_cells(tour_check, "path", 2 * count).view("<u2")]
    visited, has_illegal_jump = (
        np.zeros(len(rows), dtype=np.int64),
        np.zeros(len(rows), dtype=np.bool_),
    )
    reach = bits.sum()
    for here in squares.T:
        bit = bits[here]
        visited |= bit
        has_illegal_jump |= reach & bit == 0
        reach = near[here]
    wrong = (visited != bits.sum()) | has_illegal_jump
    rows.require_none(tour_check, wrong, lambda row: (path[row], "a tour"))
    start, end = squares[:, 0], squares[:, -1]
    rows.require_column(column_check, "board", pa.repeat(str(board), len(rows)))
    for name, square in (("start", start), ("finish", end)):
        rows.require_column(
            column_check, name, pa.DictionaryArray.from_arrays(square, list(board.name_squares()))
        )
    rows.require_column(column_check, "closed", near[start] >> end & 1 == 1)
    return squares


class RankingLimits(NamedTuple):
    """The sizes of tables up to which everything is proved."""

    states: int = 1 << 15
    """The number of states up to which all layers of a table are proved from the rules."""
    tours: int = 10_000
    """The number of tours up to which all ranks of a board are tried."""
    sample: int = 200
    """The number of ranks tried on a board with more tours."""


LIMITS = RankingLimits()


def prove_ranks(published: PublishedTable, earlier: Seen, limits: RankingLimits = LIMITS) -> Proof:
    """Prove the ranking of a board's tours, given the proof of the table of counts.

    If all ranks are tried, each is a different tour; if there are as many as were counted, no tour
    is missing.
    """
    recipe = published.definition.recipe
    assert isinstance(recipe, TourRanking)
    board, paths, states = recipe.board, not recipe.closed, _prove_records(published)
    layers = LayerReader(_open_records(published), published.index.records)
    ranker = TourRanker(board, layers, paths=paths)
    if are_layers_summed := states <= limits.states:
        _prove_layers(published, ranker.sweep, layers)
    totals = [ranker.count_tours(start) for start in range(board.squares if paths else 1)]
    known = find_known_total(board) if paths else find_known_closed(board)
    table, counts, counted = _find_counts(earlier, board, "tours" if paths else "closed")
    # the ranking counts a closed tour and its reverse as one
    kind, directions = ("tours", 1) if paths else ("closed tours", 2)
    if known:
        text = f"there are as many {kind} as known ({known[1]})"
        with published.begin_claim(text, sum(totals), "tours", index=True) as check:
            check.require_equal(kind, sum(totals), known[0] // directions)
    if counted:
        text = f"there are as many {kind}{' from each square' * paths} as known ({table})"
        with published.begin_claim(text, sum(totals), "tours", index=True) as check:
            for start, (total, expected) in enumerate(zip(totals, counted, strict=False)):
                what = f"{kind} from {board.name_square(start)}:" if paths else kind
                check.require_equal(what, total, expected // directions)
    tried = _prove_numbers(published, ranker, totals, limits)
    published.note_missing_proofs((), [name for name, _ in RANKING_FIELDS])
    is_recounted = bool(counted) and counts.shows(str(board), least=Verdict.RECOUNTED)
    recounted = table if is_recounted else ""
    source = known[1] if known else ""
    evidence = _Evidence(are_layers_summed, tried, sum(totals), source, recounted)
    return published.make_proof(evidence.decide_verdict(), evidence.describe(kind))


def _find_counts(
    earlier: Seen, board: KnightBoard, column: str
) -> tuple[str, Proof, list[int] | None]:
    """Find the table that counts a board's tours, its proof, and the counts of the squares."""
    for table in (COUNTS_TABLE, f"{COUNTS_PREFIX}{board}", f"{CLOSED_COUNTS_PREFIX}{board}"):
        proof = earlier.get(table, Proof((), {}))
        if counted := proof.result.get(str(board), {}).get(column):
            return table, proof, counted
    return "", Proof((), {}), None


class _Evidence(NamedTuple):
    """The checks that a ranking table passed."""

    are_layers_summed: bool
    """Whether the counts of all layers were summed again."""
    tried: int
    """The number of ranks that were tried."""
    total: int
    """The number of tours."""
    source: str
    """The source of the published total, or an empty text."""
    recounted: str
    """The table whose total was counted by another method too, or an empty text."""

    def decide_verdict(self) -> Verdict:
        """Return the verdict on layers and sums.

        The counts at the cut of the board are not sums of the layer before it. Only trying all
        ranks, and comparing the total with a known number of tours, shows that they are right.
        """
        has_known_total = self.source or self.recounted
        if self.are_layers_summed and self.tried == self.total and has_known_total:
            return Verdict.RECOUNTED
        return Verdict.PUBLISHED if self.source else Verdict.SAMPLED

    def describe(self, kind: str) -> str:
        """Return the text of the verdict; `kind` names the tours."""
        layers = (
            "each layer was summed again from the layer before it, by the steps that lookups take"
            if self.are_layers_summed
            else "the layers were not summed again"
        )
        sources = [f"as published ({self.source})"] * bool(self.source)
        sources += [f"as {self.recounted}, which was recounted"] * bool(self.recounted)
        totals = f"{kind} are as many {' and '.join(sources)}"
        if not sources:
            totals = f"the number of {kind} was compared with no other count"
        is_complete = self.tried == self.total
        numbers = f"all {self.total:,}" if is_complete else f"{self.tried:,} of {self.total:,}"
        return f"{layers}; {totals}; {numbers} ranks were tried, which tests the lookup"


def _prove_records(published: PublishedTable) -> int:
    """Check every record, and return the number of states in all of them."""
    at, states = np.zeros(3, dtype=np.int64), 0
    text = "layer after layer, the keys ascend, and each sum is that of the numbers before it"
    with published.begin_claim(text, index=True) as check:
        for begin, records in iter_records(published, check):
            packed = view_field(records, "states")
            # signed, or compiled code compares them as floating point numbers
            layer, key, sums = (
                records[name].astype(np.int64) for name, _ in published.definition.index[:3]
            )
            record, state_count = _find_first_wrong(layer, key, sums, packed, at)
            if record < len(records):
                check.refute(f"layer {records['layer'][record]}", "one in order", begin + record)
            states += state_count
            check.report_progress(begin + len(records))
    return states


@compiled
def _find_first_wrong(
    layers: Array, keys: Array, sums: Array, states: Array, at: Array
) -> tuple[int, int]:
    """Return the first record that is not in order, and the number of states before it.

    If all are in order, the first value is the number of records. `at` has the layer, the key and
    the sum at the end of the records before these, and is updated.
    """
    states_read = 0
    for record in range(len(layers)):
        layer, key, total = layers[record], keys[record], sums[record]
        follows = layer == at[0] and key > at[1] and total == at[2]
        # a layer may have no states, so layer numbers can be skipped
        begins = layer > at[0] and total == 0
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


def _open_records(published: PublishedTable) -> Callable[[int], tuple[int, int, int, bytes]]:
    """Return a function that reads a record by its number, from blocks that are already checked."""
    form = struct.Struct(published.definition.record_format)
    file = published.store.open_random_access(published.index.file)

    @lru_cache(1 << 12)
    def block(number: int) -> bytes:
        return file.read(BLOCK_BYTES, BLOCK_BYTES * (1 + number))

    def record(number: int) -> tuple[int, int, int, bytes]:
        at, place = divmod(number, BODY_BYTES // form.size)
        layer, key, total, states = form.unpack_from(block(at), place * form.size)
        return layer, key, total, states

    return record


def _prove_layers(published: PublishedTable, sweep: Sweep, layers: LayerReader) -> None:
    """Prove that each layer has the states that follow the layer before it, with their counts."""
    cells, unlimited = sweep.cells, 1 << 63
    text = "each state's number is the sum of those that a step led from, and no state is missing"
    text += " whose colours need as much" * sweep.paths
    with published.begin_claim(text, index=True) as check:

        def require(layer: int, ways: dict[int, int]) -> None:
            numbers_by_key = {
                key: number for key, _, number in layers.iter_states(layer, 0, unlimited)
            }
            for key in sorted({*numbers_by_key, *ways}):
                what = f"ways to the state {key:#x} of layer {layer}:"
                check.require_equal(what, numbers_by_key.get(key, 0), ways.get(key, 0))

        require(0, {State([FREE] * cells, {}).key: 1})
        for previous, layer, square, start in _iter_steps(sweep):
            ways = {key: number for key, _, number in layers.iter_states(previous, 0, unlimited)}
            offsets = sweep.steps[square]
            choices = chain.from_iterable(combinations(offsets, size) for size in range(3))
            # at a start square, one edge must lead to the virtual square
            allowed = [edges for edges in choices if square != start or 0 in edges]
            followers = {
                step_forward(key, edges, cells, sweep.here) for key in ways for edges in allowed
            }
            require(
                layer,
                {
                    key: sum(
                        ways.get(predecessor, 0)
                        for predecessor, _ in sweep.step_back(key, square, start)
                    )
                    for key in followers
                    if key is not None and _is_completable(key, sweep, square + 1)
                },
            )


def _is_completable(key: int, sweep: Sweep, squares: int) -> bool:
    """Return whether the edges that a state still needs are balanced between the two colours.

    `squares` is the number of finished squares. Every knight's jump joins the two colours, so a
    state is completable only if both need equally many edges. Nothing is required of
    closed tours, or while an edge to the virtual square is still open.
    """
    needs, board = State.from_key(key, sweep.cells).needs, sweep.upright
    if not sweep.paths or needs[0]:
        return True
    reached = {sweep.find_square(cell, squares): need for cell, need in enumerate(needs)}
    open_needs = {square: reached.get(square, FREE) for square in range(squares, board.squares)}
    light = sum(need for square, need in open_needs.items() if board.is_light(square))
    return 2 * light == sum(open_needs.values())


def _iter_steps(sweep: Sweep) -> Iterator[tuple[int, int, int, int]]:
    """Yield each step: the layers before and after it, the square it finishes, the start square.

    The start square is NO_SQUARE in the layers that all starts share.
    """
    for square in range(sweep.longer):
        yield square, square + 1, square, NO_SQUARE
    for route in sweep.routes:
        for square in sweep.list_own_squares(route.start):
            yield route.layers[square], route.layers[square + 1], square, route.start


def _prove_numbers(
    published: PublishedTable, ranker: TourRanker, totals: list[int], limits: RankingLimits
) -> int:
    """Prove that ranks and tours are one to one, for all ranks or a sample.

    Return the number of ranks tried.
    """
    board, closed, total = ranker.sweep.board, not ranker.sweep.paths, sum(totals)
    chosen: Iterable[int] = range(total)
    count = total
    if not (is_complete := total <= limits.tours):
        generator, count = random.Random(str(board)), limits.sample  # noqa: S311  # not a secret
        chosen = [generator.randrange(total) for _ in range(count)]
    kind, scope = ("closed tour", "") if closed else ("tour", " of a start")
    which = (
        f"each number{scope} is another {kind}" if is_complete else f"{count} numbers are {kind}s"
    )
    by_rule = "it visits each square once, by knight's jumps"
    text = f"{which}: {by_rule}; ranking the tour returns its number"
    ends, seen = [*accumulate(totals)], set[tuple[int, ...]]()
    with published.begin_claim(text, count, "tours", index=True) as check:
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
    return count
