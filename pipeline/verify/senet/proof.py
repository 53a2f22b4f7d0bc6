"""The table of Senet: every position's plies, lines and smallest line, from the rule of a move.

A position stands twice in the graph: with A to move after an even number of plies, which is node
`row`, and with B to move after an odd one, node `row + rows`. Where the opening has 0, and every
other node one more than the least of its predecessors or nothing, those are the fewest plies: a
node's value can be walked back to the opening, and no line gets there sooner.

A side's pieces are a set of squares as bits: bit 0 is square 1.
"""

from __future__ import annotations

from math import factorial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.verify.claims import Array, Rows, Seen
from pipeline.verify.listed import Listed, check_records, read_rows
from pipeline.verify.walks import Lines
from pipeline.work import in_threads
from tablebase.graph import UNREACHED
from tablebase.puzzles.senet import OPENING, SQUARES, THROWS

NEVER = 1000
"""Stands for null: more than any number of plies, and no value of a byte."""
COLUMNS = ("plies_even", "plies_odd")
LABELS = range(128)
"""A throw and a starting square in one number, the throw in the high four bits."""
DICE = pa.array([str(label >> 4) for label in LABELS])
MOVES = pa.array([f"{m & 15}{sign}{(m & 15) + (m >> 4)}" for sign in "-x" for m in LABELS])

Edges = tuple[Array, Array, Array]
"""Moves as nodes that they lead from, nodes that they lead to, and labels."""


class Positions:
    """Every position, row by row, and the row of any two sets."""

    def __init__(self, cells: Array) -> None:
        squares = np.arange(SQUARES)
        bits = (1 << squares).astype(np.int32)
        self.sets = np.stack([(cells == ord(piece)) @ bits for piece in "AB"])
        # a position as a number of base 3, `.` < `A` < `B`, its first square the highest digit
        digits = np.arange(1 << SQUARES)[:, None] >> squares & 1
        self._base_3 = (digits @ 3 ** squares[::-1]).astype(np.int32)
        self.numbers = self._number(*self.sets)
        """Ascending in notation order."""
        self._row_of = np.full(3**SQUARES, -1, dtype=np.int32)
        self._row_of[self.numbers] = np.arange(len(cells))

    def _number(self, a: Array, b: Array) -> Array:
        found: Array = self._base_3[a] + 2 * self._base_3[b]
        return found

    def row(self, a: Array, b: Array) -> Array:
        """The rows of positions given by the squares of A and of B."""
        found: Array = self._row_of[self._number(a, b)]
        return found


def prove_senet(listed: Listed, seen: Seen) -> None:
    """Prove the table of every arrangement."""
    rows = read_rows(listed)
    plies, positions = plies_of(rows), prove_positions(listed, rows)
    lines = prove_lines(listed, rows, plies, *prove_plies(listed, rows, plies, positions))
    prove_smallest(listed, rows, positions, lines)
    prove_index(listed, plies, lines)


def plies_of(rows: Rows) -> Array:
    """Every position's plies, even and odd."""
    return np.stack([rows.numbers(name, NEVER).astype(np.int16) for name in COLUMNS])


def prove_positions(listed: Listed, rows: Rows) -> Positions:
    count = factorial(SQUARES) // factorial(5) ** 3
    text = f"the rows are all {count:,} arrangements, each once, in notation order"
    with listed.claim(text) as fact:
        fact.same("rows", len(rows), count)
        cells, position = rows.cells(fact, "position", SQUARES), rows.column("position")
        fives = [np.count_nonzero(cells == ord(piece), axis=1) == 5 for piece in ".AB"]
        expected = "15 squares: five A, five B and five empty"
        wrong = ~np.logical_and.reduce(fives)
        rows.none(fact, wrong, lambda row: (position[row], expected))
        positions = Positions(cells)
        rows.ascend(fact, "position", positions.numbers)
    return positions


def prove_plies(listed: Listed, rows: Rows, plies: Array, positions: Positions) -> list[Edges]:
    """The moves that end shortest lines, each side's."""
    text = (
        "the opening has 0; plies_even and plies_odd are one more than the smallest value of a "
        "predecessor, and null where no predecessor has one"
    )
    with listed.claim(text) as fact:
        found = [*in_threads(_moves, [(positions, plies, side) for side in (0, 1)])]
        for side, name in enumerate(COLUMNS):
            expected = found[1 - side][0] + 1
            if side == 0:
                expected[_opening(rows)] = 0
            rows.equal(fact, name, pa.array(expected, mask=expected > NEVER))
    with listed.claim("plies is the smaller of the two, or null if both are null") as fact:
        fewest = plies.min(axis=0)
        rows.equal(fact, "plies", pa.array(fewest, mask=fewest == NEVER))
    return [edges for _, edges in found]


def _opening(rows: Rows) -> int:
    """The row of the position where every line begins."""
    return int(rows.column("position").index(OPENING).as_py())


