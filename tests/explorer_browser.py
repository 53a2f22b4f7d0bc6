"""A real browser for the explorer's tests, and the pictures of it that the docs show.

`python -m tests.explorer_browser` takes the pictures anew.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from playwright.sync_api import Browser, sync_playwright

from queries.explorer import write_explorer
from tests.shell import ROOT

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    # a container's root has no sandbox; the others keep the browser from calling home
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PICTURES = {
    "eight": "eight/378546201/123456780",
    "senet": "senet/B..AABA.BA.BB.A",
    "knight": "knight/b1/a3",
}
"""What each picture in the docs shows."""


@contextmanager
def launched() -> Iterator[Browser]:
    """Headless Chromium. Without one the tests are skipped, but on CI they fail."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        problem = "there is no Chromium to drive the page: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(problem, pytrace=False)
        pytest.skip(problem)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


def take_pictures(folder: Path) -> None:
    """Write `explorer-NAME.png` for each view."""
    with TemporaryDirectory() as place, launched() as browser:
        target = Path(place) / "explorer.html"
        write_explorer(ROOT / "outputs", target)
        page = browser.new_page(viewport={"width": 1000, "height": 740}, reduced_motion="reduce")
        for name, address in PICTURES.items():
            page.goto("about:blank")
            page.goto(f"{target.as_uri()}#{address}")
            page.wait_for_selector(f"body[data-whole={name}]")
            page.screenshot(path=folder / f"explorer-{name}.png")


if __name__ == "__main__":
    take_pictures(ROOT / "docs")
