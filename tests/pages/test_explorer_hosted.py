"""The explorer beside tables on a host: boards that are not inside the page, read in parts."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest
from playwright.sync_api import Browser, Page, expect

from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.stores import MANIFEST
from tests.support.explorer_browser import DESK
from tests.support.faults import ALWAYS, fail, make_fault, spoil
from tests.support.hosts import Answer, Fault, Host, Request, serve
from tests.support.tampered import link_copy

STATE, GOAL = "0369147a258b", "123456789ab0"


@pytest.fixture(scope="module")
def folder(
    outputs: Path, large_boards: Path, explorer: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return the default tables with a board of bytes, one of bits, and the page beside them."""
    copy = link_copy(outputs, tmp_path_factory.mktemp("hosted"), large_boards)
    shutil.copy(explorer, copy / "explorer.html")
    return copy


@contextmanager
def show(
    folder: Path, browser: Browser, address: str, fault: Fault | None = None, ready: str = "sliding"
) -> Iterator[tuple[Page, Host, list[str]]]:
    said = list[str]()
    with serve(folder, fault) as host:
        context = browser.new_context(**DESK)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{host.url}/explorer.html#{address}")
        page.wait_for_selector(f"body[data-ready={ready}]")
        yield page, host, said
        context.close()


def test_a_board_beside_the_page_is_answered(folder: Path, browser: Browser) -> None:
    with show(folder, browser, f"sliding/3x4/{STATE}/{GOAL}") as (page, host, said):
        expect(page.locator("#sliding-distance")).to_have_text("37", timeout=20_000)
        parts = [request for request in host.requests if request.name == "sliding_3x4_12.idx"]
        assert 0 < len(parts) <= 37 * 3
        assert [request.name for request in host.requests].count("manifest.json") == 1
        assert host.sent - (folder / "explorer.html").stat().st_size < 500_000
        boards = page.locator("#sliding-boards button").all_inner_texts()
        assert {"2×5", "3×4"} <= {*boards}
        with open_tables(str(folder)) as tables:
            solution = tables.sliding("3x4").solution(STATE)
        assert solution in page.locator("#sliding-facts").inner_text()
        assert page.locator("#trouble").is_hidden()
        assert page.locator("#beside").inner_text() == (
            "The answers of 2×5, 3×4 are read from the tables beside this page."
        )
        assert [text for text in said if "favicon" not in text] == []


def test_a_board_beside_the_page_is_played(folder: Path, browser: Browser) -> None:
    with (
        show(folder, browser, "sliding/play/3x4") as (page, _, _),
        open_tables(str(folder)) as tables,
    ):
        expect(page).to_have_url(re.compile("/play/3x4/[0-9a-b]{12}/"))
        first = page.url.split("/")[-2]
        assert tables.sliding("3x4").probe(first).distance == 5
        for count in "12345":
            page.click("#sliding-help")
            page.click("#sliding-board .best")
            expect(page.locator("#sliding-count")).to_have_text(count)
        expect(page.locator("#sliding-word")).to_have_text(
            "Solved! 5 moves with 5 hints; the best is 5."
        )
        page.select_option("#sliding-level", "20")
        expect(page.locator("#sliding-count")).to_have_text("0")
        assert tables.sliding("3x4").probe(page.url.split("/")[-2]).distance == 20
        expect(page.locator("#trouble")).to_be_hidden()


def test_the_page_says_what_its_host_does(folder: Path, browser: Browser) -> None:
    fault = make_fault("compressed parts", "")
    with show(folder, browser, f"sliding/3x4/{STATE}/{GOAL}", fault) as (page, host, _):
        expect(page.locator("#trouble")).to_have_text(
            f"This board cannot be answered: {host.url}/sliding_3x4_12.idx cannot be read: "
            "the connection failed, or the host compresses parts of files.",
            timeout=20_000,
        )
        expect(page.locator("#sliding-unit")).to_have_text("not known")


def test_trouble_of_the_host_is_not_called_damage_of_the_page(
    folder: Path, browser: Browser
) -> None:
    with show(folder, browser, "sliding/play/3x4", make_fault("parts absent")) as (page, host, _):
        trouble = page.locator("#trouble")
        expect(trouble).to_contain_text("This board cannot be answered: ", timeout=20_000)
        expect(trouble).to_contain_text("HTTP status 404")
        assert page.locator("#sliding-board .tile").count() == 11, "it can still be played"
        address = page.url
        with page.expect_response(re.compile("sliding_3x4")) as answer:
            page.click("#sliding-another")
        assert answer.value.status == 404
        assert page.url == address
        host.fault = None
        page.click("#sliding-another")
        expect(page).not_to_have_url(address)
        page.click("#sliding-help")
        expect(page.locator("#sliding-word")).to_contain_text("Hint: ")
        expect(trouble).to_be_hidden()


