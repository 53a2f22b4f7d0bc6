"""Batches of a sweep: whatever their sizes, they are bounded, complete, and count the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.pipeline.recipes import tour_counts, tour_edge_sets, tour_meet, tour_sweep
from puzzle_tablebase.pipeline.recipes.tour_edge_sets import iter_successors
from puzzle_tablebase.pipeline.recipes.tour_meet import (
    add_completions,
    find_shared_needs,
    make_cut,
    make_pair_removal,
    make_sides,
)
from puzzle_tablebase.pipeline.recipes.tour_sweep import SLICE_PLACES, HashTable
from tests.support.sweeps import count_board, list_counts, sweep_half


def test_slicing_layers_does_not_change_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = list_counts(count_board(4, 6))
    monkeypatch.setattr(tour_counts, "SLICE_STATES", 7)
    monkeypatch.setattr(tour_meet, "NEEDS_PER_PART", 4)
    assert list_counts(count_board(4, 6)) == expected


def test_batches_of_successors_are_bounded_and_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """Expand states 5 at a time, with 3 sets of edges at a time, or those of one state."""
    _, steps, (*layers, last) = sweep_half(4, 6)
    taken = [*zip(layers, steps, strict=True)]
    whole = [next(iter_successors(layer.keys, step)) for layer, step in taken]
    monkeypatch.setattr(tour_edge_sets, "STATES_PER_BATCH", 5)
    monkeypatch.setattr(tour_edge_sets, "SETS_PER_BATCH", 3)
    for (layer, step), columns in zip(taken, whole, strict=True):
        batches = [*iter_successors(layer.keys, step)]
        most = 3 + (1 << len(step.others))
        assert max(len(rows) for rows, *_ in batches) <= most
        for at, column in enumerate(columns):
            assert np.concatenate([batch[at] for batch in batches]).tolist() == column.tolist()
    assert len(last.keys) > 20


def test_few_needs_at_a_time_give_the_same_completions(monkeypatch: pytest.MonkeyPatch) -> None:
    sweep, _, layers = sweep_half(4, 6)
    one, other = make_sides(layers[-1], layers[sweep.shorter], make_cut(sweep, mirrored=True))
    needs = find_shared_needs(one, other)
    removal = make_pair_removal(sweep.cells // 2)
    results = []
    for max_sums, max_rows, sets in ((1 << 16, 1 << 16, 1 << 15), (20, 20, 3), (1, 1 << 16, 3)):
        monkeypatch.setattr(tour_meet, "MAX_SUMS", max_sums)
        monkeypatch.setattr(tour_meet, "MAX_ROWS", max_rows)
        monkeypatch.setattr(tour_edge_sets, "SETS_PER_BATCH", sets)
        onward = np.zeros_like(one.ways)
        uses = add_completions(needs, one, other, removal, onward)
        results.append((onward.tolist(), uses.tolist()))
    assert results[0] == results[1] == results[2]
    assert any(results[0][1])


@given(
    st.lists(st.integers(1, (1 << 59) - 1), unique=True, max_size=300),
    st.sampled_from([11, SLICE_PLACES]),
)
def test_a_hash_table_finds_its_keys(keys: list[int], slice_places: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tour_sweep, "SLICE_PLACES", slice_places)
        require_keys(keys)


def require_keys(keys: list[int]) -> None:
    numbers = np.arange(len(keys)) + 1
    table = HashTable.from_columns(np.array(keys, dtype=np.int64), numbers)
    assert table.filled == len(keys)
    assert table.look_up(np.array(keys, dtype=np.int64)).tolist() == numbers.tolist()
    others = sorted({key ^ 1 for key in keys} - {0, *keys})
    assert not table.look_up(np.array(others, dtype=np.int64)).any()
    table.grow(3 * len(keys))
    table.add(np.array(keys[::2], dtype=np.int64), numbers[::2])
    doubled = {key: (2 - place % 2) * (place + 1) for place, key in enumerate(keys)}
    assert dict(zip(*(column.tolist() for column in table.take_columns()), strict=True)) == doubled
