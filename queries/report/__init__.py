"""The writer of the report: charts of the tables, as one page or as single pictures.

Charts need `altair` and `vl-convert-python`, which `make report` installs; they are imported only
when a report is written.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from puzzle_tablebase.errors import BadRequest, TableMissing, require_choice
from puzzle_tablebase.puzzle import GoalPuzzle, Puzzle
from puzzle_tablebase.puzzles import collect_from_each, import_object, list_puzzles

if TYPE_CHECKING:
    from pathlib import Path

    from puzzle_tablebase.queries.figure import Figure, Section, Sources
    from puzzle_tablebase.tables.store import Store


__all__ = ["PAGE_FORMATS", "REPORT_PAGE", "list_charted_files", "write_report"]

REPORT_PAGE = "report.html"
"""The name of the page in a store."""
PAGE_FORMATS = ("html", "svg", "png")
SECTIONS = {
    "eight": "puzzle_tablebase.queries.eight_figures:SECTION",
    "senet": "puzzle_tablebase.queries.senet_figures:SECTION",
    "knight": "puzzle_tablebase.queries.knight.figures:SECTION",
}
"""The sections of the built-in puzzles; a plugin's puzzle may name its own."""


def write_report(
    store: Store,
    target: str | Path,
    format: str = "html",
    sample: str | Path | None = None,
    run: str | None = None,
) -> list[str]:
    """Write the report on a store's tables, a page or a folder of pictures; return what it wrote.

    A page in the store is listed in the manifest, with the tables that it shows. `sample` is a
    Parquet file of closed tours as `pipeline sample` draws them, `run` the name of a run record.
    """
    require_choice(format, "format", *PAGE_FORMATS)
    _require_packages()
    from puzzle_tablebase import __version__
    from puzzle_tablebase.output import STANDARD, open_output, require_other_file
    from puzzle_tablebase.queries.figure import Sources
    from puzzle_tablebase.queries.knight.jump_report import load_sample
    from puzzle_tablebase.queries.report.chapters import load_boards, load_run
    from puzzle_tablebase.queries.report.page import make_page
    from puzzle_tablebase.tables import MANIFEST
    from puzzle_tablebase.tables.access import format_rebuild_command
    from puzzle_tablebase.tables.manifest import read_manifest, record_page, require_page_name

    sections = list_sections()
    boards, files, entries = load_boards(store)
    if entries:
        sections.insert(1, boards)
    if sample is not None:
        require_other_file(str(target), str(sample))
        section, files["sample"] = load_sample(str(sample))
        sections.append(section)
    if run is not None:
        section, files["run"] = load_run(store, run)
        sections.append(section)
    sources = Sources(store, files)
    sources.entries.update(entries)
    if not read_manifest(store):
        raise TableMissing(store.locate(MANIFEST), format_rebuild_command("", store))
    if format == "html":
        require_page_name(store, str(target))
        with open_output(str(target)) as file:  # before drawing: the output may not be writable
            page = make_page(sources, sections, f"puzzle-tablebase {__version__}")
            file.write(page.encode())
        if target != STANDARD:
            record_page(store, str(target), "report", sources.entries)
        return [str(target)]
    if target == STANDARD:
        raise BadRequest("The pictures are several files", "Name a folder with --output")
    return _write_pictures(sources, list_figures(sections), str(target), format)


def _require_packages() -> None:
    """Raise BadRequest if a package that draws is not installed."""
    try:
        import altair
        import vl_convert
    except ImportError as error:
        raise BadRequest(
            f"The report needs altair and vl-convert, and {error.name} is not installed",
            "In a clone, run: make report",
        ) from error
    del altair, vl_convert


def _write_pictures(sources: Sources, figures: list[Figure], folder: str, format: str) -> list[str]:
    """Write each figure as a picture into a folder; return the names of the files."""
    import vl_convert

    from puzzle_tablebase.output import translate_output_errors, write_output

    if "://" not in folder:
        with translate_output_errors(folder):
            os.makedirs(folder, exist_ok=True)  # not Path: it would take "" for the current folder
    pictures = {}
    for number, figure in enumerate(figures, start=1):
        picture = _make_standalone(_render_picture(sources, figure))
        image = picture.encode() if format == "svg" else vl_convert.svg_to_png(picture, scale=2)
        pictures[os.path.join(folder, f"{number:02}-{figure.name}.{format}")] = image
    for path, image in pictures.items():
        write_output(path, image)
    return list(pictures)


def list_sections() -> list[Section]:
    """Return the sections of all puzzles that have one, in the order of the registry."""
    return [section for section in collect_from_each(_make_section) if section]


def list_charted_files() -> tuple[str, ...]:
    """Return the names of the files that the page shows: a section shows its puzzle's tables.

    The figures are not loaded: they need the packages that draw charts.
    """
    return tuple(
        table.file
        for puzzle in list_puzzles()
        if puzzle.name in SECTIONS or isinstance(puzzle, GoalPuzzle)
        for table in puzzle.tables
    )


def _make_section(puzzle: Puzzle) -> Section | None:
    from puzzle_tablebase.queries.report.chapters import make_section

    section: Section | None = None
    if where := SECTIONS.get(puzzle.name):
        section = import_object(where)
    elif isinstance(puzzle, GoalPuzzle):
        section = make_section(puzzle)
    return section


def list_figures(sections: list[Section]) -> list[Figure]:
    """Return every figure, in the order of the page."""
    return [figure for section in sections for figure in section.figures]


def _render_picture(sources: Sources, figure: Figure) -> str:
    """Return a figure as one SVG, with its panels side by side."""
    from puzzle_tablebase.queries.figure import join_panels, render_svg

    *_, drawing = figure.show(sources.answer(figure))
    return render_svg(join_panels(drawing), figure.title)


def _make_standalone(svg: str) -> str:
    """Add a background and the rules for dark screens to a page's picture, to use it alone."""
    from puzzle_tablebase.queries.svg import PAPER, make_dark_rules

    at = svg.index(">", svg.index("<svg")) + 1
    background = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    return f"{svg[:at]}<style>{make_dark_rules()}</style>{background}{svg[at:]}"
