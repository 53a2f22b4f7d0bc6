"""Fixtures that many tests share: the published tables, and the program run at the shell."""

import os
import signal
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from puzzle_tablebase.errors import TableError
from puzzle_tablebase.formats.manifest import read_manifest, read_versions
from puzzle_tablebase.pipeline.jobs import explain_rebuild
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.puzzles.fifteen import PARTITIONS
from puzzle_tablebase.puzzles.fifteen import PUZZLE as FIFTEEN
from puzzle_tablebase.puzzles.knight.board import parse_board
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_ranking_table
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.puzzles.sliding import parse_board as parse_sliding_board
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.queries.api import Tables
from puzzle_tablebase.stores.folder import Folder
from tests import NIGHTLY, usual_or_nightly
from tests.support.build_recorder import build_tables
from tests.support.shell import ROOT, Ask, Cli, Said, run_here
from tests.support.tampered import link_copy, write_manifest

# the fast tests run without it, on other versions of Python
pytest_plugins = ["tests.support.browser"] if find_spec("playwright") else []

# every run tries the same cases, but the nightly one; on a busy machine any case may be slow
settings.register_profile(
    "tests",
    max_examples=usual_or_nightly(25, 500),
    deadline=None,
    derandomize=not NIGHTLY,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tests")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # a job that a shell started with & ignores Ctrl-C, and so would all commands that tests start
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-golden", action="store_true", help="write the files of tests/golden anew"
    )


@pytest.hookimpl(trylast=True)  # after `-m` has deselected some
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests: long ones first in each process."""
    long = [item for item in items if item.get_closest_marker("long")]
    short = [item for item in items if not item.get_closest_marker("long")]
    # xdist begins with as many consecutive tests in each process
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    size = -(-len(short) // processes)
    items[:] = [
        item
        for number in range(processes)
        for item in (*long[number::processes], *short[number * size : (number + 1) * size])
    ]


@pytest.fixture
def golden(pytestconfig: pytest.Config) -> Callable[[str, str], None]:
    """Return a function that compares a text with a golden file, or writes it if requested."""

    def compare(name: str, text: str) -> None:
        path = Path(__file__).parent / "golden" / f"{name}.txt"
        if pytestconfig.getoption("--write-golden"):
            path.write_text(text, "utf-8")
        assert text == path.read_text("utf-8")

    return compare


@pytest.fixture(autouse=True)
def _variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make no test depend on the caller's folder; a bug fails a test that calls `run_command`."""
    monkeypatch.delenv("PIPELINE_OUTPUTS", raising=False)
    monkeypatch.setenv("PIPELINE_TRACEBACK", "1")


@pytest.fixture(scope="session")
def outputs() -> Path:
    """Return the published tables' folder; fail every test of missing, damaged or stale tables."""
    folder = ROOT / "outputs"
    try:
        published = read_versions(Folder(folder))
    except TableError as error:
        pytest.fail(f"{error} Or: make precompute", pytrace=False)
    for stage in list_puzzles():
        for table in stage.tables:
            reason = explain_rebuild(Folder(folder), published.get(table.name, []), stage, table)
            if reason:
                pytest.fail(
                    f"outputs/{table.file} cannot be tested ({reason}). Run: make precompute",
                    pytrace=False,
                )
    return folder


@pytest.fixture(scope="session")
def tables(outputs: Path) -> Tables:
    """Return the published tables, opened."""
    return open_tables(str(outputs))


@pytest.fixture(scope="session")
def cli() -> Cli:
    """Return a function that runs the program in this process."""
    return run_here


@pytest.fixture(scope="session")
def ask(outputs: Path) -> Ask:
    """Return a function that queries the published tables and returns code, stdout and stderr."""

    def query(*words: str, text: bytes = b"") -> Said:
        words = ("query", *words, "--outputs", str(outputs))
        return run_here(*words, cwd=Path.cwd(), stdin=os.fsdecode(text))

    return query


def make_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder shared by all test processes, created by the first one that needs it."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            unfinished = factory.mktemp(name)
            make(unfinished)
            unfinished.rename(folder)
    return folder


@pytest.fixture(scope="session")
def place(outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a working folder whose `outputs` has the tables of the three puzzles and no other."""
    place = tmp_path_factory.mktemp("place")
    folder = place / "outputs"
    folder.mkdir()
    known = [table for registered in list_puzzles() for table in registered.tables]
    for file in [name for table in known for name in (table.file, table.index_file)]:
        if (outputs / file).exists():
            (folder / file).symlink_to(outputs / file)
    published = read_manifest(Folder(outputs))
    write_manifest(Folder(folder), {table.name: published[table.name] for table in known})
    return place


@pytest.fixture(scope="session")
def ranked_boards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of ranking tables: closed tours of some boards, open tours of others."""

    def make(place: Path) -> None:
        closed, open_ones = ("10x3", "5x6", "6x5", "6x6"), ("5x4", "5x5", "8x3")
        kinds = [(name, True) for name in closed] + [(name, False) for name in open_ones]
        tables = [make_ranking_table(parse_board(name), closed=kind) for name, kind in kinds]
        build_tables(place, KNIGHT, *tables)

    return make_once(tmp_path_factory, "numbered", make)


@pytest.fixture
def copy(outputs: Path, tmp_path: Path) -> Path:
    """Return a copy of the published folder: linked tables, and a manifest of its own."""
    return link_copy(outputs, tmp_path)


@pytest.fixture(scope="session")
def patterns_555(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of the 15-puzzle's tables for the partition 5-5-5."""
    tables = PARTITIONS["5-5-5"].make_tables()
    return make_once(
        tmp_path_factory, "patterns_555", lambda place: build_tables(place, FIFTEEN, *tables)
    )


@pytest.fixture(scope="session")
def small_boards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the tables of 2x2, 2x3 and 3x3, which have rows."""
    names = ("sliding_2x2", "sliding_2x3", "sliding_3x3")
    tables = [table for name in names for table in SLIDING.find_tables(name)]
    return make_once(
        tmp_path_factory, "small_boards", lambda place: build_tables(place, SLIDING, *tables)
    )


@pytest.fixture(scope="session")
def large_boards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table of 2x5 in bytes, over 1 MiB, and one of 3x4 in bits."""
    tables = [parse_sliding_board(name).tables[0] for name in ("2x5", "3x4")]
    return make_once(
        tmp_path_factory, "large_boards", lambda place: build_tables(place, SLIDING, *tables)
    )
