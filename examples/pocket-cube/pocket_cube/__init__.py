"""The pocket cube, 2x2x2: every state, and the fewest quarter turns that solve it.

The corner at the back, left and below stays where it is; the faces opposite it turn: U (above),
R (right) and F (front). So every state of the cube, however it is held, is one state here.

A state is written as seven digits, a dash, and seven more. The positions are numbered: 1-4 are
the corners above, from front right clockwise to back right; 5, 6 and 7 are those below at the front
right, the front left and the back right. The first digits say which corner is at each position, by
the position where it belongs; the last say how it is twisted there: 0 not at all, 1 clockwise, 2
anticlockwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import TYPE_CHECKING

import numpy as np

from puzzle_tablebase.errors import NotationError
from puzzle_tablebase.graph import Graph
from puzzle_tablebase.puzzles import GoalPuzzle

if TYPE_CHECKING:
    from puzzle_tablebase.puzzles import Bytes, Ranks

SOLVED = "1234567-0000000"
PIECES = {"".join(pieces): rank for rank, pieces in enumerate(permutations(SOLVED[:7]))}
"""Every order of the corners, with its rank."""
TWISTS = ["".join(twists) for twists in product("012", repeat=7) if sum(map(int, twists)) % 3 == 0]
"""All twists of a state. Their sum is a multiple of 3, which no turn changes."""


def turn_state(state: str, turn: str) -> str:
    """Return the state after a turn, given as the state that the turn makes of the solved cube.

    >>> turn_state("5231764-2001102", "4123567-0000000")
    '1523764-1200102'
    """
    positions = [int(position) - 1 for position in turn[:7]]
    pieces = [state[position] for position in positions]
    twists = [
        str((int(state[8 + position]) + int(twist)) % 3)
        for position, twist in zip(positions, turn[8:], strict=True)
    ]
    return "".join((*pieces, "-", *twists))


CLOCKWISE = {"U": "4123567-0000000", "R": "5231764-2001102", "F": "2634157-1200210"}
TURNS = {
    name: turn
    for letter, once in CLOCKWISE.items()
    for name, turn in ((letter, once), (letter.lower(), turn_state(turn_state(once, once), once)))
}
"""The quarter turns by letter: a capital is clockwise, as seen from the face."""


class PocketCube(GoalPuzzle):
    """The rules for one state, and vectorized for all states."""

    name = "pocket-cube"
    title = "Pocket cube"
    size = len(PIECES) * len(TWISTS)
    example = "2134567-0000000"
    goals = {"solved": SOLVED}  # noqa: RUF012  # a class's constants, as in any puzzle
    letters = "".join(TURNS)
    solutions = "H"

    def __init__(self) -> None:
        meaning = f"All {self.size:,} states of the 2x2x2 cube, each with its quarter turns to go"
        self.tables = (self.make_goal_table("pocket_cube", meaning, ("solved",), rows=self.size),)

    def parse(self, text: str) -> str:
        """Return the state that a text names.

        >>> PUZZLE.parse(" 2134567-0000000 ")
        '2134567-0000000'
        """
        state = text.strip()
        pieces, dash, twists = state[:7], state[7:8], state[8:]
        problem = ""
        if len(state) != len(SOLVED) or dash != "-":
            problem = "it needs seven digits, a dash, and seven digits"
        elif sorted(pieces) != sorted(SOLVED[:7]):
            problem = "it needs each of the corners 1-7 once"
        elif not {*twists} <= {*"012"}:
            problem = "a twist is 0, 1 or 2"
        elif sum(map(int, twists)) % 3:
            problem = "the sum of the twists is no multiple of 3, so a corner was turned by force"
        if problem:
            raise NotationError("a state of the pocket cube", text, problem, self.example)
        return state

    def rank(self, state: str) -> int:
        """
        >>> PUZZLE.rank(SOLVED), PUZZLE.rank("7654321-2222220")
        (0, 3674159)
        """
        return PIECES[state[:7]] * len(TWISTS) + int(state[8:14], 3)

    def unrank(self, rank: int) -> str:
        """
        >>> PUZZLE.unrank(3674159)
        '7654321-2222220'
        """
        pieces, twists = divmod(rank, len(TWISTS))
        return f"{[*PIECES][pieces]}-{TWISTS[twists]}"

    def moves(self, state: str) -> Iterator[tuple[str, str]]:
        """
        >>> dict(PUZZLE.moves(SOLVED))["R"]
        '5231764-2001102'
        """
        for letter, turn in TURNS.items():
            yield letter, turn_state(state, turn)

    # ---- vectorized for all states: 3,674,160 one by one would take minutes --------------------

    def list_states(self) -> Bytes:
        """Return each order of the pieces with each combination of twists."""
        pieces = np.array([f"{pieces}-" for pieces in PIECES], dtype=np.bytes_)
        return np.strings.add(pieces[:, None], np.array(TWISTS, dtype=np.bytes_)).ravel()

    def list_all_moves(self) -> Iterator[tuple[str, Ranks, Bytes]]:
        """Yield each turn of all states: digits are moved, and the turn's twists are added."""
        texts = self.list_states().view(np.uint8).reshape(self.size, len(SOLVED))
        for letter, turn in TURNS.items():
            positions = np.array([int(position) - 1 for position in turn[:7]])
            after = texts.take([*positions, 7, *positions + 8], axis=1)
            added = np.frombuffer(turn[8:].encode(), dtype=np.uint8) - ord("0")
            after[:, 8:] = (after[:, 8:] - ord("0") + added) % 3 + ord("0")
            yield letter, np.arange(self.size), after.view(f"S{len(SOLVED)}").ravel()

    def make_graph(self) -> Graph:
        """Return the graph, using that a turn moves pieces and twists independently."""
        targets = np.empty((len(PIECES), len(TWISTS), len(TURNS)), dtype=np.int32)
        for at, turn in enumerate(TURNS.values()):
            pieces = [self.rank(turn_state(f"{pieces}-0000000", turn)) for pieces in PIECES]
            twists = [self.rank(turn_state(f"1234567-{twists}", turn)) for twists in TWISTS]
            by_twist = np.array(twists) % len(TWISTS)
            by_piece = np.array(pieces) // len(TWISTS) * len(TWISTS)
            targets[:, :, at] = by_piece[:, None] + by_twist
        return Graph(
            np.arange(0, targets.size + 1, len(TURNS)),
            targets.ravel(),
            np.tile(np.arange(len(TURNS), dtype=np.uint8), self.size),
        )


PUZZLE = PocketCube()
