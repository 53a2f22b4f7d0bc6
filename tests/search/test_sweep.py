"""Counting without lists: matchings and keys, all small boards, and sums that overflow."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.frontier.layers import END, FREE, MATCHING_BITS
from puzzle_tablebase.pipeline.recipes import tour_counts, tour_edge_sets, tour_meet, tour_sweep
from puzzle_tablebase.pipeline.recipes.tour_edge_sets import Step, iter_successors
from puzzle_tablebase.pipeline.recipes.tour_keys import (
    END_BITS,
    MAX_PAIRS,
    list_all_partners,
    rank_matching,
    unpack_key,
)
from puzzle_tablebase.pipeline.recipes.tour_sweep import (
    SLICE_PLACES,
    CountOverflow,
    HashTable,
    Layer,
    advance_layer,
    count_onward,
    make_first_layer,
    sum_cycles,
)
from puzzle_tablebase.pipeline.searches import checkpoints
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE
from puzzle_tablebase.stores.folder import Folder
from tests import first
from tests.support import oracles
from tests.support.sweeps import count_board, list_counts, sweep_half
from tests.support.tour_lists import all_tours

NO_MIRROR = np.empty(0, dtype=np.int64)
UPRIGHT = [(3, 6), (3, 7), (3, 8), (4, 6)]
# the last is 5x5, whose tours take seconds to list
UPRIGHT += [(files, ranks) for files in range(1, 6) for ranks in range(files, 6)]


# ---- boards ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "ranks"), first(len(UPRIGHT) - 1, UPRIGHT, rest=pytest.mark.nightly)
)
def test_a_board_has_as_many_tours_as_are_listed(files: int, ranks: int) -> None:
    counts, closed = list_counts(count_board(files, ranks))
    listed = all_tours(files, ranks)
    assert counts == [len(tours) for tours in listed]
    for tours in listed:
        assert sum(oracles.is_closed(files, tour) for tour in tours) == closed


@pytest.mark.parametrize(("files", "ranks", "closed"), [(3, 10, 32), (5, 6, 16)])
def test_closed_tours_are_counted_alone_too(files: int, ranks: int, closed: int) -> None:
    assert count_board(files, ranks, paths=False) == (None, closed)
    assert count_board(files, ranks)[1] == closed


def test_a_killed_count_resumes_from_stored_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Resume from the stored layers, all but the smallest, and repeat none of them."""
    sizes, layers, board = list[int](), 0, KnightBoard(4, 6)

    def advance(layer: Layer, step: Step, going: Callable[[], None]) -> Layer:
        sizes.append(len(layer.keys))
        return advance_layer(layer, step, going)

    def on_progress(doing: str, done: int, total: int | None) -> None:
        if doing == "4x6 open, steps back" and done == 3 and not layers:
            raise KeyboardInterrupt

    monkeypatch.setattr(tour_counts, "advance_layer", advance)
    monkeypatch.setattr("puzzle_tablebase.pipeline.tasks.MIN_SAVED_BYTES", 3 * 16)
    with ThreadPoolExecutor(1) as pool:
        tasks = Tasks(pool, 1, on_progress, checkpoints(Folder(tmp_path), PUZZLE.tables[-1]))
        with pytest.raises(KeyboardInterrupt):
            tour_counts.count_tours(board, tasks, paths=True)
        layers = len(sizes)
        result = tour_counts.count_tours(board, tasks, paths=True)
    assert layers == 2 * 8
    assert len(sizes[layers:]) < 8
    assert max(sizes[layers:]) <= 3, "these are not kept"
    assert list_counts(result) == list_counts(count_board(4, 6))


# ---- sums that do not fit -------------------------------------------------------------------


def multiply_counts(layer: Layer, times: int) -> Layer:
    return Layer(layer.keys, layer.ways * times)


def test_overflowing_forward_counts_are_reported() -> None:
    """Sweep 3x6 to a state that two states lead to, whose counts are added up."""
    _, steps, (_, *layers) = sweep_half(3, 6)
    at = next(n for n, (one, other) in enumerate(pairwise(layers))
              if other.ways.max() > one.ways.max())  # fmt: skip
    step, full = steps[at + 1], (1 << 63) // int(layers[at + 1].ways.max())
    assert advance_layer(multiply_counts(layers[at], full - 1), step, lambda: None).ways.min() > 0
    with pytest.raises(CountOverflow):
        advance_layer(multiply_counts(layers[at], full + 1), step, lambda: None)


