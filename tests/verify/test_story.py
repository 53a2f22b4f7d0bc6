"""What is told of a proof, word for word: its claims in turn, and how far it has come."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.falsified import story

Golden = Callable[[str, str], None]


@pytest.mark.parametrize("name", ["knight_tours_5x5", "knight_tours_8x8"])
def test_claims_of_tours(outputs: Path, golden: Golden, name: str) -> None:
    golden(f"claims_{name}", story(outputs, name))


def test_claims_of_counts(outputs: Path, golden: Golden) -> None:
    golden("claims_knight_counts", story(outputs, "knight_tours_5x5", "knight_counts"))
