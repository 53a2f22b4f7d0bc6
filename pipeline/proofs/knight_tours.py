"""The proofs of tables that list or rank knight's tours.

Of a list, every path is followed square by square. Of a ranking, every record is made again: the
walker makes all layers from the empty board (`tour_walker`), and the records must have exactly its
states and numbers, as many in each as fit. docs/format/ranks.md puts the partial tours that lead to
a state, and the ways to complete it, in an order; so where every number is right, each rank is one
tour and each tour has one rank.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.notation.knight import ChessBoard, parse_sides
from puzzle_tablebase.pipeline.parallel import run_in_threads
from puzzle_tablebase.pipeline.proofs.claims import (
    Claim,
    Difference,
    ListedTable,
    Proof,
    Prover,
    compare,
    compare_records,
    estimate_process,
    require_equal,
)
from puzzle_tablebase.pipeline.proofs.knight_counts import (
    COUNTED_AGAIN,
    count_listed,
    recount_tours,
)
from puzzle_tablebase.pipeline.proofs.knight_rules import find_ends, find_jumps, list_jumps
from puzzle_tablebase.pipeline.proofs.tour_walker import HalfBoard, walk_layers
from puzzle_tablebase.pipeline.proofs.verdicts import Proved, Verdict
from puzzle_tablebase.resources import PROCESS_BYTES
from puzzle_tablebase.schema import RANKING_FIELDS, Table
from puzzle_tablebase.tour_sizes import RANKING_FACTORS, estimate_list_bytes, estimate_sweep_bytes

HOW = (
    "every path was walked, none appears twice, and a second count, path by path, finds as many "
    "from every square"
)
HOW_OF_PAIRS = (
    "every path was walked, and there is one for every pair of squares whose colours allow it; "
    "any tour of the pair would do"
)
HOW_OF_RANKS = "every layer was counted again from the empty board, so each rank is one tour"
COLUMNS = ("board", "start", "finish", "number", "closed", "path")
TOURS = "every path is a tour: it visits each square once, by knight's jumps"
MATCH = "board, start, finish, closed and number match the path"
UNKNOWN_SQUARE = 255
PART_ROWS = 1 << 16
"""Rows that are read at a time."""
RECORD_BYTES = int(RANKING_FIELDS[-1][1].removesuffix("s"))
"""The bytes of the states of a record."""
LONGEST_STATE = 18
"""The bytes of a difference of keys and a number, nine each at most."""
PART_RECORDS = 1 << 12
"""The records that are made at a time."""


def prove_every_tour(listed: ListedTable) -> Proof:
    """Prove a table of all tours: in order, none twice, and none missing."""
    board = _get_board(listed.definition)
    text = f"{TOURS}; the paths strictly ascend in their square numbers, so none appears twice"
    yield Claim(text, find_bad_paths(listed, board, are_sorted=True))
    yield Claim(MATCH, compare_columns(listed, board))
    # the tours are different, so equal counts show that none is missing
    text = f"no tour is missing: from every square {COUNTED_AGAIN}"
    yield Claim(text, compare_counts(listed, board))
    return Proved(Verdict.PROVED, HOW, COLUMNS)


def prove_pairs(listed: ListedTable) -> Proof:
    """Prove a table of one tour for every ordered pair of squares, and its index."""
    board = _get_board(listed.definition)
    yield Claim(TOURS, find_bad_paths(listed, board, are_sorted=False))
    yield Claim(MATCH, compare_columns(listed, board))
    text = "there is one tour for every ordered pair of squares whose colours allow it, in order"
    yield Claim(text, compare_pairs(listed, board))
    text = "each record holds the squares of its row's path"
    records = ({"squares": squares} for _, squares, _ in iter_paths(listed, board))
    yield listed.claim_records(text, compare_records(listed, records))
    return Proved(Verdict.PROVED, HOW_OF_PAIRS, COLUMNS, ("squares",))


def _get_board(table: Table) -> ChessBoard:
    return ChessBoard(*parse_sides(table.recipe.parameters["board"]))


def estimate_list(table: Table) -> int:
    """Estimate the bytes for following the paths of a list."""
    return PROCESS_BYTES + estimate_list_bytes(table.rows or 0)


TOUR_LIST = Prover(prove_every_tour, estimate_list)
TOUR_PAIRS = Prover(prove_pairs, estimate_process)


def iter_paths(
    listed: ListedTable, board: ChessBoard
) -> Iterator[tuple[int, Array, Difference | None]]:
    """Yield the paths as square numbers, some at a time, after the number of the first row.

    The third value is the first path that is no tour, if there is one.
    """
    rows, width = listed.scan_rows("path"), 2 * board.squares

    def follow(begin: int) -> tuple[int, Array, Difference | None]:
        paths = rows.slice(begin, PART_ROWS).collect()["path"]
        lengths = paths.str.len_bytes()
        for row in (lengths != width).arg_true().head(1):
            nothing = np.empty((0, board.squares), np.uint8)
            return begin, nothing, Difference(f"length of path {lengths[row]}", width, begin + row)
        _, _, data = paths.to_arrow(compat_level=pl.CompatLevel.oldest()).buffers()
        text = np.frombuffer(data, "<u2", len(paths) * board.squares)
        squares, is_tour = follow_paths(text.reshape(-1, board.squares), board)
        for row in np.flatnonzero(~is_tour)[:1].tolist():
            return begin, squares, Difference(paths[row], "a tour", begin + row)
        return begin, squares, None

    yield from run_in_threads(follow, zip(range(0, listed.entry.rows, PART_ROWS)))


def follow_paths(text: Array, board: ChessBoard) -> tuple[Array, Array]:
    """Follow paths, given as the names of their squares; return their squares, and which are tours.

    Both arrays have a row for each path.
    """
    count = board.squares
    square_of_name = np.full(1 << 16, UNKNOWN_SQUARE, dtype=np.uint8)
    square_of_name[np.frombuffer("".join(board.name_squares()).encode(), "<u2")] = np.arange(count)
    # a name of no square has no bit, so a path with one never visits all squares
    bits, near = np.zeros((2, UNKNOWN_SQUARE + 1), dtype=np.int64)
    bits[:count], near[:count] = 1 << np.arange(count), list_jumps(board.files, board.ranks)
    squares: Array = square_of_name[text]
    visited = np.zeros(len(text), dtype=np.int64)
    is_legal = np.ones(len(text), dtype=np.bool_)
    reach = bits.sum()
    for here in squares.T:
        bit = bits[here]
        visited |= bit
        is_legal &= reach & bit != 0
        reach = near[here]
    return squares, (visited == bits.sum()) & is_legal


def find_bad_paths(
    listed: ListedTable, board: ChessBoard, *, are_sorted: bool
) -> Iterator[Difference | int]:
    """Yield the first path that is no tour, or with `are_sorted` does not come after the last."""
    last = None
    for begin, squares, wrong in iter_paths(listed, board):
        if wrong:
            yield wrong
        if are_sorted and len(squares):
            # squares are numbered from 1 here, as numpy drops zeros at the end of such text
            texts = (squares + np.uint8(1)).view(f"S{board.squares}").ravel()
            is_first = last is None or bool(texts[0] > last)
            is_later = np.append(is_first, texts[1:] > texts[:-1])
            last = texts[-1]
            for row in np.flatnonzero(~is_later)[:1].tolist():
                path = "".join(board.name_square(square) for square in squares[row].tolist())
                yield Difference(path, "a path after the one before it", begin + row)
        yield begin + len(squares)


def compare_columns(listed: ListedTable, board: ChessBoard) -> Iterator[Difference]:
    """Yield the first row whose columns differ from its path, which is a tour."""
    names, jumps = board.name_squares(), find_jumps(board.files, board.ranks)
    joined = {f"{names[start]}{names[end]}" for start, end in np.argwhere(jumps).tolist()}
    path = pl.col("path")
    start, finish = path.str.slice(0, 2), path.str.slice(2 * board.squares - 2, 2)
    rows, numbers = listed.scan_rows(), listed.scan_rows("start", "number")
    firsts = numbers.group_by("start").agg(first=pl.col("row").min())
    yield from compare(
        rows,
        board=pl.lit(str(board)),
        start=start,
        finish=finish,
        closed=pl.concat_str(start, finish).is_in(sorted(joined)),
    )
    number = pl.col("row").cast(pl.Int64) - pl.col("first")
    yield from compare(numbers.join(firsts, on="start"), number=number)


def compare_counts(listed: ListedTable, board: ChessBoard) -> Iterator[Difference]:
    """Yield the first square whose number of tours differs from a second count."""
    counts, names = count_listed(listed, board), board.name_squares()
    for what, expected in recount_tours(board).items():
        for name, found, must_be in zip(names, counts[what], expected, strict=True):
            yield from require_equal(f"{what} from {name}:", int(found), int(must_be))


def compare_pairs(listed: ListedTable, board: ChessBoard) -> Iterator[Difference]:
    """Yield the first row that is not from and to the next pair of squares that a tour joins."""
    ends = np.argwhere(find_ends(board.files, board.ranks)).tolist()
    pairs = [f"{board.name_square(start)} to {board.name_square(end)}" for start, end in ends]
    yield from require_equal("rows", listed.entry.rows, len(pairs))
    ends_of_rows = pl.format("{} to {}", "start", "finish").alias("from")
    rows = listed.scan_rows("start", "finish").select("row", ends_of_rows).collect().lazy()
    expected = pl.LazyFrame({"from, expected": pairs}, {"from, expected": pl.String})
    yield from compare(pl.concat([rows, expected], how="horizontal"), "from")


# ---- rankings ---------------------------------------------------------------------------------


def prove_ranks(listed: ListedTable) -> Proof:
    """Prove the ranking of a board's tours."""
    is_open = not listed.definition.recipe.parameters["closed"]
    half = HalfBoard(_get_board(listed.definition), is_open=is_open)
    colours = ", of those whose colours need as many edges" * is_open
    text = (
        "every layer is counted again from the empty board: each state with the partial tours that "
        f"lead to it, at the cut with the tours that pass it, and no other state{colours}"
    )
    yield listed.claim_records(text, compare_records(listed, make_records(half)))
    return Proved(Verdict.PROVED, HOW_OF_RANKS, fields=[name for name, _ in RANKING_FIELDS])


