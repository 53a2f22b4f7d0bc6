"""Building: what stands in the way, and what is left when it goes wrong."""

import errno
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pytest

import pipeline.build
from pipeline.build import Request, build
from queries.status import list_status
from tablebase.errors import (
    StoreError,
    SearchError,
    TablebaseError,
    TableDamaged,
)
from tablebase.graph import Graph, SearchResult
from tablebase.output import open_output
from tablebase.puzzle import Table
from tablebase.puzzles.knight.definition import PUZZLE as KNIGHT
from tablebase.tables.manifest import read_manifest
from tablebase.tables.parquet import TableWriter
from tablebase.tables.store import Folder
from tests.support.pancakes import PUZZLE as PANCAKES
from tests.support.pancakes import Pancakes
from tests.support.build_recorder import (
    COUNTS,
    SMALL,
    TOURS,
    Recorder,
    build_tables,
    contents,
    describe_anew,
    litter,
)

if TYPE_CHECKING:
    from tablebase.puzzle import Columns


# ---- the folder -----------------------------------------------------------------------------


def test_a_folder_under_way_is_refused_with_its_holder(tmp_path: Path) -> None:
    with Folder(tmp_path).lock(), pytest.raises(StoreError) as caught:
        build_tables(tmp_path, KNIGHT, TOURS)
    assert caught.value.exit_code == 3
    assert str(caught.value) == (
        f"Cannot build in {tmp_path}: it is locked by another build (process {os.getpid()}). "
        "Wait until it has ended."
    )
    assert build_tables(tmp_path, KNIGHT, TOURS).finished == [TOURS.name]


def test_whoever_is_refused_leaves_the_holders_name(tmp_path: Path) -> None:
    with Folder(tmp_path).lock():
        for _ in range(2):
            with pytest.raises(StoreError, match=rf"\(process {os.getpid()}\)"):
                build_tables(tmp_path, KNIGHT, TOURS)


def test_a_board_asked_for_once_stays_counted(tmp_path: Path) -> None:
    asked = KNIGHT.list_tables_with_boards(["3x7"])
    few = [table for table in asked if table.name in ("knight_tours_3x7", "knight_counts")]
    build_tables(tmp_path, KNIGHT, *few)
    again = build_tables(tmp_path, KNIGHT, KNIGHT.tables[-1])
    assert again.reasons == {"knight_counts": "up to date"}
    rows = list_status(Folder(tmp_path))
    assert rows[-1]["command"].startswith("pipeline precompute knight --board 3x7")


def test_what_a_killed_build_left_is_cleared(tmp_path: Path) -> None:
    (tmp_path / ".knight_tours_3x4.parquet.unpublished").write_bytes(b"half")
    (tmp_path / ".pancakes.idx.unpublished").write_bytes(b"half")
    (tmp_path / "notes.txt").write_text("mine", "utf-8")
    build_tables(tmp_path, KNIGHT, TOURS)
    assert litter(tmp_path) == []
    assert (tmp_path / "notes.txt").read_text("utf-8") == "mine"


def test_what_others_are_writing_is_left_alone(tmp_path: Path) -> None:
    """The part of a batch's answers or of a report, and of whatever else is written there."""
    with open_output(str(tmp_path / "answers.csv")) as answers:
        answers.write(b"half")
        (tmp_path / ".film.mkv.part").write_bytes(b"half")
        build_tables(tmp_path, KNIGHT, TOURS)
        build_tables(tmp_path, KNIGHT, TOURS, force=True)
        answers.write(b" and half")
    assert (tmp_path / "answers.csv").read_bytes() == b"half and half"
    assert litter(tmp_path) == []
    assert (tmp_path / ".film.mkv.part").read_bytes() == b"half"


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_file_is_no_folder(tmp_path: Path, below: str) -> None:
    (tmp_path / "taken").write_bytes(b"a file")
    path = tmp_path / "taken" / below
    with pytest.raises(StoreError) as caught:
        build_tables(path, KNIGHT, TOURS)
    assert str(caught.value) == (
        f"Cannot build in {path}: it is a file, not a folder. Choose a folder with --outputs."
    )
    assert (tmp_path / "taken").read_bytes() == b"a file"