def _moves(positions: Positions, plies: Array, side: int) -> tuple[Array, Edges]:
    """The least plies of the predecessors of each node that one side's moves lead to; and those
    of the moves that end shortest lines.
    """
    size = plies.shape[1]
    before, after = plies[side], plies[1 - side]
    least = np.full(size, NEVER, dtype=np.int16)
    mover, other = positions.sets[side], positions.sets[1 - side]
    movable, kept = np.where(before < NEVER, mover, 0), []
    # a piece may land on an empty square, or on an opponent's piece with no fellow beside it
    landing = ~(mover | other) | other & ~(other << 1) & ~(other >> 1)
    for throw in THROWS:
        for start in range(1, SQUARES - throw + 1):
            here, goal = 1 << (start - 1), 1 << (start + throw - 1)
            may = (movable & here != 0) & (landing & goal != 0)
            sources = np.flatnonzero(may).astype(np.int32)
            swaps = np.where(other[sources] & goal, here | goal, 0)
            sets = mover[sources] ^ (here | goal), other[sources] ^ swaps
            targets = positions.row(*(sets if side == 0 else sets[::-1]))
            # one throw from one square never leads from two positions to the same
            least[targets] = np.minimum(least[targets], before[sources])
            short = after[targets] == before[sources] + 1
            nodes = sources[short] + side * size, targets[short] + (1 - side) * size
            kept.append((*nodes, np.full(len(nodes[0]), throw << 4 | start, dtype=np.uint8)))
    sources, targets, labels = map(np.concatenate, zip(*kept, strict=True))
    return least, (sources, targets, labels)


def prove_lines(listed: Listed, rows: Rows, plies: Array, *sides: Edges) -> Lines:
    """All shortest lines."""
    text = (
        "lines is the number of shortest lines, summed over predecessors from the opening on; "
        "null where plies is null"
    )
    with listed.claim(text) as fact:
        # far below 2^63: at most 120 moves lead to a node, and no line has over 30 plies
        lines = Lines(plies.size, _opening(rows))
        edges = [np.concatenate(of) for of in zip(*sides, strict=True)]
        ply = plies.ravel()[edges[1]]
        order = np.argsort(ply, kind="stable")
        for ended in np.split(order, np.cumsum(np.bincount(ply))[:-1])[1:]:
            lines.extend(*(of[ended] for of in edges))
        shorter = np.arange(len(rows)) + np.where(plies[1] < plies[0], len(rows), 0)
        ways = lines.ways[shorter].astype(np.int64)
        rows.equal(fact, "lines", pa.array(ways, mask=plies.min(axis=0) == NEVER))
    return lines


def prove_smallest(listed: Listed, rows: Rows, positions: Positions, lines: Lines) -> None:
    text = (
        "dice and moves are legal ply by ply and lead to the position in that many plies, and no "
        "other shortest line has smaller dice, or the same dice and smaller squares; null where "
        "plies is null"
    )
    with listed.claim(text) as fact:
        for name, expected in zip(("dice", "moves"), _written(positions, lines), strict=True):
            rows.equal(fact, name, expected)


def _written(positions: Positions, lines: Lines) -> list[pa.Array]:
    """The smallest line to every row as dice and as moves; null where none leads."""
    size, count = len(positions.numbers), 0
    # where each node of the last layer stands in it, and each row among the rows in order of plies
    place, at = np.zeros(2 * size, dtype=np.int32), np.full(size, -1)
    texts, layers = [pa.array([""]), pa.array([""])], []
    for ply, nodes in enumerate(lines.layers):
        if ply:
            parents, label = lines.parent[nodes], lines.last[nodes].astype(np.int64)
            goal = (label >> 4) + (label & 15) - 1
            swaps = positions.sets[ply % 2][parents % size] >> goal & 1
            steps = (
                (DICE.take(label), ""),
                (MOVES.take(label + len(LABELS) * swaps), " "[: ply - 1]),
            )
            texts = [
                pc.binary_join_element_wise(text.take(place[parents]), step, gap)
                for text, (step, gap) in zip(texts, steps, strict=True)
            ]
        place[nodes] = np.arange(len(nodes))
        # a position's fewest plies are those of the first layer that it stands in
        new = np.flatnonzero(at[nodes % size] < 0)
        at[nodes[new] % size] = count + np.arange(len(new))
        count += len(new)
        layers.append([text.take(new) for text in texts])
    known = pa.array(at, mask=at < 0)
    return [pa.concat_arrays(of).take(known) for of in zip(*layers, strict=True)]


def prove_index(listed: Listed, plies: Array, lines: Lines) -> None:
    text = (
        "each record matches its row: plies_even, plies_odd and lines, and the last move of the "
        f"smallest line of each parity; {UNREACHED} and 0 where there is none"
    )
    even, odd = np.where(plies < NEVER, plies, UNREACHED)
    last_even, last_odd = lines.last.reshape(plies.shape)
    ways_even, ways_odd = lines.ways.reshape(plies.shape)
    fields = {"plies_even": even, "last_even": last_even, "plies_odd": odd, "last_odd": last_odd}
    fields["lines"] = np.where(odd < even, ways_odd, ways_even)
    check_records(listed, text, fields)
