"""The report: what the tables hold, as one page of pictures or as the pictures alone.

Charts need `altair` and `vl-convert-python`, the extra `[report]`; nothing here is imported before
a report is asked for.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tablebase.errors import BadRequest, required_choice
from tablebase.puzzle import GoalPuzzle, Puzzle
from tablebase.puzzles import imported, of_each, part_of, puzzles

if TYPE_CHECKING:
    from pathlib import Path

    from queries.figure import Figure, Section, Source, Sources
    from tablebase.tables.store import Store

__all__ = ["PAGE_FORMATS", "write_report"]

PAGE_FORMATS = ("html", "svg", "png")
SECTIONS = {
    "eight": "queries.eight.figures:SECTION",
    "senet": "queries.senet.figures:SECTION",
    "knight": "queries.knight.figures:SECTION",
}
"""What is shown of our puzzles; another may name its section itself."""
SAMPLED = "queries.knight.jump_report:sampled"
"""What reads a sample, and shows it."""


def write_report(
    store: Store, target: str | Path, format: str = "html", sample: str | Path | None = None
) -> list[str]:
    """Write the report on a store's tables: a page, or a folder of pictures; what was written.

    A page among the tables is listed with those that it shows. `sample` is a Parquet file of closed
    tours as `pipeline sample` draws them.
    """
    required_choice(format, "format", *PAGE_FORMATS)
    try:
        import altair
        import vl_convert
    except ImportError as error:
        raise BadRequest(
            f"The report needs altair and vl-convert, and {error.name} is not installed",
            "Run: pip install 'puzzle-tablebase[report]'",
        ) from error
    del altair
    from queries.figure import Sources
    from tablebase.output import STANDARD, refusing, require_other_file, write, writing
    from tablebase.tables.manifest import record_page

    shown = sections()
    given: dict[str, Source] = {}
    if sample is not None:
        require_other_file(str(target), str(sample))
        section, given["sample"] = imported(SAMPLED)(str(sample))
        shown.append(section)
    asked = Sources(store, given)
    if format == "html":
        with writing(str(target)) as file:  # before all is drawn: it may be refused
            file.write(_page(asked, shown).encode())
        if target != STANDARD:
            record_page(store, str(target), asked.entries)
        return [str(target)]
    if target == STANDARD:
        raise BadRequest("The pictures are several files", "Name a folder with --output")
    if "://" not in str(target):
        with refusing(str(target)):
            os.makedirs(target, exist_ok=True)  # not Path: it takes no name for this folder's
    pictures = {}
    for number, figure in enumerate(figures(shown), start=1):
        drawn = _alone(_drawn(asked, figure)[1])
        image = drawn.encode() if format == "svg" else vl_convert.svg_to_png(drawn, scale=2)
        pictures[os.path.join(target, f"{number:02}-{figure.name}.{format}")] = image
    for path, image in pictures.items():
        write(path, image)
    return list(pictures)


def sections() -> list[Section]:
    """What each puzzle has to show, in the order of the registry."""
    return [found for found in of_each(_section) if found]


def _section(asked: Puzzle) -> Section | None:
    from queries.report.default_section import section

    shown: Section | None = None
    if asked.name in SECTIONS:
        shown = imported(SECTIONS[asked.name])
    elif asked.section:
        shown = part_of(asked, asked.section)
    elif isinstance(asked, GoalPuzzle):
        shown = section(asked)
    return shown


def figures(shown: list[Section]) -> list[Figure]:
    """Every figure, in the order of the page."""
    return [figure for section in shown for figure in section.figures]


def _drawn(asked: Sources, figure: Figure) -> tuple[str, str]:
    """What is said of a figure, and its SVG."""
    from queries.charts import svg

    frame = asked.answer(figure)
    return figure.text(frame), svg(figure.draw(frame), figure.title)


def _page(asked: Sources, shown: list[Section]) -> str:
    from queries.report.page import page
    from tablebase import __version__

    chapters = []
    for section in shown:
        rows = [
            (figure, *_drawn(asked, figure), asked.made(figure), asked.code(figure))
            for figure in section.figures
        ]
        chapters.append((section.title, section.sentence, rows))
    tables = [
        (table.name, table.meaning, entry.rows, entry.bytes)
        for of in puzzles()
        for table in of.tables
        if (entry := asked.entries.get(table.name))
    ]
    return page(tables, chapters, f"puzzle-tablebase {__version__}")


def _alone(svg: str) -> str:
    """A page's picture made to stand for itself: a background, and its own rules for the dark."""
    from queries.svg import PAPER, dark_rules

    at = svg.index(">", svg.index("<svg")) + 1
    background = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    return f"{svg[:at]}<style>{dark_rules()}</style>{background}{svg[at:]}"