def test_a_link_to_nowhere_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "linked"
    path.symlink_to("nowhere")
    with pytest.raises(StoreError) as caught:
        build_tables(path, KNIGHT, TOURS)
    problem = "it is a link to 'nowhere', which does not exist"
    assert str(caught.value) == f"Cannot build in {path}: {problem}. Make that folder."
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (errno.EACCES, "Choose a folder that you may write to with --outputs."),
        (errno.EROFS, "Choose a folder that you may write to with --outputs."),
        (errno.ENOSPC, "Free some space, or choose another folder with --outputs."),
    ],
)
def test_a_folder_that_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, hint: str
) -> None:
    usual = os.open

    def refused(path: str, flags: int, *more: int) -> int:
        if flags & os.O_ACCMODE != os.O_RDONLY:
            raise OSError(code, os.strerror(code))
        return usual(path, flags, *more)

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(StoreError) as caught:
        build_tables(tmp_path, KNIGHT, TOURS)
    problem = os.strerror(code).lower()
    assert str(caught.value) == f"Cannot build in {tmp_path}: {problem}. {hint}"
    assert contents(tmp_path) == {}


# ---- the manifest ---------------------------------------------------------------------------


BROKEN = ["", "{", "[]", "null", '"1"', "{}", "[" * 100_000, "\udce9"]
BROKEN += ['{"format_version": 3}', '{"format_version": 3, "tables": []}']
BROKEN += ['{"format_version": 3, "tables": {"eight": {}}}']


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_manifest_is_repaired(tmp_path: Path, text: str) -> None:
    build_tables(tmp_path, KNIGHT, TOURS)
    before = contents(tmp_path)
    (tmp_path / "manifest.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(TableDamaged, match=r"manifest\.json is damaged: .* Run: pipeline precom"):
        read_manifest(Folder(tmp_path))
    assert build_tables(tmp_path, KNIGHT, TOURS).reasons == {TOURS.name: "up to date"}
    assert contents(tmp_path) == before


# ---- interrupted ----------------------------------------------------------------------------


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SearchError])
def test_a_write_that_stops_halfway_leaves_the_old_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    build_tables(tmp_path, KNIGHT, *SMALL)
    before = contents(tmp_path)
    write, batches = TableWriter.write, 0

    def failing(writer: TableWriter, columns: "Columns") -> None:
        nonlocal batches
        batches += 1
        if batches == 3:
            raise error("in the middle")
        write(writer, columns)

    monkeypatch.setattr(TableWriter, "write", failing)
    with pytest.raises(error, match="in the middle"):
        build_tables(tmp_path, KNIGHT, describe_anew(TOURS, "Some words"), COUNTS)
    assert contents(tmp_path) == before
    assert litter(tmp_path) == []
    monkeypatch.undo()
    assert set(build_tables(tmp_path, KNIGHT, *SMALL).reasons.values()) == {"up to date"}


def test_an_index_that_cannot_be_written_leaves_the_old_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_tables(tmp_path, PANCAKES)
    before = contents(tmp_path)

    def failing(file: IO[bytes], *_: object) -> None:
        file.write(b"half of it")
        with open("/dev/full", "wb") as full:
            os.dup2(full.fileno(), file.fileno())

    monkeypatch.setattr(pipeline.build, "write_index", failing)
    with pytest.raises(StoreError, match="no space left on device"):
        build_tables(tmp_path, PANCAKES, force=True)
    assert contents(tmp_path) == before
    assert litter(tmp_path) == []


def test_a_table_and_its_index_are_both_kept_before_either_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def kept(number: int) -> None:
        done.append("kept")
        fsync(number)

    def named(part: str, path: str) -> None:
        done.append(Path(path).suffix)
        replace(part, path)

    monkeypatch.setattr(os, "fsync", kept)
    monkeypatch.setattr(os, "replace", named)
    build_tables(tmp_path, PANCAKES)
    assert done == ["kept", "kept", ".parquet", ".idx", "kept", ".json", "kept", ".backup"]


