"""The table of Senet: every position's plies, lines and smallest line, from the rule of a move.

A position stands twice in the graph: with A to move after an even number of plies, which is node
`row`, and with B to move after an odd one, node `row + rows`. Where the opening has 0, and every
other node one more than the least of its predecessors or nothing, those are the fewest plies: a
node's value can be walked back to the opening, and no line gets there sooner.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import factorial

import numpy as np
import numpy.typing as npt

from pipeline.verify.claims import Array, Fact, Proof, Rows, first
from pipeline.verify.published import Published, check_records, read_rows
from pipeline.verify.senet.lines import Lines, Replay
from pipeline.verify.senet.positions import Positions, landings, moved
from tablebase.graph import UNREACHED
from tablebase.puzzles.senet import OPENING, SQUARES, THROWS

NEVER = 1000
"""Stands for null: more than any number of plies, and no value of a byte."""
COLUMNS = ("plies_even", "plies_odd")


@dataclass(frozen=True, slots=True)
class ShortestMoves:
    """The moves by one throw from one square that end shortest lines, by the plies they end after.

    Those that end after d plies are from `ends[d - 1]` to `ends[d]`.
    """

    label: int
    sources: npt.NDArray[np.int32]
    targets: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int64]


class SenetTable:
    """The table under proof."""

    def __init__(self, listed: Published, rows: Rows) -> None:
        self._listed = listed
        self._proof: Proof = listed.claims()
        self._rows = rows
        self._plies = np.stack([rows.numbers(c, NEVER).astype(np.int16) for c in COLUMNS])

    def prove(self) -> None:
        self._arrangements()
        self._fewest_plies()
        last = self._lines_and_last_moves()
        self._smallest_lines(last)
        self._index(last)

    def _arrangements(self) -> None:
        count = factorial(SQUARES) // factorial(5) ** 3
        text = f"the rows are all {count:,} arrangements, each once, in notation order"
        with self._proof.claim(text, len(self._rows)) as fact:
            cells, other_length = self._rows.text("position", SQUARES)
            row = first(other_length)
            if row is None:
                fives = [np.count_nonzero(cells == ord(piece), axis=1) == 5 for piece in ".AB"]
                row = first(~np.logical_and.reduce(fives))
            if row is not None:
                found = str(self._rows.column("position")[row])
                self._rows.refute(fact, row, found, "15 squares: five A, five B and five empty")
            self._positions = Positions(cells)
            row = first(np.diff(self._positions.numbers) <= 0)
            if row is not None:
                before = str(self._rows.column("position")[row])
                found = str(self._rows.column("position")[row + 1])
                self._rows.refute(fact, row + 1, found, f"a position after {before}")
            fact.same(f"{len(self._rows):,} rows", f"{count:,} rows")
        opening = np.frombuffer(OPENING.encode(), dtype=np.uint8)
        self._opening = int(np.flatnonzero((cells == opening).all(axis=1))[0])

    def _fewest_plies(self) -> None:
        text = (
            "the opening has 0; plies_even and plies_odd are one more than the smallest value of a "
            "predecessor, and null where no predecessor has one"
        )
        with self._proof.claim(text, len(self._rows)) as fact:
            least = self._moves()
            expected = np.where(least < NEVER, least + 1, NEVER)
            expected[0, self._opening] = 0
            for side, column in enumerate(COLUMNS):
                self._equal(fact, column, self._plies[side], expected[side])
        with self._proof.claim(
            "plies is the smaller of the two, or null if both are null", len(self._rows)
        ) as fact:
            self._fewest = self._plies.min(axis=0)
            self._equal(fact, "plies", self._rows.numbers("plies", NEVER), self._fewest)

    def _equal(self, fact: Fact, column: str, found: Array, expected: Array) -> None:
        row = first(found != expected)
        if row is not None:
            shown = [None if plies[row] == NEVER else plies[row] for plies in (found, expected)]
            self._rows.refute(fact, row, f"{column} {shown[0]}", str(shown[1]))

    def _moves(self) -> Array:
        """The least plies of each node's predecessors; keeps the moves of shortest lines."""
        with ThreadPoolExecutor(2) as pool:
            least_odd, least_even = pool.map(self._moves_of, range(2))
        self._shortest = [*least_even[1], *least_odd[1]]
        return np.stack([least_even[0], least_odd[0]])

    def _moves_of(self, side: int) -> tuple[Array, list[ShortestMoves]]:
        """The same for the nodes that one side's moves lead to."""
        positions, size = self._positions, len(self._rows)
        before, after = self._plies[side], self._plies[1 - side]
        most = int(self._plies[self._plies < NEVER].max(initial=0))
        least = np.full(size, NEVER, dtype=np.int16)
        kept = []
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
                ended = plies[short].astype(np.uint8) + np.uint8(1)
                short = short[np.argsort(ended, kind="stable")]
                kept.append(
                    ShortestMoves(
                        throw << 4 | start,
                        sources[short] + side * size,
                        targets[short] + (1 - side) * size,
                        np.cumsum(np.bincount(ended, minlength=most + 1)),
                    )
                )
        return least, kept

    def _lines_and_last_moves(self) -> npt.NDArray[np.uint8]:
        """Prove `lines`; returns the last move of every node's smallest line."""
        with self._proof.claim(
            "lines is the number of shortest lines, summed over predecessors from the opening on; "
            "null where plies is null",
            len(self._rows),
        ) as fact:
            lines = Lines(2 * len(self._rows), self._opening)
            for plies in range(1, len(self._shortest[0].ends)):
                parts = [
                    (moves, slice(moves.ends[plies - 1], moves.ends[plies]))
                    for moves in self._shortest
                    if moves.ends[plies] > moves.ends[plies - 1]
                ]
                lines.extend(
                    np.concatenate([moves.sources[part] for moves, part in parts]),
                    np.concatenate([moves.targets[part] for moves, part in parts]),
                    np.concatenate(
                        [np.full(part.stop - part.start, m.label, np.uint8) for m, part in parts]
                    ),
                )
            self._shortest = []
            shorter = np.where(self._plies[1] < self._plies[0], len(self._rows), 0)
            ways = lines.ways[np.arange(len(self._rows)) + shorter]
            self._nulls(fact, "lines")
            self._ways = np.where(self._fewest < NEVER, ways, np.uint64(0))
            fact.equal(self._rows, self._rows.numbers("lines"), self._ways, "lines")
        return lines.last

    def _nulls(self, fact: Fact, column: str) -> None:
        """Refute the claim where a column is null and plies is not, or the other way round."""
        is_null = self._rows.column(column).is_null().to_numpy(zero_copy_only=False)
        row = first(is_null != (self._fewest == NEVER))
        if row is not None:
            found, expected = ("null", "a value") if is_null[row] else ("a value", "null")
            self._rows.refute(fact, row, f"{column}: {found}", expected)

    def _smallest_lines(self, last: npt.NDArray[np.uint8]) -> None:
        legal = self._proof.claim(
            "dice and moves, replayed ply by ply, are legal and lead to the position in "
            "that many plies; null where plies is null",
            len(self._rows),
        )
        for column in ("dice", "moves"):
            self._nulls(legal, column)
        fewest = np.where(self._fewest < NEVER, self._fewest, 0)
        line = Replay(self._rows, fewest, self._positions, self._opening, legal)
        smallest = self._proof.claim(
            "no other shortest line has smaller dice, or the same dice and smaller squares",
            len(self._rows),
        )
        line.play(last, smallest)
        legal.proved()
        smallest.proved()

    def _index(self, last: npt.NDArray[np.uint8]) -> None:
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
            "lines": self._ways,
        }
        check_records(self._listed, text, fields)


def prove_senet(listed: Published) -> None:
    """Prove the table of every arrangement."""
    SenetTable(listed, read_rows(listed)).prove()
