"""Tests of the report: a self-contained page, made by the code that it shows."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
import sys
from collections.abc import Callable, Iterator
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
from playwright.sync_api import Browser, Locator, Page

from puzzle_tablebase.errors import BadRequest, OutputError, TableDamaged, TableMissing
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.puzzles import MODULES, get_puzzle
from puzzle_tablebase.queries.figure import Figure, Sources, list_panels
from puzzle_tablebase.queries.histogram import count_states
from puzzle_tablebase.queries.knight.jump_report import load_sample
from puzzle_tablebase.queries.report import list_figures, list_sections, write_report
from puzzle_tablebase.queries.report.chapters import load_boards
from puzzle_tablebase.queries.svg import COLOURS, draw_histogram
from puzzle_tablebase.tables.manifest import read_pages
from puzzle_tablebase.tables.store import Folder
from tests import first, long_run, wide
from tests.conftest import make_once
from tests.support.build_recorder import build_tables
from tests.support.explorer_browser import broken_rules
from tests.support.shell import ROOT, skip
from tests.support.tampered import link_copy
from tools.recipe_results import run_code

MISSING = [name for name in ("altair", "vl_convert") if importlib.util.find_spec(name) is None]
SVG = re.compile(r"<svg .*?</svg>", re.DOTALL)


@pytest.fixture(scope="module")
def report_extra() -> None:
    """Skip the test where the extra that draws is not installed, but fail in CI."""
    if MISSING:
        skip(f"{' and '.join(MISSING)} not installed: make report")


@pytest.fixture(scope="module")
def sample(outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a sample of the first 300 closed tours of 6x6."""

    def make(place: Path) -> None:
        tours = pl.scan_parquet(outputs / "knight_tours_6x6.parquet").filter("closed").head(300)
        tours.select("board", "path").collect().write_parquet(place / "cycles.parquet")

    return make_once(tmp_path_factory, "sample", make) / "cycles.parquet"


@pytest.fixture(scope="module")
def page(
    report_extra: None, outputs: Path, sample: Path, tmp_path_factory: pytest.TempPathFactory
) -> str:
    def make(place: Path) -> None:
        target = place / "report.html"
        assert write_report(Folder(outputs), target, sample=sample) == [str(target)]

    return (make_once(tmp_path_factory, "report", make) / "report.html").read_text("utf-8")


@pytest.fixture(scope="module")
def report_data(
    report_extra: None, outputs: Path, sample: Path
) -> tuple[Sources, dict[str, Figure]]:
    section, rows = load_sample(str(sample))
    all_figures = list_figures([*list_sections(), section])
    return Sources(Folder(outputs), {"sample": rows}), {
        figure.name: figure for figure in all_figures
    }


ReportData = tuple[Sources, dict[str, Figure]]


OpenReport = Callable[..., Page]


@pytest.fixture
def open_report(chromium: Browser, page: str, tmp_path: Path) -> Iterator[OpenReport]:
    """Return a function that opens the report in a window of a width, with each query unfolded."""
    file = tmp_path / "report.html"
    file.write_text(page, "utf-8")
    windows = list[Page]()

    def open_window(width: int, scheme: Any = "light") -> Page:
        window = chromium.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        windows.append(window)
        window.goto(file.as_uri())
        window.evaluate("document.querySelectorAll('details').forEach((box) => box.open = true)")
        return window

    yield open_window
    for window in windows:
        window.close()


def answer(report_data: ReportData, name: str) -> pl.DataFrame:
    return report_data[0].answer(report_data[1][name])


