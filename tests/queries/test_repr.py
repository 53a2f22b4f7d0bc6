"""What opened tables and answers show of themselves at a prompt and in a notebook."""

import re
from pathlib import Path
from xml.etree import ElementTree

from queries import open_tables
from queries.svg import BLUE
from tablebase.puzzles import list_puzzles
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests.support.tampered import rename_entry, write_manifest

FIVE = "knight_tours_5x5"


def test_repr_names_the_folder_and_its_tables(copy: Path) -> None:
    tables = open_tables(str(copy))
    knights = "knight_counts, knight_tours_5x5, knight_tours_6x6, knight_tours_8x8"
    assert repr(tables) == f"<Tables in {copy}: eight, eight_edge, {knights}, senet>"
    assert repr(tables.eight) == f"<EightReader in {copy}: eight, eight_edge>"
    assert repr(tables.goals("eight")) == f"<EightReader in {copy}: eight, eight_edge>"
    assert repr(tables.senet) == f"<SenetReader in {copy}: senet>"
    assert repr(tables.knight) == f"<KnightReader in {copy}: {knights}>"


def test_a_notebook_lists_the_tables(copy: Path) -> None:
    tables, entries = open_tables(str(copy)), read_manifest(Folder(copy))
    page = ElementTree.fromstring(tables._repr_html_())
    assert page.findtext("caption") == f"Tables in {copy}"
    assert [each.text for each in page.iter("th")] == ["table", "rows", "bytes", "meaning"]
    meanings = {table.name: table.meaning for each in list_puzzles() for table in each.tables}
    assert [[cell.text for cell in row] for row in page.iter("tr")][1:] == [
        [name, f"{entry.rows:,}", f"{entry.bytes:,}", meanings[name]]
        for name, entry in entries.items()
    ]
    of_eight = ElementTree.fromstring(tables.eight._repr_html_())
    assert of_eight.findtext("caption") == f"EightReader in {copy}"
    assert [row[0].text for row in of_eight.iter("tr")][1:] == ["eight", "eight_edge"]


def test_tables_that_no_puzzle_owns_none_and_errors_are_shown(copy: Path) -> None:
    entry = read_manifest(Folder(copy))[FIVE]
    names = ("foreign", "knight_tours_3x4")
    write_manifest(Folder(copy), {name: rename_entry(entry, name) for name in names})
    tables = open_tables(str(copy))
    page = ElementTree.fromstring(tables._repr_html_())
    assert [row[0].text for row in page.iter("tr")][1:] == [*names]
    assert repr(tables.senet) == f"<SenetReader in {copy}: none published>"
    assert tables.senet._repr_html_() == f"<p>SenetReader in {copy}: none published</p>"
    assert repr(tables.knight) == f"<KnightReader in {copy}: knight_tours_3x4>"
    (copy / "manifest.json").write_text("[]")
    assert repr(tables).startswith(f"<Tables in {copy}: {copy}/manifest.json is damaged: ")
    assert " is damaged: " in tables._repr_html_()


def test_the_tiles_of_the_best_moves_are_coloured(outputs: Path) -> None:
    drawn = open_tables(str(outputs)).eight.probe("378546201").to_svg()
    tiles = re.findall(r'fill="(#\w+)" rx="3"/>\n<text[^>]*>(\d)<', drawn)
    assert "".join(tile for _, tile in tiles) == "37854621"
    assert [tile for colour, tile in tiles if colour == BLUE] == ["4", "2", "1"]
    at_goal = open_tables(str(outputs)).eight.probe("123456780").to_svg()
    assert "the goal" in at_goal
    assert BLUE not in at_goal.partition("</style>")[2]
