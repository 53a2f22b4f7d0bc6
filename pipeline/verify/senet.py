"""The proof of Senet's table: every position's plies, lines and smallest line, from the rules.

A position has two nodes in the graph: node `row` with A to move after an even number of plies, and
node `row + rows` with B to move after an odd one. All shortest lines from the opening are searched
again, with a second implementation of the moves that handles many positions together.

A side's pieces are a set of squares as bits: bit 0 is square 1.
"""

from __future__ import annotations

from math import factorial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from puzzle_tablebase.graph import UNREACHED, SearchResult
from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.verify.claims import Proof, PublishedTable, Rows, Seen, Verdict
from puzzle_tablebase.pipeline.verify.files import check_records, read_rows
from puzzle_tablebase.pipeline.verify.state_proofs import Edges, search_graph
from puzzle_tablebase.puzzles.senet import OPENING, SQUARES, THROWS

HOW = (
    "all shortest lines from the opening were played again; every column and record follows from "
    "them"
)
COLUMNS = ("position", "plies", "plies_even", "plies_odd", "dice", "moves", "lines")
FIELDS = ("plies_even", "last_even", "plies_odd", "last_odd", "lines")
LABELS = range(128)
"""The labels of moves: the throw in the high four bits, the starting square in the low ones."""


class Positions:
    """All positions in the order of the rows, and the row of each position."""

    def __init__(self, cells: Array) -> None:
        squares = np.arange(SQUARES)
        bits = (1 << squares).astype(np.int32)
        self.sets = np.stack([(cells == ord(piece)) @ bits for piece in "AB"])
        # a position as a number of base 3, `.` < `A` < `B`, its first square the highest digit
        digits = np.arange(1 << SQUARES)[:, None] >> squares & 1
        self._base_3 = (digits @ 3 ** squares[::-1]).astype(np.int32)
        self.numbers: Array = self._base_3[self.sets[0]] + 2 * self._base_3[self.sets[1]]
        """The positions as numbers, which ascend in notation order."""
        self._row_of = np.full(3**SQUARES, -1, dtype=np.int32)
        self._row_of[self.numbers] = np.arange(len(cells))

    def find_rows(self, a: Array, b: Array) -> Array:
        """Return the rows of positions, given the sets of A and of B."""
        rows: Array = self._row_of[self._base_3[a] + 2 * self._base_3[b]]
        return rows

    def list_edges(self, nodes: Array) -> Edges:
        """Return every move from the given nodes, which must all have the same side to move."""
        size, edges = len(self.numbers), []
        side = int(nodes[0]) // size
        mover, other = self.sets[[side, 1 - side]][:, nodes % size]
        # a piece may land on an empty square, or on an opponent's piece without another beside it
        landing = ~(mover | other) | other & ~(other << 1) & ~(other >> 1)
        for throw in THROWS:
            for start in range(1, SQUARES - throw + 1):
                here, goal = 1 << (start - 1), 1 << (start + throw - 1)
                at = np.flatnonzero((mover & here != 0) & (landing & goal != 0))
                swaps = np.where(other[at] & goal, here | goal, 0)
                sets = mover[at] ^ (here | goal), other[at] ^ swaps
                targets = self.find_rows(*(sets if side == 0 else sets[::-1])) + (1 - side) * size
                edges.append((nodes[at], targets, np.full(len(at), throw << 4 | start, np.uint8)))
        sources, targets, labels = map(np.concatenate, zip(*edges, strict=True))
        return sources, targets, labels


def prove_senet(published: PublishedTable, earlier: Seen) -> Proof:
    """Prove the table of all positions."""
    rows = read_rows(published)
    positions = prove_positions(published, rows)
    search = prove_plies(published, rows, positions)
    prove_lines(published, rows, positions, search)
    prove_index(published, search)
    published.note_missing_proofs(COLUMNS, FIELDS)
    return published.make_proof(Verdict.PROVED, HOW, depths=rows.count_depths("plies"))


def prove_positions(published: PublishedTable, rows: Rows) -> Positions:
    """Prove that the rows are all positions in notation order, and return them."""
    count = factorial(SQUARES) // factorial(5) ** 3
    text = f"the rows are all {count:,} arrangements, each once, in notation order"
    with published.begin_claim(text) as check:
        check.require_equal("rows", len(rows), count)
        cells, position = rows.read_cells(check, "position", SQUARES), rows.column("position")
        fives = [np.count_nonzero(cells == ord(piece), axis=1) == 5 for piece in ".AB"]
        expected = "15 squares: five A, five B and five empty"
        wrong = ~np.logical_and.reduce(fives)
        rows.require_none(check, wrong, lambda row: (position[row], expected))
        positions = Positions(cells)
        rows.require_ascending(check, "position", positions.numbers)
    return positions


