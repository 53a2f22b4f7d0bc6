"""Tests of tables built in shards: in any order, twice, at once, killed, incomplete."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from pipeline.build import build
from pipeline.build_request import Request
from pipeline.builders import tour_list
from pipeline.builders.registry import checkpoints
from pipeline.shards import Listing, build_shard, parse_shard, require_complete, require_lists
from queries import open_tables
from queries.scans import scan_table
from queries.status import list_status, make_unusable_error
from tablebase.build_errors import SearchError
from tablebase.errors import BadRequest
from tablebase.puzzles.knight import tables as knight
from tablebase.puzzles.knight.board import KnightBoard, parse_board
from tablebase.puzzles.knight.definition import PUZZLE as KNIGHT
from tablebase.puzzles.knight.tables import make_tour_table
from tablebase.table_errors import TablePartial
from tablebase.tables import BACKUP
from tablebase.tables.checkpoints import ShardSpec
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import SHARED_SUFFIX, Folder, RandomAccessFile
from tests import long_run
from tests.conftest import make_once
from tests.support.build_recorder import Recorder, build_tables, contents
from tests.support.shell import Cli, environment, program
from tests.support.tampered import link_copy, prove_one, replace_link

LARGE = KnightBoard(13, 3)
"""The board of more than 36 squares with the fewest tours: 257,728, in 20 files."""
NAME = f"knight_tours_{LARGE}"


def make_listing(board: str) -> Listing:
    return Listing(KNIGHT, make_tour_table(parse_board(board)))


def build_one_shard(folder: Path, board: str, number: int, count: int) -> tuple[int, int]:
    """Build a shard of a board's tours; return its numbers of tasks and rows."""
    summary = build_shard(
        Folder(folder), make_listing(board), ShardSpec(number, count), Recorder(), None, 2
    )
    return summary.tasks, summary.rows


def publish(folder: Path, board: str) -> Recorder:
    recorder, listing = Recorder(), make_listing(board)
    require_complete(Folder(folder), listing)
    build(Request(Folder(folder), [(KNIGHT, (listing.table,))]), recorder)
    return recorder


def build_without_shards(folder: Path, board: str) -> dict[str, bytes]:
    """Build a board's tours without shards; return the published files."""
    build_tables(folder, KNIGHT, make_tour_table(parse_board(board)))
    return contents(folder)


def list_hidden_files(folder: Path) -> list[str]:
    always = (".lock", BACKUP)
    return [
        path.name for path in folder.iterdir() if path.name[0] == "." and path.name not in always
    ]


@pytest.mark.parametrize("board", ["4x3", "5x5", pytest.param("6x6", marks=long_run)])
def test_shards_give_the_bytes_of_a_build_without_shards(tmp_path: Path, board: str) -> None:
    folder = tmp_path / "pieces"
    for number in (3, 1, 2):
        build_one_shard(folder, board, number, 3)
    assert read_manifest(Folder(folder)) == {}
    publish(folder, board)
    assert contents(folder) == build_without_shards(tmp_path / "whole", board)
    assert list_hidden_files(folder) == []
    assert set(publish(folder, board).reasons.values()) == {"up to date"}


def test_each_shard_reports_its_tasks_and_rows_even_if_none(tmp_path: Path) -> None:
    summaries = [build_one_shard(tmp_path, "4x3", number, 20) for number in range(1, 21)]
    assert [tasks for tasks, _ in summaries] == [1] * 12 + [0] * 8
    assert sum(rows for _, rows in summaries) == 16
    assert checkpoints(Folder(tmp_path), make_listing("4x3").table).list_shards() == [
        ShardSpec(number, 20) for number in sorted(range(1, 21), key=str)
    ]
    publish(tmp_path, "4x3")
    assert list_hidden_files(tmp_path) == []


def test_shards_of_another_number_are_refused(tmp_path: Path) -> None:
    build_one_shard(tmp_path, "4x3", 3, 100)
    with pytest.raises(BadRequest) as caught:
        build_one_shard(tmp_path, "4x3", 4, 50)
    assert str(caught.value) == (
        "knight_tours_4x3 is built in 100 shards here, not in 50. Choose one of 1/100 to 100/100."
    )


