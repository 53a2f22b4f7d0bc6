"""Tests of the table of the states at each distance: its rows, and when it is built again."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from pipeline.build import build
from pipeline.build_request import Request
from pipeline.builders import distance_table
from pipeline.builders.sliding_search import search_space
from pipeline.commands.selection import list_followers
from pipeline.removal import make_removal
from pipeline.verify import Grade, VerifyFailed, verify
from queries.histogram import count_states
from queries.status import list_status
from tablebase.build_errors import MemoryShort
from tablebase.puzzles import get_stage
from tablebase.puzzles.sliding.definition import PUZZLE as SLIDING
from tablebase.table_errors import TableMissing, TableOutdated
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests.support import sliding_oracle
from tests.support.build_recorder import Recorder, build_tables, count_distances
from tests.support.shell import Cli
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import edit_manifest

STAGE = get_stage("distances")
(TABLE,) = STAGE.tables


def build_boards(folder: Path, *boards: str) -> Recorder:
    """Build boards as the command does: the counts follow if they are published."""
    store, recorder = Folder(folder), Recorder()
    tables = SLIDING.catalogue.request_tables({"board": boards})
    followers = partial(list_followers, store)
    build(Request(store, [(SLIDING, tables)], find_followers=followers), recorder)
    return recorder


def read_counts(folder: Path) -> list[tuple[object, ...]]:
    return pl.read_parquet(folder / "distances.parquet").rows()


@pytest.fixture
def bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat boards of 8 cells as large: they have only an index with a bit for each state."""
    treat_as_large(monkeypatch, 8)


def test_the_default_tables_are_counted(outputs: Path) -> None:
    rows = list[tuple[object, ...]]()
    for name in ("eight", "eight_edge"):
        states = pl.read_parquet(outputs / f"{name}.parquet").sort("goal", "distance")
        for (goal, distance), group in states.group_by("goal", "distance", maintain_order=True):
            rows.append(("eight", "3x3", goal, distance, len(group)))
    plies = pl.read_parquet(outputs / "senet.parquet")["plies"].to_list()
    for ply in [*sorted({*plies} - {None}), None]:
        rows.append(("senet", None, None, ply, plies.count(ply)))
    assert read_counts(outputs) == rows


def test_the_table_grows_with_the_boards(tmp_path: Path, bits: None) -> None:
    build_boards(tmp_path, "2x2")
    count_distances(tmp_path)
    recorder = build_boards(tmp_path, "2x4")  # a table of bits, whose states are searched
    assert recorder.reasons["distances"] == "parameters changed"
    expected = []
    for board, goals in (("2x2", ["1230"]), ("2x4", ["12345670"])):
        for goal in goals:
            layers = Counter(sliding_oracle.distances(goal, *map(int, board.split("x"))).values())
            expected += [("sliding", board, goal, at, layers[at]) for at in sorted(layers)]
    assert read_counts(tmp_path) == expected
    build(make_removal(Folder(tmp_path), ["sliding_2x2_4"], 1), Recorder())
    assert {row[1] for row in read_counts(tmp_path)} == {"2x4"}