def test_the_report_is_one_self_contained_file(page: str, report_data: ReportData) -> None:
    assert len(page.encode()) < 3_000_000
    addresses = set(re.findall(r"""["'(]\s*((?:\w+:)?//[^"')]*)""", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(r"<(link|img|iframe|object|base)\b|@import|\bon\w+=", page)
    assert page.count("<script") == page.count("<script>") == 1, "its own script, in the page"
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", page))
    names = re.findall(r'\bid="([^"]*)"', page)
    assert len(names) == len(set(names)) >= len(report_data[1])
    assert {*re.findall(r'(?:url\(|href=")#([^)"]*)', page)} <= {*names}


def test_every_picture_is_valid_and_has_dark_colours(page: str, report_data: ReportData) -> None:
    pictures = SVG.findall(page)
    assert len(pictures) == sum(
        len(list_panels(figure.show(answer(report_data, name))[2]))
        for name, figure in report_data[1].items()
    )
    colour = re.compile(r'(?:fill|stroke)="([^"]*)"')
    for picture in pictures:
        root = ElementTree.fromstring(picture)
        name = str(root.get("aria-describedby")).removesuffix("-text")
        title = re.escape(report_data[1][name].title)
        assert re.fullmatch(rf"{title}(: .+)?", root.attrib["aria-label"])
        assert "<title>" not in picture, "a figure has one title"
        assert page.count(f'<p id="{root.get("aria-describedby")}">') == 1
        used = set(colour.findall(picture)) - {"none", "transparent"}
        # clipping paths are never painted
        assert {name for name in used if not name.startswith("url(")} <= set(COLOURS), used
    rules = page[: page.index("</style>")]
    assert all(f'[fill="{light}"]{{fill:{dark}}}' in rules for light, dark in COLOURS.items())


@long_run
def test_two_runs_are_the_same(page: str, outputs: Path, sample: Path, tmp_path: Path) -> None:
    write_report(Folder(outputs), tmp_path / "again.html", sample=sample)
    assert (tmp_path / "again.html").read_text("utf-8") == page


def test_the_shown_code_gives_the_data_of_the_picture(
    page: str, report_data: ReportData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    checked: dict[str, pl.DataFrame] = {}
    for figure in report_data[1].values():
        code = report_data[0].format_code(figure)
        assert f"<code>{escape(code)}</code></pre>" in page
        if code not in checked:
            checked[code] = run_code(code)
        frame = answer(report_data, figure.name)
        assert checked[code].equals(frame)
        rows = sum(report_data[0].load(name).rows for name in figure.sources)
        assert f"From {rows:,} rows of " in page
        assert f"the query returns {frame.height:,} rows." in page


SAVED_FILE = """(button) => new Promise((done) => {
    HTMLAnchorElement.prototype.click = async function read() {
        done([this.download, await (await fetch(this.href)).text()]);
    };
    button.click();
})"""
"""The name and the text of the file that a button offers: twenty downloads in a row get lost."""
SAVED_PICTURE = """(button) => new Promise((done) => {
    HTMLAnchorElement.prototype.click = async function read() {
        const made = await createImageBitmap(await (await fetch(this.href)).blob());
        done([this.download, [made.width, made.height]]);
    };
    button.click();
})"""
"""The name and the size of the picture that a button offers."""


def test_the_numbers_are_those_of_the_picture(
    open_report: OpenReport, report_data: ReportData
) -> None:
    window = open_report(1200)
    for name in report_data[1]:
        frame = answer(report_data, name)
        box = window.locator(f"#{name} .numbers")
        saved_name, text = box.get_by_role("button", name="Download CSV").evaluate(SAVED_FILE)
        assert saved_name == f"{name}.csv"
        read = pl.read_csv(StringIO(text), schema_overrides=dict.fromkeys(frame.columns, pl.String))
        expected = [[write_value(value) for value in row] for row in frame.iter_rows()]
        assert [[*row] for row in read.rows()] == expected
        assert read.columns == frame.columns
        shown = box.locator("tbody tr").first.locator("td").all_inner_texts()
        for text, value in zip(shown, expected[0], strict=True):
            number = read_number(value)
            is_text = isinstance(number, str)
            assert read_number(text) == (number if is_text else pytest.approx(number, rel=1e-3))


def write_value(value: object) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_number(text: str | None) -> float | str:
    """Return a text as a number, if it is one."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return text or ""


def test_each_finding_is_a_sentence_about_its_answer(page: str, report_data: ReportData) -> None:
    for name, figure in report_data[1].items():
        finding, *_ = figure.show(answer(report_data, name))
        assert f"<h3>{escape(finding)}</h3>" in page
        assert finding != figure.title
        assert not finding.endswith(".")
    assert answer(report_data, "eight-distances")["distance"].max() == 31
    assert "none needs more than 31" in page
    assert "A gap in the centre makes it easier, by less than one move" in page


# ---- on a phone, on a desk, on paper ------------------------------------------------------------


CUT_TEXTS = """() => [...document.querySelectorAll(".picture svg")].flatMap((svg) => {
    const room = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()])
        .filter(([text, box]) => text.textContent.trim() && box.width)
        .filter(([text, box]) => box.left < room.left - 1 || box.right > room.right + 1
            || box.top < room.top - 1 || box.bottom > room.bottom + 1)
        .map(([text]) => `${svg.getAttribute("aria-label")}: ${text.textContent}`);
})"""
"""The texts that are partly outside of their picture."""
CROWDED_TEXTS = """() => [...document.querySelectorAll(".picture svg")].flatMap((svg) => {
    const boxes = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim())
        .map((text) => [text.textContent, text.getBoundingClientRect()]);
    return boxes.flatMap(([one, a], at) => boxes.slice(at + 1)
        .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
        .map(([other]) => `${svg.getAttribute("aria-label")}: ${one} over ${other}`));
})"""
"""The texts that cover another text of their picture."""


@long_run
@pytest.mark.parametrize("font", ["", "DejaVu Sans"])
def test_no_text_is_cut_off_or_covered(open_report: OpenReport, font: str) -> None:
    """Measure every text in the page's font, and in a wider one that a viewer may have instead."""
    window = open_report(1200)
    if font:
        window.add_style_tag(content=f"text{{font-family:'{font}' !important}}")
    assert window.evaluate(CUT_TEXTS) == []
    assert window.evaluate(CROWDED_TEXTS) == []


