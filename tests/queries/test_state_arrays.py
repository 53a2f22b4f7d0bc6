"""Ranks, distances and features of many states of a board, compared with rules and searches."""

import random
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from puzzle_tablebase.errors import BadRequest, TableDamaged
from puzzle_tablebase.notation.sliding import CHARACTERS
from puzzle_tablebase.puzzles.sliding import SlidingBoard, parse_board
from puzzle_tablebase.queries.bit_layers import reconstruct_distances
from puzzle_tablebase.queries.readers import BoardReader
from puzzle_tablebase.queries.sliding import BitProber
from puzzle_tablebase.queries.tables import Tables, open_tables
from tests.support import sliding_oracle as oracle
from tests.support.oracles import eight_distances
from tests.support.shell import Cli
from tests.support.tampered import change_records, link_copy


def write_state(tiles: np.ndarray) -> str:
    return "".join(CHARACTERS[tile] for tile in tiles.tolist())


@pytest.mark.parametrize(
    ("name", "goal"),
    [("2x2", None), ("2x3", None), ("2x3", "102345"), ("3x2", None), ("3x2", "412035")],
)
def test_distances_by_rank_are_those_of_a_search(
    small_boards: Path, name: str, goal: str | None
) -> None:
    board = parse_board(name)
    arrays = open_tables(str(small_boards)).sliding(name).arrays(goal)
    known = oracle.distances(goal or board.example, board.height, board.width)
    distances = arrays.distances()
    assert (str(distances.dtype), distances.shape) == ("uint8", (len(known),))
    tiles = arrays.unranks(np.arange(len(known)))
    states = [*map(write_state, tiles)]
    assert {*states} == {*known}
    assert distances.tolist() == [known[state] for state in states]
    assert arrays.ranks(tiles).tolist() == [*range(len(known))]
    every = ["".join(marks) for marks in permutations(CHARACTERS[: board.cells])]
    ranks = arrays.ranks(every)
    assert {state for state, rank in zip(every, ranks, strict=True) if rank >= 0} == {*known}
    assert arrays.distances(every).tolist() == [known.get(state, -1) for state in every]
    if goal is None and board.wide is board:
        assert [board.rank(state) for state in states] == [*range(len(known))]


@pytest.mark.parametrize("goal", [None, "edge", "087654321"])
def test_distances_of_the_eight_puzzle_by_rank(tables: Tables, goal: str | None) -> None:
    arrays = tables.eight.arrays(goal)
    distances = arrays.distances()
    assert (str(distances.dtype), distances.shape) == ("uint8", (362_880,))
    tiles = arrays.unranks([0, 7, 362_879, -1, 362_880])
    assert [*map(write_state, tiles[:3])] == ["012345678", "012346587", "876543210"]
    assert (tiles[3:] == 255).all()
    end = {None: "123456780", "edge": "123456708"}.get(goal, goal)
    known = eight_distances(end or "")
    ranks = arrays.ranks([*known])
    assert distances[ranks].tolist() == [*known.values()]
    other = np.delete(distances, ranks)
    assert (other < 255).all() if goal is None else (other == 255).all()


def test_ranks_of_a_large_board_are_those_of_one_state(large_boards: Path) -> None:
    arrays, board = open_tables(str(large_boards)).sliding("3x4").arrays(), SlidingBoard(3, 4)
    ranks = [0, 1, 220_208_645, *random.Random(1).sample(range(board.size), 300), board.size - 1]
    tiles = arrays.unranks(ranks)
    states = [*map(write_state, tiles)]
    assert states == [board.unrank(rank) for rank in ranks]
    assert arrays.ranks(states).tolist() == arrays.ranks(tiles).tolist() == ranks
    swapped = states[0].translate(str.maketrans("12", "21"))
    assert arrays.ranks([swapped, "123"]).tolist() == [-1, -1]
    assert (arrays.unranks([-1, board.size]) == 255).all()


@pytest.mark.slow
def test_distances_of_a_large_board(large_boards: Path, tmp_path: Path) -> None:
    """Compare them with single lookups; then flip a bit."""
    table = open_tables(str(large_boards)).sliding("3x4")
    arrays, board = table.arrays(), table.puzzle
    ranks = [0, 1, *random.Random(1).sample(range(board.size), 300), board.size - 1]
    states = [*map(write_state, arrays.unranks(ranks))]
    distances = arrays.distances()
    assert (str(distances.dtype), distances.shape) == ("uint8", (board.size,))
    assert distances[ranks].tolist() == arrays.distances(states).tolist()
    assert distances[ranks].tolist() == [table.distance(state) for state in states]
    folder = link_copy(large_boards, tmp_path)

    def flip(records: np.ndarray) -> None:
        records[1_000, 7] ^= 4

    change_records(flip).edit(folder, "sliding_3x4_12")
    with pytest.raises(TableDamaged):
        open_tables(str(folder)).sliding("3x4").arrays().distances()


