"""Lists in pieces: in any order, twice, at once, killed; all or nothing is published."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from pipeline.build import Request, build
from pipeline.builders import tour_list
from pipeline.builders.registry import checkpoints
from pipeline.shards import Listing, find_listings, build_shard, parse_shard, require_complete
from queries import open_tables
from queries.status import list_status, make_unusable_error
from queries.scans import scan_table
from tablebase.errors import BadRequest, SearchError, TablePartial
from tablebase.puzzles.knight import definition as knight
from tablebase.puzzles.knight.definition import PUZZLE as KNIGHT
from tablebase.puzzles.knight.definition import make_tour_table
from tablebase.puzzles.knight.board import KnightBoard, parse_board
from tablebase.tables import BACKUP
from tablebase.tables.checkpoints import ShardSpec
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import SHARED_SUFFIX, Folder
from tests import LONG
from tests.conftest import make_once
from tests.support.tampered import link_copy, replace_link, prove_one
from tests.support.build_recorder import Recorder, build_tables, contents
from tests.support.shell import Cli, environment, program

LARGE = KnightBoard(13, 3)
"""The board of more than 36 squares with the fewest tours: 257,728, in 20 files."""
NAME = f"knight_tours_{LARGE}"
LONG_RUN = pytest.mark.skipif(not LONG, reason="a part of the long run")


def make_listing(board: str) -> Listing:
    return Listing(KNIGHT, make_tour_table(parse_board(board)))


def piece(folder: Path, board: str, number: int, of: int) -> tuple[int, int]:
    """Make it; how many parts it has, and how many rows."""
    made = build_shard(Folder(folder), make_listing(board), ShardSpec(number, of), Recorder(), None, 2)
    return made.tasks, made.rows


def finish(folder: Path, board: str) -> Recorder:
    reported, listed = Recorder(), make_listing(board)
    require_complete(Folder(folder), listed)
    build(Request(Folder(folder), [(KNIGHT, (listed.table,))]), reported)
    return reported


def read_whole_build(folder: Path, board: str) -> dict[str, bytes]:
    """The files of a build in one go."""
    build_tables(folder, KNIGHT, make_tour_table(parse_board(board)))
    return contents(folder)


def hidden(folder: Path) -> list[str]:
    always = (".lock", BACKUP)
    return [
        path.name for path in folder.iterdir() if path.name[0] == "." and path.name not in always
    ]


@pytest.mark.parametrize("board", ["4x3", "5x5", pytest.param("6x6", marks=LONG_RUN)])
def test_the_bytes_are_those_of_one_go(tmp_path: Path, board: str) -> None:
    pieces = tmp_path / "pieces"
    for number in (3, 1, 2):
        piece(pieces, board, number, 3)
    assert read_manifest(Folder(pieces)) == {}
    finish(pieces, board)
    assert contents(pieces) == read_whole_build(tmp_path / "whole", board)
    assert hidden(pieces) == []
    assert set(finish(pieces, board).reasons.values()) == {"up to date"}


def test_each_tells_what_it_made_even_if_that_is_nothing(tmp_path: Path) -> None:
    made = [piece(tmp_path, "4x3", number, 20) for number in range(1, 21)]
    assert [parts for parts, _ in made] == [1] * 12 + [0] * 8
    assert sum(rows for _, rows in made) == 16
    assert checkpoints(Folder(tmp_path), make_listing("4x3").table).list_shards() == [
        ShardSpec(number, 20) for number in sorted(range(1, 21), key=str)
    ]
    finish(tmp_path, "4x3")
    assert hidden(tmp_path) == []


def test_pieces_of_another_number_are_refused(tmp_path: Path) -> None:
    piece(tmp_path, "4x3", 3, 100)
    with pytest.raises(BadRequest) as caught:
        piece(tmp_path, "4x3", 4, 50)
    assert str(caught.value) == (
        "knight_tours_4x3 is built in 100 shards here, not in 50. Choose one of 1/100 to 100/100."
    )


def test_what_is_done_of_a_piece_is_told(tmp_path: Path) -> None:
    reported = Recorder()
    build_shard(Folder(tmp_path), make_listing("4x3"), ShardSpec(2, 8), reported, None, 1)
    assert reported.steps[-1] == ("parts", 2, 2)


@pytest.mark.parametrize(("planned", "what"), [(False, "lists"), (True, "boards")])
def test_a_stage_without_lists_or_boards_is_refused(planned: bool, what: str) -> None:
    text = rf"^--some needs --board and a stage with {what}\. Example: knight --board 7x7\.$"
    with pytest.raises(BadRequest, match=text):
        find_listings("--some", [KNIGHT], [], plannable=planned)


def test_a_piece_of_most() -> None:
    assert parse_shard(" 1000000/1000000\n") == ShardSpec(1_000_000, 1_000_000)


@pytest.mark.parametrize(
    "text", ["0/3", "4/3", "3", "3/0", "-1/3", "1/2/3", "a/b", "1/1000001", "1/9999999"]
)
def test_what_is_no_piece(text: str) -> None:
    with pytest.raises(BadRequest, match=r"is not a valid shard\. Example: 3/100"):
        parse_shard(text)


def test_what_is_missing_is_named_and_nothing_is_changed(tmp_path: Path) -> None:
    with pytest.raises(TablePartial, match="all shards are missing") as none:
        finish(tmp_path, "4x3")
    assert (
        none.value.command
        == f"pipeline precompute knight --board 4x3 --shard 1/100 --outputs {tmp_path}"
    )
    for number in (2, 7):
        piece(tmp_path, "4x3", number, 8)
    before = hidden(tmp_path)
    for _ in range(2):
        with pytest.raises(TablePartial) as caught:
            finish(tmp_path, "4x3")
        assert caught.value.problem == "shards 1, 3-6, 8 of 8 are missing"
        assert caught.value.command.partition(" --outputs")[0].endswith("--shard 1/8")
        assert caught.value.exit_code == 3
    assert hidden(tmp_path) == before
    assert contents(tmp_path) == {}


def test_two_of_the_same_at_once(tmp_path: Path) -> None:
    both = threading.Barrier(2)

    def make() -> None:
        both.wait()
        piece(tmp_path / "pieces", "5x5", 1, 1)

    threads = [threading.Thread(target=make) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    finish(tmp_path / "pieces", "5x5")
    assert contents(tmp_path / "pieces") == read_whole_build(tmp_path / "whole", "5x5")


def test_a_list_that_is_published_meanwhile(tmp_path: Path) -> None:
    """A build clears a list's parts away once it has published it; nothing is left for a piece."""

    class Overtaken(Recorder):
        def on_step(self, table: str, doing: str, done: int, total: int | None) -> None:
            if done == 1:
                build_tables(tmp_path, KNIGHT, make_tour_table(KnightBoard(5, 5)))

    done = build_shard(Folder(tmp_path), make_listing("5x5"), ShardSpec(1, 1), Overtaken(), None, 2)
    assert done.tasks == 25
    build_tables(tmp_path, KNIGHT, make_tour_table(KnightBoard(5, 5)))
    assert hidden(tmp_path) == []
    assert contents(tmp_path) == read_whole_build(tmp_path / "whole", "5x5")


