"""Counting without lists: matchings and keys, all small boards, and sums that overflow."""

import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.kinds import checkpoints
from puzzle_tablebase.pipeline.recipes import tour_counts, tour_meet, tour_sweep
from puzzle_tablebase.pipeline.recipes.tour_sweep import (
    ONCE,
    CountOverflow,
    Layer,
    StarMap,
    Step,
    advance_layer,
    count_onward,
    make_first_layer,
    sum_cycles,
)
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.workers import Workers
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE
from puzzle_tablebase.stores import Folder
from puzzle_tablebase.tour_frontier.keys import (
    END_BITS,
    MAX_PAIRS,
    list_all_mates,
    rank_matching,
    unpack_key,
)
from puzzle_tablebase.tour_frontier.states import END, FREE, MATCHING_BITS
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

    def advance(layer: Layer, step: Step, going: Callable[[], None], star_map: StarMap) -> Layer:
        sizes.append(len(layer.keys))
        return advance_layer(layer, step, going, star_map)

    def on_progress(doing: str, done: int, total: int | None) -> None:
        if doing == "4x6 open, steps back" and done == 3 and not layers:
            raise KeyboardInterrupt

    monkeypatch.setattr(tour_counts, "advance_layer", advance)
    monkeypatch.setattr("puzzle_tablebase.pipeline.tasks.MIN_SAVED_BYTES", 8 + 3 * 28)
    with ThreadPoolExecutor(1) as pool:
        tasks = Tasks(
            Workers(pool, 1), on_progress, checkpoints(Folder(tmp_path), PUZZLE.tables[-1])
        )
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
    return layer._replace(ways=layer.ways * times)


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
    step = Step(2, 0, np.array([1, 2]), NO_MIRROR)
    layer = make_first_layer([FREE] * 2)
    after = advance_layer(layer, step, lambda: None)
    onward = np.full(len(after.keys), (1 << 62) // len(after.keys))
    _, uses = count_onward(layer, step, after._replace(ways=onward))
    assert uses.max() > 1 << 61
    for ways, each in ((1, onward * 3), (4, onward)):
        with pytest.raises(CountOverflow):
            count_onward(multiply_counts(layer, ways), step, after._replace(ways=each))


def test_a_board_with_too_many_tours_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("puzzle_tablebase.pipeline.recipes.tour_sweep.COUNT_LIMIT", 10.0)
    with pytest.raises(SearchError):
        count_board(4, 5)


def test_closed_tours_must_fit_in_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tour_counts, "COUNT_LIMIT", 17.0)
    assert count_board(5, 6, paths=False) == (None, 16)
    monkeypatch.setattr(tour_counts, "COUNT_LIMIT", 16.0)
    with pytest.raises(CountOverflow):
        count_board(5, 6, paths=False)


def test_paths_without_two_ends_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tour_counts, "sum_cycles", lambda *_: 7)
    with pytest.raises(SearchError, match=r"The paths of 3x4 do not have two ends each\."):
        count_board(3, 4)


# ---- states ---------------------------------------------------------------------------------


@given(st.permutations(range(2 * MAX_PAIRS)))
def test_the_largest_matchings_are_unpacked_and_ranked(order: list[int]) -> None:
    """Pair all eighteen cells of the chessboard's frontier."""
    mate, ends = np.zeros((2, 20), dtype=np.int64)
    mate[order[::2]], mate[order[1::2]] = order[1::2], order[::2]
    needs = END_BITS & ((1 << 4 * MAX_PAIRS) - 1)
    key = needs << MATCHING_BITS | rank_matching(needs, mate)
    assert 0 < key < 1 << 62
    result = np.zeros(20, dtype=np.int64)
    assert unpack_key(key, list_all_mates(2 * MAX_PAIRS), result, ends) == 2 * MAX_PAIRS
    assert result.tolist() == mate.tolist()