def test_few_states_are_told_apart(page: str, report_data: ReportData) -> None:
    """Neighbouring marks of 1, 2, 4 and 8 states must not read as 1,248 states."""
    section = page.partition('<section id="eight-distances">')[2].partition("</section>")[0]
    labels = [
        text
        for picture in SVG.findall(section)
        for node in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
        if "," in (text := node.text or "") and " " in text
    ]
    assert labels == ["1, 2, 4, 8", "1, 4, 8, 8", "1, 3, 5"]
    frame = answer(report_data, "eight-distances").sort("goal", "distance")
    for goal, label in zip(("corner", "centre", "edge"), labels, strict=True):
        states = frame.filter(pl.col("goal") == goal)["states"].to_list()
        few = label.split(", ")
        assert [*map(str, states[: len(few)])] == few
        assert states[len(few)] >= 10


def keep_few_rows(window: Page) -> None:
    """Remove all but the first rows of each table of numbers: the others have the same elements."""
    window.evaluate(
        """document.querySelectorAll("tbody").forEach((body) => {
            [...body.rows].slice(5).forEach((row) => row.remove());
        })"""
    )


def measure_boxes(window: Page) -> list[dict[str, float]]:
    """Return of every box its width, the width of its content, and its left and right edges."""
    result: list[dict[str, float]] = window.evaluate(
        """() => [...document.querySelectorAll(".scroll")].map((box) => ({
            shown: box.clientWidth, held: box.scrollWidth, isNumbers: !!box.closest(".numbers"),
            left: box.getBoundingClientRect().left, right: box.getBoundingClientRect().right,
        }))"""
    )
    return result


STRETCHED = """() => [...document.querySelectorAll(".panels svg")].filter((svg) => {
    const { width, height } = svg.viewBox.baseVal;
    return Math.abs(svg.clientHeight / svg.clientWidth - height / width) > 0.02;
}).map((svg) => svg.closest("section").id)"""
"""The sections with a panel that is taller than its picture, and so lower than its neighbours."""
COLUMNS = """() => [...document.querySelectorAll(".panels")].map((panels) => new Set(
    [...panels.querySelectorAll("svg")].map((svg) => svg.getBoundingClientRect().left)).size)"""
"""The number of panels beside each other, of each figure that has some."""


@pytest.mark.parametrize("width", first(1, [390, 320, 1200]))
def test_a_page_is_as_wide_as_its_window(
    open_report: OpenReport, report_data: ReportData, width: int
) -> None:
    """Only boxes scroll sideways; panels have one height, and stack on a phone."""
    window = open_report(width)
    assert window.evaluate("document.documentElement.scrollWidth") == width
    boxes = measure_boxes(window)
    assert len(boxes) == 1 + 3 * len(report_data[1])
    assert all(0 <= box["left"] < box["right"] <= width for box in boxes)
    wide = [box for box in boxes if box["held"] > box["shown"]]
    assert len(wide) > 30 if width < 400 else all(box["isNumbers"] for box in wide)
    assert window.evaluate(STRETCHED) == []
    columns = window.evaluate(COLUMNS)
    assert len(columns) > 5
    assert max(columns) <= 2 if width < 400 else max(columns) > 1


DITHER = 4
"""The most by which a gradient of one colour differs from that colour."""

