"""The JavaScript package in a page of another site, and the configuration of a host in the docs."""

import shutil
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, expect

from puzzle_tablebase.queries.api import Tables
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


@in_both
@pytest.mark.parametrize(
    ("options", "is_allowed"),
    [
        (ALLOW, True),
        (f"{ALLOW} add_header Access-Control-Expose-Headers 'Content-Range, ETag';", True),
        (f"{ALLOW} gzip on; gzip_types *; gzip_min_length 1;", True),
        (f"{ALLOW} max_ranges 0;", True),
        ("", False),
    ],
    ids=["allowed", "exposed", "gzip", "without ranges", "refused"],
)
def test_a_page_of_another_site_is_answered(
    options: str, is_allowed: bool, browser: Browser, outputs: Path, tables: Tables, tmp_path: Path
) -> None:
    folder, works = tmp_path / "site", (tmp_path / "work", tmp_path / "other")
    for work in works:
        work.mkdir()
    shutil.copytree(ROOT / "queries" / "javascript", folder / "javascript")
    (folder / "index.html").write_text("<!doctype html><title>another site</title>")
    with (
        run_nginx(folder, works[0], SCRIPTS) as site,
        run_nginx(outputs, works[1], options) as url,
        browser.new_page() as page,
    ):
        page.goto(f"{site}/index.html")
        told = page.evaluate(ASK, url)
        if not is_allowed:
            assert told["name"] == "TablebaseError"
            assert "(it must send Access-Control-Allow-Origin)" in told["message"]
            return
        solved = tables.eight.probe(STATE, solution=True)
        assert (told["distance"], told["solution"]) == (solved.distance, solved.solution)
        assert told["plies"] == tables.senet.probe("ABAAABBB.B...A.").plies
        assert told["path"] == tables.knight.probe("b1", to="a3").path
        log = (works[1] / "requests").read_text()
        # a range needs no permission of its own: no request is made twice
        assert "OPTIONS" not in log
        assert 0 < log.count("GET ") <= told["requests"] <= 7


def test_the_configuration_in_the_docs_hosts_tables_and_pages(
    chromium: Browser, outputs: Path, explorer: Path, tmp_path: Path
) -> None:
    docs = (ROOT / "docs" / "deploy.md").read_text("utf-8")
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
