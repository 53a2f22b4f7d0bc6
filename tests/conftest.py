"""Fixtures that many tests share: the published tables, and the program run at the shell."""

import gc
import os
import signal
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.queries.tables import Tables, open_tables
from puzzle_tablebase.registry import list_puzzles
from puzzle_tablebase.stores import Folder
from tests import NIGHTLY, usual_or_nightly
from tests.support.made_once import make_once
from tests.support.shell import ROOT, Cli, Completed, run_here
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
        "--write-golden", action="store_true", help="write tests/golden, and run no other tests"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put long tests first, so that no process begins one when the others have ended."""
    if config.getoption("--write-golden"):
        items[:] = [item for item in items if "golden" in getattr(item, "fixturenames", ())]
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """Keep the garbage collector from searching all tests and modules again and again."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let the collector free what libraries would report as leaked."""
    gc.unfreeze()


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
    planned = run_here("precompute", "--dry-run", "--outputs", str(ROOT / "outputs"))
    if planned.code or planned.out.count("\n") > 1:
        pytest.fail(f"{planned.out}{planned.err}Run: make precompute", pytrace=False)
    return ROOT / "outputs"


@pytest.fixture(scope="session")
def tables(outputs: Path) -> Tables:
    return open_tables(str(outputs))


@pytest.fixture(scope="session")
def cli() -> Cli:
    return run_here


@pytest.fixture(scope="session")
def query(outputs: Path) -> Cli:
    """Return a function that queries the published tables and returns code, stdout and stderr."""

    def run(*words: str, text: bytes = b"") -> Completed:
        where = ("--outputs", str(outputs))
        return run_here("query", *words, *where, cwd=Path.cwd(), stdin=os.fsdecode(text))

    return run


@pytest.fixture
def copy(outputs: Path, tmp_path: Path) -> Path:
    return link_copy(outputs, tmp_path)


@pytest.fixture(scope="session")
def workspace(outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a working folder whose `outputs` has the tables of the three puzzles and no other."""
    workspace = tmp_path_factory.mktemp("workspace")
    folder = link_copy(outputs, workspace).rename(workspace / "outputs")
    known = {table.name for puzzle in list_puzzles() for table in puzzle.tables}
    listed = {name: entry for name, entry in read_manifest(Folder(folder)).items() if name in known}
    write_manifest(Folder(folder), listed)
    return workspace


def make_fixture(name: str, *tables: str) -> Any:
    def build(folder: Path) -> None:
        words = ("precompute", *tables, "--quiet", "--outputs", str(folder))
        assert run_here(*words) == (0, "", "")

    @pytest.fixture(scope="session", name=name)
    def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
        return make_once(tmp_path_factory, name, build)

    return made


_ranked_boards = make_fixture(
    "ranked_boards",
    *(f"knight_closed_ranks_{board}" for board in ("10x3", "5x6", "6x5", "6x6")),
    *(f"knight_ranks_{board}" for board in ("5x4", "5x5", "8x3")),
)
_patterns_555 = make_fixture("patterns_555", "fifteen_5-5-5")
_small_boards = make_fixture("small_boards", "sliding_2x2", "sliding_2x3", "sliding_3x3")
# one in bytes, over 1 MiB, and one in bits
_large_boards = make_fixture("large_boards", "sliding_2x5_10", "sliding_3x4_12")
