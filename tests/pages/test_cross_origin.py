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

SCRIPTS = "types { text/html html; text/javascript js; }"
ASK = """async (url) => {
    const { openTables } = await import("./javascript/index.js");
    const tables = openTables(url, { retryDelays: [] });
    const asked = tables.eight("378546201");
    return asked.then((told) => [told.distance, told.solution], (error) => [null, error.message]);
}"""

pytestmark = [pytest.mark.nightly, pytest.mark.skipif(not NGINX, reason="nginx is missing")]


@in_both
def test_the_configuration_in_the_docs_hosts_pages_and_answers_those_of_other_sites(
    browser: Browser, outputs: Path, explorer: Path, tables: Tables, tmp_path: Path
) -> None:
    docs = (ROOT / "docs" / "deploy.md").read_text("utf-8")
    options = docs.partition("```nginx\n")[2].partition("```")[0]
    root, other, works = tmp_path / "root", tmp_path / "other", (tmp_path / "1", tmp_path / "2")
    for work in works:
        work.mkdir()
    shutil.copytree(outputs, root / "tables")
    shutil.copy(explorer, root / "tables" / "explorer.html")
    shutil.copytree(ROOT / "queries" / "javascript", other / "javascript")
    (other / "index.html").write_text("<!doctype html><title>another site</title>")
    with (
        run_nginx(root, works[0], options) as url,
        run_nginx(other, works[1], SCRIPTS) as site,
        browser.new_page() as page,
    ):
        kinds = {
            "eight.idx": ("application/octet-stream", "public, max-age=31536000, immutable"),
            "manifest.json": ("application/json", "no-cache"),
            "explorer.html": ("text/html", "no-cache"),
        }
        for name, kind in kinds.items():
            with urlopen(f"{url}/tables/{name}") as answer:
                got = answer.headers
            assert (got["Content-Type"], got["Cache-Control"]) == kind
        page.goto(f"{url}/tables/explorer.html#eight/378546201")
        expect(page.locator("#eight-distance")).to_have_text("27")
        page.goto(f"{site}/index.html")
        solved = tables.eight.probe("378546201", solution=True)
        assert page.evaluate(ASK, f"{url}/tables") == [solved.distance, solved.solution]
        # a range needs no permission of its own: no request is made twice
        assert "OPTIONS" not in (works[0] / "requests").read_text()
        refused = page.evaluate(ASK, f"{url}/missing")
        assert "(it must send Access-Control-Allow-Origin)" in refused[1]
