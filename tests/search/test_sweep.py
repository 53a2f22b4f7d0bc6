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
from puzzle_tablebase.frontier.compiled import (
    END_BITS,
    MATCHING_COUNTS,
    MAX_PAIRS,
    list_all_partners,
    rank_matching,
    unpack_key,
)
from puzzle_tablebase.frontier.layers import END, FREE, MATCHING_BITS
from puzzle_tablebase.pipeline.builders import checkpoints, tour_sweeps
from puzzle_tablebase.pipeline.builders.tour_sweeps import SweepSettings
from puzzle_tablebase.pipeline.search import tour_sweep
from puzzle_tablebase.pipeline.search.tour_edge_sets import Step
from puzzle_tablebase.pipeline.search.tour_sweep import (
    CountOverflow,
    HashTable,
    Layer,
    advance_layer,
    count_onward,
    make_first_layer,
)
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE
from puzzle_tablebase.stores.folder import Folder
from tests import first
from tests.support import oracles
from tests.support.sweeps import count_board, cut_into_halves, list_counts
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
    assert count_board(files, ranks, paths=False) == tour_sweeps.TourTotals(None, closed)
    assert count_board(files, ranks).closed == closed


class KilledError(Exception):
    """Error raised in the middle of a count."""


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
            raise KilledError

    monkeypatch.setattr(tour_sweeps, "advance_layer", advance)
    settings = SweepSettings(min_stored_bytes=3 * 16)
    with ThreadPoolExecutor(1) as pool:
        work = Tasks(pool, 1, on_progress, checkpoints(Folder(tmp_path), PUZZLE.tables[-1]))
        with pytest.raises(KilledError):
            tour_sweeps.count_tours(board, work, settings, paths=True)
        layers = len(sizes)
        result = tour_sweeps.count_tours(board, work, settings, paths=True)
    repeated = sizes[layers:]
    assert layers == 2 * 8
    assert len(repeated) < 8
    assert max(repeated) <= 3, "these are not kept"
    assert list_counts(result) == list_counts(count_board(4, 6))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_killed_meeting_resumes_from_its_checkpoint(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, board = list[int](), KnightBoard(4, 6)

    def on_progress(doing: str, part: int, total: int | None) -> None:
        if doing == "4x6 open, where the halves meet":
            done.append(part)
            if part == 5 and len(done) == 6:
                raise KilledError

    sizes = {"min_stored_bytes": 16, "needs_per_task": 4, "tasks_per_round": 2}
    settings = SweepSettings(**sizes, checkpoint_seconds=0)
    monkeypatch.setattr(tour_sweeps, "count_cores", lambda: threads)
    with ThreadPoolExecutor(1) as pool:
        work = Tasks(pool, 1, on_progress, checkpoints(Folder(tmp_path), PUZZLE.tables[-1]))
        with pytest.raises(KilledError):
            tour_sweeps.count_tours(board, work, settings, paths=True)
        result = tour_sweeps.count_tours(board, work, settings, paths=True)
    assert done[6] == 4, "the round that was begun is made again"
    assert done[6:] == [*range(4, done[-1] + 1)]
    assert list_counts(result) == list_counts(count_board(4, 6))


def test_a_thread_that_fails_gives_its_sums_back() -> None:
    sums = tour_sweeps.ThreadSums(np.ones(2, dtype=np.int64), 1)
    with pytest.raises(KilledError), sums.borrow():
        raise KilledError
    assert sums.merge().tolist() == [1, 1]


@pytest.mark.parametrize(("files", "ranks"), [(4, 6), (5, 5), (5, 6)])
def test_states_with_wrong_colours_are_pruned(
    files: int, ranks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Require fewer states, and equally many tours."""
    sizes = list[int]()

    def reported(layer: Layer, step: Step, going: Callable[[], None]) -> Layer:
        after = advance_layer(layer, step, going)
        sizes.append(len(after.keys))
        return after

    monkeypatch.setattr(tour_sweeps, "advance_layer", reported)
    with_colours, states = list_counts(count_board(files, ranks)), sum(sizes)
    monkeypatch.setattr(tour_sweep, "color_squares", lambda later: np.zeros(len(later), np.int64))
    without, states_without = list_counts(count_board(files, ranks)), sum(sizes) - states
    assert with_colours == without
    assert states < (0.5 if files * ranks % 2 else 0.8) * states_without


def test_color_squares_finds_a_two_colouring_or_none() -> None:
    board = KnightBoard(4, 5)
    later = [[to for to in board.list_neighbours(at) if to > at] for at in range(board.squares)]
    dark = [-1 if board.is_light(at) else 1 for at in range(board.squares)]
    assert tour_sweep.color_squares(later).tolist() == dark
    assert tour_sweep.color_squares([[1, 2], [2], []]).tolist() == [0, 0, 0]
    assert tour_sweep.color_squares([[2], [], [3], []]).tolist() == [1, 1, -1, 1]


# ---- sums that do not fit -------------------------------------------------------------------


def multiply_counts(layer: Layer, times: int) -> Layer:
    return Layer(layer.keys, layer.ways * times)


def test_overflowing_forward_counts_are_reported() -> None:
    """Sweep 3x6 to a state that two states lead to, whose counts are added up."""
    steps = cut_into_halves(3, 6)
    layer = steps.first
    layers = [layer := advance_layer(layer, step, lambda: None) for step in steps.steps]
    at = next(n for n, (one, other) in enumerate(pairwise(layers))
              if other.ways.max() > one.ways.max())  # fmt: skip
    step, full = steps.steps[at + 1], (1 << 63) // int(layers[at + 1].ways.max())
    assert advance_layer(multiply_counts(layers[at], full - 1), step, lambda: None).ways.min() > 0
    with pytest.raises(CountOverflow):
        advance_layer(multiply_counts(layers[at], full + 1), step, lambda: None)


@pytest.mark.parametrize(("ways", "onward"), [(1 << 32, 1 << 31), (1 << 62, 2), (3, 1 << 62)])
def test_overflowing_cycle_sums_are_reported(ways: int, onward: int) -> None:
    assert tour_sweep.sum_cycles(np.array([ways, 0]), np.array([onward // 2, 1])) == ways * (
        onward // 2
    )
    with pytest.raises(CountOverflow):
        tour_sweep.sum_cycles(np.array([ways, ways]), np.array([onward // 2, onward // 2]))


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
    monkeypatch.setattr("puzzle_tablebase.pipeline.search.tour_sweep.COUNT_LIMIT", 10.0)
    with pytest.raises(SearchError, match=r"^The tours of 4x5 are more than a table can hold"):
        count_board(4, 5)


def test_overflowing_directed_closed_tours_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = iter([(1 << 62) - 1, 1 << 62])
    monkeypatch.setattr(tour_sweeps, "count_cycles", lambda *_, paths: (next(counts), None))
    assert count_board(5, 6, paths=False).closed == (1 << 63) - 2
    with pytest.raises(SearchError, match=r"^The tours of 5x6 are more than a table can hold"):
        count_board(5, 6, paths=False)


# ---- states ---------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", range(1, 6))
def test_matchings_are_ranked_in_order(pairs: int) -> None:
    """Rank all matchings by the partner of the first end, then by that of the next free end."""
    partners = list_all_partners(2 * MAX_PAIRS - 4)
    partner, ends = np.zeros((2, 20), dtype=np.int64)
    needs = END_BITS & ((1 << 4 * pairs) - 1)
    before: list[int] = []
    for matching in range(int(MATCHING_COUNTS[pairs])):
        assert unpack_key(needs << MATCHING_BITS | matching, partners, partner, ends) == 2 * pairs
        assert ends[: 2 * pairs].tolist() == [*range(2 * pairs)]
        result = partner[: 2 * pairs].tolist()
        assert all(result[end] != end == result[result[end]] for end in range(2 * pairs))
        # the partners of ends that are not yet paired
        text = [other for end, other in enumerate(result) if other > end]
        assert text > before
        before = text
        assert rank_matching(needs, partner) == matching


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


# ---- the compiler off -----------------------------------------------------------------------


def count_small_boards() -> str:
    return json.dumps([list_counts(count_board(*sides)) for sides in ((3, 4), (4, 5))])