@pytest.mark.nightly
def test_any_wrong_bit_of_a_large_board_is_noticed(large_boards: Path) -> None:
    table = open_tables(str(large_boards)).sliding("3x4")._prober
    assert isinstance(table, BitProber)
    view = table.puzzle.view_goal(table.puzzle.example)
    space, bits = table.puzzle.make_words(view.table_goal), table._read_bits(view)
    for rank in random.Random(2).sample(range(space.size), 20):
        wrong = bits.copy()
        wrong[rank >> 3] ^= 1 << (rank & 7)
        assert reconstruct_distances(space, wrong) is None, rank


@pytest.mark.parametrize("given", [[1.5], ["7"], [[1, 2]], None])
def test_other_ranks_are_refused(tables: Tables, given: object) -> None:
    with pytest.raises(BadRequest):
        tables.eight.arrays().unranks(given)


def list_features(state: str, goal: str, width: int) -> tuple[int, int, int]:
    """Return the features in the plainest way: try which tiles of a line may stay."""
    steps, misplaced, removed = 0, 0, 0
    goal_cell = {mark: divmod(goal.index(mark), width) for mark in goal}
    cells = {mark: divmod(state.index(mark), width) for mark in state}
    for mark in sorted({*state} - {"0"}):
        apart = [abs(one - other) for one, other in zip(goal_cell[mark], cells[mark], strict=True)]
        steps, misplaced = steps + sum(apart), misplaced + (sum(apart) > 0)
    for axis in (0, 1):
        for line in range(max(width, len(state) // width)):
            marks = [
                mark
                for mark in state
                if mark != "0" and goal_cell[mark][axis] == line == cells[mark][axis]
            ]
            homes = [goal_cell[mark][1 - axis] for mark in marks]
            if homes == sorted(homes):
                continue
            sizes = [
                bits.bit_count()
                for bits in range(1 << len(homes))
                if (kept := [home for at, home in enumerate(homes) if bits >> at & 1])
                == sorted(kept)
            ]
            removed += len(homes) - max(sizes)
    return steps, misplaced, steps + 2 * removed


@pytest.mark.parametrize(
    ("name", "goal"), [("3x3", None), ("3x3", "087654321"), ("2x3", None), ("3x4", None)]
)
def test_features_are_the_oracles(
    outputs: Path, small_boards: Path, large_boards: Path, name: str, goal: str | None
) -> None:
    table: BoardReader
    if name == "3x3":
        table = open_tables(str(outputs)).eight
    else:
        table = open_tables(str(small_boards if name == "2x3" else large_boards)).sliding(name)
    width, names = int(name[-1]), ("manhattan", "misplaced", "linear_conflict")
    size = 120 if name == "3x4" else 300
    drawn = table.sample(size, seed=3, goal=goal, features=True)
    assert drawn.columns[-3:] == [*names]
    keys = [*drawn["state"], None, "no state"]
    annotated = table.annotate(keys, goal=goal, features=True)
    assert "error" not in annotated.columns
    assert annotated.head(size).select(drawn.columns).equals(drawn)
    assert annotated.tail(2).select(names).null_count().row(0) == (2, 2, 2)
    few = table.annotate(keys[:3], goal=goal, features=True, errors="column")
    assert few.select(names).equals(drawn.select(names).head(3))
    for row in drawn.iter_rows(named=True):
        end = table.puzzle.goals.get(row["goal"], row["goal"])
        features = tuple(row[each] for each in names)
        assert features == list_features(row["state"], end, width)
        assert features[1] <= features[0] <= features[2] <= row["distance"]
        assert (features[2] - row["distance"]) % 2 == 0


def test_a_batch_at_the_shell_has_features(query: Cli) -> None:
    completed = query("eight", "--features", text=b"378546201\n")
    head, row = completed.out.splitlines()
    assert head.endswith(",solutions,manhattan,misplaced,linear_conflict,error")
    features = list_features("378546201", "123456780", 3)
    assert row.split(",")[5:8] == [*map(str, features)]


def test_boards_of_the_15_puzzle_are_drawn_and_solved(
    patterns_555: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fifteen = open_tables(str(patterns_555)).fifteen
    goal, names = "0123456789abcdef", ("manhattan", "misplaced", "linear_conflict")
    for wanted in (None, goal):
        drawn = fifteen.sample(1_000, seed=2, goal=wanted, features=True)
        assert drawn.equals(fifteen.sample(1_000, seed=2, goal=wanted, features=True))
        assert drawn["state"].n_unique() == 1_000
        end = wanted or "123456789abcdef0"
        assert {*drawn["goal"]} == {end}
        assert len({*drawn["state"].str.head(1)}) == 16
        for row in drawn.head(200).iter_rows(named=True):
            assert SlidingBoard(4, 4).can_reach(row["state"], end)
            found = tuple(row[each] for each in names)
            assert found == list_features(row["state"], end, 4)
    board, near = SlidingBoard(4, 4), ["123456789abcdef0"]
    for letter in "ULU":
        near.append(dict(board.moves(near[-1]))[letter])
    ranks = np.array([board.rank(state) for state in near])
    monkeypatch.setattr("puzzle_tablebase.queries.samples.draw_distinct", lambda *_: ranks)
    solved = fifteen.sample(4, solve=True, features=True)
    assert solved["state"].to_list() == near
    assert (
        solved["distance"].to_list() == [len(each) for each in solved["solution"]] == [0, 1, 2, 3]
    )
    assert solved.schema["manhattan"] == pl.Int16()