def prove_plies(published: PublishedTable, rows: Rows, positions: Positions) -> SearchResult:
    """Prove the lengths of the shortest lines, and return the search that found them."""
    text = (
        "the opening has 0; plies_even and plies_odd are one more than the smallest value of a "
        "predecessor, and null where no predecessor has one"
    )
    with published.begin_claim(text) as check:
        opening = rows.column("position").index(OPENING).as_py()
        search = search_graph(2 * len(rows), opening, positions.list_edges)
        plies = search.depth.reshape(2, -1)
        for name, expected in zip(("plies_even", "plies_odd"), plies, strict=True):
            rows.require_column(check, name, pa.array(expected, mask=expected == UNREACHED))
    with published.begin_claim(
        "plies is the smaller of the two, or null if both are null"
    ) as check:
        fewest = plies.min(axis=0)
        rows.require_column(check, "plies", pa.array(fewest, mask=fewest == UNREACHED))
    return search


def _list_shorter_nodes(search: SearchResult) -> Array:
    """Return for each row its node with the shorter lines."""
    even, odd = search.depth.reshape(2, -1)
    return np.arange(len(even)) + np.where(odd < even, len(even), 0)


def prove_lines(
    published: PublishedTable, rows: Rows, positions: Positions, search: SearchResult
) -> None:
    """Prove the number of shortest lines and the smallest line of each row."""
    text = (
        "lines is the number of shortest lines, summed over predecessors from the opening on; "
        "null where plies is null"
    )
    with published.begin_claim(text) as check:
        # far below 2^63: at most 120 moves lead to a node, and no line has over 30 plies
        ways = search.ways[_list_shorter_nodes(search)].astype(np.int64)
        rows.require_column(check, "lines", pa.array(ways, mask=ways == 0))
    text = (
        "dice and moves are legal ply by ply and lead to the position in that many plies, and no "
        "other shortest line has smaller dice, or the same dice and smaller squares; null where "
        "plies is null"
    )
    with published.begin_claim(text) as check:
        for name, expected in zip(("dice", "moves"), _format_lines(positions, search), strict=True):
            rows.require_column(check, name, expected)


def _format_lines(positions: Positions, search: SearchResult) -> list[pa.Array]:
    """Return the smallest line to each row, as dice and as moves; null if no line leads there."""
    dice = pa.array([str(label >> 4) for label in LABELS])
    moves = pa.array([f"{m & 15}{sign}{(m & 15) + (m >> 4)}" for sign in "-x" for m in LABELS])
    size, begin, order = len(positions.numbers), 0, search.order
    place = np.full(2 * size, -1)
    place[order] = np.arange(len(order))
    layers = [[pa.array([""]), pa.array([""])]]
    for ply, count in enumerate(np.bincount(search.depth[order])[1:].tolist(), start=1):
        before, begin = begin, begin + len(layers[-1][0])
        nodes = order[begin : begin + count]
        parents, label = search.parent[nodes], search.label[nodes].astype(np.int64)
        goal = (label >> 4) + (label & 15) - 1
        swaps = positions.sets[ply % 2][parents % size] >> goal & 1
        steps = (dice.take(label), ""), (moves.take(label + len(LABELS) * swaps), " "[: ply - 1])
        layers.append(
            [
                pc.binary_join_element_wise(text.take(place[parents] - before), step, gap)
                for text, (step, gap) in zip(layers[-1], steps, strict=True)
            ]
        )
    at = place[_list_shorter_nodes(search)]
    known = pa.array(at, mask=at < 0)
    return [pa.concat_arrays(texts).take(known) for texts in zip(*layers, strict=True)]


def prove_index(published: PublishedTable, search: SearchResult) -> None:
    """Prove the records of the index."""
    text = (
        "each record matches its row: plies_even, plies_odd and lines, and the last move of the "
        f"smallest line of each parity; {UNREACHED} and 0 where there is none"
    )
    (even, odd), (last_even, last_odd) = search.depth.reshape(2, -1), search.label.reshape(2, -1)
    fields = {"plies_even": even, "last_even": last_even, "plies_odd": odd, "last_odd": last_odd}
    check_records(published, text, {**fields, "lines": search.ways[_list_shorter_nodes(search)]})