def test_other_builds_leave_what_a_piece_is_writing(tmp_path: Path) -> None:
    with Folder(tmp_path).write_atomically(f"{NAME}.1.parquet", shared=True) as (file,):
        file.write(b"half")
        build_tables(tmp_path, KNIGHT, make_tour_table(KnightBoard(4, 3)), force=True)
        assert [name for name in hidden(tmp_path) if name.endswith(SHARED_SUFFIX)]
    assert (tmp_path / f"{NAME}.1.parquet").read_bytes() == b"half"


# ---- a list of many files -------------------------------------------------------------------


@pytest.fixture(scope="session")
def large(outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is published, with a list of many files beside it."""

    def make(place: Path) -> None:
        folder = link_copy(outputs, place)
        for number in (1, 2, 3):
            piece(folder, str(LARGE), number, 3)
        finish(folder, str(LARGE))

    return make_once(tmp_path_factory, "large", make) / "copy"


@pytest.fixture(scope="session")
def in_one(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """The same list as it were in one file."""

    def make(place: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(knight, "MAX_SINGLE_FILE_SQUARES", LARGE.squares)
            build_tables(place, KNIGHT, make_tour_table(LARGE))

    return pl.read_parquet(make_once(tmp_path_factory, "in_one", make) / f"{NAME}.parquet")


def test_a_large_list_is_not_begun_unasked(cli: Cli, tmp_path: Path) -> None:
    text = cli("precompute", "knight", "--board", "7x7", "--outputs", str(tmp_path / "new"))
    assert (text.code, text.out) == (2, "")
    assert text.err == (
        "pipeline: knight_tours_7x7 is too large for one process. "
        "Add --shard 1/1000 and so on to --board 7x7, or --scheduler.\n"
    )
    assert not (tmp_path / "new").exists()


def test_its_files_hold_the_rows_of_one(large: Path, in_one: pl.DataFrame) -> None:
    rows = scan_table(Folder(large), "", make_tour_table(LARGE)).collect()
    assert rows.equals(in_one)
    files = read_manifest(Folder(large))[NAME].files
    assert len(files) == 20
    assert [file.begins["number"] for file in files] == [0] * 20


def test_files_that_break_a_start_off_go_on_numbering(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, in_one: pl.DataFrame
) -> None:
    monkeypatch.setattr(knight.AllTours, "opening_length", 3)
    piece(tmp_path, str(LARGE), 1, 1)
    finish(tmp_path, str(LARGE))
    table = make_tour_table(LARGE)
    assert scan_table(Folder(tmp_path), "", table).collect().equals(in_one)
    files = read_manifest(Folder(tmp_path))[NAME].files
    read: list[str] = []
    opened = Folder.get_source

    def source(store: Folder, name: str) -> str:
        read.append(name)
        return opened(store, name)

    monkeypatch.setattr(Folder, "get_source", source)
    with open_tables(str(tmp_path)) as tables:
        for number in (0, 7_000, 30_491):
            result = tables.knight.probe("a1", board=str(LARGE), number=number)
            assert result.path == in_one.filter(start="a1", number=number)["path"].item()
    assert len({*read}) == 3 < len([file for file in files if file.begins["start"] == "a1"])


@LONG_RUN
def test_it_is_proved(large: Path) -> None:
    claims = prove_one(large, NAME)
    assert {claim.rows for claim in claims} == {257_728}


def lost(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("spoil", [lost, cut])
def test_a_piece_whose_file_is_not_there_is_missing(
    tmp_path: Path, spoil: Callable[[Path], None], large: Path
) -> None:
    for number in (1, 2, 3):
        piece(tmp_path, str(LARGE), number, 3)
    spoil(tmp_path / f"{NAME}.5.parquet")
    with pytest.raises(TablePartial, match="shards 2 of 3 are missing"):
        finish(tmp_path, str(LARGE))
    piece(tmp_path, str(LARGE), 2, 3)
    finish(tmp_path, str(LARGE))
    assert read_manifest(Folder(tmp_path)) == {NAME: read_manifest(Folder(large))[NAME]}


def test_a_build_makes_a_file_again_that_is_lost(tmp_path: Path, large: Path) -> None:
    piece(tmp_path, str(LARGE), 1, 1)
    (tmp_path / f"{NAME}.5.parquet").unlink()
    build_tables(tmp_path, KNIGHT, make_tour_table(LARGE))
    assert read_manifest(Folder(tmp_path)) == {NAME: read_manifest(Folder(large))[NAME]}


def flip_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("spoil", [lost, cut, flip_byte])
def test_a_published_file_is_made_again_alone(
    tmp_path: Path, spoil: Callable[[Path], None], large: Path
) -> None:
    folder = link_copy(large, tmp_path)
    before = contents(folder)
    spoil(replace_link(folder / f"{NAME}.5.parquet"))
    reported = finish(folder, str(LARGE))
    assert reported.finished == [NAME]
    assert (reported.steps[0], reported.steps[-1]) == (("files", 0, 1), ("files", 1, 1))
    assert contents(folder) == before
    assert sum(not path.is_symlink() for path in folder.glob(f"{NAME}.*.parquet")) == 1
    assert hidden(folder) == []


def test_a_file_that_comes_out_otherwise_is_refused(
    tmp_path: Path, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = link_copy(large, tmp_path)
    (folder / f"{NAME}.5.parquet").unlink()
    monkeypatch.setattr(tour_list, "iter_rows_from", lambda *opening: iter(()))
    with pytest.raises(SearchError, match=f"{NAME}.5.parquet has 0 rows, expected "):
        finish(folder, str(LARGE))


def test_some_of_it_is_never_taken_for_all(outputs: Path, tmp_path: Path, cli: Cli) -> None:
    folder = link_copy(outputs, tmp_path)
    piece(folder, str(LARGE), 2, 20)
    command = f"pipeline precompute knight --board {LARGE} --publish --outputs {folder}"
    row = next(row for row in list_status(Folder(folder)) if row["table"] == NAME)
    assert row == {
        "table": NAME,
        "state": "partial",
        "shards": "1 of 20 shards",
        "command": command,
    }
    refused = make_unusable_error(list_status(Folder(folder)), Folder(folder))
    assert str(refused) == f"1 of 8 tables cannot be used (1 partial). Run: {command}"
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


def test_at_the_shell(cli: Cli, tmp_path: Path) -> None:
    words = ["precompute", "knight", "--board", "4x3", "--outputs", str(tmp_path)]
    text = cli(*words, "--shard", "1/2")
    assert text.code == 0
    assert text.out.startswith("knight_tours_4x3: shard 1/2, 6 parts, 8 rows in ")
    text = cli(*words, "--publish")
    assert text.err.startswith("pipeline: knight_tours_4x3 is incomplete: shards 2 of 2 are missing")
    assert cli(*words, "--shard", "2/2", "--quiet") == (0, "", "")
    text = cli(*words, "--publish")
    assert text.code == 0
    assert "knight_tours_4x3    16" in text.out
    assert cli(*words, "--publish", "--shard", "1/2").code == 2
    text = cli(*words, "--shard", "1/2", "--force")
    assert (text.code, text.err.count("--force does not go with --shard")) == (2, 1)
    assert cli("precompute", "eight", "--shard", "1/2").code == 2


@LONG_RUN
def test_a_piece_that_is_killed_goes_on(tmp_path: Path, large: Path) -> None:
    words = [program(), *f"precompute knight --board {LARGE} --shard 1/1".split()]
    for _ in range(2):
        made = subprocess.Popen([*words, "--outputs", str(tmp_path)], env=environment())
        there = len(list(tmp_path.glob(".*.kept")))
        while made.poll() is None and len(list(tmp_path.glob(".*.kept"))) < there + 2:
            time.sleep(0.01)
        made.send_signal(signal.SIGKILL)
        made.wait()
    with pytest.raises(TablePartial):
        finish(tmp_path, str(LARGE))
    piece(tmp_path, str(LARGE), 1, 1)
    finish(tmp_path, str(LARGE))
    assert read_manifest(Folder(tmp_path)) == {NAME: read_manifest(Folder(large))[NAME]}
    assert hidden(tmp_path) == []
