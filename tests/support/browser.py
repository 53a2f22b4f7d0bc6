"""Headless browsers, and the explorer in one: fixtures, loaded as a pytest plugin."""

import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.queries.explorer import write_explorer
from puzzle_tablebase.stores import Folder
from tests.support.build_recorder import build_tables
from tests.support.made_once import make_once
from tests.support.shell import skip
from tests.support.tampered import link_copy

FLAGS = (
    # a container's root has no sandbox; the other options stop the browser's own network requests
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESK: dict[str, Any] = {"viewport": {"width": 1200, "height": 860}, "reduced_motion": "reduce"}


def find_browser(*names: str) -> str:
    """Return the path of an installed browser, or skip the test."""
    found = next(filter(None, map(shutil.which, names)), None)
    return found or skip(f"there is no browser to test in: apt-get install {names[0]}")


@pytest.fixture(scope="session")
def driver() -> Iterator[Playwright]:
    """Yield the Playwright driver that starts and controls the browsers."""
    with sync_playwright() as driver:
        expect.set_options(timeout=30_000)  # a busy machine draws late
        yield driver


@pytest.fixture(scope="session")
def chromium(driver: Playwright) -> Iterator[Browser]:
    path = find_browser("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    with driver.chromium.launch(executable_path=path, args=list(FLAGS)) as browser:
        yield browser


@pytest.fixture(scope="session")
def firefox(driver: Playwright) -> Iterator[Browser]:
    """Yield Firefox over WebDriver BiDi, which every version supports."""
    path, launch = find_browser("firefox-esr", "firefox"), driver.firefox.launch
    still: Any = {"ui.prefersReducedMotion": 1}  # a window cannot be told so
    with launch(executable_path=path, channel="moz-firefox", firefox_user_prefs=still) as browser:
        yield browser


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Browser:
    """Return Chromium, or the browser that a parametrized test names."""
    opened: Browser = request.getfixturevalue(getattr(request, "param", "chromium"))
    return opened


in_both = pytest.mark.parametrize(
    "browser", ["chromium", pytest.param("firefox", marks=pytest.mark.nightly)], indirect=True
)
"""Mark for a test that runs in each browser."""


@pytest.fixture(scope="session")
def explorer(outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of the explorer of the default tables."""

    def make(folder: Path) -> None:
        write_explorer(Folder(outputs), str(folder / "explorer.html"))

    return make_once(tmp_path_factory, "explorer", make) / "explorer.html"


@pytest.fixture(scope="session")
def boards_page(
    outputs: Path, small_boards: Path, patterns_555: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return the path of an explorer with small boards and the 15-puzzle, beside its tables."""

    def make(folder: Path) -> None:
        copy = link_copy(outputs, folder, small_boards, patterns_555)
        build_tables(copy, SLIDING, *SLIDING.find_tables("sliding_2x4"))
        write_explorer(Folder(copy), str(copy / "explorer.html"))

    return make_once(tmp_path_factory, "boards", make) / "copy" / "explorer.html"


class Explorer:
    """The page in a window. A message on its console or a request to another host is an error."""

    def __init__(self, address: str, context: BrowserContext) -> None:
        self.base, self.context, self.page = address, context, context.new_page()
        self.messages = list[str]()
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))

    def open(self, address: str = "") -> Page:
        """Open the page at an address, loaded again."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.base}#{address}" if address else self.base)
        self.page.wait_for_selector("body[data-ready]")
        return self.page

    def go(self, address: str) -> Page:
        """Go to another address in the open page, as by a link, without a reload."""
        assert self.address() != address, "nothing would happen"
        self.page.evaluate("delete document.body.dataset.ready")
        self.page.goto(f"{self.base}#{address}")
        self.page.wait_for_selector("body[data-ready]")
        return self.page

    def address(self) -> str:
        return str(self.page.evaluate("location.hash.slice(1)"))

    def facts(self, view: str) -> dict[str, str]:
        """Return the rows of a view's answer."""
        rows = self.page.locator(f"#{view}-facts")
        terms, text = (rows.locator(tag).all_inner_texts() for tag in ("dt", "dd"))
        return dict(zip(terms, text, strict=True))

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def width(self) -> int:
        """Return the width of the page's content, which may be wider than its window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth"))


@pytest.fixture
def shown(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Explorer]:
    """Yield the explorer in a new window; `param` may name another page, options and an hour."""
    wanted = {"page": "explorer", "options": {}, "time": None} | getattr(request, "param", {})
    file: Path = request.getfixturevalue(wanted["page"])
    context = browser.new_context(**(DESK | wanted["options"]))
    shown = Explorer(file.as_uri(), context)

    def note(request: Any) -> None:
        if not request.url.startswith((file.as_uri(), "data:", "about:")):
            shown.messages.append(f"request for {request.url}")

    context.on("request", note)
    if wanted["time"]:
        shown.page.clock.install(time=wanted["time"])
    yield shown
    context.close()
    assert shown.messages == []


def broken_rules(page: Page, *among: str) -> list[tuple[str, list[str]]]:
    """List the accessibility rules (all, or the named groups) that a page breaks, with elements."""
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    options = {"rules": {"target-size": {"enabled": True}}, **({"runOnly": among} if among else {})}
    result = page.evaluate("(options) => axe.run(options)", options)
    return [
        (rule["id"], [node["html"][:120] for node in rule["nodes"]])
        for rule in result["violations"]
    ]
