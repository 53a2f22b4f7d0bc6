"""Tests of the site: its files, links and pages, its data set, and its start page on hosts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import polars as pl
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, Page, Request, expect

import puzzle_tablebase as pt
from puzzle_tablebase.errors import BadRequest, OutputError, TableDamaged
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.proofs import verify
from puzzle_tablebase.pipeline.site.data_set import make_card, make_croissant
from puzzle_tablebase.pipeline.site.pages import DOCS, FORMAT_PAGES, make_format_pages
from puzzle_tablebase.pipeline.site.writer import SUMS, write_site
from puzzle_tablebase.stores.folder import Folder
from tests.conftest import make_once
from tests.support.browser import broken_rules
from tests.support.hosts import run_python_server, serve
from tests.support.shell import ROOT, Cli
from tests.support.tampered import flip_byte, link_copy, replace_link, sha256, write_manifest

MAX_FIRST_BYTES = 150_000
ANSWER = "27 moves to corner (123456780); 15 shortest solutions."
WATCH_SHIFTS = """window.shifts = 0;
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shifts += entry.value;
}).observe({ type: "layout-shift", buffered: true });"""


def write(store: Path, folder: Path) -> list[str]:
    """Write a site without proving its tables."""
    opened = Folder(store)
    verified = verify(opened, quick=True)
    return write_site(
        opened,
        str(folder),
        read_manifest(opened),
        verified.verdicts,
        url="https://example.org",
        date="2026-01-31",
    )


@pytest.fixture(scope="session")
def site(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of all default tables."""
    return make_once(tmp_path_factory, "site", lambda folder: write(place / "outputs", folder))


@pytest.fixture
def small(outputs: Path, tmp_path: Path) -> Path:
    """Return a store of two small tables."""
    copy = link_copy(outputs, tmp_path)
    published = read_manifest(Folder(copy))
    names = ("knight_tours_5x5", "knight_tours_8x8")
    write_manifest(Folder(copy), {name: published[name] for name in names})
    return copy


def list_files(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256(path) for path in files}