def estimate_ranking(table: Table) -> int:
    """Estimate the bytes for all layers, and for their records."""
    closed = table.recipe.parameters["closed"]
    return estimate_sweep_bytes(_get_board(table), closed=closed, factor=RANKING_FACTORS[closed])


TOUR_RANKING = Prover(prove_ranks, estimate_ranking)


def make_records(half: HalfBoard) -> Iterator[dict[str, Array]]:
    """Make the records of all layers, some at a time."""
    for layer, (keys, numbers) in enumerate(walk_layers(half)):
        state = before = 0
        while state < len(keys):
            firsts, sums = np.zeros((2, PART_RECORDS), dtype=np.int64)
            states = np.zeros((PART_RECORDS, RECORD_BYTES), dtype=np.uint8)
            count, state, before = pack(keys, numbers, state, before, firsts, sums, states)
            layers = np.full(count, layer)
            made: tuple[Array, ...] = layers, firsts[:count], sums[:count], states[:count]
            yield {name: values for (name, _), values in zip(RANKING_FIELDS, made, strict=True)}


@compiled
def pack(
    keys: Array, numbers: Array, state: int, before: int, firsts: Array, sums: Array, states: Array
) -> tuple[int, int, int]:
    """Fill records from a state on; `before`: the sum of the numbers of the states before it.

    Return how many records have states, the first state that no longer fits, and its `before`. A
    record is followed by another one when the longest state no longer fits.
    """
    record, end = -1, states.shape[1]
    while state < len(keys):
        if end + LONGEST_STATE > states.shape[1]:
            if record + 1 == len(states):
                break
            record, end = record + 1, 0
            firsts[record], sums[record] = keys[state], before
        else:
            end = write_value(states[record], end, keys[state] - keys[state - 1])
        end = write_value(states[record], end, numbers[state])
        before += numbers[state]
        state += 1
    return record + 1, state, before


@compiled
def write_value(states: Array, at: int, value: int) -> int:
    """Write a value in groups of seven bits, the lowest first; return where the next one begins."""
    while value > 127:
        states[at] = value & 127 | 128
        at, value = at + 1, value >> 7
    states[at] = value
    return at + 1
