"""The explorer beside tables on a host, which it reads in parts; a host of another site's."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from puzzle_tablebase.queries.tables import Tables
from tests.support.browser import DESK, Explorer, in_both
from tests.support.faults import make_fault
from tests.support.hosts import NGINX, Answer, Fault, Host, Request, run_nginx, serve
from tests.support.shell import ROOT
from tests.support.tampered import link_copy

BOARD = "sliding/study?board=3x4&start=0369147a258b&goal=123456789ab0"


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
    folder: Path, browser: Browser, address: str, fault: Fault | None = None
) -> Iterator[tuple[Explorer, Page, Host]]:
    with serve(folder, fault) as host, browser.new_context(**DESK) as context:
        shown = Explorer(f"{host.url}/explorer.html", context)
        yield shown, shown.open(address), host


def test_a_board_beside_the_page_is_answered_and_played(
    folder: Path, browser: Browser, tables: Tables
) -> None:
    with show(folder, browser, BOARD) as (shown, page, host):
        expect(page.locator("#sliding-distance")).to_have_text("37", timeout=20_000)
        parts = [request for request in host.requests if request.name == "sliding_3x4_12.idx"]
        assert 0 < len(parts) <= 37 * 3
        assert host.sent - (folder / "explorer.html").stat().st_size < 500_000
        assert "2×5, 3×4" in shown.text("#beside")
        shown.go("sliding/play?board=3x4")
        for count in "12345":
            page.click("#sliding-help")
            page.click("#sliding-board .best")
            expect(page.locator("#sliding-count")).to_have_text(count)
        expect(page.locator("#sliding-word")).to_contain_text("Solved! 5 moves with 5 hints")
        assert page.locator("#trouble").is_hidden()
        assert [text for text in shown.messages if "favicon" not in text] == []


def test_trouble_of_the_host_is_told_and_passes(folder: Path, browser: Browser) -> None:
    fault = make_fault("compressed parts", "")
    with show(folder, browser, BOARD, fault) as (shown, page, host):
        trouble = page.locator("#trouble")
        expect(trouble).to_contain_text(
            "the host does not send parts of files as they are", timeout=20_000
        )
        expect(page.locator("#sliding-unit")).to_have_text("not known")
        host.fault = None
        shown.go("sliding/play?board=3x4")
        page.click("#sliding-help")
        expect(page.locator("#sliding-word")).to_contain_text("Hint: ", timeout=20_000)
        expect(trouble).to_be_hidden()


@pytest.mark.parametrize(
    ("name", "reason"), [("manifest absent", ""), ("half a manifest", "it is not a manifest.")]
)
def test_a_manifest_that_fails_is_told(
    name: str, reason: str, folder: Path, browser: Browser
) -> None:
    """Below the page, unless the host has no tables; above it for a page of boards."""
    with show(folder, browser, "eight", make_fault(name)) as (shown, page, host):
        page.click("#eight-help")
        assert "Hint" in shown.text("#eight-word")
        expect(page.locator("#beside")).to_have_text(re.compile(f"{reason}$" if reason else "^$"))
        assert page.locator("#trouble").is_hidden()
        page.goto(f"{shown.base}#{BOARD}")
        expect(page.locator("#trouble")).to_have_text(re.compile(f"“sliding”.*{reason}"))
        host.fault = None
        page.goto(f"{shown.base}#eight")
        page.goto(f"{shown.base}#{BOARD}")
        expect(page.locator("#sliding-distance")).to_have_text("37", timeout=20_000)


def test_the_page_waits_neither_for_the_manifest_nor_for_a_board(
    folder: Path, browser: Browser
) -> None:
    held = {name: Event() for name in ("manifest.json", "sliding_3x4_12.idx")}

    def hold(request: Request, _: Answer) -> None:
        if request.name in held:
            held[request.name].wait(30)

    with show(folder, browser, "eight", hold) as (shown, page, _):
        page.click("#eight-help")
        assert page.locator("nav a[data-view=sliding]").count() == 0
        page.goto(f"{shown.base}#sliding/play?board=2x5")
        held["manifest.json"].set()
        expect(page).to_have_url(re.compile("play.board=2x5&start=[0-9]{10}&"))
        with page.expect_request(re.compile("sliding_3x4")):
            page.click("#sliding-boards >> text=3×4")
        assert page.locator("#sliding-board .tile").count() == 9, "the other board is not drawn yet"
        held["sliding_3x4_12.idx"].set()
        expect(page).to_have_url(re.compile("play.board=3x4&start=[0-9a-b]{12}&"))
        assert "start=1234567890ab" not in page.url, "a board of the level, not the first one"
        expect(page.locator("#trouble")).to_have_text("")
        for _ in range(5):
            page.click("#sliding-help")
            page.click("#sliding-board .best")
        expect(page.locator("#sliding-word")).to_contain_text("Solved! 5 moves")


QUERY_TABLES = """async (url) => {
    const { openTables } = await import("./javascript/index.js");
    const tables = openTables(url, { retryDelays: [] });
    const answer = tables.eight("378546201");
    return answer.then((one) => [one.distance, one.solution], (error) => [null, error.message]);
}"""


@pytest.mark.nightly
@pytest.mark.skipif(not NGINX, reason="nginx is missing")
@in_both
def test_the_configuration_in_the_docs_hosts_pages_and_answers_those_of_other_sites(
    browser: Browser, folder: Path, tables: Tables, tmp_path: Path
) -> None:
    docs = (ROOT / "docs" / "hosting.md").read_text("utf-8")
    options = docs.partition("```nginx\n")[2].partition("```")[0]
    root, other, works = tmp_path / "root", tmp_path / "other", (tmp_path / "1", tmp_path / "2")
    for work in works:
        work.mkdir()
    shutil.copytree(folder, root / "tables")
    shutil.copytree(ROOT / "queries" / "javascript", other / "javascript")
    (other / "index.html").write_text("<!doctype html><title>another site</title>")
    with (
        run_nginx(root, works[0], options) as url,
        run_nginx(other, works[1], "types { text/html html; text/javascript js; }") as site,
        browser.new_page() as page,
    ):
        expected = {
            "eight.idx": ("application/octet-stream", "public, max-age=31536000, immutable"),
            "manifest.json": ("application/json", "no-cache"),
            "explorer.html": ("text/html", "no-cache"),
        }
        for name, headers in expected.items():
            with urlopen(f"{url}/tables/{name}") as answer:
                got = answer.headers
            assert (got["Content-Type"], got["Cache-Control"]) == headers
        page.goto(f"{url}/tables/explorer.html#eight/study?start=378546201")
        expect(page.locator("#eight-distance")).to_have_text("27")
        page.goto(f"{site}/index.html")
        solved = tables.eight.probe("378546201", solution=True)
        assert page.evaluate(QUERY_TABLES, f"{url}/tables") == [solved.distance, solved.solution]
        # a range needs no permission of its own: no request is made twice
        assert "OPTIONS" not in (works[0] / "requests").read_text()
        refused = page.evaluate(QUERY_TABLES, f"{url}/missing")
        assert "does not send parts of files as they are to pages of this site" in refused[1]
