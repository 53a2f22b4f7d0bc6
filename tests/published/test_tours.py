"""The published knight's tours and their counts, against the oracle and against each other."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow.parquet as pq
import pytest

from tests import wide
from tests.support import oracles
from tests.support.tour_lists import all_tours, list_mirrors


def squares(side: int, path: str) -> list[int]:
    return [oracles.square_number(side, path[at : at + 2]) for at in range(0, len(path), 2)]


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
EVERY = 3001
"""Of so many tours one is replayed by the oracle."""


def six_by_six(outputs: Path) -> Iterator[tuple[pl.DataFrame, npt.NDArray[np.int8]]]:
    """The table in parts, each with its paths as rows of square numbers."""
    for batch in pq.ParquetFile(outputs / SIX).iter_batches(1 << 17):
        part = pl.from_arrow(batch)
        assert isinstance(part, pl.DataFrame)
        assert (part["path"].str.len_bytes() == 72).all()
        paths = batch.column("path")
        begin = 72 * paths.offset
        text = np.frombuffer(paths.buffers()[2], dtype=np.int8)[begin : begin + 72 * len(paths)]
        files, ranks = text.reshape(len(paths), 36, 2).transpose(2, 0, 1)
        yield part, (files - ord("a")) + 6 * (ranks - ord("1"))


def numbers_of(names: pl.Series) -> npt.NDArray[np.int64]:
    """The numbers of squares of the 6x6 board, whose Enum has all boards' squares."""
    numbers = {oracles.square_name(6, square): square for square in range(36)}
    return names.cast(pl.String).replace_strict(numbers, return_dtype=pl.Int64).to_numpy()


@pytest.mark.long
def test_6x6_row_for_row(outputs: Path) -> None:
    """In ascending order, no tour twice; the other columns are what the paths say."""
    near = np.zeros((36, 36), dtype=np.bool_)
    for square, others in oracles.knight_jumps(6, 6).items():
        near[square, others] = True
    before = np.full((1, 36), -1, dtype=np.int8)
    tours = np.zeros(36, dtype=np.int64)
    for part, paths in six_by_six(outputs):
        change = np.diff(np.concatenate([before, paths]), axis=0)
        first = np.argmax(change != 0, axis=1)
        assert np.all(change[np.arange(len(change)), first] > 0)
        before = paths[-1:]
        assert (part["board"] == "6x6").all()
        assert np.array_equal(numbers_of(part["start"]), paths[:, 0])
        assert np.array_equal(numbers_of(part["finish"]), paths[:, -1])
        assert np.array_equal(part["closed"].to_numpy(), near[paths[:, -1], paths[:, 0]])
        for start in np.unique(paths[:, 0]):
            numbers = part["number"].to_numpy()[paths[:, 0] == start]
            expected = np.arange(tours[start], tours[start] + len(numbers))
            assert np.array_equal(numbers, expected)
            tours[start] += len(numbers)


@wide
def test_6x6_sampled_tours_are_tours_and_so_are_their_mirror_images(outputs: Path) -> None:
    """A list with a tour left out would lack some image of a tour that it has."""
    images = set()
    for part, _ in six_by_six(outputs):
        for path in part["path"].gather_every(EVERY):
            tour = squares(6, path)
            oracles.knight_check(6, 6, tour)
            for turned in list_mirrors(6, 6):
                image = [turned[square] for square in tour]
                images |= {text(6, image), text(6, image[::-1])}
    assert len(images) > 30_000
    listed = pl.scan_parquet(outputs / SIX).filter(pl.col("path").is_in(images))
    assert listed.select(pl.len()).collect().item() == len(images)


def test_6x6_has_as_many_tours_each_way_round(outputs: Path) -> None:
    pairs = (
        pl.scan_parquet(outputs / SIX)
        .group_by("start", "finish")
        .agg(pl.len().alias("tours"), pl.col("closed").sum())
        .collect()
    )
    counts = np.zeros((36, 36, 2), dtype=np.int64)
    counts[numbers_of(pairs["start"]), numbers_of(pairs["finish"])] = pairs.select(
        "tours", "closed"
    ).to_numpy()
    assert np.array_equal(counts, counts.transpose(1, 0, 2))
    for turned in list_mirrors(6, 6):
        assert np.array_equal(counts[np.ix_(turned, turned)], counts)
    # every closed tour can begin anywhere, so each square has as many
    assert len(set(counts[:, :, 1].sum(axis=1).tolist())) == 1


# ---- 8x8 ------------------------------------------------------------------------------------


def test_8x8_every_tour_replayed(outputs: Path) -> None:
    table = pl.read_parquet(outputs / "knight_tours_8x8.parquet")
    ends = set()
    for board, start, finish, _, closed, path in table.iter_rows():
        assert board == "8x8"
        tour = squares(8, path)
        oracles.knight_check(8, 8, tour)
        assert path.startswith(start)
        assert path.endswith(finish)
        assert closed == oracles.is_closed(8, tour)
        ends.add((start, finish))
    assert len(ends) == 2048
    assert len(set(table["path"])) == 2048
    assert table["closed"].sum() == sum(map(len, oracles.knight_jumps(8, 8).values()))


# ---- counts ---------------------------------------------------------------------------------


def counts(outputs: Path) -> dict[str, list[tuple[str, int, int]]]:
    """The rows of each board."""
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


@pytest.mark.parametrize("side", [5, 6])
def test_counts_are_the_listed_tables_rows(outputs: Path, side: int) -> None:
    listed = (
        pl.scan_parquet(outputs / f"knight_tours_{side}x{side}.parquet")
        .group_by("start")
        .agg(pl.len(), pl.col("closed").sum())
        .collect()
    )
    rows = {start: (tours, closed) for start, tours, closed in listed.iter_rows()}
    for start, tours, closed in counts(outputs)[f"{side}x{side}"]:
        assert rows.get(start, (0, 0)) == (tours, closed), start


def test_counts_of_small_boards_are_the_oracles(outputs: Path) -> None:
    for board, rows in counts(outputs).items():
        files, ranks = map(int, board.split("x"))
        if files * ranks > 25:
            continue
        for tours, (start, count, closed) in zip(all_tours(files, ranks), rows, strict=True):
            assert count == len(tours), (board, start)
            assert closed == sum(oracles.is_closed(files, tour) for tour in tours)