@pytest.mark.parametrize(("ways", "onward"), [(1 << 32, 1 << 31), (1 << 62, 2), (3, 1 << 62)])
def test_overflowing_cycle_sums_are_reported(ways: int, onward: int) -> None:
    assert sum_cycles(np.array([ways, 0]), np.array([onward // 2, 1])) == ways * (onward // 2)
    with pytest.raises(CountOverflow):
        sum_cycles(np.array([ways, ways]), np.array([onward // 2, onward // 2]))


def test_overflowing_backward_counts_are_reported() -> None:
    step = Step(2, 0, np.array([1, 2]), NO_MIRROR, list_all_partners(4))
    layer = make_first_layer([FREE] * 2)
    after = advance_layer(layer, step, lambda: None)
    onward = np.full(len(after.keys), (1 << 62) // len(after.keys))
    _, uses = count_onward(layer, step, HashTable.from_columns(after.keys, onward))
    assert uses.max() > 1 << 61
    for ways, each in ((1, onward * 3), (4, onward)):
        with pytest.raises(CountOverflow):
            count_onward(
                multiply_counts(layer, ways), step, HashTable.from_columns(after.keys, each)
            )


def test_a_board_with_too_many_tours_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("puzzle_tablebase.pipeline.recipes.tour_sweep.COUNT_LIMIT", 10.0)
    with pytest.raises(SearchError):
        count_board(4, 5)


# ---- states ---------------------------------------------------------------------------------


@given(st.permutations(range(2 * MAX_PAIRS)))
def test_the_largest_matchings_are_unpacked_and_ranked(order: list[int]) -> None:
    """Pair all eighteen cells of the chessboard's frontier."""
    partner, ends = np.zeros((2, 20), dtype=np.int64)
    partner[order[::2]], partner[order[1::2]] = order[1::2], order[::2]
    needs = END_BITS & ((1 << 4 * MAX_PAIRS) - 1)
    key = needs << MATCHING_BITS | rank_matching(needs, partner)
    assert 0 < key < 1 << 62
    result = np.zeros(20, dtype=np.int64)
    assert unpack_key(key, list_all_partners(2 * MAX_PAIRS), result, ends) == 2 * MAX_PAIRS
    assert result.tolist() == partner.tolist()


def test_a_state_and_its_mirror_image_are_merged() -> None:
    """Join a cell to either of two, which the mirror exchanges; the third stays in its place."""
    layer = make_first_layer([END, FREE, FREE, END])
    step = Step(4, 0, np.array([1, 2]), np.array([1, 0, 2, 3]), list_all_partners(4))
    for mirror, states in ((step.mirror, 1), (NO_MIRROR, 2)):
        after = advance_layer(layer, step._replace(mirror=mirror), lambda: None)
        assert sorted(after.ways.tolist()) == [2 // states] * states
    needs = (END << 2 | FREE | END << 4 | FREE << 6) << MATCHING_BITS
    assert needs in after.keys
    assert advance_layer(layer, step, lambda: None).keys.tolist() == [min(after.keys.tolist())]


# ---- batches --------------------------------------------------------------------------------


@pytest.mark.parametrize(("max_sums", "max_rows"), [(20, 20), (1, 1 << 16)])
def test_slicing_layers_does_not_change_counts(
    max_sums: int, max_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = list_counts(count_board(4, 6))
    monkeypatch.setattr(tour_counts, "SLICE_STATES", 7)
    monkeypatch.setattr(tour_edge_sets, "SETS_PER_BATCH", 3)
    monkeypatch.setattr(tour_meet, "NEEDS_PER_PART", 4)
    monkeypatch.setattr(tour_meet, "MAX_SUMS", max_sums)
    monkeypatch.setattr(tour_meet, "MAX_ROWS", max_rows)
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


@given(
    st.lists(st.integers(1, (1 << 59) - 1), unique=True, max_size=300),
    st.sampled_from([11, SLICE_PLACES]),
)
def test_a_hash_table_finds_its_keys(keys: list[int], slice_places: int) -> None:
    numbers = np.arange(len(keys)) + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tour_sweep, "SLICE_PLACES", slice_places)
        table = HashTable.from_columns(np.array(keys, dtype=np.int64), numbers)
        assert table.filled == len(keys)
        assert table.look_up(np.array(keys, dtype=np.int64)).tolist() == numbers.tolist()
        others = sorted({key ^ 1 for key in keys} - {0, *keys})
        assert not table.look_up(np.array(others, dtype=np.int64)).any()
        table.grow(3 * len(keys))
        table.add(np.array(keys[::2], dtype=np.int64), numbers[::2])
        columns = [column.tolist() for column in table.take_columns()]
    doubled = {key: (2 - place % 2) * (place + 1) for place, key in enumerate(keys)}
    assert dict(zip(*columns, strict=True)) == doubled


# ---- the compiler off -----------------------------------------------------------------------


def count_small_boards() -> str:
    return json.dumps([list_counts(count_board(*sides)) for sides in ((3, 4), (4, 5))])
