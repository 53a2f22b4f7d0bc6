"""A replay of Senet's published lines, ply by ply, each move held against the smallest line's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from pipeline.verify.claims import Array, Fact, Mask, Rows
from pipeline.verify.senet.positions import Positions, landings, moved
from tablebase.puzzles.senet import SQUARES

ZERO, NINE = np.uint8(ord("0")), np.uint8(9)


class Replay:
    """Lines as published, all played at once; those with most plies first, so that fewer go on."""

    def __init__(self, rows: Rows, fewest: Array, positions: Positions, legal: Fact) -> None:
        self._source = rows
        self._positions = positions
        self._legal = legal
        # each move then ends with a space, and the text with the last one's
        ended = pc.binary_join_element_wise(rows.column("moves"), "", " ")
        self._dice, dice_at = _bytes_of(rows.column("dice"))
        self._moves, moves_at = _bytes_of(ended)
        order = np.argsort(-fewest, kind="stable")
        self._row = order[fewest[order] > 0]
        self._plies = fewest[self._row]
        self._dice_at = dice_at[self._row]
        self._at = moves_at[self._row]
        self._end = moves_at[self._row + 1]
        self._sets = [np.full(len(self._row), side[positions.opening]) for side in positions.sets]
        self._refused: tuple[int, str, str] | None = None
        self._larger: tuple[int, str, str] | None = None
        lengths = pc.binary_length(rows.column("dice")).fill_null(0).to_numpy()
        rows.none(
            legal,
            lengths != fewest,
            lambda row: (f"{lengths[row]} throws", f"{fewest[row]} throws"),
        )
        moves = rows.column("moves")
        opening = (np.arange(len(rows)) == positions.opening) & (np.diff(moves_at) > 1)
        rows.none(legal, opening, lambda row: (f"moves {moves[row]}", "no moves"))

    def play(self, last: npt.NDArray[np.uint8], smallest: Fact) -> None:
        """Play every line to its end; `last` is each node's last move on its smallest line."""
        rows = len(self._source)
        ply, most = 0, int(self._plies.max(initial=0))
        while ply < most:
            going = int(np.searchsorted(-self._plies, -ply, side="left"))
            if self._move(ply, going):
                a, b = (side[:going] for side in self._sets)
                node = self._positions.row(a, b) + rows * ((ply + 1) % 2)
                self._compare(ply, last[node])
                ply += 1
                self._legal.step(rows - going)
        a, b = (side[self._row] for side in self._positions.sets)
        wrong = (self._sets[0] != a) | (self._sets[1] != b) | (self._at != self._end)
        if wrong.any():
            row = int(self._row[wrong].min())
            self._refused = (row, "another position at the line's end", "the row's own")
        for fact, failure in ((self._legal, self._refused), (smallest, self._larger)):
            if failure is not None:
                row, found, expected = failure
                fact.refuted(found, expected, row, self._source.content(row))

    def _move(self, ply: int, going: int) -> bool:
        """Play one ply of every line that goes on.

        Where a move is illegal nothing is played; only rows before the first such go on.
        """
        at = self._at[:going]
        mover, other = (self._sets[(side + ply) % 2][:going] for side in range(2))
        throw = (self._dice[self._dice_at[:going] + ply] - ZERO).astype(np.int32)
        start, at, is_start = self._square(at)
        sign = self._moves[at]
        goal, at, is_goal = self._square(at + 1)
        named = is_start & is_goal & (throw >= 1) & (throw <= 5) & (goal == start + throw)
        named &= (self._moves[at] == ord(" ")) & (goal <= SQUARES)
        start_bit = np.where(named, np.int32(1) << np.where(named, start - 1, 0), 0)
        goal_bit = np.where(named, np.int32(1) << np.where(named, goal - 1, 0), 0)
        may = (mover & start_bit != 0) & (landings(mover, other) & goal_bit != 0)
        may &= sign == np.where(other & goal_bit, np.uint8(ord("x")), np.uint8(ord("-")))
        if not may.all():
            self._stop(ply, ~may, going)
            return False
        after = moved(mover, other, start_bit, goal_bit)
        for side in range(2):
            self._sets[(side + ply) % 2][:going] = after[side]
        self._at[:going] = at + 1
        self._label = (throw << 4 | start).astype(np.uint8)
        return True

    def _square(self, at: Array) -> tuple[Array, Array, Mask]:
        """The number written at each place, the place after it, and whether there is one."""
        tens, ones = self._moves[at] - ZERO, self._moves[at + 1] - ZERO
        two = ones <= NINE
        value = np.where(two, tens.astype(np.int32) * 10 + ones, tens)
        return value, at + 1 + two, (tens >= 1) & (tens <= NINE)

    def _stop(self, ply: int, illegal: Mask, going: int) -> None:
        row = int(self._row[:going][illegal].min())
        self._refused = (row, f"ply {ply + 1} that is no legal move", "a legal move")
        keep = self._row < row
        self._row, self._plies = self._row[keep], self._plies[keep]
        self._dice_at, self._at, self._end = self._dice_at[keep], self._at[keep], self._end[keep]
        self._sets = [side[keep] for side in self._sets]

    def _compare(self, ply: int, expected: npt.NDArray[np.uint8]) -> None:
        wrong = np.flatnonzero(self._label != expected)
        if not len(wrong):
            return
        at = wrong[np.argmin(self._row[wrong])]
        row = int(self._row[at])
        if self._larger is None or row < self._larger[0]:
            have, want = (f"throw {m >> 4} from {m & 15}" for m in (self._label[at], expected[at]))
            self._larger = (row, f"ply {ply + 1}: {have}", want)


def _bytes_of(text: object) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """A text column's bytes on end, with some to spare, and where each row's begin."""
    _, offsets, data = text.buffers()  # type: ignore[attr-defined]  # an Arrow array
    edges = np.frombuffer(offsets, dtype=np.int32)[: len(text) + 1]  # type: ignore[arg-type]
    found = np.zeros(int(edges[-1]) + 16, dtype=np.uint8)
    found[: edges[-1]] = np.frombuffer(data, dtype=np.uint8)[: edges[-1]]
    return found, edges.astype(np.int64)