class Document(HTMLParser):
    """A page's links, anchors, policy, and what its policy forbids."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links, self.anchors = list[str](), set[str]()
        self.policy = ""
        self.forbidden = list[str]()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.links += [given[name] for name in ("href", "src") if name in given]
        if "id" in given:
            assert given["id"] not in self.anchors
            self.anchors.add(given["id"])
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        if "style" in given or tag == "style" or (tag == "script" and "src" not in given):
            self.forbidden.append(tag)


def test_every_file_is_listed_and_the_tables_are_those_of_the_store(
    site: Path, place: Path
) -> None:
    listed = dict(line.split("  ")[::-1] for line in (site / SUMS).read_text().splitlines())
    assert {**listed, SUMS: sha256(site / SUMS)} == list_files(site)
    assert verify(Folder(site / "v4"), quick=True).unpublished == []
    assert read_manifest(Folder(site / "v4")) == read_manifest(Folder(place / "outputs"))
    for name in ("README.md", "package.json", "index.js"):
        assert f"v4/javascript/{name}" in listed
    assert not [name for name in listed if Path(name).name.startswith(".")]


def test_every_link_is_relative_and_leads_to_a_file_and_a_heading(site: Path) -> None:
    pages = [site / "index.html", *sorted((site / "v4" / "docs").rglob("*.html"))]
    documents = {path.resolve(): Document(path) for path in pages}
    assert len(documents) == 2 + len(FORMAT_PAGES)
    for path, document in documents.items():
        assert document.policy.startswith("default-src 'none';")
        assert document.forbidden == []
        for link in document.links:
            if link.startswith(("https://", "data:")):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / unquote(file)).resolve() if file else path
            assert target.is_file(), f"{path.name}: {link}"
            assert target.is_relative_to(site.resolve())
            assert not anchor or anchor in documents[target].anchors, f"{path.name}: {link}"
    tables = documents[(site / "index.html").resolve()].links
    for entry in read_manifest(Folder(site / "v4")).values():
        assert {f"v4/{file.file}" for file in entry.all_files} <= set(tables)


def test_croissant_has_every_file_hash_and_column_with_its_meaning(site: Path) -> None:
    described = json.loads((site / "v4" / "croissant.json").read_text())
    for key in ("conformsTo", "name", "description", "license", "url", "creator", "datePublished"):
        assert described[key]
    tables = read_manifest(Folder(site / "v4"))
    listed = {file.file: file for entry in tables.values() for file in entry.all_files}
    files = {file["@id"]: file for file in described["distribution"]}
    assert {name: (file["contentSize"], file["sha256"]) for name, file in files.items()} == {
        name: (f"{file.bytes} B", sha256(site / "v4" / name)) for name, file in listed.items()
    }
    kinds = {"int8": "cr:Int8", "int16": "cr:Int16", "int32": "cr:Int32", "int64": "cr:Int64"}
    kinds["bool"] = "sc:Boolean"
    for rows in described["recordSet"]:
        schema = pq.read_schema(site / "v4" / f"{rows['@id']}.parquet")
        fields = [(one["name"], one["description"], one["dataType"]) for one in rows["field"]]
        assert fields == [
            (
                column.name,
                column.metadata[b"comment"].decode(),
                kinds.get(str(column.type), "sc:Text"),
            )
            for column in schema
        ]
    assert {rows["@id"] for rows in described["recordSet"]} == {*tables}
    assert make_croissant([]).count("datePublished") == 0


def test_the_card_names_every_table_and_column(site: Path) -> None:
    _, front, text = (site / "v4" / "README.md").read_text().split("---\n", 2)
    lines = (line.partition(": ") for line in front.splitlines())
    header = {key: json.loads(value) for key, _, value in lines}
    tables = read_manifest(Folder(site / "v4"))
    configs = {config["config_name"]: config["data_files"] for config in header["configs"]}
    assert configs == {name: f"{name}.parquet" for name in tables}
    for name in tables:
        section = text.partition(f"### {name}\n")[2].partition("###")[0]
        for column in pq.read_schema(site / "v4" / f"{name}.parquet"):
            assert f"| `{column.name}` |" in section
            assert f"| {column.metadata[b'comment'].decode()} |" in section
        assert f"- `{name}` is intact: only the bytes" in text
    code = text.partition("import polars")[2].partition("```")[0].replace('("', f'("{site}/v4/')
    namespace = {"pl": pl}
    exec(code.partition("\n")[2], namespace)  # the card's own code, in a folder of the files
    assert namespace["rows"].height == 362_880
    assert "No table has rows." in make_card([])


def test_a_site_is_the_same_bytes_every_time_and_replaces_a_site_alone(
    small: Path, tmp_path: Path
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    notes = write(small, one)
    assert [note.partition(". ")[0] for note in notes] == [
        "explorer.html is left out",
        "report.html is left out",
    ]
    assert str(small) in notes[0], "the message names the tables, not the new site"
    other.mkdir()
    write(small, other)
    files = list_files(one)
    assert list_files(other) == files
    (one / "v4" / "try.js").write_text("old")
    write(small, one)
    assert list_files(one) == files
    (one / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"it holds 'mine\.txt', which no site has"):
        write(small, one)
    assert (one / "mine.txt").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} - {small.name} == {"one", "other"}


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ("outputs", OutputError),
        ("data", OutputError),
        ("file", OutputError),
        ("-", BadRequest),
        ("s3://bucket/site", BadRequest),
        ("", OutputError),
    ],
)
def test_only_a_folder_for_a_site_is_written(
    target: str,
    error: type[Exception],
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.txt").write_text("")
    (tmp_path / "data" / "SHA256SUMS").write_text(f"{sha256(tmp_path / 'file')}  mine.txt\n")
    monkeypatch.chdir(tmp_path)
    folder = small if target == "outputs" else Path(target) if target else tmp_path
    before = list_files(tmp_path)
    named = target if target in ("-", "s3://bucket/site") else str(folder)
    opened = Folder(small)
    with pytest.raises(error):
        write_site(opened, named, read_manifest(opened), verify(opened, quick=True).verdicts)
    assert list_files(tmp_path) == before


def test_a_table_that_is_damaged_meanwhile_is_not_published(small: Path, tmp_path: Path) -> None:
    opened = Folder(small)
    tables, verdicts = read_manifest(opened), verify(opened, quick=True).verdicts
    flip_byte(replace_link(small / "knight_tours_8x8.parquet"))
    with pytest.raises(TableDamaged, match="its SHA-256 differs from the manifest") as caught:
        write_site(opened, str(tmp_path / "site"), tables, verdicts)
    assert str(small / "knight_tours_8x8.parquet") in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == [small.name]


def test_the_command_proves_the_tables_first(cli: Cli, small: Path) -> None:
    place = small.parent
    said = cli("site", "website", "--outputs", str(small), cwd=place)
    assert (said.code, said.out) == (0, "website\n")
    assert said.err.count("is left out. ") == 2
    card = (place / "website" / "v4" / "README.md").read_text()
    assert "- `knight_tours_5x5` is proved: every path was walked" in card
    assert "<b>proved</b>" in (place / "website" / "index.html").read_text()
    said = cli("site", "website", "--outputs", str(small), "--date", "31.1.26", cwd=place)
    assert said.code == 2
    flip_byte(replace_link(small / "knight_tours_8x8.parquet"))
    said = cli("site", "other", "--outputs", str(small), cwd=place)
    assert said.code == 3
    assert not (place / "other").exists()


@pytest.mark.parametrize(
    "url",
    ["", "javascript:alert(1)", 'https://a.b/"><script>', "https://a.b/\n", "ftp://a.b", "a.b"],
)
def test_only_a_web_address_stands_in_a_site(url: str, cli: Cli, small: Path) -> None:
    said = cli("site", "website", "--url", url, "--outputs", str(small), cwd=small.parent)
    assert (said.code, said.out) == (2, "")
    assert "is not the address of a site. Example: https://example.org" in said.err
    assert not (small.parent / "website").exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from puzzle_tablebase.pipeline.site import writer
from puzzle_tablebase.pipeline.proofs import verify
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.stores.folder import Folder

def kill_after(step):
    def run(*arguments):
        step(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)
    return run

moment, store = sys.argv[1], Folder(sys.argv[2])
if moment == "before the swap":
    writer._swap = kill_after(lambda *_: None)
elif moment == "after the swap":
    writer._swap = kill_after(writer._swap)
else:  # where the system cannot exchange names
    writer._exchange_names = lambda one, other: False
    Path.rename = kill_after(Path.rename)
writer.write_site(store, sys.argv[3], read_manifest(store), verify(store, quick=True).verdicts)
"""