def test_what_an_executor_refuses_is_not_the_folders_fault(tmp_path: Path) -> None:
    class Lost(ThreadPoolExecutor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            raise ConnectionError("nobody answers")

    with pytest.raises(ConnectionError, match="nobody answers"):
        build(Request(Folder(tmp_path), [(KNIGHT, (TOURS,))]), Recorder(), Lost())
    assert litter(tmp_path) == []


def test_a_table_that_fails_leaves_nothing_for_the_executor_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Future[Any]] = []
    go_on = Event()

    class Slow(ThreadPoolExecutor):
        def submit(self, *options: Any, **more: Any) -> Future[Any]:
            given.append(super().submit(*options, **more))
            super().submit(go_on.wait, 10)
            return given[-1]

    def failing(*_: object) -> None:
        raise SearchError("in the middle")

    monkeypatch.setattr(TableWriter, "write", failing)
    with Slow(1) as slow:
        with pytest.raises(SearchError, match="in the middle") as held:
            build(Request(Folder(tmp_path), [(KNIGHT, (TOURS,))], jobs=4), Recorder(), slow)
        assert held.traceback, "it keeps all that was under way alive"
        assert [part.cancelled() for part in given] == [False, *[True] * 4]
        go_on.set()


# ---- what the rules say cannot be -----------------------------------------------------------


class Wrong(Pancakes):
    """Pancakes whose columns or records are not what their table holds."""

    def __init__(
        self, columns: Mapping[str, int] | None = None, records: Mapping[str, int] | None = None
    ) -> None:
        super().__init__()
        self.wrong_columns = columns or {}
        self.wrong_records = records or {}

    def fill_columns(self, table: Table, graph: Graph, walks: Mapping[str, SearchResult]) -> "Columns":
        return {**super().fill_columns(table, graph, walks), **self.all_of(self.wrong_columns)}

    def make_records(self, table: Table, walks: Mapping[str, SearchResult]) -> "Columns":
        return {**super().make_records(table, walks), **self.all_of(self.wrong_records)}

    def all_of(self, wrong: Mapping[str, int]) -> dict[str, Any]:
        return {name: np.full(self.size, value) for name, value in wrong.items()}


@pytest.mark.parametrize(
    ("puzzle", "said"),
    [
        (Wrong({"distance": 128}), "A value of column distance does not fit int8."),
        (Wrong({"distance": -129}), "A value of column distance does not fit int8."),
        (Wrong(None, {"distance": 256}), "A value of distance does not fit the index of pancakes."),
        (Wrong(None, {"solutions": -1}), "A value of solutions does not fit the index of panc"),
    ],
    ids=["column too large", "column negative", "index too large", "index negative"],
)
def test_a_value_that_does_not_fit_is_published_nowhere(
    tmp_path: Path, puzzle: Wrong, said: str
) -> None:
    with pytest.raises(SearchError) as caught:
        build_tables(tmp_path, puzzle)
    assert str(caught.value).startswith(said)
    assert contents(tmp_path) == {}
    assert litter(tmp_path) == []


def test_a_number_of_rows_that_cannot_be_is_published_nowhere(tmp_path: Path) -> None:
    (table,) = PANCAKES.tables
    short = Table(
        table.name, table.meaning, table.rank, table.columns, table.recipe, table.index, rows=119
    )
    with pytest.raises(SearchError, match=r"^pancakes has 120 rows, expected 119\.$"):
        build_tables(tmp_path, PANCAKES, short)
    assert contents(tmp_path) == {}


class TwoGoals(Pancakes):
    """Two layouts that every state reaches, in one table that has room for one."""

    layouts = {"stacked": "12345", "upside_down": "54321"}  # noqa: RUF012  # as its parent's

    def __init__(self) -> None:
        self.tables = (self.make_goal_table("pancakes", "Both", ("stacked", "upside_down")),)


def test_a_state_that_reaches_two_layouts_is_published_nowhere(tmp_path: Path) -> None:
    with pytest.raises(SearchError, match=r"more than one of the layouts stacked, upside_down\."):
        build_tables(tmp_path, TwoGoals())
    assert contents(tmp_path) == {}


def test_every_refusal_is_an_error_with_an_exit_code() -> None:
    def list_subclasses(kind: type[TablebaseError]) -> Iterator[type[TablebaseError]]:
        yield kind
        for child in kind.__subclasses__():
            yield from list_subclasses(child)

    assert {kind.exit_code for kind in list_subclasses(TablebaseError)} == {1, 2, 3, 141}
