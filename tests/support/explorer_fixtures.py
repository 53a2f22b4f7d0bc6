"""Fixtures of the explorer's tests, loaded as a pytest plugin."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, expect, sync_playwright

from puzzle_tablebase.queries.dispatch import open_reader
from puzzle_tablebase.queries.explorer.writer import write_explorer
from puzzle_tablebase.queries.reader import Reader
from puzzle_tablebase.stores.folder import Folder
from tests.conftest import make_once
from tests.support.explorer_browser import DESK, NAMES, VIEWS, Explorer, find_browser, launch
from tests.support.shell import skip


def pytest_runtest_setup(item: pytest.Item) -> None:
    # reported here and not in the fixture, so that all these tests are one line in the summary
    wanted = set(getattr(item, "fixturenames", ())) & NAMES.keys()
    if "browser" in getattr(item, "fixturenames", ()):
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        wanted.add(parameters.get("browser", "chromium"))
    for name in sorted(wanted):
        if not find_browser(name):
            skip(f"there is no browser to test in: apt-get install {NAMES[name][0]}")


@pytest.fixture(scope="session")
def explorer(outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of the explorer page."""

    def make(place: Path) -> None:
        write_explorer(Folder(outputs), str(place / "explorer.html"))

    return make_once(tmp_path_factory, "explorer", make) / "explorer.html"


@pytest.fixture(scope="session")
def driver() -> Iterator[Playwright]:
    """Yield the Playwright driver that starts and controls the browsers."""
    with sync_playwright() as driver:
        expect.set_options(timeout=30_000)  # a busy machine draws late
        yield driver


@pytest.fixture(scope="session")
def chromium(driver: Playwright) -> Iterator[Browser]:
    with launch(driver, "chromium") as browser:
        yield browser


@pytest.fixture(scope="session")
def firefox(driver: Playwright) -> Iterator[Browser]:
    with launch(driver, "firefox") as browser:
        yield browser


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Browser:
    """Return Chromium, or the browser that a parametrized test names; pytest groups the tests by
    it.
    """
    opened: Browser = request.getfixturevalue(getattr(request, "param", "chromium"))
    return opened


in_both = pytest.mark.parametrize(
    "browser", ["chromium", pytest.param("firefox", marks=pytest.mark.nightly)], indirect=True
)
"""Mark for a test that runs in each browser."""


Contexts = dict[tuple[str, str], BrowserContext]


@pytest.fixture(scope="session")
def contexts() -> Contexts:
    """Return the opened contexts, by browser and options; each browser closes its own."""
    return {}


@pytest.fixture(params=[DESK], ids=["desk"])
def shown(
    request: pytest.FixtureRequest, explorer: Path, browser: Browser, contexts: Contexts
) -> Iterator[Explorer]:
    """Yield the page in the browser; it must write nothing to the console and request nothing."""
    key = (browser.browser_type.name, repr(request.param))
    if key not in contexts:
        contexts[key] = browser.new_context(**request.param)
    page = Explorer(explorer, contexts[key])
    yield page
    page.close()
    assert page.said == []


@pytest.fixture(scope="session")
def readers(outputs: Path) -> dict[str, Reader]:
    """Return the library's readers, whose answers the page's are compared with."""
    return {name: open_reader(name, Folder(outputs)) for name in VIEWS}
