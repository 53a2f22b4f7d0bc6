"""Samples of states by distance, stratified and split, compared with plain searches."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import BadRequest, NoAnswer
from puzzle_tablebase.notation.sliding import GOALS
from puzzle_tablebase.puzzles.sliding import EIGHT, parse_board
from puzzle_tablebase.queries.prober import open_prober, parse_query
from puzzle_tablebase.queries.questions import SAMPLE, Options
from puzzle_tablebase.queries.samples import (
    SampleRequest,
    draw_distinct,
    draw_set,
    find_canonical_form,
    share_distances,
    split_rows,
)
from puzzle_tablebase.queries.tables import Tables, open_tables
from puzzle_tablebase.stores import Folder
from tests.support import oracles
from tests.support import sliding_oracle as oracle
from tests.support.chances import LIMIT, check_draws, check_uniform
from tests.support.oracles import eight_distances
from tests.support.shell import Cli
from tests.support.strategies import eight_states


@pytest.mark.parametrize("goal", ["corner", "edge", "087654321"])
def test_states_at_a_distance_are_equally_likely(tables: Tables, goal: str) -> None:
    distances = oracles.eight_distances(GOALS.get(goal, goal))
    wanted = {state for state, distance in distances.items() if distance == 6}
    check_draws(partial(tables.eight.sample, goal=goal, distance=6), wanted, 1_500)
    every = tables.eight.sample(len(wanted), goal=goal, distance=6)
    assert {*every["state"]} == wanted
    assert {*every["distance"]} == {6}
    for row in every.head(20).iter_rows(named=True):
        answer = tables.eight.probe(row["state"], goal)
        assert row == {name: getattr(answer, name) for name in row}


def test_all_states_are_equally_likely(tables: Tables) -> None:
    """Group the states by their first digits, and by distance."""
    sample = tables.eight.sample(50_000, seed=8)
    starts = {f"{a}{b}" for a in "012345678" for b in "012345678" if a != b}
    check_uniform(sample["state"].str.head(2).to_list(), starts)
    shares = tables.eight.sample(20_000, seed=9)["goal"].value_counts()
    assert all(abs(count - 10_000) < LIMIT * 71 for count in shares["count"])


@pytest.mark.parametrize(("name", "distance", "count"), [("eight", 1, 2), ("3x2", 2, 3)])
def test_a_sample_is_in_random_order(
    tables: Tables, small_boards: Path, name: str, distance: int, count: int
) -> None:
    """Any of its rows may be the first one, also where all states are drawn."""
    reader: Any = tables.eight if name == "eight" else open_tables(str(small_boards)).sliding(name)
    goal = reader.puzzle.example
    samples = [reader.sample(count, seed, goal=goal, distance=distance) for seed in range(90)]
    firsts = [sample["state"][0] for sample in samples]
    check_uniform(firsts, {*samples[0]["state"]})


@pytest.mark.parametrize("goal", [None, "centre", "edge", "087654321"])
def test_the_hardest_states_are_all_there(tables: Tables, goal: str | None) -> None:
    distances = oracles.eight_distances(GOALS.get(goal or "corner", goal or ""))
    most = max(distances.values())
    rows = tables.eight.list_hardest(goal)
    assert rows.columns == [*tables.eight._prober.columns]
    assert rows["state"].to_list() == sorted(s for s in distances if distances[s] == most)


def test_positions_of_senet_are_drawn_by_plies(tables: Tables, outputs: Path) -> None:
    rows = pl.read_parquet(outputs / "senet.parquet")
    for plies in (0, 1, 2):
        wanted = {*rows.filter(pl.col("plies") == plies)["position"]}
        assert {*tables.senet.sample(distance=plies)["plies"]} == {plies}
        if len(wanted) > 1:
            check_draws(partial(tables.senet.sample, distance=plies), wanted, 2_000)
    everything = tables.senet.sample(5_000, seed=1)
    assert everything["plies"].null_count() == 0, "positions that are unreachable are not drawn"
    assert everything.join(rows, on="position", how="semi").height == 5_000
    hardest = rows.filter(pl.col("plies") == 15)["position"].to_list()
    assert tables.senet.list_hardest()["position"].to_list() == hardest
    assert len(hardest) == 4_033


@pytest.mark.parametrize(
    ("name", "goal"), [("2x3", None), ("2x3", "105432"), ("3x2", "012345"), ("2x2", "3210")]
)
def test_sliding_states_equal_those_of_a_search(
    small_boards: Path, name: str, goal: str | None
) -> None:
    """Draw in chunks of a few numbers."""
    board = parse_board(name)
    known = oracle.distances(goal or board.example, board.height, board.width)
    table = open_tables(str(small_boards)).sliding(name)
    request = SampleRequest(len(known), chunk_numbers=300)
    reader = open_prober("sliding", Folder(small_boards))
    chosen, options = parse_query(reader, SAMPLE, {"board": name, "goal": goal})
    everything = pl.concat(chosen.draw(request, None, options))
    assert {*everything["state"]} == {*known}
    assert {*everything["goal"]} == {goal or board.example}
    for state, distance, best in everything.select("state", "distance", "best_moves").rows():
        assert distance == known[state]
        assert best == oracle.best_moves(state, board.height, board.width, known)
    most = max(known.values())
    assert table.list_hardest(goal)["state"].to_list() == sorted(
        s for s, distance in known.items() if distance == most
    )
    depth = most // 2
    wanted = {state for state, distance in known.items() if distance == depth}
    assert {*table.sample(goal=goal, distance=depth)["distance"]} == {depth}
    check_draws(partial(table.sample, goal=goal, distance=depth), wanted, 1_000)
    with pytest.raises(NoAnswer):
        table.sample(1, goal=goal, distance=most + 1)


SPLIT = "train=2400,test=600"


def list_images(state: str, goal: str, width: int) -> set[str]:
    """Return a state's images: the board mirrored or turned, its tiles renamed as the goal's are.

    Only those count in which the goal becomes itself.
    """
    found = set()
    for turn in range(8):
        images = []
        for board in (state, goal):
            rows = [board[at : at + width] for at in range(0, len(board), width)]
            rows = rows[::-1] if turn & 1 else rows
            rows = [row[::-1] for row in rows] if turn & 2 else rows
            if turn & 4:
                rows = ["".join(column) for column in zip(*rows, strict=True)]
            images.append("".join(rows))
        names = dict(zip(images[1], goal, strict=True))
        if names["0"] == "0" and (not turn & 4 or width * width == len(goal)):
            found.add("".join(names[mark] for mark in images[0]))
    return found


def test_a_stratified_sample_has_as_many_of_each_distance(tables: Tables) -> None:
    draw = partial(tables.eight.sample, spread=True)
    sample = draw(212, seed=3, distance="5-25")
    counts = sample["distance"].value_counts(sort=True).rows()
    assert {distance for distance, _ in counts} == {*range(5, 26)}
    assert sorted(count for _, count in counts) == [10] * 19 + [11] * 2
    known = eight_distances(GOALS["corner"])
    for state, goal, distance in sample.select("state", "goal", "distance").rows():
        assert goal != "corner" or known[state] == distance
    three, four, again = (draw(40, seed=seed, distance="5-7") for seed in (3, 4, 3))
    assert three.equals(again)
    assert not three.equals(four)


@pytest.mark.parametrize(
    ("distances", "shares", "short"),
    [
        ("0-4", [1, 2, 4, 6, 7], "^Distances 0 and 1 have"),
        ("29-31", [277, 221, 2], "^Distance 31 has"),
    ],
)
def test_a_short_distance_gives_all_it_has(
    tables: Tables, cli: Cli, distances: str, shares: list[int], short: str
) -> None:
    """Draw distances with ever more states, and with ever fewer: the others make up for a few."""
    draw = partial(tables.eight.sample, spread=True, goal="corner")
    with pytest.warns(UserWarning, match=f"{short} too few states; all of them are in the sample"):
        sample = draw(sum(shares), distance=distances)
    assert sample["distance"].value_counts().sort("distance")["count"].to_list() == shares
    assert sample["state"].n_unique() == sum(shares)
    words = ("sample", "eight", "--distance", "0-1", "--spread", "--size", "6", "--goal", "corner")
    code, out, errors = cli(*words)
    assert (code, len(out.splitlines())) == (0, 4)
    assert (
        errors
        == "pipeline: Distances 0 and 1 have too few states; all of them are in the sample.\n"
    )


def test_parts_have_their_share_of_every_distance(tables: Tables) -> None:
    split = "train=16000,test=4000"
    draw = partial(tables.eight.sample, seed=1, split=split, spread=True, distance="14-28")
    one = draw()
    assert {*one["goal"]} == {"corner"}, "a model learns one goal, unless both are requested"
    assert one["state"].n_unique() == 20_000
    sample = draw(both_goals=True)
    assert dict(sample["split"].value_counts().iter_rows()) == {"train": 16_000, "test": 4_000}
    assert not sample["distance"].is_sorted()
    sizes = sample.group_by("distance").agg(pl.len(), test=pl.col("split").eq("test").sum())
    for _, count, test in sizes.rows():
        assert abs(test - count / 5) <= 8, "a class of images is not divided"
    assert sample["state"].n_unique() == 20_000
    sets = dict(sample.select("state", "split").iter_rows())
    others = 0
    for state, goal in sample.select("state", "goal").head(5_000).rows():
        images = list_images(state, GOALS[goal], 3)
        assert len(images) <= (2 if goal == "corner" else 8)
        known = [sets[image] for image in images if image in sets]
        assert len({*known}) == 1
        others += len(known) - 1
    assert others > 500


@given(eight_states, eight_states, st.sampled_from(["123456780", "123804765", "083265417"]))
def test_classes_are_those_of_the_oracle(one: str, other: str, goal: str) -> None:
    images, form = list_images(one, goal, 3), find_canonical_form(one, goal, 3)
    assert {find_canonical_form(image, goal, 3) for image in images} == {form}
    assert (find_canonical_form(other, goal, 3) == form) == (other in images)


@pytest.mark.slow
def test_a_board_of_ten_cells_is_stratified(large_boards: Path) -> None:
    tables = open_tables(str(large_boards))
    sample = tables.sliding("5x2").sample(distance="12-21", split=SPLIT, spread=True)
    assert sample["distance"].value_counts()["count"].to_list() == [300] * 10
    near = tables.sliding("2x5").sample(3, distance="0-1")
    assert near["distance"].value_counts(sort=True).row(0)[0] == 1


def test_boards_that_are_not_square_are_stratified_and_split(small_boards: Path) -> None:
    small, goal = open_tables(str(small_boards)).sliding("3x2"), "120345"
    sample = small.sample(distance="8-17", split="train=64,test=16", spread=True)
    assert sample["distance"].value_counts()["count"].to_list() == [8] * 10
    every = small.sample(split="train=240,test=120", goal=goal)
    sets = dict(every.select("state", "split").iter_rows())
    classes = [list_images(state, goal, 2) for state in sets]
    assert max(map(len, classes)) == 2
    assert all(len({sets[image] for image in images}) == 1 for images in classes)
    near = small.sample(3, distance="0-1")
    assert near["distance"].sort().to_list() == [0, 1, 1]


@pytest.mark.parametrize(
    "options",
    [
        {"spread": True},
        *({"spread": True, "distance": text} for text in ("32", "30-32", "0-999999999")),
        *({"distance": text} for text in ("5-", "٣-5", "x", -1, 1.5, True, "9-5", "5-9,11")),
        *(
            {"split": text, "size": None}
            for text in ("a=1,a=2", "a=1_0", "a", "=1", "a=0.5", "a=0")
        ),
        {"split": "train=8,test=2"},
    ],
)
def test_other_options_are_refused(tables: Tables, options: dict[str, Any]) -> None:
    with pytest.raises((BadRequest, NoAnswer)):
        tables.eight.sample(**{"size": 10, **options})


def test_a_small_sample_is_stratified_at_equal_steps(tables: Tables) -> None:
    draw = partial(tables.eight.sample, spread=True, goal="corner", seed=5)
    known = eight_distances(GOALS["corner"])
    for size, distance, wanted in (
        (10, "2-20", [*range(2, 21, 2)]),
        (12, "3-31", [3, 6, 8, 11, 13, 16, 18, 21, 23, 26, 28, 31]),
        (2, "5-25", [5, 25]),
        (1, "5-25", [5]),
        (3, "5-7", [5, 6, 7]),
    ):
        sample = draw(size, distance=distance)
        assert sorted(sample["distance"]) == wanted
        assert sorted(known[state] for state in sample["state"]) == wanted


@given(st.integers(0, 2**63), st.integers(1, 400), st.integers(1, 400))
def test_numbers_that_are_drawn_differ_and_are_below_the_total(
    seed: int, total: int, size: int
) -> None:
    drawn = draw_distinct(np.random.Generator(np.random.PCG64(seed)), total, min(size, total))
    assert len({*drawn.tolist()}) == len(drawn) == min(size, total)
    assert {*drawn.tolist()} <= {*range(total)}
    again = SampleRequest(min(size, total), seed, 7).draw_numbers(total, "number")
    assert np.concatenate([*again]).tolist() == drawn.tolist()


def test_each_distance_of_a_stratified_sample_has_a_seed_of_its_own() -> None:
    seeds = list[int]()

    def draw(request: SampleRequest, *_: object) -> Iterator[pl.DataFrame]:
        seeds.append(request.seed)
        yield pl.DataFrame({"state": [""]})

    puzzle, counts = SimpleNamespace(depth="distance"), dict.fromkeys(range(9), 9)
    prober = SimpleNamespace(puzzle=puzzle, count_depths=lambda options: counts, draw=draw)
    options = Options(SAMPLE, {"spread": True, "distance": range(2, 7)})
    for seed in range(3):
        assert [*draw_set(prober, options, SampleRequest(5, seed), print)]
    assert len({*seeds}) == len(seeds) == 15


@given(
    counts=st.dictionaries(st.integers(0, 30), st.integers(0, 50), min_size=1),
    ends=st.tuples(st.integers(0, 30), st.integers(0, 30)),
    size=st.integers(1, 400),
)
def test_shares_of_distances_are_equal_but_for_the_short(
    counts: dict[int, int], ends: tuple[int, int], size: int
) -> None:
    distances, notes = range(min(ends), max(ends) + 1), list[str]()
    prober = SimpleNamespace(
        puzzle=SimpleNamespace(depth="distance"), count_depths=lambda options: counts
    )
    share = partial(share_distances, prober, Options(SAMPLE, {}), distances, SampleRequest(size))
    if distances[-1] > max(counts):
        with pytest.raises(NoAnswer):
            share(notes.append)
        return
    quotas = share(notes.append)
    assert len(quotas) == min(size, len(distances))
    assert {*quotas} <= {*distances}
    there = {distance: counts.get(distance, 0) for distance in quotas}
    assert all(quotas[distance] <= there[distance] for distance in quotas)
    assert sum(quotas.values()) == min(size, sum(there.values()))
    # whatever has states left has as many as any other, or one less
    rest = [quotas[distance] for distance in quotas if quotas[distance] < there[distance]]
    assert not rest or max(quotas.values()) - min(rest) <= 1
    is_short = any(quota < size // len(quotas) for quota in quotas.values())
    assert len(notes) == is_short


@given(
    st.lists(eight_states, min_size=1, max_size=60, unique=True),
    st.dictionaries(st.sampled_from("abcde"), st.integers(1, 9), min_size=1),
    st.integers(0, 99),
)
def test_parts_get_their_shares_as_nearly_as_twins_allow(
    states: list[str], parts: dict[str, int], seed: int
) -> None:
    goal = GOALS["centre"]
    images = sorted({image for state in states for image in list_images(state, goal, 3)})
    # states with one canonical form have the same distance
    distances = [int(min(list_images(image, goal, 3))[0]) % 3 for image in images]
    rows = pl.DataFrame({"state": images, "goal": "centre", "distance": distances})
    random = np.random.Generator(np.random.PCG64(seed))
    divided = split_rows(EIGHT, rows, parts, random)
    assert divided.drop("split").equals(rows)
    sets = dict(divided.select("state", "split").iter_rows())
    assert all(len({sets[image] for image in list_images(state, goal, 3)}) == 1 for state in sets)
    taken = dict(divided["split"].value_counts().iter_rows())
    for name, part in parts.items():
        missing = part / sum(parts.values()) * len(rows) - taken.get(name, 0)
        assert -8 < missing <= 8 * (len(parts) - 1), "at most eight states have one canonical form"
