"""The site: its files, links and pages, its data set, and its start page on hosts."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, Page, Request, expect

import puzzle_tablebase as pt
from puzzle_tablebase import FORMAT_VERSION
from puzzle_tablebase.errors import BadRequest, OutputError, TableDamaged
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.site import SUMS, make_start_page, write_site
from puzzle_tablebase.pipeline.site.data_set import list_facts, make_card
from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.stores import Folder
from tests.support.browser import broken_rules
from tests.support.environments import make_environment, see_packages
from tests.support.hosts import run_python_server, serve
from tests.support.made_once import make_once
from tests.support.shell import ROOT, Cli, run
from tests.support.tampered import flip_byte, link_copy, replace_link, sha256, write_manifest

VERSION = f"v{FORMAT_VERSION}"
"""The folder of what depends on the version of the formats."""
WATCH_SHIFTS = """window.shifts = 0;
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shifts += entry.value;
}).observe({ type: "layout-shift", buffered: true });"""


def write(store: Path, folder: str | Path) -> list[str]:
    opened = Folder(store)
    tables, verdicts = read_manifest(opened), verify(opened, quick=True).verdicts
    address, date = "https://example.org", "2026-01-31"
    return write_site(opened, str(folder), tables, verdicts, url=address, date=date)


@pytest.fixture(scope="session")
def site(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_once(tmp_path_factory, "site", lambda folder: write(workspace / "outputs", folder))


@pytest.fixture
def small(outputs: Path, tmp_path: Path) -> Path:
    copy = link_copy(outputs, tmp_path)
    published = read_manifest(Folder(copy))
    names = ("knight_tours_5x5", "knight_tours_8x8")
    write_manifest(Folder(copy), {name: published[name] for name in names})
    return copy


def list_files(folder: Path) -> dict[str, str]:
    files = filter(Path.is_file, folder.rglob("*"))
    return {path.relative_to(folder).as_posix(): sha256(path) for path in files}


class Document(HTMLParser):
    """The links and anchors of a page, which has nothing that its policy forbids."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links, self.anchors = list[str](), list[str]()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.links += [given[name] for name in ("href", "src") if name in given]
        self.anchors += [given["id"]] if "id" in given else []
        if given.get("http-equiv") == "Content-Security-Policy":
            assert given["content"].startswith("default-src 'none';")
        assert "style" not in given
        assert tag != "style"
        assert tag != "script" or "src" in given


def test_every_file_is_listed_and_every_link_leads_to_a_file_and_a_heading(
    site: Path, workspace: Path
) -> None:
    listed = dict(line.split("  ")[::-1] for line in (site / SUMS).read_text().splitlines())
    assert {**listed, SUMS: sha256(site / SUMS)} == list_files(site)
    assert read_manifest(Folder(site / VERSION)) == read_manifest(Folder(workspace / "outputs"))
    assert verify(Folder(site / VERSION), quick=True).unpublished == []
    assert {f"{VERSION}/javascript/{name}" for name in ("package.json", "index.js")} < {*listed}
    pages = [site / "index.html", site / VERSION / "index.html"]
    documents = {path.resolve(): Document(path) for path in pages}
    for path, document in documents.items():
        assert len(document.anchors) == len({*document.anchors})
        for link in document.links:
            if link.startswith(("https://", "data:")):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / unquote(file)).resolve() if file else path
            assert target.is_file(), f"{path.name}: {link}"
            assert target.is_relative_to(site.resolve())
            assert not anchor or anchor in documents[target].anchors, f"{path.name}: {link}"
    linked = {*documents[(site / "index.html").resolve()].links}
    assert {f"{VERSION}/{name}" for name in ("explorer.html", "report.html", "senet.idx")} < linked


def test_the_card_has_every_file_and_column_with_its_meaning(site: Path) -> None:
    _, front, text = (site / VERSION / "README.md").read_text().split("---\n", 2)
    lines = (line.partition(": ") for line in front.splitlines())
    header = {key: json.loads(value) for key, _, value in lines}
    assert header["size_categories"] == ["1M<n<10M"], "rows of all tables"
    tables = read_manifest(Folder(site / VERSION))
    assert {config["config_name"]: config["data_files"] for config in header["configs"]} == {
        name: f"{name}.parquet" for name in tables
    }
    assert {*re.findall(r"^### (\w+)$", text, re.MULTILINE)} == {*tables}
    for name, entry in tables.items():
        assert f"- `{name}` is intact: only the bytes" in text
        section = text.partition(f"### {name}\n")[2].partition("###")[0]
        for file in entry.all_files:
            assert f"[{file.file}]({file.file}) ({file.bytes:,} bytes)" in section
        for column in pq.read_schema(site / VERSION / f"{name}.parquet"):
            meaning = re.escape(column.metadata[b"comment"].decode())
            assert re.search(rf"\| `{column.name}` \| .* \| {meaning} \|\n", section)
    for own, info in zip(header["configs"], header["dataset_info"], strict=True):
        (split,) = info["splits"]
        assert own["config_name"] == info["config_name"]
        assert (split["name"], split["num_examples"]) == ("train", tables[own["config_name"]].rows)
    defaults = [config["config_name"] for config in header["configs"] if "default" in config]
    assert defaults == ["eight"]


