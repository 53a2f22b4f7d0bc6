"""Tests of the lineage: every published file is in it, with its recipe and its pages."""

from pathlib import Path

import pytest

from pipeline.lineage import Lineage, Node, format_mermaid, make_lineage
from queries.explorer.writer import list_source_tables
from queries.report import SECTIONS, list_charted_files, list_sections
from tablebase.errors import TableDamaged
from tablebase.puzzles import get_puzzle, list_puzzles
from tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from tablebase.tables.manifest import read_manifest, read_pages
from tablebase.tables.store import Folder
from tests.support.build_recorder import TOURS, build_tables
from tests.support.shell import Cli, python


def test_every_published_file_has_a_recipe(outputs: Path) -> None:
    lineage = make_lineage(Folder(outputs))
    published = read_manifest(Folder(outputs))
    files = {file.file for entry in published.values() for file in entry.all_files}
    kinds = {node.id: node.kind for node in lineage.nodes}
    assert {name for name, kind in kinds.items() if kind in ("table", "index")} >= files
    for name in files:
        (recipe,) = [source for source, target in lineage.edges if target == name]
        (puzzle,) = [source for source, target in lineage.edges if target == recipe]
        assert (kinds[recipe], kinds[puzzle]) == ("recipe", "puzzle")
        assert get_puzzle(puzzle).find_table(name.partition(".")[0])
    assert len(kinds) == len(lineage.nodes), "ids are unique"


def test_the_report_charts_the_files_that_its_figures_read() -> None:
    names = {
        name for section in list_sections() for each in section.figures for name in each.sources
    }
    assert {f"{name}.parquet" for name in names} == {*list_charted_files()}
    assert {table.name for name in SECTIONS for table in get_puzzle(name).tables} <= names


def test_a_page_has_the_tables_that_the_manifest_lists_for_it(
    cli_in_process: Cli, copy: Path
) -> None:
    said = cli_in_process("explore", "--outputs", str(copy))
    assert said == (0, f"{copy}/explorer.html\n", "")
    edges = make_lineage(Folder(copy)).edges
    sources = {source for source, target in edges if target == "explorer.html"}
    listed = read_pages(Folder(copy))["explorer.html"].made_from
    assert sorted(listed) == sorted(list_source_tables(Folder(copy)))
    assert {name.partition(".")[0] for name in sources} == {*listed}


def test_optional_tables_are_shown_where_they_are_published(tmp_path: Path) -> None:
    default = make_lineage(Folder(tmp_path))
    build_tables(tmp_path, KNIGHT, TOURS)
    lineage = make_lineage(Folder(tmp_path))
    assert {*lineage.nodes} - {*default.nodes} == {Node(TOURS.file, "table", TOURS.file)}
    assert {*lineage.edges} - {*default.edges} == {("knight: every tour", TOURS.file)}
    registered = {table.file for puzzle in list_puzzles() for table in puzzle.tables}
    assert registered <= {node.id for node in default.nodes}


def test_a_damaged_manifest_is_an_error(copy: Path) -> None:
    (copy / "manifest.json").write_text("{}")
    with pytest.raises(TableDamaged):
        make_lineage(Folder(copy))


def test_foreign_names_are_quoted() -> None:
    lineage = Lineage([Node("a", "puzzle", 'x"] --> <b>\n'), Node("b", "recipe", "y" * 99)], [])
    assert format_mermaid(lineage).splitlines()[1] == ('  n1(["x#34;] --#62; #60;b#62;\\n"])')


def test_the_graph_needs_no_charts(tmp_path: Path) -> None:
    """Print it in an environment without the packages that the report needs."""
    program = (
        "import sys; sys.modules['altair'] = sys.modules['vl_convert'] = None;"
        "from pipeline.run import run_command; sys.exit(run_command(sys.argv[1:]))"
    )
    said = python(program, "graph", "--outputs", str(tmp_path))
    assert (said.code, said.err, '["report.html"]' in said.out) == (0, "", True)
