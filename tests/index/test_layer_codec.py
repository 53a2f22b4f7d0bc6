"""Layers in records: what is packed is unpacked, here and by who reads the published file."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tablebase.frontier.layer_codec import decode_layer, encode_layer
from tablebase.frontier.layer_reader import LayerReader

HIGHEST = (1 << 63) - 1


@given(
    st.dictionaries(
        st.integers(1, HIGHEST), st.integers(1, HIGHEST >> 9), min_size=1, max_size=200
    ),
    st.sampled_from([18, 19, 50, 1006]),
)
@example({HIGHEST: HIGHEST >> 9, 1: 127, 2: 128}, 18)
def test_a_layer_is_unpacked_as_it_was_packed(layer: dict[int, int], width: int) -> None:
    keys = np.array(sorted(layer))
    numbers = np.array([layer[key] for key in sorted(layer)])
    firsts, sums, states = encode_layer(keys, numbers, width)
    assert states.dtype.itemsize == width
    for result, wanted in zip(decode_layer(firsts, states), (keys, numbers), strict=True):
        assert result.tolist() == wanted.tolist()
    records = [
        (0, first, total, some.ljust(width, b"\0"))
        for first, total, some in zip(firsts.tolist(), sums.tolist(), states.tolist(), strict=True)
    ]
    layers = LayerReader(records.__getitem__, len(records))
    totals = [0, *np.cumsum(numbers).tolist()][:-1]
    assert [*layers.iter_states(0, 0, 1 << 63)] == [
        *zip(keys.tolist(), totals, numbers.tolist(), strict=True)
    ]


def test_a_record_takes_a_state_that_fits_however_long_it_is() -> None:
    """After one byte 18 are left in 19, so the second state comes in, and the third does not."""
    firsts, sums, states = encode_layer(np.array([5, 6, 7]), np.array([1, 2, 3]), 19)
    assert (firsts.tolist(), sums.tolist()) == ([5, 7], [0, 3])
    assert states.tolist() == [b"\1\1\2", b"\3"]
