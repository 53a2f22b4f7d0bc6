"""Answers from tables with one bit of each distance, compared with the oracle."""

import json
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from puzzle_tablebase.errors import GoalUnreachable, TableDamaged
from puzzle_tablebase.puzzles import sliding as sliding
from puzzle_tablebase.puzzles.sliding import PUZZLE
from puzzle_tablebase.queries import bit_layers
from puzzle_tablebase.queries.bit_layers import reconstruct_distances
from puzzle_tablebase.queries.bit_walks import CHUNK_ROWS
from puzzle_tablebase.queries.files import IndexReader
from puzzle_tablebase.queries.readers import BoardReader
from puzzle_tablebase.queries.sliding import BitProber
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.stores import Folder
from tests import NIGHTLY, usual_or_nightly
from tests.support import sliding_oracle as oracle
from tests.support.build_recorder import build_all
from tests.support.querying import query_many
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import change_records, link_copy

SIDES = {"2x4": (2, 4), "4x2": (4, 2), "3x3": (3, 3)}


@pytest.fixture(autouse=True)
def _with_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat boards of 8 cells as large: they have only an index with a bit for each state."""
    treat_as_large(monkeypatch, 8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        treat_as_large(patch, 8)
        folder = tmp_path_factory.mktemp("bits")
        tables = (*PUZZLE.find_tables("sliding_2x4_all"), *PUZZLE.find_tables("sliding_3x3_all"))
        build_all(Folder(folder), [(PUZZLE, tables)])
        yield folder


def open_board(folder: Path, name: str, max_single_keys: int = 300) -> BoardReader:
    board_reader = open_tables(str(folder)).sliding(name)
    get_bits(board_reader).max_single_keys = max_single_keys
    return board_reader


def get_bits(reader: BoardReader) -> BitProber:
    """Return what answers for a reader from bits."""
    assert isinstance(reader._prober, BitProber)
    return reader._prober


def list_goals(name: str) -> list[str]:
    """List the ordered goal, and random states with the blank on each cell.

    Those of 3x3 have it at an edge and in the centre, outside the nightly run.
    """
    cells, chance = 9 if name == "3x3" else 8, random.Random(name)
    tiles = "12345678"[: cells - 1]
    goals = [f"{tiles}0"]
    for blank in (1, 4) if name == "3x3" and not NIGHTLY else range(cells):
        marks = chance.sample(tiles, len(tiles))
        goals.append("".join([*marks[:blank], "0", *marks[blank:]]))
    return goals


def list_farthest(known: dict[str, int]) -> list[str]:
    most = max(known.values())
    return sorted(state for state, distance in known.items() if distance == most)


@pytest.mark.parametrize("name", SIDES)
def test_answers_and_batches_are_the_oracles(folder: Path, name: str) -> None:
    rows, columns = SIDES[name]
    single, several = open_board(folder, name), open_board(folder, name, 0)
    chance = random.Random(1)
    for goal in list_goals(name):
        known = oracle.distances(goal, rows, columns)
        states = [goal, *chance.sample([*known], usual_or_nightly(6, 2000))]
        best = [oracle.best_moves(state, rows, columns, known) for state in states]
        for state, moves in zip(states, best, strict=True):
            answer = single.probe(state, goal, path=True)
            assert (answer.distance, answer.best_moves) == (known[state], moves)
            assert [*map(known.get, answer.path or [])] == [*range(answer.distance, -1, -1)]
        swapped = goal.translate(str.maketrans("12", "21"))
        with pytest.raises(GoalUnreachable):
            single.probe(swapped, goal)
        answers = query_many(several, pl.Series([*states, swapped, "no state", None]), goal=goal)
        assert answers["distance"].to_list() == [*map(known.get, states), None, None, None]
        assert answers["best_moves"].to_list() == [*best, None, None, None]
        is_right = answers["error"].is_null().to_list()
        assert is_right == [True] * len(states) + [False, False, True]
        is_unreached = ["cannot be reached" in error for error in answers["error"].drop_nulls()]
        assert is_unreached == [True, False]


def test_solutions_and_the_hardest_states_are_those_of_the_oracle(folder: Path) -> None:
    board_reader, known = open_board(folder, "2x4"), oracle.distances("12345670", 2, 4)
    for state in random.Random(3).sample([*known], 20):
        ways = oracle.list_solutions(state, 2, 4, known)
        assert get_bits(board_reader).list_solutions(state, "12345670") == ways
    assert board_reader.list_hardest()["state"].to_list() == list_farthest(known)


def test_a_batch_of_two_parts_answers_each_key(folder: Path) -> None:
    known = oracle.distances("12345670", 2, 4)
    states = random.Random(5).choices([*known], k=2 * CHUNK_ROWS)
    answers = query_many(open_board(folder, "2x4", 0), pl.Series(states))
    assert answers["distance"].to_list() == [*map(known.get, states)]


@pytest.mark.parametrize("name", ["2x4", "4x2"])
def test_states_are_listed_by_their_distance_to_any_goal(folder: Path, name: str) -> None:
    board, goal = open_board(folder, name), list_goals(name)[-1]
    known = oracle.distances(goal, *SIDES[name])
    assert board.list_hardest(goal)["state"].to_list() == list_farthest(known)
    for distance in (None, 9):
        sample = board.sample(50, seed=6, goal=goal, distance=distance)
        assert [*map(known.get, sample["state"])] == sample["distance"].to_list()
        assert distance is None or {*sample["distance"]} == {9}


@pytest.mark.parametrize(("name", "rows"), [("2x4", 1), ("4x2", bit_layers.MIN_TASK_ROWS)])
def test_all_distances_are_unfolded_from_the_bits(
    folder: Path, name: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Divide the rows of a block among tasks, as on larger boards, or leave them together."""
    monkeypatch.setattr(bit_layers, "MIN_TASK_ROWS", rows)
    for goal in list_goals(name):
        known = oracle.distances(goal, *SIDES[name])
        arrays = open_board(folder, name).arrays(goal)
        distances = arrays.distances()
        assert len(distances) == len(known)
        assert dict(zip(known, distances[arrays.ranks([*known])], strict=True)) == known