def test_a_state_and_its_mirror_image_are_merged() -> None:
    """Join a cell to either of two, which the mirror swaps; the third stays."""
    layer = make_first_layer([END, FREE, FREE, END])
    step = Step(4, 0, np.array([1, 2]), np.array([1, 0, 2, 3]))
    for mirror, states in ((step.mirror, 1), (NO_MIRROR, 2)):
        after = advance_layer(layer, step._replace(mirror=mirror), lambda: None)
        assert sorted(after.ways.tolist()) == [2 // states] * states
    needs = (END << 2 | FREE | END << 4 | FREE << 6) << MATCHING_BITS
    assert needs in after.keys
    assert advance_layer(layer, step, lambda: None).keys.tolist() == [min(after.keys.tolist())]


# ---- parts ----------------------------------------------------------------------------------


def test_dividing_layers_does_not_change_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = list_counts(count_board(4, 6))
    monkeypatch.setattr(tour_counts, "SLICE_NEEDS", 7)
    monkeypatch.setattr(tour_sweep, "PART_NEEDS", 3)
    monkeypatch.setattr(tour_meet, "NEEDS_PER_PART", 4)
    assert list_counts(count_board(4, 6)) == expected


def test_parts_of_a_layer_are_bounded_and_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the states of 5 needs at a time, in threads whose results come in order."""
    _, steps, layers = sweep_half(4, 6)
    monkeypatch.setattr(tour_sweep, "PART_NEEDS", 5)
    sizes = list[int]()

    def run(function: Callable[..., object], items: Iterable[tuple[Array]]) -> list[object]:
        parts = [*items]
        sizes.extend(len(part) for (part,) in parts)
        with ThreadPoolExecutor(2) as pool:
            return [*pool.map(function, *zip(*parts, strict=True))]

    for (before, after), step in zip(pairwise(layers), steps, strict=True):
        found = advance_layer(before, step, lambda: None, run)
        assert [column.tolist() for column in found] == [column.tolist() for column in after]
        slices = [*after.iter_slices(5)]
        assert np.concatenate([part.keys for part in slices]).tolist() == after.keys.tolist()
        assert Layer.from_keys(after.keys, after.ways).needs.tolist() == after.needs.tolist()
    assert len(sizes) > 20
    assert max(sizes) == 5


# ---- a modulus ------------------------------------------------------------------------------

PRIME = 4_294_967_291
CLOSED = {(3, 10): 16, (4, 7): 0, (5, 6): 8, (5, 8): 44_202, (6, 6): 9_862, (6, 7): 1_067_638,
          (6, 8): 55_488_142, (7, 8): 34_524_432_316}  # fmt: skip
"""The closed tours of boards that have been counted before, without their direction."""


@pytest.mark.parametrize(
    ("files", "ranks"), first(7, sorted(CLOSED, key=CLOSED.__getitem__), rest=pytest.mark.slow)
)
@pytest.mark.parametrize("modulus", [97, PRIME])
def test_cycles_are_counted_modulo_a_number(files: int, ranks: int, modulus: int) -> None:
    board = KnightBoard(files, ranks)
    with ThreadPoolExecutor(2) as pool:
        tasks = Tasks(Workers(pool, 2))
        counted, _ = tour_counts.count_cycles(board, tasks, paths=False, modulus=modulus)
    assert counted == CLOSED[files, ranks] % modulus


def test_sums_above_the_modulus_are_reduced() -> None:
    """Step with remainders so large that the sum of two does not fit into 32 bits."""
    _, steps, layers = sweep_half(3, 6)
    merged = 0
    for step, layer in zip(steps, layers[:-1], strict=True):
        exact = advance_layer(
            layer._replace(ways=np.full_like(layer.ways, PRIME - 1)), step, lambda: None
        )
        remainders = np.full(len(layer.ways), PRIME - 1, dtype=np.uint32)
        found = advance_layer(
            layer._replace(ways=remainders), step._replace(modulus=PRIME), lambda: None
        )
        assert found.ways.dtype == np.uint32
        assert found.ways.tolist() == (exact.ways % PRIME).tolist()
        merged += int((exact.ways >= 1 << 32).sum())
    assert merged > 0


def test_products_modulo_a_number_do_not_overflow() -> None:
    numbers = np.full(2 * tour_sweep.PART_NEEDS + 7, PRIME - 1, dtype=np.uint32)
    assert sum_cycles(numbers, numbers.astype(np.int64), PRIME) == len(numbers)


def test_each_modulus_has_its_own_stored_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("puzzle_tablebase.pipeline.tasks.MIN_SAVED_BYTES", 0)
    board = KnightBoard(5, 8)
    with ThreadPoolExecutor(1) as pool:
        tasks = Tasks(
            Workers(pool, 1), checkpoints=checkpoints(Folder(tmp_path), PUZZLE.tables[-1])
        )
        counted = [
            tour_counts.count_cycles(board, tasks, paths=False, modulus=modulus)[0]
            for modulus in (0, 97, 101)
        ]
    assert counted == [CLOSED[5, 8], CLOSED[5, 8] % 97, CLOSED[5, 8] % 101]


def test_a_dry_run_counts_the_states_alone() -> None:
    _, steps, layers = sweep_half(5, 6)
    layer = make_first_layer([FREE] * steps[0].cells, ONCE)
    for step, expected in zip(steps, layers[1:], strict=True):
        layer = advance_layer(layer, step._replace(modulus=ONCE), lambda: None)
        assert layer.keys.tolist() == expected.keys.tolist()
        assert layer.ways.dtype == np.uint8
        assert set(layer.ways.tolist()) == {1}


# ---- the compiler off -----------------------------------------------------------------------


def count_small_boards() -> str:
    return json.dumps([list_counts(count_board(*sides)) for sides in ((3, 4), (4, 5))])
