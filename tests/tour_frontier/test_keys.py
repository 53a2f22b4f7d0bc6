"""Tests of layers in records: encoded layers are decoded."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from puzzle_tablebase.tour_frontier.keys import decode_layer, encode_layer

HIGHEST = (1 << 63) - 1


@given(
    st.dictionaries(
        st.integers(1, HIGHEST), st.integers(1, HIGHEST >> 9), min_size=1, max_size=200
    ),
    st.sampled_from([18, 19, 50, 1006]),
)
@example({HIGHEST: HIGHEST >> 9, 1: 127, 2: 128}, 18)
def test_a_decoded_layer_equals_the_encoded_one(layer: dict[int, int], width: int) -> None:
    keys = np.array(sorted(layer))
    numbers = np.array([layer[key] for key in keys.tolist()])
    firsts, sums, states = encode_layer(keys, numbers, width)
    assert states.dtype.itemsize == width
    for result, expected in zip(decode_layer(firsts, states), (keys, numbers), strict=True):
        assert result.tolist() == expected.tolist()
    before = [sum(numbers[:at].tolist()) for at in np.searchsorted(keys, firsts)]
    assert sums.tolist() == before


def test_a_state_goes_into_a_record_whenever_it_fits() -> None:
    """Use records of 19 bytes: the second state fits into the remaining 18, the third does not."""
    firsts, sums, states = encode_layer(np.array([5, 6, 7]), np.array([1, 2, 3]), 19)
    assert (firsts.tolist(), sums.tolist()) == ([5, 7], [0, 3])
    assert states.tolist() == [b"\1\1\2", b"\3"]