def list_false_bits(depths: npt.NDArray[np.uint8], chance: np.random.Generator) -> list[list[int]]:
    """List the ranks of states whose bits are wrong: the goal, one, some, a layer, all beyond it.

    Values that all agree with the neighbours but for the first of them are wrong too.
    """
    single = chance.permutation(len(depths))[: usual_or_nightly(30, 2000)]
    false: list[Any] = [[depths.argmin()], [depths.argmax()], *([rank] for rank in single)]
    for size in (2, 3, 10, 1000):
        false += [
            chance.choice(len(depths), size, replace=False) for _ in range(usual_or_nightly(4, 10))
        ]
    for depth in range(1, depths.max() + 1):
        layer = np.flatnonzero(depths == depth)
        false += [layer, layer[len(layer) // 2 :], np.flatnonzero(depths >= depth)]
    return [np.asarray(ranks).tolist() for ranks in false]


def test_wrong_bits_never_become_distances(folder: Path) -> None:
    board = open_board(folder, "2x4")
    view = board.puzzle.view_goal("12345670")
    space, bits = board.puzzle.make_words(view.table_goal), get_bits(board)._read_bits(view)
    depths = reconstruct_distances(space, bits)
    assert depths is not None
    for ranks in list_false_bits(depths, np.random.default_rng(7)):
        flips = np.zeros(8 * len(bits), np.uint8)
        flips[ranks] = 1
        wrong = bits ^ np.packbits(flips, bitorder="little")
        assert reconstruct_distances(space, wrong) is None, ranks[:9]


@pytest.mark.parametrize("ends", [0, 14])
def test_walks_that_do_not_end_at_the_goal_are_damage(
    folder: Path, tmp_path: Path, ends: int
) -> None:
    """Make all bits zero: then each distance is that of a neighbour of the goal, or of none.

    With those of the outer columns one, the blank goes round for ever.
    """

    def change(records: npt.NDArray[np.uint8]) -> None:
        records.fill(0)
        records[:ends] = records[len(records) - ends :] = 255

    state = max(oracle.distances("12345670", 2, 4).items(), key=lambda item: item[1])[0]
    copied = link_copy(folder, tmp_path)
    change_records(change).edit(copied, "sliding_2x4_8")
    several = open_board(copied, "2x4", 0)
    uses: list[Callable[[], object]] = [
        lambda: several.probe(state), lambda: several.annotate([state]),
        several.list_hardest, several.arrays().distances,
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(TableDamaged):
            use()


def answer_small_board() -> str:
    """Return answers of a batch and the counts, which kernels compute."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sliding, "MAX_SMALL_CELLS", 7)
        tables = PUZZLE.find_tables("sliding_2x4")
        build_all(Folder(Path(folder)), [(PUZZLE, tables)])
        board_reader = open_board(Path(folder), "2x4", 0)
        states = ["12345670", "12345607", "07654321", "54321670"]
        answers = query_many(board_reader, pl.Series(states))
        view = board_reader.puzzle.view_goal("12345670")
        distances = get_bits(board_reader).read_distances(view)
    return json.dumps([answers["distance"].to_list(), distances.tolist()])


def test_a_table_that_does_not_fit_into_memory_is_not_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = oracle.distances("12345670", 2, 4)
    states = random.Random(4).sample([*known], 120)
    monkeypatch.setattr("puzzle_tablebase.resources.get_free_memory", lambda: 1)
    monkeypatch.delattr(IndexReader, "read_records")
    board = open_board(folder, "2x4", 0)
    assert query_many(board, pl.Series(states))["distance"].to_list() == [*map(known.get, states)]
    judged = board.check_frame(pl.DataFrame({"state": states, "answer": [""] * 120}))
    assert judged["shortest"].to_list() == [*map(known.get, states)]
