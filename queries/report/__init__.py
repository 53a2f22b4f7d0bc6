"""The report: what the tables hold, as one page of pictures or as the pictures alone.

Charts need `altair` and `vl-convert-python`, the extra `[report]`; nothing here is imported before
a report is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tablebase.errors import BadRequest, required_choice

if TYPE_CHECKING:
    from queries.report.figure import Asked, Figure
    from tablebase.tables.store import Store

__all__ = ["FORMATS", "write_readme_pictures", "write_report"]

FORMATS = ("html", "svg", "png")

EIGHT = (
    "Distances count moves to a layout: corner is 123456780, centre 123804765, edge 123456708. "
    "Every state reaches corner or centre, never both."
)
SENET = (
    "Fifteen squares, five pieces per side (A is blue, B is amber), throws of 1 to 5. The opening "
    "is ABABABABAB....."
)
KNIGHT = (
    "Tours are directed: a tour and its reverse count as two. A closed tour ends one knight's jump "
    "from its start."
)


def write_report(store: Store, target: str | Path, format: str = "html") -> list[Path]:
    """Write the report on a store's tables: a page, or a folder of pictures; what was written."""
    required_choice(format, "format", *FORMATS)
    try:
        import altair
        import vl_convert
    except ImportError as error:
        raise BadRequest(
            f"The report needs altair and vl-convert, and {error.name} is not installed",
            "Run: pip install 'puzzle-tablebase[report]'",
        ) from error
    del altair, vl_convert
    from queries.report.figure import Asked
    from tablebase.output import STANDARD, refusing, writing

    asked = Asked(store)
    if format == "html":
        with writing(str(target)) as file:  # before all is drawn: it may be refused
            file.write(_page(asked, store).encode())
        return [Path(target)]
    if target == STANDARD:
        raise BadRequest("The pictures are several files", "Name a folder with --output")
    with refusing(str(target)):
        os.makedirs(target, exist_ok=True)  # not Path: it takes no name for this folder's
    files = {}
    for number, figure in enumerate(figures(), start=1):
        drawn = _alone(_drawn(asked, figure)[1])
        made = drawn.encode() if format == "svg" else _png(drawn)
        files[Path(target, f"{number:02}-{figure.name}.{format}")] = made
    return _write(files)


def write_readme_pictures(store: Store, docs: Path) -> list[Path]:
    """The README's two pictures: the 8-puzzle's distances, and a closed tour."""
    from queries.answers import reader
    from queries.drawings import histogram_svg, tour_svg
    from queries.overview import histogram

    tour = reader("knight", store).facts("b1", {"closed": True})
    return _write(
        {
            docs / "distances.svg": histogram_svg(histogram("eight", store)).encode(),
            docs / "tour.svg": tour_svg(tour).encode(),
        }
    )


def figures() -> list[Figure]:
    """Every figure, in the order of the page."""
    from queries.eight import figures as eight
    from queries.knight import figures as knight
    from queries.senet import figures as senet

    return [*eight.FIGURES, *senet.FIGURES, *knight.FIGURES]


def _drawn(asked: Asked, figure: Figure) -> tuple[str, str]:
    """What is said of a figure, and its SVG."""
    from queries.report.look import svg

    frame = asked.answer(figure)
    return figure.text(frame), svg(figure.draw(frame), figure.title)


def _made(asked: Asked, figure: Figure) -> str:
    rows = sum(asked.rows[name] for name in figure.tables)
    files = " and ".join(f"{name}.parquet" for name in figure.tables)
    return f"From {rows:,} rows of {files}; the query returns {asked.answer(figure).height:,} rows."


def _page(asked: Asked, store: Store) -> str:
    from queries.eight import figures as eight
    from queries.knight import figures as knight
    from queries.report.page import page
    from queries.senet import figures as senet
    from tablebase import __version__
    from tablebase.puzzles import puzzles
    from tablebase.tables.manifest import read_manifest, size_of

    said = (
        ("The 8-puzzle", EIGHT, eight.FIGURES),
        ("Senet", SENET, senet.FIGURES),
        ("The knight's tour", KNIGHT, knight.FIGURES),
    )
    sections = []
    for title, sentence, shown in said:
        rows = [(figure, *_drawn(asked, figure), _made(asked, figure)) for figure in shown]
        sections.append((title, sentence, rows))
    entries = read_manifest(store)
    tables = [
        (table.name, table.meaning, entries[table.name]["rows"], size_of(entries[table.name]))
        for of in puzzles()
        for table in of.tables
    ]
    return page(tables, sections, f"puzzle-tablebase {__version__}")


def _alone(svg: str) -> str:
    """A page's picture made to stand for itself: a background, and its own rules for the dark."""
    from queries.drawings import PAPER, dark_rules

    at = svg.index(">", svg.index("<svg")) + 1
    background = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    return f"{svg[:at]}<style>{dark_rules()}</style>{background}{svg[at:]}"


def _png(svg: str) -> bytes:
    import vl_convert

    made: bytes = vl_convert.svg_to_png(svg, scale=2)
    return made


def _write(files: Mapping[Path, bytes]) -> list[Path]:
    from tablebase.output import write

    for path, made in files.items():
        write(str(path), made)
    return list(files)
