"""The table of Senet: every position's plies, lines and smallest line, from the rule of a move.

A position stands twice in the graph: with A to move after an even number of plies, which is node
`row`, and with B to move after an odd one, node `row + rows`. Where the opening has 0, and every
other node one more than the least of its predecessors or nothing, those are the fewest plies: a
node's value can be walked back to the opening, and no line gets there sooner.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from pipeline.verify.claims import Array, Fact, Rows, Said, Seen
from pipeline.verify.lines import Lines
from pipeline.verify.listed import Listed, check_records, read_rows
from pipeline.verify.senet.positions import Positions, landings, moved
from pipeline.verify.senet.written import fault, other_lines
from pipeline.work import in_threads
from tablebase.graph import UNREACHED
from tablebase.puzzles.senet import SQUARES, THROWS

NEVER = 1000
"""Stands for null: more than any number of plies, and no value of a byte."""
COLUMNS = ("plies_even", "plies_odd")


Edges = tuple[Array, ...]
"""Moves as nodes that they lead from, nodes that they lead to, and labels."""


def prove_senet(listed: Listed, seen: Seen) -> None:
    """Prove the table of every arrangement."""
    prove_rows(listed, read_rows(listed))


def prove_rows(listed: Listed, rows: Rows) -> None:
    table = Arrangements(listed, rows)
    positions = table.positions()
    lines, ways = table.lines(positions, table.fewest_plies(positions))
    table.smallest_lines(positions, lines)
    table.index(lines.last, ways)


class Arrangements:
    """The rows under proof; `fewest` is the smaller of each row's two numbers of plies."""

    def __init__(self, listed: Listed, rows: Rows) -> None:
        self._listed = listed
        self._proof = listed.claims()
        self._rows = rows
        self._plies = np.stack([rows.numbers(c, NEVER).astype(np.int16) for c in COLUMNS])
        self._fewest = self._plies.min(axis=0)

    def positions(self) -> Positions:
        count = factorial(SQUARES) // factorial(5) ** 3
        text = f"the rows are all {count:,} arrangements, each once, in notation order"
        with self._proof.claim(text) as fact:
            position = self._rows.column("position")
            cells, wrong = self._rows.text("position", SQUARES)
            if not wrong.any():
                fives = [np.count_nonzero(cells == ord(piece), axis=1) == 5 for piece in ".AB"]
                wrong = ~np.logical_and.reduce(fives)
            expected = "15 squares: five A, five B and five empty"
            self._rows.none(fact, wrong, lambda row: (position[row], expected))
            positions = Positions(cells)
            self._rows.ascend(fact, "position", positions.numbers, "position")
            fact.same(len(self._rows), count, "{:,} rows")
        return positions

    def fewest_plies(self, positions: Positions) -> list[list[Edges]]:
        """The moves that end shortest lines, by how many plies they end after."""
        text = (
            "the opening has 0; plies_even and plies_odd are one more than the smallest value of a "
            "predecessor, and null where no predecessor has one"
        )
        with self._proof.claim(text) as fact:
            to_odd, to_even = in_threads(self._moves_of, [(positions, 0), (positions, 1)])
            for side, (least, _) in enumerate((to_even, to_odd)):
                expected = np.where(least < NEVER, least + 1, NEVER)
                if side == 0:
                    expected[positions.opening] = 0
                self._equal(fact, COLUMNS[side], self._plies[side], expected)
        with self._proof.claim("plies is the smaller of the two, or null if both are null") as fact:
            self._equal(fact, "plies", self._rows.numbers("plies", NEVER), self._fewest)
        return [[*odd, *even] for odd, even in zip(to_odd[1], to_even[1], strict=True)]

    def _equal(self, fact: Fact, column: str, found: Array, expected: Array) -> None:
        def said(row: int) -> Said:
            have, want = (None if of[row] == NEVER else of[row] for of in (found, expected))
            return f"{column} {have}", f"{want}"

        self._rows.none(fact, found != expected, said)

    def _moves_of(self, positions: Positions, side: int) -> tuple[Array, list[list[Edges]]]:
        """The least plies of the predecessors of each node that one side's moves lead to; and those
        of the moves that end shortest lines, by how many plies they end after.
        """
        size = len(self._rows)
        before, after = self._plies[side], self._plies[1 - side]
        least = np.full(size, NEVER, dtype=np.int16)
        most = int(self._plies[self._plies < NEVER].max(initial=0))
        kept: list[list[Edges]] = [[] for _ in range(most + 1)]
        mover, other = positions.sets[side], positions.sets[1 - side]
        movable, landing = np.where(before < NEVER, mover, 0), landings(mover, other)
        for throw in THROWS:
            for start in range(1, SQUARES - throw + 1):
                start_bit, goal_bit = 1 << (start - 1), 1 << (start + throw - 1)
                may = (movable & start_bit != 0) & (landing & goal_bit != 0)
                sources = np.flatnonzero(may).astype(np.int32)
                sets = moved(mover[sources], other[sources], start_bit, goal_bit)
                targets = positions.row(*(sets if side == 0 else sets[::-1]))
                plies = before[sources]
                # one throw from one square never leads from two positions to the same
                least[targets] = np.minimum(least[targets], plies)
                short = np.flatnonzero(after[targets] == plies + 1)
                order = short[np.argsort(plies[short], kind="stable")]
                ends = np.cumsum(np.bincount(plies[short] + 1, minlength=most + 1))
                for ply, ended in enumerate(np.split(order, ends[:-1])):
                    label = np.full(len(ended), throw << 4 | start, dtype=np.uint8)
                    nodes = sources[ended] + side * size, targets[ended] + (1 - side) * size
                    kept[ply].append((*nodes, label))
        return least, kept

    def lines(self, positions: Positions, shortest: list[list[Edges]]) -> tuple[Lines, Array]:
        """All shortest lines, and how many lead to each row."""
        text = (
            "lines is the number of shortest lines, summed over predecessors from the opening on; "
            "null where plies is null"
        )
        with self._proof.claim(text) as fact:
            # far below 2^64: at most 120 moves lead to a node, and no line has over 30 plies
            lines = Lines(2 * len(self._rows), positions.opening)
            for parts in shortest[1:]:
                lines.extend(*map(np.concatenate, zip(*parts, strict=True)))
            shorter = np.where(self._plies[1] < self._plies[0], len(self._rows), 0)
            ways = lines.ways[np.arange(len(self._rows)) + shorter]
            self._nulls(fact, "lines")
            ways = np.where(self._fewest < NEVER, ways, np.uint64(0))
            self._rows.equal(fact, "lines", self._rows.numbers("lines"), ways)
        return lines, ways

    def _nulls(self, fact: Fact, column: str) -> None:
        """Refute the claim where a column is null and plies is not, or the other way round."""
        is_null = self._rows.column(column).is_null().to_numpy(zero_copy_only=False)
        words = ("a value", "null")
        self._rows.none(
            fact,
            is_null != (self._fewest == NEVER),
            lambda row: (f"{column}: {words[int(is_null[row])]}", words[int(not is_null[row])]),
        )

    def smallest_lines(self, positions: Positions, lines: Lines) -> None:
        text = (
            "dice and moves, replayed ply by ply, are legal and lead to the position in that many "
            "plies; null where plies is null"
        )
        with self._proof.claim(text) as fact:
            self._nulls(fact, "dice")
            self._nulls(fact, "moves")
            position, *found = (self._rows.column(name) for name in ("position", "dice", "moves"))
            # what is written as the smallest line is legal: that is made of legal moves
            other = other_lines(positions, lines, found)
            for row in sorted(other):
                texts = [str(column[row]) for column in (position, *found)]
                said = fault(texts, int(self._fewest[row]))
                if said:
                    fact.refuted(*said, row, self._rows.content(row))
        text = "no other shortest line has smaller dice, or the same dice and smaller squares"
        with self._proof.claim(text) as fact:
            for row in sorted(other)[:1]:
                have = " and ".join(str(column[row]) for column in found)
                fact.refuted(have, " and ".join(other[row]), row, self._rows.content(row))

    def index(self, last: Array, ways: Array) -> None:
        size = len(self._rows)
        plies = np.where(self._plies < NEVER, self._plies, UNREACHED).astype(np.uint8)
        text = (
            "each record matches its row: plies_even, plies_odd and lines, and the last move of "
            f"the smallest line of each parity; {UNREACHED} and 0 where there is none"
        )
        fields = {
            "plies_even": plies[0],
            "last_even": last[:size],
            "plies_odd": plies[1],
            "last_odd": last[size:],
            "lines": ways,
        }
        check_records(self._listed, text, fields)
