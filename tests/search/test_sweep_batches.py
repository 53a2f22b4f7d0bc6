"""Batches of a sweep: whatever their sizes, they are bounded, complete, and count the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.pipeline.builders.tour_sweeps import SweepSettings
from puzzle_tablebase.pipeline.search.tour_edge_sets import iter_successors
from puzzle_tablebase.pipeline.search.tour_meet import (
    MeetingLimits,
    add_completions,
    find_max_pairs,
    find_shared_needs,
    make_pair_removal,
    make_sides,
)
from puzzle_tablebase.pipeline.search.tour_sweep import SLICE_PLACES, HashTable, advance_layer
from tests.support.sweeps import count_board, cut_into_halves, list_counts


def test_slicing_layers_does_not_change_counts() -> None:
    sliced = count_board(4, 6, SweepSettings(slice_states=7, needs_per_task=4, tasks_per_round=3))
    assert list_counts(sliced) == list_counts(count_board(4, 6))


def test_batches_of_successors_are_bounded_and_complete() -> None:
    """Expand states 5 at a time, with 3 sets of edges at a time, or those of one state."""
    halves = cut_into_halves(4, 6)
    layer = halves.first
    for step in halves.steps:
        whole = next(iter_successors(layer.keys, step))
        batches = [*iter_successors(layer.keys, step, batch_states=5, batch_sets=3)]
        most = 3 + (1 << len(step.others))
        assert max(len(rows) for rows, *_ in batches) <= most
        for at, column in enumerate(whole):
            assert np.concatenate([batch[at] for batch in batches]).tolist() == column.tolist()
        layer = advance_layer(layer, step, lambda: None)
    assert len(layer.keys) > 20


def test_few_needs_at_a_time_give_the_same_completions() -> None:
    halves = cut_into_halves(4, 6)
    layers = [halves.first]
    for step in halves.steps:
        layers.append(advance_layer(layers[-1], step, lambda: None))
    one, other = make_sides(layers[-1], layers[halves.shorter], halves)
    needs = find_shared_needs(one, other, len(halves.mirror))
    removal = make_pair_removal(find_max_pairs(needs))
    results = []
    for limits in (
        MeetingLimits(),
        MeetingLimits(max_sums=20, max_rows=20, batch_sets=3),
        MeetingLimits(max_sums=1),
    ):
        onward = np.zeros_like(one.ways)
        uses = add_completions(needs, one, other, removal, onward, limits)
        results.append((onward.tolist(), uses.tolist()))
    assert results[0] == results[1] == results[2]
    assert any(results[0][1])


@given(
    st.lists(st.integers(1, (1 << 59) - 1), unique=True, max_size=300),
    st.sampled_from([11, SLICE_PLACES]),
)
def test_a_hash_table_finds_its_keys(keys: list[int], slice_places: int) -> None:
    numbers = np.arange(len(keys)) + 1
    table = HashTable.from_columns(np.array(keys, dtype=np.int64), numbers)
    assert table.filled == len(keys)
    assert table.look_up(np.array(keys, dtype=np.int64)).tolist() == numbers.tolist()
    others = sorted({key ^ 1 for key in keys} - {0, *keys})
    assert not table.look_up(np.array(others, dtype=np.int64)).any()
    table.grow(3 * len(keys), slice_places)
    table.add(np.array(keys[::2], dtype=np.int64), numbers[::2])
    doubled = {key: (2 - place % 2) * (place + 1) for place, key in enumerate(keys)}
    assert (
        dict(zip(*(column.tolist() for column in table.take_columns(slice_places)), strict=True))
        == doubled
    )


def test_keys_are_spread_over_the_hash_table() -> None:
    """Require short probe runs, although keys of neighbouring states differ in few bits."""
    halves = cut_into_halves(5, 8)
    layer = halves.first
    for step in halves.steps:
        layer = advance_layer(layer, step, lambda: None)
    table = HashTable.from_columns(layer.keys, layer.ways)
    runs = np.diff(np.flatnonzero(table.keys == 0))
    assert len(layer.keys) > 10_000
    assert runs.max() < 500
