"""Tests of the explorer's file: the same every time, complete in itself, of whole tables."""

import base64
import gzip
import re
from pathlib import Path

import pytest

from puzzle_tablebase.errors import TableDamaged
from puzzle_tablebase.formats.index import HEADER
from puzzle_tablebase.puzzles.sliding import PUZZLE, parse_board
from puzzle_tablebase.queries.explorer import _make_data_block, iter_tables, write_explorer
from puzzle_tablebase.stores import Folder
from tests.support.build_recorder import build_tables
from tests.support.shell import ROOT
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import change_header, flip_byte, replace_link


def test_the_page_is_small_and_the_same_every_time(
    explorer: Path, outputs: Path, tmp_path: Path
) -> None:
    write_explorer(Folder(outputs), str(tmp_path / "again.html"))
    assert (tmp_path / "again.html").read_bytes() == explorer.read_bytes()
    assert explorer.stat().st_size <= 2_443_511


def test_the_page_names_nothing_outside_itself(explorer: Path) -> None:
    text = re.sub(r'<script type="application/gzip".*?</script>', "", explorer.read_text("utf-8"))
    folder = ROOT / "queries" / "explorer" / "page"
    sources = "".join(source.read_text("utf-8") for source in folder.glob("*.js"))
    for part in (text, sources):
        assert set(re.findall(r"https?://[^\"' )]*", part)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b", sources)
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', text)
    allowed = r"default-src 'none'; script-src( 'sha256-[\w+/=]+')+; style-src 'sha256-[\w+/=]+'; "
    # connections to the host that the page came from, which a page from disk has none of
    allowed += "connect-src 'self'; img-src data:; worker-src data:; "
    assert re.fullmatch(allowed + "base-uri 'none'; form-action 'none'", policy)
    assert "{{" not in text.partition("<script")[0]


def test_no_page_is_made_of_a_damaged_table(copy: Path) -> None:
    flip_byte(replace_link(copy / "senet.idx"))
    with pytest.raises(TableDamaged, match=r"senet\.idx"):
        write_explorer(Folder(copy), str(copy / "explorer.html"))
    assert not (copy / "explorer.html").exists()


def test_a_header_is_of_the_build_of_its_records(copy: Path) -> None:
    """Publish another build after an index was opened."""
    (reader, table), *_ = iter_tables(Folder(copy))
    assert reader.files.open_index(table).count
    path = replace_link(copy / table.index_file)
    old = path.read_bytes()
    path.unlink()
    path.write_bytes(change_header(old, digest=bytes(32)))
    (text,) = re.findall(">(.*?)<", _make_data_block(reader, table))
    assert gzip.decompress(base64.b64decode(text))[: HEADER.size] == old[: HEADER.size]


def test_small_boards_with_all_goals_are_included(
    boards_page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def list_boards(folder: Path) -> set[str]:
        names = (table.name for _, table in iter_tables(Folder(folder)))
        return {name for name in names if name.startswith("sliding")}

    boards = [parse_board(name) for name in ("2x2", "2x3", "2x4", "3x3")]
    assert list_boards(boards_page.parent) == {table.name for b in boards for table in b.tables}
    build_tables(tmp_path, PUZZLE, *parse_board("2x3").tables[:1])
    assert list_boards(tmp_path) == set()
    treat_as_large(monkeypatch, 8)
    assert list_boards(boards_page.parent) == {"sliding_2x2_4", "sliding_2x3_5", "sliding_2x3_6"}