DIFFERENCES = """async (pictures) => {
    const [one, other] = await Promise.all(pictures.map(async (text) => {
        const image = new Image();
        image.src = `data:image/png;base64,${text}`;
        await image.decode();
        const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
    }));
    const most = [0, 0];
    for (let at = 0; at < one.data.length; at++) {
        const half = (at / 4) % one.width < one.width / 2 ? 0 : 1;
        most[half] = Math.max(most[half], Math.abs(one.data[at] - other.data[at]));
    }
    return most;
}"""
"""The greatest difference of two pictures in the left half and in the right half."""


def find_visible_fades(window: Page, box: Locator) -> list[bool]:
    """Return whether a box's left fade and its right fade are visible."""
    pictures = [box.screenshot()]
    style = window.add_style_tag(content=".scroll::before,.scroll::after{opacity:0}")
    pictures.append(box.screenshot())
    style.evaluate("(style) => style.remove()")
    texts = [base64.b64encode(picture).decode() for picture in pictures]
    return [difference > DITHER for difference in window.evaluate(DIFFERENCES, texts)]


@long_run
@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (390, "light")])
def test_a_box_that_scrolls_fades_until_its_end(
    open_report: OpenReport, width: int, scheme: str
) -> None:
    window = open_report(width, scheme)
    keep_few_rows(window)
    result = window.locator(".scroll")
    boxes = measure_boxes(window)
    # every fifth: the table, pictures and queries in turn
    for number in range(0, len(boxes), 5):
        scroll_box = result.nth(number)
        wide = boxes[number]["held"] > boxes[number]["shown"]
        assert find_visible_fades(window, scroll_box) == [False, wide]
        if wide:
            scroll_box.evaluate("(box) => { box.scrollLeft = 9999; }")
            assert find_visible_fades(window, scroll_box) == [True, False]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=wide)])
def test_a_box_that_scrolls_has_a_name_and_takes_the_keyboard(
    open_report: OpenReport, scheme: str
) -> None:
    window = open_report(390, scheme)
    keep_few_rows(window)
    boxes = window.locator(".scroll[tabindex='0'][role=region]")
    names = boxes.evaluate_all("(boxes) => boxes.map((box) => box.getAttribute('aria-label'))")
    assert all(names)
    assert len({*names}) == len(names) == window.locator(".scroll").count()
    boxes.first.focus()
    window.keyboard.press("ArrowRight")
    window.wait_for_function("document.activeElement.scrollLeft > 0")
    assert broken_rules(window) == []


@long_run
def test_on_paper_nothing_is_cut_off(open_report: OpenReport) -> None:
    window = open_report(700)
    window.emulate_media(media="print")
    assert window.evaluate("document.documentElement.scrollWidth") == 700
    assert all(box["held"] <= box["shown"] <= 700 for box in measure_boxes(window))


