"""The JavaScript package in a page of another site, and the configuration of a host in the docs."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from puzzle_tablebase.queries import open_tables
from tests.support.browser import in_both
from tests.support.hosts import NGINX, run_nginx
from tests.support.shell import ROOT

STATE = "378546201"
ALLOW = "add_header Access-Control-Allow-Origin *;"
SCRIPTS = "types { text/html html; text/javascript js; }"
ASK = """async (url) => {
    const { openTables } = await import("./javascript/index.js");
    const tables = openTables(url, { retryDelays: [] });
    const told = { requests: 0 };
    try {
        const { distance, solution } = await tables.eight("378546201");
        const { plies } = await tables.senet("ABAAABBB.B...A.");
        const { path } = await tables.knight("b1", "a3");
        Object.assign(told, { distance, solution, plies, path });
    } catch (error) {
        Object.assign(told, { name: error.name, message: error.message });
    }
    return { ...told, requests: tables.source.requests };
}"""

pytestmark = [pytest.mark.nightly, pytest.mark.skipif(not NGINX, reason="nginx is missing")]


class Site:
    """A page with the package, and hosts of other origins beside it."""

    def __init__(self, page: Page, hosts: ExitStack, work: Path) -> None:
        self.page, self.hosts, self.work = page, hosts, work

    def ask(self, outputs: Path, options: str) -> tuple[dict[str, Any], str, str]:
        """Ask the package about a host with those options; also return its address and its log."""
        work = self.work / "other"
        work.mkdir()
        url = self.hosts.enter_context(run_nginx(outputs, work, options))
        told = self.page.evaluate(ASK, url)
        return told, url, (work / "requests").read_text()


@pytest.fixture
def site(browser: Browser, tmp_path: Path) -> Iterator[Site]:
    folder, work = tmp_path / "site", tmp_path / "work"
    work.mkdir()
    shutil.copytree(ROOT / "queries" / "javascript", folder / "javascript")
    (folder / "index.html").write_text("<!doctype html><title>another site</title>")
    with ExitStack() as hosts:
        url = hosts.enter_context(run_nginx(folder, work, SCRIPTS))
        page = browser.new_page()
        page.goto(f"{url}/index.html")
        yield Site(page, hosts, tmp_path)
        page.close()


@in_both
@pytest.mark.parametrize(
    "options",
    [
        ALLOW,
        f"{ALLOW} add_header Access-Control-Expose-Headers 'Content-Range, ETag';",
        f"{ALLOW} gzip on; gzip_types *; gzip_min_length 1;",
        f"{ALLOW} max_ranges 0;",
    ],
    ids=["allowed", "exposed", "gzip", "without ranges"],
)
def test_a_page_of_another_site_is_answered(options: str, site: Site, outputs: Path) -> None:
    told, _, log = site.ask(outputs, options)
    with open_tables(str(outputs)) as tables:
        assert told["distance"] == tables.eight.distance(STATE)
        assert told["solution"] == tables.eight.solution(STATE)
        assert told["plies"] == tables.senet.probe("ABAAABBB.B...A.").plies
        assert told["path"] == tables.knight.probe("b1", to="a3").path
    # a range needs no permission of its own: no request is made twice
    assert "OPTIONS" not in log
    assert 0 < log.count("GET ") <= told["requests"] <= 7


@in_both
def test_a_host_that_does_not_allow_it_is_named(site: Site, outputs: Path) -> None:
    told, url, _ = site.ask(outputs, "")
    assert told["name"] == "TablebaseError"
    assert told["message"] == (
        f"{url}/manifest.json cannot be read: the connection failed, or the host does not allow "
        "pages of other sites (it must send Access-Control-Allow-Origin)."
    )


def test_the_configuration_in_the_docs_hosts_tables_and_pages(
    chromium: Browser, outputs: Path, explorer: Path, tmp_path: Path
) -> None:
    docs = (ROOT / "docs" / "hosting.md").read_text("utf-8")
    options = docs.partition("```nginx\n")[2].partition("```")[0]
    folder, work = tmp_path / "root" / "tables", tmp_path / "work"
    work.mkdir()
    shutil.copytree(outputs, folder)
    shutil.copy(explorer, folder / "explorer.html")
    with run_nginx(folder.parent, work, options) as url:
        kinds = {
            "eight.idx": ("application/octet-stream", "public, max-age=31536000, immutable"),
            "eight.parquet": ("application/octet-stream", "public, max-age=31536000, immutable"),
            "manifest.json": ("application/json", "no-cache"),
            "explorer.html": ("text/html", "no-cache"),
        }
        for name, kind in kinds.items():
            with urlopen(f"{url}/tables/{name}") as answer:
                got = answer.headers
            assert (got["Content-Type"], got["Cache-Control"]) == kind
            assert got["Access-Control-Allow-Origin"] == "*"
        page = chromium.new_page()
        page.goto(f"{url}/tables/explorer.html#eight/{STATE}")
        expect(page.locator("#eight-distance")).to_have_text("27")
        page.close()
