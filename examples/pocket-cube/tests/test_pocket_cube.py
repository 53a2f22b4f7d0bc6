"""Tests of the rules against a geometric cube, each other, and published numbers."""

from collections.abc import Iterator
from itertools import product
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray
from pocket_cube import PUZZLE, SOLVED

from puzzle_tablebase.errors import NotationError

QUARTER_TURNS = [
    *(1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852, 782536, 90280, 276)
]
"""States by distance: https://oeis.org/A079762"""
FACE_TURNS = [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644]
"""States by distance if a half turn is one move: https://oeis.org/A079761"""

Vector = tuple[int, int, int]
FACES = {"U": (0, 1, 0), "R": (1, 0, 0), "F": (0, 0, 1), "D": (0, -1, 0), "L": (-1, 0, 0)}
FACES["B"] = (0, 0, -1)
CORNERS = ("URF", "UFL", "ULB", "UBR", "DFR", "DLF", "DRB")
"""The faces of the positions 1-7: the one above or below first, then clockwise."""


def locate(corner: str) -> Vector:
    x, y, z = (sum(axis) for axis in zip(*(FACES[face] for face in corner), strict=True))
    return x, y, z


def rotate(face: str, at: Vector) -> Vector:
    """Return the image of a point, or of a sticker's direction, under a clockwise quarter turn."""
    x, y, z = at
    return {"U": (-z, y, x), "R": (x, z, -y), "F": (y, -x, z)}[face]


def turn_solved_cube(turns: str) -> str:
    """Turn the solved cube, and return the notation of the result, read from its stickers."""
    stickers = [(locate(corner), FACES[corner[0]]) for corner in CORNERS]
    for letter in turns:
        face = letter.upper()
        for _ in range(1 if letter == face else 3):
            stickers = [
                (rotate(face, at), rotate(face, direction))
                if np.dot(at, FACES[face]) > 0
                else (at, direction)
                for at, direction in stickers
            ]
    pieces, twists = "", ""
    for corner in CORNERS:
        (piece,) = (n for n, (at, _) in enumerate(stickers) if at == locate(corner))
        pieces += str(piece + 1)
        twists += str([FACES[face] for face in corner].index(stickers[piece][1]))
    return f"{pieces}-{twists}"


def choose_states() -> Iterator[int]:
    random = Random(1)
    return (random.randrange(PUZZLE.size) for _ in range(300))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_turns_are_those_of_a_cube_in_space(length: int) -> None:
    for turns in product(PUZZLE.letters, repeat=length):
        state = SOLVED
        for letter in turns:
            state = dict(PUZZLE.moves(state))[letter]
        assert state == turn_solved_cube("".join(turns)), turns


def test_ranks_and_states_are_one_to_one() -> None:
    states = PUZZLE.list_states()
    assert len(states) == PUZZLE.size == 3_674_160
    assert (states[1:] > states[:-1]).all()
    for rank in choose_states():
        state = PUZZLE.unrank(rank)
        assert states[rank] == state.encode()
        assert PUZZLE.rank(PUZZLE.parse(state)) == rank


def test_all_states_at_once_move_as_each_of_them() -> None:
    after = {letter: (ranks, reached) for letter, ranks, reached in PUZZLE.list_all_moves()}
    graph = PUZZLE.make_graph()
    assert [*after] == [*PUZZLE.letters]
    for rank in choose_states():
        moves = dict(PUZZLE.moves(PUZZLE.unrank(rank)))
        for letter, (ranks, reached) in after.items():
            assert (ranks[rank], reached[rank]) == (rank, moves[letter].encode())
        first, last = graph.offsets[rank : rank + 2]
        assert graph.targets[first:last].tolist() == [PUZZLE.rank(to) for to in moves.values()]
        assert graph.labels[first:last].tolist() == [*range(len(PUZZLE.letters))]


def count_by_depth(targets: list[NDArray[np.int32]]) -> list[int]:
    """Return the number of states that are first reached after each number of moves."""
    depth = np.full(PUZZLE.size, -1, dtype=np.int8)
    layer, counts = np.array([PUZZLE.rank(SOLVED)]), list[int]()
    while len(layer):
        depth[layer] = len(counts)
        counts.append(len(layer))
        after = np.zeros(PUZZLE.size, dtype=np.bool_)
        for to in targets:
            after[to[layer]] = True
        layer = np.flatnonzero(after & (depth < 0))
    return counts


def test_the_numbers_of_states_are_the_known_ones() -> None:
    quarters = [*PUZZLE.make_graph().targets.reshape(PUZZLE.size, -1).T.copy()]
    assert count_by_depth(quarters) == QUARTER_TURNS
    halves = [quarter[quarter] for quarter in quarters[::2]]
    assert count_by_depth(quarters + halves) == FACE_TURNS


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1234567", "seven digits, a dash"),
        ("1234567 0000000", "seven digits, a dash"),
        ("1134567-0000000", "each of the corners 1-7 once"),
        ("1234567-3000000", "a twist is 0, 1 or 2"),
        ("1234567-1000000", "a corner was turned by force"),
    ],
)
def test_an_invalid_state_is_rejected(text: str, problem: str) -> None:
    with pytest.raises(NotationError, match=problem):
        PUZZLE.parse(text)
