"""The rules and the bit kernels that proofs have for themselves, compared with slow code."""

import random
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.pipeline.proofs.bits import count_ones, find_lowest
from puzzle_tablebase.pipeline.proofs.board_layers import Numbering
from puzzle_tablebase.pipeline.proofs.knight_rules import (
    find_ends,
    find_jumps,
    find_light,
    list_images,
    list_jumps,
)
from tests.support import oracles, sliding_oracle

SIDES = [*product(range(1, 8), range(1, 8)), (8, 8), (12, 3), (3, 26), (9, 9)]


@pytest.mark.parametrize(("files", "ranks"), SIDES)
def test_jumps_are_those_of_the_oracle(files: int, ranks: int) -> None:
    jumps, squares = oracles.knight_jumps(files, ranks), range(files * ranks)
    found = find_jumps(files, ranks)
    assert {at: found[at].nonzero()[0].tolist() for at in squares} == jumps
    if len(squares) < 63:
        bits = [sum(1 << to for to in jumps[at]) for at in squares]
        assert list_jumps(files, ranks).tolist() == bits


@pytest.mark.parametrize(("files", "ranks"), SIDES)
def test_images_are_all_that_keep_corners_and_jumps(files: int, ranks: int) -> None:
    jumps, squares = oracles.knight_jumps(files, ranks), files * ranks
    images = list_images(files, ranks).tolist()
    for image in images:
        assert sorted(image) == [*range(squares)]
        for at, near in jumps.items():
            assert sorted(image[to] for to in near) == jumps[image[at]]
    if min(files, ranks) > 1:
        turns = {*map(tuple, images)}
        assert len(turns) == (8 if files == ranks else 4)
        # a turn of the board is known by what becomes of a1 and its neighbour b1
        corners = {0, files - 1, squares - files, squares - 1}
        assert {image[0] for image in images} == corners
        assert len({(image[0], image[1]) for image in images}) == len(turns)


@pytest.mark.parametrize(("files", "ranks"), [(3, 4), (4, 5), (3, 7), (5, 5)])
def test_colours_alternate_and_exclude_no_tour(files: int, ranks: int) -> None:
    light, ends = find_light(files, ranks), find_ends(files, ranks)
    assert light[:2].tolist() == [False, True], "a1 is dark"
    jumps = oracles.knight_jumps(files, ranks)
    assert all(light[at] != light[to] for at, near in jumps.items() for to in near)
    for start in (0, files + 1):
        for tour in oracles.knight_tours(files, ranks, start):
            assert ends[tour[0], tour[-1]]


def test_as_many_pairs_are_joined_as_there_are_of_their_colours() -> None:
    assert np.count_nonzero(find_ends(8, 8)) == 2 * 32 * 32
    assert np.count_nonzero(find_ends(5, 5)) == 13 * 12, "of 25 squares, 13 are dark"


@given(st.integers(0, (1 << 63) - 1) | st.integers(0, 62).map(lambda at: 1 << at))
def test_bits_are_counted_and_found_as_in_python(word: int) -> None:
    assert count_ones(word) == word.bit_count()
    if word:
        assert find_lowest(word) == f"{word:b}"[::-1].index("1")


@pytest.mark.parametrize(("height", "width"), [(2, 3), (2, 4), (3, 3), (3, 4)])
def test_numbers_are_places_in_a_list_of_all_orders(height: int, width: int) -> None:
    """List the orders of the tiles in ascending order, and look states up in the list."""
    numbering, cells = Numbering(height, width), height * width
    tiles = [f"{tile:x}" for tile in range(1, cells)]
    # of a large board, only the last tiles are out of order
    fixed = max(0, len(tiles) - 7)
    orders = [[*tiles[:fixed], *order] for order in permutations(tiles[fixed:])]
    draw = random.Random(height * width)
    for number, order in draw.sample([*enumerate(orders)], min(len(orders), 400)):
        place = draw.randrange(cells)
        # cell by cell in columns, then read in rows
        marks = [*order[:place], "0", *order[place:]]
        rows = [marks[row::height] for row in range(height)]
        state = "".join(mark for row in rows for mark in row)
        is_odd = sum(a > b for at, a in enumerate(order) for b in order[at:]) % 2 == 1
        assert numbering.read_state(state) == (place, number // 2, is_odd)
        assert numbering.write_state(place, number // 2, is_odd) == state


def test_states_that_reach_the_goal_have_all_numbers() -> None:
    numbering, goal = Numbering(2, 4), "12345670"
    reached = sliding_oracle.distances(goal, 2, 4)
    numbers = [numbering.read_state(state)[:2] for state in reached]
    assert sorted(place * numbering.orders + at for place, at in numbers) == [*range(20_160)]
