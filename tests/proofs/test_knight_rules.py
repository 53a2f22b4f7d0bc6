"""The knight's rules that proofs have for themselves, compared with slow code."""

from itertools import product

import numpy as np
import pytest

from puzzle_tablebase.pipeline.proofs.knight_rules import (
    find_ends,
    find_jumps,
    find_light,
    list_images,
    list_jumps,
)
from tests.support import oracles

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
