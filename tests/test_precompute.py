"""`pipeline precompute` as a whole: the same bytes from any two builds, more boards, refusals."""

from pathlib import Path

import polars as pl
import pytest

from pipeline.puzzles.knight import PUZZLE
from pipeline.tables.manifest import read_manifest, write_manifest
from tests.recorder import built
from tests.shell import Cli

BOARDS = ("--board", "3x7", "--board", "4x3")
LIGHT = ("knight_tours_3x7", "knight_tours_4x3", "knight_counts")


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two more boards and the counts, built in this process with two jobs."""
    folder = tmp_path_factory.mktemp("light")
    tables = PUZZLE.with_boards([*BOARDS[1::2]])
    built(folder, PUZZLE, *(table for table in tables if table.name in LIGHT), jobs=2)
    return folder


@pytest.mark.long
def test_two_builds_are_the_same_byte_for_byte(
    tmp_path: Path, outputs: Path, light: Path, cli: Cli
) -> None:
    """Everything and two more boards with one job; what is published and `light` had more."""
    folder = tmp_path / "folder"
    said = cli("precompute", "--outputs", str(folder), "--jobs", "1", *BOARDS)
    assert said.code == 0, said.err
    # what `light` has too knows of the boards that the published folder lacks
    write_manifest(tmp_path, {**read_manifest(outputs), **read_manifest(light)})
    names = sorted(path.name for path in folder.iterdir() if path.name != ".lock")
    assert len(names) == 7 + 2 + 4 + 1  # tables, more boards, indexes, manifest
    for name in names:
        other = next(where for where in (tmp_path, light, outputs) if (where / name).exists())
        assert (folder / name).read_bytes() == (other / name).read_bytes(), name


def test_more_boards_are_listed_counted_and_answered(light: Path, cli: Cli) -> None:
    counts = pl.read_parquet(light / "knight_counts.parquet")
    for board, tours in (("3x7", 104), ("4x3", 16)):
        assert pl.read_parquet(light / f"knight_tours_{board}.parquet").height == tours
        assert counts.filter(pl.col("board") == board)["tours"].sum() == tours
    asked = ("query", "knight", "a1", "--board", "3x7", "--outputs", str(light))
    assert "3x7 from a1 to" in cli(*asked).out
    assert '"board": "3x7", "start": "a1", "tours": ' in cli(*asked, "--count", "--json").out
    assert "knight_tours_3x7" in cli("status", "--outputs", str(light)).out


@pytest.mark.parametrize(
    ("board", "count"),
    [("7x7", "165,575,218,320"), ("8x8", "19,591,828,170,979,904")],
)
def test_a_board_too_large_is_refused_with_its_number_of_tours(
    tmp_path: Path, cli: Cli, board: str, count: str
) -> None:
    folder = tmp_path / "none"
    said = cli("precompute", "knight", "--board", board, "--outputs", str(folder))
    assert (said.code, said.out) == (1, "")
    assert said.err == (
        f"pipeline: {board} cannot be listed whole: it has {count} directed open tours. "
        "Boards of up to 36 squares are listed whole.\n"
    )
    assert not folder.exists()


def test_a_board_goes_with_the_knight(tmp_path: Path, cli: Cli) -> None:
    said = cli("precompute", "eight", "--board", "3x4", "--outputs", str(tmp_path))
    assert (said.code, said.err) == (2, "pipeline: --board goes with the stage knight.\n")


def test_what_is_done_is_told_and_why(tmp_path: Path, cli: Cli) -> None:
    said = cli("precompute", "eight", "--outputs", str(tmp_path))
    assert (said.code, said.err) == (0, "eight: missing\neight_edge: missing\n")
    rows = [line.split() for line in said.out.splitlines()]
    assert rows[0] == ["table", "rows", "bytes", "index", "bytes", "seconds"]
    for name, count, row in zip(("eight", "eight_edge"), (362880, 181440), rows[1:], strict=True):
        size, index = (tmp_path / f"{name}.{end}" for end in ("parquet", "idx"))
        sizes = [f"{path.stat().st_size:,}" for path in (size, index)]
        assert row[:4] == [name, f"{count:,}", *sizes]
        assert float(row[4]) >= 0
    again = cli("precompute", "eight", "--outputs", str(tmp_path))
    assert again.err == "eight: up to date\neight_edge: up to date\n"
    assert [line.split()[4:] for line in again.out.splitlines()[1:]] == [["up", "to", "date"]] * 2
    quiet = cli("precompute", "eight", "--force", "--quiet", "--outputs", str(tmp_path))
    assert quiet == (0, "", "")


def test_the_folder_may_come_from_the_environment(tmp_path: Path, cli: Cli) -> None:
    said = cli("precompute", "eight", cwd=tmp_path, env={"PIPELINE_OUTPUTS": "made"})
    assert said.code == 0
    assert (tmp_path / "made" / "eight.parquet").is_file()
    said = cli("query", "eight", "123456780", cwd=tmp_path, env={"PIPELINE_OUTPUTS": "made"})
    assert said.code == 0