@pytest.mark.parametrize(
    ("moment", "is_new", "left"),
    [
        ("before the swap", False, 1),
        ("after the swap", True, 1),
        ("between two renames", None, 2),
    ],
)
def test_a_killed_run_keeps_a_version_of_the_site(
    moment: str, is_new: bool | None, left: int, small: Path, tmp_path: Path
) -> None:
    site, card = tmp_path / "site", tmp_path / "site" / "v4" / "README.md"
    write(small, site)
    killed = subprocess.run([sys.executable, "-c", KILLED, moment, small, site], check=False)
    assert killed.returncode == -9
    # the second version has no date
    assert (("2026" not in card.read_text()) if card.exists() else None) == is_new
    folders = [path for path in tmp_path.iterdir() if path.name.startswith(".site.")]
    assert len(folders) == left
    assert all((path / SUMS).is_file() for path in folders)
    write(small, site)
    assert {path.name for path in tmp_path.iterdir()} == {small.name, "site"}
    assert "2026" in card.read_text()


def test_a_folder_that_another_run_is_writing_stays(small: Path, tmp_path: Path) -> None:
    busy = tmp_path / ".site.0123456789abcdef.unpublished"
    busy.mkdir()
    holder = subprocess.Popen(
        ["flock", busy, "sh", "-c", "echo; cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout
        holder.stdout.readline()
        write(small, tmp_path / "site")
        assert busy.is_dir()
    write(small, tmp_path / "site")
    assert not busy.exists()


def test_the_wheel_has_the_pages_that_the_site_shows() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["sources"] == {"docs": "puzzle_tablebase/pipeline/site/docs"}
    _, copied = make_format_pages()
    needed = {*(f"docs/{page}.md" for page in FORMAT_PAGES), *(f"docs/{name}" for name in copied)}
    assert {name for name in wheel["only-include"] if "/" in name} == needed
    assert all((DOCS.parent / name).is_file() for name in needed)


@pytest.fixture
def start(chromium: Browser) -> Iterator[Page]:
    """Yield a narrow, dark page that measures how its layout shifts."""
    context = chromium.new_context(viewport={"width": 320, "height": 700}, color_scheme="dark")
    page = context.new_page()
    page.add_init_script(WATCH_SHIFTS)
    yield page
    context.close()


def look_up(page: Page, address: str) -> int:
    """Look the first board up; return the bytes that the page has loaded by then."""
    loaded, said = list[Request](), list[str]()
    page.on("requestfinished", lambda request: loaded.append(request))  # noqa: PLW0108  Playwright marks what it is given
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"{address}/index.html")
    assert page.get_by_text("needs JavaScript").count() == 0
    page.click("#ask button")
    expect(page.locator("#distance")).to_have_text(ANSWER)
    assert said == []
    assert all(request.url.startswith((address, "data:")) for request in loaded)
    assert page.evaluate("window.shifts") == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    sizes = [request.sizes() for request in loaded if request.url.startswith("http")]
    return sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes)


