"""Tests of the numbers of states at each distance, which every build leaves in the manifest."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.errors import TableError
from puzzle_tablebase.formats.manifest import read_manifest, sum_up_depths
from puzzle_tablebase.pipeline.proofs import VerifyFailed, verify
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.queries.published import count_states, list_counts
from puzzle_tablebase.stores import MANIFEST
from puzzle_tablebase.stores.folder import Folder
from tests.support import sliding_oracle
from tests.support.build_recorder import build_all
from tests.support.shell import Cli
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import edit_manifest

GOAL = "12345670"
LAYERS = Counter(sliding_oracle.distances(GOAL, 2, 4).values())
COUNTS = [LAYERS[distance] for distance in sorted(LAYERS)]


def build_board(folder: Path, executor: ThreadPoolExecutor | None = None) -> None:
    tables = SLIDING.find_tables("sliding_2x4")
    build_all(Folder(folder), [(SLIDING, tables)], None, executor, jobs=2)


def test_the_default_tables_are_counted(outputs: Path, cli: Cli, tmp_path: Path) -> None:
    """Compare the goals with sums of rows; other tests have the plies of Senet."""
    file = tmp_path / "counts.parquet"
    assert cli("histogram", "--output", str(file)).code == 0
    assert cli("histogram").code == cli("histogram", "eight", "--output", "counts.csv").code == 2
    counts = pl.read_parquet(file)
    assert list_counts(Folder(outputs)).equals(counts)
    tables = [pl.read_parquet(outputs / f"{name}.parquet") for name in ("eight", "eight_edge")]
    states = [
        group for table in tables for group in table.group_by("goal", "distance").len().rows()
    ]
    assert {*counts.filter(puzzle="eight").select("goal", "distance", "states").rows()} == {*states}


@pytest.mark.parametrize("is_remote", [False, True])
@pytest.mark.parametrize("is_large", [False, True])
def test_every_search_of_a_board_counts_its_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_remote: bool, is_large: bool
) -> None:
    if is_large:
        treat_as_large(monkeypatch, 8)
    with ThreadPoolExecutor(2) as executor:
        build_board(tmp_path, executor if is_remote else None)
    amounts = read_manifest(Folder(tmp_path))["sliding_2x4_8"].list_amounts()
    assert amounts == ({"records": 56, "states": 20_160} if is_large else {"rows": 20_160})
    counts = count_states("sliding", Folder(tmp_path), "4x2").filter(pl.col("goal") == GOAL)
    assert counts.rows() == [(GOAL, *layer) for layer in enumerate(COUNTS)]
    verify(Folder(tmp_path)).require_no_trouble()


def test_a_false_number_of_a_search_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    treat_as_large(monkeypatch, 8)  # such a board has only an index with a bit for each state
    build_board(tmp_path)
    with edit_manifest(tmp_path) as entries:
        (counts,) = entries["sliding_2x4_8"]["counts"]
        counts["states"][1:3] = counts["states"][1] + 1, counts["states"][2] - 1
    with pytest.raises(VerifyFailed, match="at distance 1") as caught:
        verify(Folder(tmp_path))
    assert caught.value.file == str(tmp_path / MANIFEST)
    assert f"precompute sliding_2x4_8 --force --outputs {tmp_path}" in str(caught.value)


def test_a_table_without_numbers_is_out_of_date(tmp_path: Path) -> None:
    build_board(tmp_path)
    with edit_manifest(tmp_path) as entries:
        del entries["sliding_2x4_8"]["counts"]
    for read in (list_counts, lambda store: count_states("sliding", store, "2x4")):
        with pytest.raises(TableError, match="precompute sliding_2x4_8 --force"):
            read(Folder(tmp_path))


def test_distances_without_states_are_counted_too() -> None:
    counts = sum_up_depths({("a", 2): 3, ("a", 0): 1, (None, None): 4})
    assert [(each.goal, each.states) for each in counts] == [("a", [1, 0, 3]), (None, [])]
    assert [each.never for each in counts] == [0, 4]
