"""The operations on bits that proofs use, compared with Python."""

from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.pipeline.proofs.bits import count_ones, count_trailing_zeros


@given(st.integers(0, (1 << 63) - 1) | st.integers(0, 62).map(lambda at: 1 << at))
def test_bits_are_counted_and_found_as_in_python(word: int) -> None:
    assert count_ones(word) == word.bit_count()
    if word:
        assert count_trailing_zeros(word) == f"{word:b}"[::-1].index("1")