def test_the_command_shows_a_sample(
    report_extra: None,
    copy: Path,
    sample: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """Show only the sample: then no table is read, and the page depends on none."""
    monkeypatch.setattr("puzzle_tablebase.queries.report.list_sections", list)
    words = ["report", "--outputs", str(copy), "--sample"]
    assert run_command([*words, str(sample)]) == 0
    assert capfdbinary.readouterr().out.decode() == f"{copy}/report.html\n"
    page = (copy / "report.html").read_text()
    assert "<h2>A sample of closed tours</h2>" in page
    assert "How often each jump occurs" in page
    assert "<code>cycles.parquet</code>" not in page, "it is no table"
    assert read_pages(Folder(copy))["report.html"].made_from == {}
    assert run_command([*words, str(sample), "--format", "svg"]) == 0
    (picture,) = (copy / "report").iterdir()
    assert picture.name == "01-knight-jumps.svg"


# ---- pictures alone, and errors -----------------------------------------------------------------


@long_run
@pytest.mark.parametrize("kind", ["svg", "png"])
def test_pictures_alone(report_extra: None, outputs: Path, tmp_path: Path, kind: str) -> None:
    written = [*map(Path, write_report(Folder(outputs), tmp_path / kind, kind))]
    assert sorted((tmp_path / kind).iterdir()) == written
    assert [path.name for path in written] == [
        f"{number:02}-{figure.name}.{kind}"
        for number, figure in enumerate(list_figures(list_sections()), 1)
    ]
    for path in written:
        picture = path.read_bytes()
        if kind == "svg":
            assert ElementTree.fromstring(picture).tag.endswith("svg")
        else:
            assert picture.startswith(b"\x89PNG\r\n\x1a\n")
            width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
            assert min(width, height) > 200


def test_the_default_section_is_a_histogram_for_goals_and_nothing_for_others(
    report_extra: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pancakes", "jugs"):
        monkeypatch.setitem(MODULES, name, f"tests.support.{name}")
    sections = {section.title: section for section in list_sections()}
    assert [*sections][:3] == ["The 8-puzzle", "Senet", "The knight's tour"]
    assert get_puzzle("jugs").title not in sections
    default_section = sections["Pancakes"]
    build_tables(tmp_path, get_puzzle("pancakes"))
    (figure,) = default_section.figures
    sources = Sources(Folder(tmp_path))
    frame = sources.answer(figure)
    assert frame.rows() == count_states("pancakes", Folder(tmp_path)).rows()
    _, text, drawing = figure.show(frame)
    assert text == "120 states, 20 of them 5 moves from stacked; the mean is 3.54."
    assert drawing == draw_histogram(frame, bare=True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outputs").symlink_to(tmp_path)
    assert run_code(sources.format_code(figure)).equals(frame)


def test_without_altair_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    told = "needs altair and vl-convert, and altair is not installed. In a clone, run: make report"
    with pytest.raises(BadRequest, match=told):
        write_report(Folder(ROOT / "outputs"), Path("/nowhere/report.html"))


def test_what_cannot_be_drawn_is_refused(report_extra: None, outputs: Path, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="html, svg, png"):
        write_report(Folder(outputs), tmp_path / "report.pdf", "pdf")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be written"):
        write_report(Folder(outputs), tmp_path / "file" / "docs", "svg")
    with pytest.raises(TableMissing):
        write_report(Folder(tmp_path), tmp_path / "report.html")
    with pytest.raises(TableMissing, match="Run: pipeline precompute --outputs "):
        write_report(Folder(tmp_path / "none"), tmp_path / "none" / "report.html")
    for file in outputs.iterdir():
        if file.suffix != ".html":
            (tmp_path / file.name).symlink_to(file)
    damaged = tmp_path / "eight.parquet"  # the first that is drawn
    good = damaged.read_bytes()
    damaged.unlink()
    damaged.write_bytes(good[:-9] + b"!" + good[-8:])
    with pytest.raises(TableDamaged, match="eight"):
        write_report(Folder(tmp_path), tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_the_picture_can_be_saved(open_report: OpenReport) -> None:
    window = open_report(1200)
    box = window.locator("#eight-within .numbers")
    name, text = box.get_by_role("button", name="Save SVG").evaluate(SAVED_FILE)
    root = ElementTree.fromstring(text)
    assert (name, root[0].get("width")) == ("eight-within.svg", "100%"), "a background comes first"
    name, size = box.get_by_role("button", name="Save PNG").evaluate(SAVED_PICTURE)
    picture = [float(number) for number in str(root.get("viewBox")).split()[2:]]
    assert (name, size) == ("eight-within.png", [2 * round(number) for number in picture])


@wide
def test_sliding_boards_that_are_built_have_a_chapter(
    report_extra: None,
    large_boards: Path,
    outputs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The queries in the page give the same numbers; a board of bits has no rows to count."""
    folder = link_copy(outputs, tmp_path, large_boards).rename(tmp_path / "outputs")
    write_report(Folder(folder), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    chapter = page.partition("<h2>Sliding boards</h2>")[2].partition("<h2>")[0]
    assert "States of 3x4 at each distance: sliding_3x4_12" in chapter
    assert "239,500,800 states, 18 of them 53 moves from 123456789ab0" in chapter
    section, files, _ = load_boards(Folder(folder))
    sources = Sources(Folder(folder), files)
    monkeypatch.chdir(tmp_path)
    for figure in section.figures:
        assert run_code(sources.format_code(figure)).equals(sources.answer(figure))


def test_the_boards_of_a_figure_have_one_scale_of_colours(report_data: ReportData) -> None:
    _, _, drawing = report_data[1]["knight-ends-6x6"].show(answer(report_data, "knight-ends-6x6"))
    panels = [json.dumps(panel.to_dict()) for panel in list_panels(drawing).values()]
    bounds = [re.findall(r'"domain": (\[.+?\]), .{,200}"threshold"', text) for text in panels]
    assert len(bounds[0]) == 1
    assert bounds == bounds[:1] * len(panels)