def test_a_board_is_drawn_of_the_kind_that_is_asked_for(folder: Path, browser: Browser) -> None:
    is_free = Event()

    def hold(request: Request, _: Answer) -> None:
        if request.name == "sliding_3x4_12.idx":
            is_free.wait(30)

    with show(folder, browser, "sliding/play/2x5", hold) as (page, _, said):
        expect(page).to_have_url(re.compile("/play/2x5/[0-9]{10}/"))
        with page.expect_request(re.compile("sliding_3x4")):
            page.click("#sliding-boards >> text=3×4")
        assert page.locator("#sliding-board .tile").count() == 9, "the other board is not drawn yet"
        page.click("#view-sliding >> text=Study")
        expect(page.locator("#sliding-distance")).to_have_text("5")
        address = page.url
        is_free.set()
        page.click("#view-sliding >> text=Play")
        page.click("#sliding-another")
        expect(page).not_to_have_url(address)
        expect(page).to_have_url(re.compile("/play/2x5/[0-9]{10}/"))
        page.click("#sliding-boards >> text=3×4")
        expect(page).to_have_url(re.compile("/play/3x4/[0-9a-b]{12}/"))
        assert page.locator("#sliding-board .tile").count() == 11
        assert [text for text in said if "favicon" not in text] == []


@pytest.mark.parametrize(
    ("name", "reason", "is_silent"),
    [
        ("manifest absent", "cannot be read: HTTP status 404: Not Found.", True),
        ("manifest denied", "cannot be read: HTTP status 403: Forbidden.", True),
        ("manifest failing", "cannot be read: HTTP status 500: Internal Server Error.", False),
        ("half a manifest", "cannot be used: it is not a manifest.", False),
        ("manifest without tables", "cannot be used: it is not a manifest.", False),
        ("later manifest", "cannot be used: it is of format version 9, not 4.", False),
    ],
)
def test_a_manifest_that_fails_is_reported(
    name: str, reason: str, is_silent: bool, folder: Path, browser: Browser
) -> None:
    """Below the page, unless the host has no tables; and above it to those who ask for a board."""
    with show(folder, browser, "eight", make_fault(name), "eight") as (page, host, _):
        told = f"{host.url}/manifest.json {reason}"
        page.click("#eight-help")
        assert "Hint" in page.locator("#eight-word").inner_text()
        if not is_silent:
            expect(page.locator("#beside")).to_have_text(
                f"The tables beside this page cannot be used. {told}"
            )
        assert page.locator("#trouble").is_hidden()
        page.goto(f"{host.url}/explorer.html#sliding/3x4/{STATE}/{GOAL}")
        expect(page.locator("#trouble")).to_have_text(
            "This page has no puzzle “sliding”. It has 8-puzzle, Senet, Knight’s tour. To add it: "
            f"pipeline precompute sliding_2x3, then pipeline explore. {told}"
        )
        assert is_silent == (page.locator("#beside").inner_text() == "")
        host.fault = None
        page.goto(f"{host.url}/explorer.html#eight")
        page.goto(f"{host.url}/explorer.html#sliding/3x4/{STATE}/{GOAL}")
        expect(page.locator("#sliding-distance")).to_have_text("37", timeout=20_000)


def test_the_page_does_not_wait_for_the_manifest(folder: Path, browser: Browser) -> None:
    is_free = Event()

    def hold(request: Request, _: Answer) -> None:
        if request.name == "manifest.json":
            is_free.wait(30)

    with show(folder, browser, "eight", hold, "eight") as (page, host, _):
        page.click("#eight-help")
        assert page.locator("nav a[data-view=sliding]").count() == 0
        page.goto(f"{host.url}/explorer.html#sliding/3x4/{STATE}/{GOAL}")
        is_free.set()
        expect(page.locator("nav a[data-view=sliding]")).to_have_attribute("aria-current", "page")
        expect(page.locator("#sliding-distance")).to_have_text("37", timeout=20_000)


def test_boards_that_cannot_be_are_left_out(folder: Path, browser: Browser) -> None:
    strange = ["0x4_1", "3x4_0", "3x4_13", "9x9_81", "2x5_10"]
    indexes = {f"sliding_{name}.idx": "00" for name in strange}
    manifest = json.dumps({"format_version": 4, "tables": {}, "indexes": indexes}).encode()
    fault = spoil(ALWAYS, fail(200, manifest), MANIFEST)
    with show(folder, browser, "eight", fault, "eight") as (page, _, _):
        expect(page.locator("#beside")).to_have_text(
            "The answers of 2×5 are read from the tables beside this page."
        )


def test_a_page_from_disk_or_without_tables_has_no_such_board(
    folder: Path, explorer: Path, browser: Browser
) -> None:
    context = browser.new_context(**DESK)
    page = context.new_page()
    file = (folder / "explorer.html").as_uri()
    page.goto(f"{file}#eight")
    page.wait_for_selector("body[data-ready=eight]")
    assert page.locator("nav a[data-view=sliding]").count() == 0
    page.goto(f"{file}#sliding/3x4/{STATE}/{GOAL}")
    expect(page.locator("#trouble")).to_contain_text(
        "browsers allow only over HTTP, and this page was opened from disk. In its folder run:"
    )
    with serve(explorer.parent) as host:
        page.goto(f"{host.url}/explorer.html#eight")
        page.wait_for_selector("body[data-ready=eight]")
        page.wait_for_load_state("networkidle")  # the manifest was asked for, and is not there
        assert page.locator("nav a[data-view=sliding]").count() == 0
        assert page.locator("#trouble").is_hidden()
        page.click("#view-eight .take summary >> nth=0")
        assert page.locator("#view-eight [data-take=link]").inner_text() == "Copy link"
    context.close()