def test_progress_of_a_shard_is_reported(tmp_path: Path) -> None:
    recorder = Recorder()
    build_shard(Folder(tmp_path), make_listing("4x3"), ShardSpec(2, 8), recorder, None, 1)
    assert recorder.steps[-1] == ("tasks", 2, 2)


def test_only_lists_are_built_in_shards() -> None:
    with pytest.raises(
        BadRequest, match=r"^--some needs a list\. Example: knight --board 7x7 --some"
    ):
        require_lists("--some", [])
    counts = Listing(KNIGHT, KNIGHT.tables[-1])
    with pytest.raises(BadRequest, match=r"^--some does not apply to knight_counts: it is no list"):
        require_lists("--some", [Listing(KNIGHT, make_tour_table(parse_board("7x7"))), counts])


def test_the_largest_number_of_shards() -> None:
    assert parse_shard(" 1000000/1000000\n") == ShardSpec(1_000_000, 1_000_000)


@pytest.mark.parametrize(
    "text", ["0/3", "4/3", "3", "3/0", "-1/3", "1/2/3", "a/b", "1/1000001", "1/9999999"]
)
def test_invalid_shards_are_refused(text: str) -> None:
    with pytest.raises(BadRequest, match=r"is not a valid shard\. Example: 3/100"):
        parse_shard(text)


def test_missing_shards_are_named_and_nothing_is_changed(tmp_path: Path) -> None:
    with pytest.raises(TablePartial, match="all shards are missing") as none:
        publish(tmp_path, "4x3")
    assert (
        none.value.command
        == f"pipeline precompute knight_tours_4x3 --shard 1/100 --outputs {tmp_path}"
    )
    for number in (2, 7):
        build_one_shard(tmp_path, "4x3", number, 8)
    before = list_hidden_files(tmp_path)
    for _ in range(2):
        with pytest.raises(TablePartial) as caught:
            publish(tmp_path, "4x3")
        assert caught.value.problem == "shards 1, 3-6, 8 of 8 are missing"
        assert caught.value.command.partition(" --outputs")[0].endswith("--shard 1/8")
        assert caught.value.exit_code == 3
    assert list_hidden_files(tmp_path) == before
    assert contents(tmp_path) == {}