def test_a_build_that_searches_a_table_does_not_search_it_again(
    tmp_path: Path, bits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_boards(tmp_path, "2x2")
    count_distances(tmp_path)
    monkeypatch.setattr(distance_table, "search_space", None)
    build_boards(tmp_path, "2x4")
    layers = Counter(sliding_oracle.distances("12345670", 2, 4).values())
    counts = [states for _, board, _, _, states in read_counts(tmp_path) if board == "2x4"]
    assert counts == [layers[at] for at in sorted(layers)]


def test_counts_of_tables_that_have_not_changed_are_used_again(
    tmp_path: Path, bits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_boards(tmp_path, "2x4")
    count_distances(tmp_path)
    counts = read_counts(tmp_path)

    def refuse(*arguments: object) -> None:
        raise AssertionError("the states are searched once more")

    monkeypatch.setattr(distance_table, "search_space", refuse)
    build_boards(tmp_path, "2x2")
    assert read_counts(tmp_path)[-len(counts) :] == counts
    with pytest.raises(AssertionError, match="once more"):
        build_tables(tmp_path, STAGE, force=True)


def test_a_rebuilt_table_of_the_same_content_changes_nothing(tmp_path: Path) -> None:
    build_boards(tmp_path, "2x2")
    count_distances(tmp_path)
    before = (tmp_path / "distances.parquet").stat().st_mtime_ns
    (tmp_path / "sliding_2x2_4.parquet").write_bytes(b"damaged")
    recorder = build_boards(tmp_path, "2x2")
    assert recorder.finished == ["sliding_2x2_4"]
    assert recorder.reasons["distances"] == "up to date"
    assert (tmp_path / "distances.parquet").stat().st_mtime_ns == before


def test_counts_of_another_content_are_out_of_date(tmp_path: Path) -> None:
    build_boards(tmp_path, "2x2")
    count_distances(tmp_path)
    store = Folder(tmp_path)
    with edit_manifest(tmp_path) as entries:
        entries["distances"]["made_from"]["sliding_2x2_4"] = "0" * 64
    with pytest.raises(TableOutdated) as caught:
        count_states("sliding", store, "2x2")
    assert str(caught.value) == (
        f"{tmp_path}/distances.parquet is out of date: it does not count sliding_2x2_4 as "
        f"published. Run: pipeline precompute distances --outputs {tmp_path}"
    )
    assert {row["table"]: row["state"] for row in list_status(store)}["distances"] == "out of date"
    assert count_distances(tmp_path).reasons == {"distances": "its tables changed"}
    assert count_states("sliding", store, "2x2")["states"].sum() == 12


def test_a_board_that_is_not_counted_yet_is_named(tmp_path: Path) -> None:
    build_boards(tmp_path, "2x2")
    with pytest.raises(TableMissing, match=r"distances\.parquet is not published"):
        count_states("sliding", Folder(tmp_path), "2x2")
    count_distances(tmp_path)
    tables = SLIDING.catalogue.request_tables({"board": ["2x3"]})
    build_tables(tmp_path, SLIDING, *tables)
    with pytest.raises(TableOutdated, match="it does not count sliding_2x3_"):
        count_states("sliding", Folder(tmp_path), "2x3")


def test_nothing_to_count_is_an_error(cli: Cli, tmp_path: Path) -> None:
    code, _, error = cli("precompute", "distances", "--outputs", str(tmp_path))
    assert code == 3
    assert "A table with distances is not published. Run: pipeline precompute " in error


def test_a_search_that_does_not_fit_the_memory_is_refused(tmp_path: Path, bits: None) -> None:
    build_boards(tmp_path, "2x4")
    request = Request(Folder(tmp_path), [(STAGE, STAGE.tables)], memory=1000)
    with pytest.raises(MemoryShort, match="A count of the states of sliding_2x4_8"):
        build(request, Recorder())


def test_shards_count_the_same(tmp_path: Path, bits: None) -> None:
    build_boards(tmp_path, "2x4")
    count_distances(tmp_path)
    counts = read_counts(tmp_path)
    with ThreadPoolExecutor(2) as executor:
        request = Request(Folder(tmp_path), [(STAGE, STAGE.tables)], force=True, jobs=2)
        build(request, Recorder(), executor)
    assert read_counts(tmp_path) == counts
    assert {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")} == {
        "distances.parquet",
        "manifest.json",
        "sliding_2x4_8.idx",
    }


def test_counts_are_proved_by_the_proofs_of_their_tables(
    tmp_path: Path, bits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_boards(tmp_path, "2x2", "2x4")

    def miscount(*arguments: object) -> object:
        planes, layers = search_space(*arguments)  # type: ignore[arg-type]  # passed on unchanged
        return planes, [layers[0], layers[1] + 1, layers[2] - 1, *layers[3:]]

    count_distances(tmp_path)
    (verdict,) = (v for v in verify(Folder(tmp_path)).verdicts if v.table == "distances")
    assert verdict.verdict is Grade.PROVED
    assert verdict.how == (
        "every number was compared with the states counted by the proofs of 2 tables"
    )
    monkeypatch.setattr(distance_table, "search_space", miscount)
    build_tables(tmp_path, STAGE, force=True)
    with pytest.raises(VerifyFailed, match=r"found states 3, expected 2"):
        verify(Folder(tmp_path))


def test_the_manifest_lists_what_the_counts_were_made_from(outputs: Path) -> None:
    entries = read_manifest(Folder(outputs))
    assert entries["distances"].made_from == {
        name: entries[name].content for name in ("eight", "eight_edge", "senet")
    }
    assert not entries["eight"].made_from
