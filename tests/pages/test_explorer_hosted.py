"""The explorer beside tables on a host: boards that are not inside the page, read in parts."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from queries import open_tables
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests.support.explorer_browser import DESK
from tests.support.hosts import Answer, Fault, Host, Request, compress, serve
from tests.support.tampered import link_copy, write_manifest

WINDOW: dict[str, Any] = {**DESK}
STATE, GOAL = "0369147a258b", "123456789ab0"


@pytest.fixture
def folder(outputs: Path, large_boards: Path, explorer: Path, tmp_path: Path) -> Path:
    """Return the default tables with a board of bytes, one of bits, and the page beside them."""
    copy = link_copy(outputs, tmp_path)
    listed = read_manifest(Folder(copy)) | read_manifest(Folder(large_boards))
    for file in large_boards.glob("sliding_*"):
        (copy / file.name).symlink_to(file)
    write_manifest(Folder(copy), listed)
    shutil.copy(explorer, copy / "explorer.html")
    return copy


@contextmanager
def show(
    folder: Path, browser: Browser, address: str, fault: Fault | None = None
) -> Iterator[tuple[Page, Host, list[str]]]:
    said = list[str]()
    with serve(folder, fault) as host:
        context = browser.new_context(**WINDOW)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{host.url}/explorer.html#{address}")
        page.wait_for_selector("body[data-ready=sliding]")
        yield page, host, said
        context.close()


def test_a_board_beside_the_page_is_answered(folder: Path, browser: Browser) -> None:
    with show(folder, browser, f"sliding/3x4/{STATE}/{GOAL}") as (page, host, said):
        expect(page.locator("#sliding-distance")).to_have_text("37", timeout=20_000)
        parts = [request for request in host.requests if request.name == "sliding_3x4_12.idx"]
        assert 0 < len(parts) <= 37 * 3
        assert host.sent - (folder / "explorer.html").stat().st_size < 500_000
        boards = page.locator("#sliding-boards button").all_inner_texts()
        assert {"2×5", "3×4"} <= {*boards}
        with open_tables(str(folder)) as tables:
            solution = tables.sliding("3x4").solution(STATE)
        assert solution in page.locator("#sliding-facts").inner_text()
        assert page.locator("#trouble").is_hidden()
        assert [text for text in said if "favicon" not in text] == []


def refuse(request: Request, answer: Answer) -> None:
    if request.span is not None:
        answer.status, answer.body, answer.sent = 404, b"", 0


def compress_parts(request: Request, answer: Answer) -> None:
    if request.span is not None:
        compress(answer)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (refuse, "HTTP status 404: Not Found."),
        (compress_parts, "the connection failed, or the host compresses parts of files."),
    ],
)
def test_the_page_says_what_its_host_does(
    fault: Fault, reason: str, folder: Path, browser: Browser
) -> None:
    with show(folder, browser, f"sliding/3x4/{STATE}/{GOAL}", fault) as (page, host, _):
        expect(page.locator("#trouble")).to_have_text(
            "This board cannot be answered: "
            f"{host.url}/sliding_3x4_12.idx cannot be read: {reason}",
            timeout=20_000,
        )


def test_a_page_from_disk_or_without_tables_has_no_such_board(
    folder: Path, explorer: Path, browser: Browser
) -> None:
    context = browser.new_context(**WINDOW)
    page = context.new_page()
    for url in (f"{(folder / 'explorer.html').as_uri()}#eight",):
        page.goto(url)
        page.wait_for_selector("body[data-ready=eight]")
        assert page.locator("nav a[data-view=sliding]").count() == 0
    with serve(explorer.parent) as host:
        page.goto(f"{host.url}/explorer.html#eight")
        page.wait_for_selector("body[data-ready=eight]")
        assert page.locator("nav a[data-view=sliding]").count() == 0
        assert page.locator("#trouble").is_hidden()
    context.close()
