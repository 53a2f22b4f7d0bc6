"""Arrays of a board's states: their distances, ranks and tiles, many at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.errors import BadRequest
from puzzle_tablebase.queries.board_columns import read_any_tiles

if TYPE_CHECKING:
    from puzzle_tablebase.queries.answer_frames import Bytes
    from puzzle_tablebase.queries.board_columns import DenseRows, Numbers
    from puzzle_tablebase.queries.board_ranks import BoardRanks
    from puzzle_tablebase.queries.boards import BoardProber, EightProber
    from puzzle_tablebase.queries.questions import Options

Ranks = npt.NDArray[np.int64]


class BoardArrays(Protocol):
    """Arrays of the states of a board, for one goal.

    States are a column of texts, a list of them, or an array of whole numbers.
    """

    def distances(self, states: Any = None) -> npt.NDArray[Any]:
        """Return the distance of each state; -1 for an invalid state, or one that does not reach
        the goal.

        Without states, return those of all ranks, a byte each.
        """

    def ranks(self, states: Any) -> Ranks:
        """Return the rank of each state; -1 for an invalid one.

        If a board has ranks for each goal, only states that reach the goal have a rank.
        """

    def unranks(self, ranks: Any) -> Bytes:
        """Return the tiles of the state of each rank; all 255 for an invalid rank."""


def read_ranks(ranks: Any) -> Ranks:
    """Return numbers as an array; raise BadRequest if they are not whole."""
    array = np.asarray(ranks)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "ui"):
        raise BadRequest("Ranks are a list or an array of whole numbers")
    return array.astype(np.int64)


class RankedArrays:
    """The arrays of a board whose states that reach a goal have ranks of their own."""

    def __init__(self, prober: BoardProber, options: Options) -> None:
        self._prober, self._options = prober, options

    def distances(self, states: Any = None) -> npt.NDArray[Any]:
        prober = self._prober
        if states is None:
            return prober.list_distances(self._options)
        tiles, is_state = read_any_tiles(states, prober.puzzle.cells)
        found = np.full(len(is_state), -1, np.int16)
        found[is_state] = prober.measure_tiles(tiles[:, is_state], self._options)
        return found

    def ranks(self, states: Any) -> Ranks:
        tiles, is_state = read_any_tiles(states, self._prober.puzzle.cells)
        tiles[:, ~is_state] = 0
        found = self._open_ranks().rank(tiles)
        found[~is_state] = -1
        return found

    def unranks(self, ranks: Any) -> Bytes:
        return self._open_ranks().unrank(read_ranks(ranks))

    def _open_ranks(self) -> BoardRanks:
        # the 8-puzzle's arrays need no compiler
        from puzzle_tablebase.queries.board_ranks import BoardRanks

        self._prober.files.require_open()
        board = self._prober.puzzle
        return BoardRanks(board, board.view_goal(self._options.goal or board.example))


class EightArrays:
    """The arrays of the 8-puzzle, whose states have the same ranks for all goals."""

    def __init__(self, prober: EightProber, options: Options) -> None:
        self._prober, self._options = prober, options

    def distances(self, states: Any = None) -> npt.NDArray[Any]:
        """Return the distance of each state; -1 for an invalid state, or one that does not reach
        the goal.

        Without states, return those of all ranks, a byte each; 255 where the goal is not reached.
        """
        if states is None:
            return self._prober.list_distances(self._options)
        rows, numbers = self._find_rows(states)
        return rows.distances.take(numbers)

    def ranks(self, states: Any) -> Ranks:
        """Return the rank of each state; -1 for an invalid state."""
        rows, numbers = self._find_rows(states)
        ranks = numbers.astype(np.int64)
        ranks[ranks == rows.size] = -1
        return ranks

    def unranks(self, ranks: Any) -> Bytes:
        """Return the tiles of the state of each rank; all 255 for an invalid rank."""
        rows, numbers = self._open_rows(), read_ranks(ranks)
        numbers[(numbers < 0) | (numbers > rows.size)] = rows.size
        return rows.boards[numbers]

    def best_moves(self, states: Any) -> list[str]:
        """Return the best first moves of each state; "" at the goal and where there are none."""
        rows, numbers = self._find_rows(states)
        return rows.rows["best_moves"][numbers].fill_null("").to_list()

    def neighbours(self, states: Any) -> Bytes:
        """Return the nine numbers after each of the moves U D L R; all 255 for an illegal move."""
        rows, numbers = self._find_rows(states)
        return rows.boards[rows.successors[:, numbers].T]

    def _open_rows(self) -> DenseRows:
        # closed tables keep no rows: then this raises
        return self._prober.open_columns(self._options)

    def _find_rows(self, states: Any) -> tuple[DenseRows, Numbers]:
        """Return the rows for the goal, and the number of each state's."""
        rows = self._open_rows()
        return rows, rows.number_any(states)
