"""Fixtures of the explorer's tests, a plugin that they name."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from queries.answers import reader
from queries.explorer import write_explorer
from queries.reader import Reader
from tablebase.tables.store import Folder
from tests.support.explorer_browser import DESK, VIEWS, Explorer, found, launched

NO_BROWSER = "there is no Chromium to drive the explorer: apt-get install chromium"


def pytest_runtest_setup(item: pytest.Item) -> None:
    # said here and not in the fixture, so that all these tests are one line in the summary
    if "chromium" in getattr(item, "fixturenames", ()) and not found():
        if os.environ.get("CI") == "true":
            pytest.fail(NO_BROWSER, pytrace=False)
        pytest.skip(NO_BROWSER)


@pytest.fixture(scope="session")
def explorer(outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page."""
    target = tmp_path_factory.mktemp("explorer") / "explorer.html"
    write_explorer(Folder(outputs), str(target))
    return target


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser."""
    with launched() as browser:
        yield browser


@pytest.fixture(params=[DESK], ids=["desk"])
def shown(request: pytest.FixtureRequest, explorer: Path, chromium: Browser) -> Iterator[Explorer]:
    """The page in the browser; it must not say anything on the console nor ask the network."""
    context = chromium.new_context(**request.param)
    page = Explorer(explorer, context)
    yield page
    context.close()
    assert page.said == []


@pytest.fixture(scope="session")
def readers(outputs: Path) -> dict[str, Reader]:
    """The library's answers, to compare the page's with."""
    return {name: reader(name, Folder(outputs)) for name in VIEWS}
