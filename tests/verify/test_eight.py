"""The proof's own states and moves of the 8-puzzle follow the rules."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest

from pipeline.verify.state_proofs import Space, make_eight_space
from tablebase.puzzles.eight import PUZZLE as EIGHT
from tests.support import oracles


@pytest.fixture(scope="module")
def sliding_table() -> Space:
    return make_eight_space(EIGHT)


def test_the_8_puzzles_vectorized_moves_follow_the_rules(sliding_table: Space) -> None:
    """Compare every state, and every move of each, with the written rules."""
    states = sliding_table.states.to_pylist()
    assert states == ["".join(digits) for digits in permutations("012345678")]
    digits = np.frombuffer("".join(states).encode(), np.uint8).reshape(-1, 9)
    steps = [oracles.BLANK_STEPS[letter] for letter in EIGHT.letters]
    rows, blanks = (
        np.arange(len(sliding_table.sources)),
        np.argmin(digits, axis=1)[sliding_table.sources],
    )
    others = blanks + np.array([3 * down + right for down, right in steps])[sliding_table.letters]
    after = digits[sliding_table.sources]
    after[rows, blanks], after[rows, others] = after[rows, others], after[rows, blanks]
    assert np.array_equal(after, digits[sliding_table.targets])
    ways = np.zeros((9, len(steps)), dtype=np.int64)
    np.add.at(ways, (blanks, sliding_table.letters), 1)
    for blank, result in enumerate(ways.tolist()):
        legal = oracles.eight_neighbours("12345678"[:blank] + "0" + "12345678"[blank:])
        assert result == [factorial(8) * (letter in legal) for letter in EIGHT.letters]
    parity = sliding_table.parity
    assert parity is not None
    assert np.array_equal(parity[sliding_table.sources], parity[sliding_table.targets])
    assert parity.sum() * 2 == len(parity) == factorial(9)
    assert parity[EIGHT.rank("123456780")] == 0


@pytest.mark.parametrize("goal", EIGHT.goals.values())
def test_the_8_puzzles_columns_follow_the_rules(sliding_table: Space, goal: str) -> None:
    ranks = np.arange(0, EIGHT.size, 397)
    result = {name: values.tolist() for name, values in sliding_table.features(ranks, goal).items()}
    states = [EIGHT.unrank(rank) for rank in ranks.tolist()]
    features = [oracles.eight_features(state, goal) for state in states]
    columns = {name: [of_state[name] for of_state in features] for name in features[0]}
    assert result == {**columns, "rank": ranks.tolist()}