def test_the_same_shard_built_twice_at_once(tmp_path: Path) -> None:
    barrier = threading.Barrier(2)

    def make() -> None:
        barrier.wait()
        build_one_shard(tmp_path / "pieces", "5x5", 1, 1)

    threads = [threading.Thread(target=make) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    publish(tmp_path / "pieces", "5x5")
    assert contents(tmp_path / "pieces") == build_without_shards(tmp_path / "whole", "5x5")


def test_a_table_that_is_published_while_a_shard_is_built(tmp_path: Path) -> None:
    """Publish the table during a shard's build, which removes the tasks that the shard finished."""

    class PublishingRecorder(Recorder):
        def on_step(self, table: str, doing: str, done: int, total: int | None) -> None:
            if done == 1:
                build_tables(tmp_path, KNIGHT, make_tour_table(KnightBoard(5, 5)))

    done = build_shard(
        Folder(tmp_path), make_listing("5x5"), ShardSpec(1, 1), PublishingRecorder(), None, 2
    )
    assert done.tasks == 25
    build_tables(tmp_path, KNIGHT, make_tour_table(KnightBoard(5, 5)))
    assert list_hidden_files(tmp_path) == []
    assert contents(tmp_path) == build_without_shards(tmp_path / "whole", "5x5")


def test_other_builds_keep_files_that_a_shard_is_writing(tmp_path: Path) -> None:
    with Folder(tmp_path).write_atomically(f"{NAME}.1.parquet", shared=True) as (file,):
        file.write(b"half")
        build_tables(tmp_path, KNIGHT, make_tour_table(KnightBoard(4, 3)), force=True)
        assert [name for name in list_hidden_files(tmp_path) if name.endswith(SHARED_SUFFIX)]
    assert (tmp_path / f"{NAME}.1.parquet").read_bytes() == b"half"


# ---- a table of many files ------------------------------------------------------------------


@pytest.fixture(scope="session")
def large(outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the published tables, and build a table of many files beside them."""

    def make(place: Path) -> None:
        folder = link_copy(outputs, place)
        for number in (1, 2, 3):
            build_one_shard(folder, str(LARGE), number, 3)
        publish(folder, str(LARGE))

    return make_once(tmp_path_factory, "large", make) / "copy"


@pytest.fixture(scope="session")
def in_one(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """Return the rows of that table when it is built in a single file."""

    def make(place: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(knight, "MAX_SINGLE_FILE_SQUARES", LARGE.squares)
            build_tables(place, KNIGHT, make_tour_table(LARGE))

    return pl.read_parquet(make_once(tmp_path_factory, "in_one", make) / f"{NAME}.parquet")


def test_a_large_table_is_not_begun_without_shards(cli: Cli, tmp_path: Path) -> None:
    text = cli("precompute", "knight", "--board", "7x7", "--outputs", str(tmp_path / "new"))
    assert (text.code, text.out) == (2, "")
    assert text.err == (
        "pipeline: knight_tours_7x7 is too large for one process. "
        "Add --shard 1/1000 and so on, or --scheduler.\n"
    )
    assert not (tmp_path / "new").exists()


def test_part_files_hold_the_rows_of_a_single_file(large: Path, in_one: pl.DataFrame) -> None:
    rows = scan_table(Folder(large), KNIGHT.catalogue, make_tour_table(LARGE)).collect()
    assert rows.equals(in_one)
    files = read_manifest(Folder(large))[NAME].files
    assert len(files) == 20
    assert [file.begins["number"] for file in files] == [0] * 20


def test_numbers_continue_across_the_files_of_one_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, in_one: pl.DataFrame
) -> None:
    monkeypatch.setattr(knight.AllTours, "opening_length", 3)
    build_one_shard(tmp_path, str(LARGE), 1, 1)
    publish(tmp_path, str(LARGE))
    table = make_tour_table(LARGE)
    assert scan_table(Folder(tmp_path), KNIGHT.catalogue, table).collect().equals(in_one)
    files = read_manifest(Folder(tmp_path))[NAME].files
    read: list[str] = []
    real_open = Folder.open_random_access

    def record_file(store: Folder, name: str) -> RandomAccessFile:
        read.append(name)
        return real_open(store, name)

    monkeypatch.setattr(Folder, "open_random_access", record_file)
    with open_tables(str(tmp_path)) as tables:
        for number in (0, 7_000, 30_491):
            result = tables.knight.probe("a1", board=str(LARGE), number=number)
            assert result.path == in_one.filter(start="a1", number=number)["path"].item()
    assert len({*read}) == 3 < len([file for file in files if file.begins["start"] == "a1"])


@long_run
def test_a_table_of_many_files_is_proved(large: Path) -> None:
    claims = prove_one(large, NAME)
    assert {claim.rows for claim in claims} == {257_728}


def delete(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("spoil", [delete, cut])
def test_a_shard_whose_file_is_lost_or_cut_is_missing(
    tmp_path: Path, spoil: Callable[[Path], None], large: Path
) -> None:
    for number in (1, 2, 3):
        build_one_shard(tmp_path, str(LARGE), number, 3)
    spoil(tmp_path / f"{NAME}.5.parquet")
    with pytest.raises(TablePartial, match="shards 2 of 3 are missing"):
        publish(tmp_path, str(LARGE))
    build_one_shard(tmp_path, str(LARGE), 2, 3)
    publish(tmp_path, str(LARGE))
    assert read_manifest(Folder(tmp_path)) == {NAME: read_manifest(Folder(large))[NAME]}


def test_a_build_rebuilds_a_lost_file(tmp_path: Path, large: Path) -> None:
    build_one_shard(tmp_path, str(LARGE), 1, 1)
    (tmp_path / f"{NAME}.5.parquet").unlink()
    build_tables(tmp_path, KNIGHT, make_tour_table(LARGE))
    assert read_manifest(Folder(tmp_path)) == {NAME: read_manifest(Folder(large))[NAME]}


def flip_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("spoil", [delete, cut, flip_byte])
def test_only_the_damaged_published_file_is_rebuilt(
    tmp_path: Path, spoil: Callable[[Path], None], large: Path
) -> None:
    folder = link_copy(large, tmp_path)
    before = contents(folder)
    spoil(replace_link(folder / f"{NAME}.5.parquet"))
    recorder = publish(folder, str(LARGE))
    assert recorder.finished == [NAME]
    assert (recorder.steps[0], recorder.steps[-1]) == (("files", 0, 1), ("files", 1, 1))
    assert contents(folder) == before
    assert sum(not path.is_symlink() for path in folder.glob(f"{NAME}.*.parquet")) == 1
    assert list_hidden_files(folder) == []


def test_a_rebuilt_file_with_other_rows_is_refused(
    tmp_path: Path, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = link_copy(large, tmp_path)
    (folder / f"{NAME}.5.parquet").unlink()
    monkeypatch.setattr(tour_list, "iter_rows_from", lambda *opening: iter(()))
    with pytest.raises(SearchError, match=f"{NAME}.5.parquet has 0 rows, expected "):
        publish(folder, str(LARGE))


def test_an_incomplete_table_is_never_used(outputs: Path, tmp_path: Path, cli: Cli) -> None:
    folder = link_copy(outputs, tmp_path)
    build_one_shard(folder, str(LARGE), 2, 20)
    command = f"pipeline precompute knight --board {LARGE} --publish --outputs {folder}"
    row = next(row for row in list_status(Folder(folder)) if row["table"] == NAME)
    assert row == {
        "table": NAME,
        "state": "partial",
        "shards": "1 of 20 shards",
        "command": command,
    }
    refused = make_unusable_error(list_status(Folder(folder)), Folder(folder))
    assert str(refused) == f"1 of 9 tables cannot be used (1 partial). Run: {command}"
    text = cli("status", "--outputs", str(folder))
    assert (text.code, "  1 of 20 shards: pipeline" in text.out) == (3, True)
    with open_tables(str(folder)) as tables, pytest.raises(TablePartial) as caught:
        tables.knight.probe("c1", board=str(LARGE))
    assert str(caught.value) == f"{NAME} is incomplete: 1 of 20 shards are there. Run: {command}"
    text = cli("verify", "--quick", "--outputs", str(folder))
    assert (text.code, f"{NAME}" in text.out) == (0, False)
    assert text.err == (
        f"note: {NAME} is incomplete (1 of 20 shards are there) and was not verified\n"
    )
    assert cli("remove", NAME, "--quiet", "--outputs", str(folder)) == (0, "", "")
    assert not list(folder.glob(f"*{NAME}*"))


def test_shards_at_the_shell(cli: Cli, tmp_path: Path) -> None:
    words = ["precompute", "knight", "--board", "4x3", "--outputs", str(tmp_path)]
    text = cli(*words, "--shard", "1/2")
    assert text.code == 0
    assert text.out.startswith("knight_tours_4x3: shard 1/2, 6 tasks, 8 rows in ")
    text = cli(*words, "--publish")
    assert text.err.startswith(
        "pipeline: knight_tours_4x3 is incomplete: shards 2 of 2 are missing"
    )
    assert cli(*words, "--shard", "2/2", "--quiet") == (0, "", "")
    text = cli(*words, "--publish")
    assert text.code == 0
    assert "knight_tours_4x3  missing    16" in text.out
    assert cli(*words, "--publish", "--shard", "1/2").code == 2
    text = cli(*words, "--shard", "1/2", "--force")
    assert (text.code, text.err.count("--shard cannot be combined with --force")) == (2, 1)
    assert cli("precompute", "eight", "--shard", "1/2").code == 2


@long_run
def test_a_killed_shard_resumes(tmp_path: Path, large: Path) -> None:
    words = [program(), *f"precompute knight --board {LARGE} --shard 1/1".split()]
    for _ in range(2):
        process = subprocess.Popen([*words, "--outputs", str(tmp_path)], env=environment())
        checkpoint_count = len(list(tmp_path.glob(".*.kept")))
        while process.poll() is None and len(list(tmp_path.glob(".*.kept"))) < checkpoint_count + 2:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with pytest.raises(TablePartial):
        publish(tmp_path, str(LARGE))
    build_one_shard(tmp_path, str(LARGE), 1, 1)
    publish(tmp_path, str(LARGE))
    assert read_manifest(Folder(tmp_path)) == {NAME: read_manifest(Folder(large))[NAME]}
    assert list_hidden_files(tmp_path) == []