def test_the_start_page_answers_from_parts_of_the_tables(site: Path, start: Page) -> None:
    with serve(site.parent) as host:
        address = f"{host.url}/{site.name}"
        look_up(start, address)
        assert 0 < host.sent <= MAX_FIRST_BYTES
        assert [request.name for request in host.requests if request.span] == ["eight.idx"] * 2
        for distance in range(26, 0, -1):
            start.locator("#moves button").first.click()
            expect(start.locator("#distance")).to_have_text(re.compile(rf"^{distance} moves? to"))
        start.locator("#moves button").first.click()
        expect(start.locator("#distance")).to_have_text("This is the goal corner.")
        assert start.input_value("#state") == "123456780"
        start.fill("#state", "123456788")
        start.click("#ask button")
        expect(start.locator("#moves button")).to_have_count(0)
        expect(start.locator("#cost")).to_have_text("")
        assert broken_rules(start) == []
        start.goto(f"{address}/v4/docs/tables.html")
        assert broken_rules(start) == []


def test_the_start_page_answers_on_a_host_without_ranges(site: Path, start: Page) -> None:
    with run_python_server(site) as address:
        assert look_up(start, address) > 733_184, "the whole index"
        assert pt.open_tables(f"{address}/v4").eight.probe("378546201").distance == 27


def test_the_start_page_needs_no_script_for_downloads(site: Path, chromium: Browser) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    with run_python_server(site) as address:
        page.goto(f"{address}/v4/")
        page.wait_for_url(f"{address}/index.html")
        assert "It needs JavaScript" in page.locator("noscript").inner_text()
        with page.expect_download() as download:
            page.get_by_text("knight_tours_8x8.parquet", exact=True).click()
        expected = sha256(site / "v4" / "knight_tours_8x8.parquet")
        assert sha256(Path(download.value.path())) == expected
        expect(page.locator("section.table").first).to_contain_text("SHA-256")
    context.close()