def test_the_card_describes_licence_columns_and_sizes_for_hubs(site: Path) -> None:
    """Compare with the files as polars and DuckDB read them."""
    _, front, _ = (site / VERSION / "README.md").read_text().split("---\n", 2)
    header = {key: json.loads(text) for key, text in re.findall("^(\\w+): (.*)$", front, re.M)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert header["license"] == project["license"].lower()
    for info in header["dataset_info"]:
        path = site / VERSION / f"{info['config_name']}.parquet"
        assert {each["name"]: each["dtype"] for each in info["features"]} == {
            name: "string"
            if dtype in (pl.String, pl.Enum)
            else str(dtype).lower().replace("ean", "")
            for name, dtype in pl.read_parquet_schema(path).items()
        }
        pages = f"parquet_metadata('{path}')"
        found = duckdb.sql(f"SELECT sum(total_uncompressed_size) FROM {pages}")
        assert found is not None
        ((size,),) = found.fetchall()
        assert (info["dataset_size"], info["splits"][0]["num_bytes"]) == (size, size)
        assert info["download_size"] == path.stat().st_size


LOAD = """
import json, re, sys
from pathlib import Path
import datasets, duckdb

folder = Path(sys.argv[1])
text = (folder / "README.md").read_text()
text = text.replace("hf://datasets/OWNER/NAME/", f"{folder}/").replace("OWNER/NAME", str(folder))
loaded = []
for language, code in re.findall("```(python|sql)\\n(.*?)```", text, re.DOTALL):
    if language == "sql":
        loaded += duckdb.sql(code).fetchall()[0]
    else:
        exec(code, space := {})
        loaded.append(len(space["rows"]))
tables = {}
for name in datasets.get_dataset_config_names(str(folder)):
    (split, rows), = datasets.load_dataset(str(folder), name).items()
    types = {key: feature.dtype for key, feature in rows.features.items()}
    tables[name] = [split, len(rows), types]
print(json.dumps([loaded, tables]))
"""


@pytest.mark.nightly
def test_the_package_of_a_hub_loads_every_table(site: Path, tmp_path: Path) -> None:
    """Run the card's own lines, and load all that it describes, in a folder of the files."""
    programs = make_environment(tmp_path / "env", "datasets")
    see_packages(programs)
    env = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "PIPELINE_TRACEBACK": ""}
    command = (programs / "python", "-c", LOAD)
    messages = run([*command, site / VERSION], cwd=tmp_path, env=env)
    assert messages.code == 0, messages.err
    loaded, tables = json.loads(messages.out)
    assert loaded == [362_880] * 3
    for name, entry in read_manifest(Folder(site / VERSION)).items():
        schema = pl.read_parquet_schema(site / VERSION / f"{name}.parquet")
        split, rows, columns = tables[name]
        assert (split, rows, [*columns]) == ("train", entry.rows, [*schema])
    wrong = tmp_path / "wrong"  # the numbers of the card are compared
    shutil.copytree(site / VERSION, wrong)
    card = (wrong / "README.md").read_text()
    (wrong / "README.md").write_text(card.replace('"num_examples": 362880', '"num_examples": 7'))
    assert subprocess.run([*command, wrong], cwd=tmp_path, env=env, check=False).returncode == 1


def test_texts_of_a_table_are_escaped(small: Path) -> None:
    opened = Folder(small)
    facts = list_facts(opened, read_manifest(opened), verify(opened, quick=True).verdicts)
    escaped = facts[0]._replace(meaning="States <script> & all", verdict="<b>")
    page = make_start_page([escaped], {}, "")
    assert "States &lt;script&gt; &amp; all. 1,728 rows; <b>&lt;b&gt;</b>." in page
    named = pa.schema([pa.field("x<script>y</script>", pa.int16())])
    card = make_card([facts[0]._replace(schema=named)])
    assert "<script>y" not in card
    (infos,) = re.findall(r"^dataset_info: (.*)$", card, re.MULTILINE)
    assert json.loads(infos)[0]["features"][0]["name"] == named.names[0]


