"""Tests of the published tables, state for state and tour for tour, against oracles."""

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow.parquet as pq
import pytest

from tests import first, long_run, wide
from tests.support import oracles
from tests.support.tour_lists import all_tours

# ---- 8-puzzle -------------------------------------------------------------------------------


GOALS = [
    ("eight_edge", "edge", "123456708"),
    ("eight", "corner", "123456780"),
    ("eight", "centre", "123804765"),
]


@pytest.mark.parametrize(("name", "goal", "goal_state"), first(1, GOALS, rest=long_run))
def test_the_8_puzzle_state_for_state(outputs: Path, name: str, goal: str, goal_state: str) -> None:
    distances, solutions = oracles.eight_search(goal_state)
    table = pl.read_parquet(outputs / f"{name}.parquet").filter(pl.col("goal") == goal)
    assert table["state"].to_list() == sorted(distances)
    ranks = {"".join(digits): rank for rank, digits in enumerate(permutations("012345678"))}
    for row in table.drop("goal").iter_rows():
        state = row[0]
        assert row == (
            state,
            distances[state],
            oracles.eight_best_moves(state, distances),
            solutions[state],
            *oracles.eight_features(state, goal_state).values(),
            ranks[state],
        )


# ---- Senet ----------------------------------------------------------------------------------


def test_senets_lines_are_legal(outputs: Path) -> None:
    """Replay some of the lines with the oracle, including some of the longest."""
    table = pl.read_parquet(outputs / "senet.parquet").drop_nulls("plies")
    longest = table.filter(pl.col("plies") == pl.col("plies").max())
    sampled = pl.concat([table.gather_every(601), longest.gather_every(50)])
    for row in sampled.iter_rows(named=True):
        assert oracles.senet_replay(row["dice"], row["moves"]) == row["position"]
        assert len(row["dice"]) == row["plies"]
        others = [row["plies_even"], row["plies_odd"]]
        assert min(plies for plies in others if plies is not None) == row["plies"]


def text(side: int, tour: list[int]) -> str:
    return "".join(oracles.square_name(side, square) for square in tour)


# ---- 5x5 ------------------------------------------------------------------------------------


def test_5x5_tour_for_tour(outputs: Path) -> None:
    expected = [
        (
            "5x5",
            oracles.square_name(5, start),
            oracles.square_name(5, tour[-1]),
            number,
            oracles.is_closed(5, tour),
            text(5, list(tour)),
        )
        for start, tours in enumerate(all_tours(5, 5))
        for number, tour in enumerate(tours)
    ]
    assert pl.read_parquet(outputs / "knight_tours_5x5.parquet").rows() == expected


# ---- 6x6 ------------------------------------------------------------------------------------

SIX = "knight_tours_6x6.parquet"


def read_6x6(outputs: Path) -> Iterator[tuple[pl.DataFrame, npt.NDArray[np.int8]]]:
    """Yield the table in chunks, each with its paths as rows of square numbers."""
    for batch in pq.ParquetFile(outputs / SIX).iter_batches(1 << 17):
        part = pl.from_arrow(batch)
        assert isinstance(part, pl.DataFrame)
        assert (part["path"].str.len_bytes() == 72).all()
        paths = batch.column("path")
        begin = 72 * paths.offset
        text = np.frombuffer(paths.buffers()[2], dtype=np.int8)[begin : begin + 72 * len(paths)]
        files, ranks = text.reshape(len(paths), 36, 2).transpose(2, 0, 1)
        yield part, (files - ord("a")) + 6 * (ranks - ord("1"))


def parse_squares(names: pl.Series) -> npt.NDArray[np.int64]:
    """Convert names of squares of 6x6 to their numbers; the Enum has the squares of all boards."""
    numbers = {oracles.square_name(6, square): square for square in range(36)}
    return names.cast(pl.String).replace_strict(numbers, return_dtype=pl.Int64).to_numpy()


@wide
@pytest.mark.long
def test_6x6_row_for_row(outputs: Path) -> None:
    """Check that paths are tours and ascend, so that none occurs twice, and that the other columns
    follow: as there are as many as published, none is missing.
    """
    near = np.zeros((36, 36), dtype=np.bool_)
    for square, others in oracles.knight_jumps(6, 6).items():
        near[square, others] = True
    before, bits = np.full((1, 36), -1, dtype=np.int8), 1 << np.arange(36)
    tours = np.zeros(36, dtype=np.int64)
    for part, paths in read_6x6(outputs):
        change = np.diff(np.concatenate([before, paths]), axis=0)
        first = np.argmax(change != 0, axis=1)
        assert np.all(change[np.arange(len(change)), first] > 0)
        before = paths[-1:]
        assert np.all(near[paths[:, :-1], paths[:, 1:]])
        assert np.all(np.bitwise_or.reduce(bits[paths], axis=1) == (1 << 36) - 1)
        assert (part["board"] == "6x6").all()
        assert np.array_equal(parse_squares(part["start"]), paths[:, 0])
        assert np.array_equal(parse_squares(part["finish"]), paths[:, -1])
        assert np.array_equal(part["closed"].to_numpy(), near[paths[:, -1], paths[:, 0]])
        for start in np.unique(paths[:, 0]):
            numbers = part["number"].to_numpy()[paths[:, 0] == start]
            expected = np.arange(tours[start], tours[start] + len(numbers))
            assert np.array_equal(numbers, expected)
            tours[start] += len(numbers)


# ---- counts ---------------------------------------------------------------------------------


def counts(outputs: Path) -> dict[str, list[tuple[str, int, int]]]:
    """Return the rows of each board."""
    result: dict[str, list[tuple[str, int, int]]] = {}
    rows = pl.read_parquet(outputs / "knight_counts.parquet").iter_rows()
    for board, files, ranks, start, *numbers in rows:
        assert board == f"{files}x{ranks}"
        result.setdefault(board, []).append((start, *numbers))
    return result


def test_counts_are_by_board_then_square(outputs: Path) -> None:
    result = counts(outputs)
    boards = [
        (files, ranks)
        for files in range(1, 13)
        for ranks in range(1, 10)
        if max(files, ranks) <= 6 or (files >= 3 <= ranks and files * ranks <= 40)
    ]
    assert list(result) == [f"{files}x{ranks}" for files, ranks in boards]
    for files, ranks in boards:
        names = [oracles.square_name(files, square) for square in range(files * ranks)]
        assert [row[0] for row in result[f"{files}x{ranks}"]] == names