def test_a_site_is_the_same_bytes_every_time(small: Path, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    notes = write(small, one)
    assert [note.split()[0] for note in notes] == ["explorer.html", "report.html"]
    assert str(small) in notes[0], "the message names the tables, not the new site"
    other.mkdir()
    write(small, other)
    assert list_files(other) == list_files(one)
    assert {path.name for path in tmp_path.iterdir()} == {small.name, "one", "other"}


def test_only_an_empty_folder_is_written(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    before = list_files(tmp_path)
    for target in (small.name, "file", "", "-", "s3://bucket/site"):
        with pytest.raises((OutputError, BadRequest)):
            write(small, target)
        assert list_files(tmp_path) == before


def test_a_table_that_is_damaged_meanwhile_is_not_published(small: Path, tmp_path: Path) -> None:
    opened = Folder(small)
    tables, verdicts = read_manifest(opened), verify(opened, quick=True).verdicts
    flip_byte(replace_link(small / "knight_tours_8x8.parquet"))
    with pytest.raises(TableDamaged, match=r"knight_tours_8x8\.parquet"):
        write_site(opened, str(tmp_path / "site"), tables, verdicts)
    assert [path.name for path in tmp_path.iterdir()] == [small.name]


def test_the_command_proves_the_tables_first(cli: Cli, small: Path) -> None:
    workspace = small.parent
    messages = cli("site", "website", "--outputs", str(small), cwd=workspace)
    assert (messages.code, messages.out) == (0, "website\n")
    assert messages.err.count("is left out. ") == 2
    card = (workspace / "website" / VERSION / "README.md").read_text()
    assert "- `knight_tours_5x5` is proved: every path was walked" in card
    assert "<b>proved</b>" in (workspace / "website" / "index.html").read_text()
    urls = ("", "ftp://a.b", "a.b", 'https://a.b/"><script>', "https://a.b/\n")
    for option in ("--date=31.1.26", *(f"--url={url}" for url in urls)):
        assert cli("site", "other", option, "--outputs", str(small), cwd=workspace).code == 2
    flip_byte(replace_link(small / "knight_tours_8x8.parquet"))
    assert cli("site", "other", "--outputs", str(small), cwd=workspace).code == 3
    assert not (workspace / "other").exists()


KILLED = """
import os, signal, sys
from puzzle_tablebase.pipeline import site
from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.stores import Folder

store = Folder(sys.argv[1])
site._write_sums = lambda folder: os.kill(os.getpid(), signal.SIGKILL)
site.write_site(store, sys.argv[2], read_manifest(store), verify(store, quick=True).verdicts)
"""


def test_after_a_kill_there_is_no_site_and_the_next_run_removes_what_is_left(
    small: Path, tmp_path: Path
) -> None:
    site, left = tmp_path / "site", tmp_path / ".site.unpublished"
    killed = subprocess.run([sys.executable, "-c", KILLED, small, site], check=False)
    assert (killed.returncode, site.exists(), left.exists()) == (-9, False, True)
    (left / VERSION / "old").touch()
    running = os.open(left, os.O_RDONLY)
    fcntl.flock(running, fcntl.LOCK_EX)
    with pytest.raises(OutputError, match=f"another run writes {left.name}"):
        write(small, site)
    os.close(running)
    (left / "mine").touch()
    with pytest.raises(OutputError, match="'mine', which no run wrote"):
        write(small, site)
    assert {path.name for path in left.iterdir()} >= {"mine", VERSION}
    (left / "mine").unlink()
    write(small, site)
    assert not left.exists()
    write(small, tmp_path / "other")
    assert list_files(site) == list_files(tmp_path / "other")


def look_up(page: Page, address: str) -> int:
    """Look the first board up; return the bytes that the page has loaded by then."""
    loaded, messages = list[Request](), list[str]()
    page.on("requestfinished", lambda request: loaded.append(request))  # noqa: PLW0108  Playwright marks what it is given
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.goto(f"{address}/index.html")
    page.click("#query button")
    expect(page.locator("#distance")).to_contain_text("27 moves to corner (123456780); 15 short")
    assert messages == []
    assert all(request.url.startswith((address, "data:")) for request in loaded)
    assert page.evaluate("window.shifts") == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    sizes = [request.sizes() for request in loaded if request.url.startswith("http")]
    return sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes)


def test_the_start_page_answers_with_and_without_ranges(site: Path, chromium: Browser) -> None:
    start = chromium.new_page(viewport={"width": 320, "height": 700}, color_scheme="dark")
    start.add_init_script(WATCH_SHIFTS)
    with run_python_server(site) as address:
        assert look_up(start, address) > 733_184, "the whole index"
        assert pt.open_tables(f"{address}/{VERSION}").eight.probe("378546201").distance == 27
    with serve(site.parent) as host:
        address = f"{host.url}/{site.name}"
        look_up(start, address)
        assert 0 < host.sent <= 150_000
        assert [request.name for request in host.requests if request.span] == ["eight.idx"] * 2
        for distance in range(26, -1, -1):
            start.locator("#moves button").first.click()
            known = re.compile(rf"^{distance} moves? to" if distance else "^This is the goal")
            expect(start.locator("#distance")).to_have_text(known)
        expect(start.locator("#state")).to_have_value("123456780")
        start.fill("#state", "123456788")
        start.click("#query button")
        expect(start.locator("#moves button")).to_have_count(0)
        assert broken_rules(start) == []
    start.close()
