"""Queries of readers that stay open: the function that the shell, Python and a service call."""

from __future__ import annotations

from collections import ChainMap
from pathlib import Path

import pytest

import puzzle_tablebase as pt
from queries.answer import Answer
from queries.dispatch import Readers, get_reader_class
from queries.goal_reader import GoalAnswer
from queries.index_reader import IndexReader
from queries.knight.reader import KnightAnswer
from queries.knight.table_scans import CountAnswer
from queries.senet import SenetAnswer
from tablebase.errors import BadRequest, NotationError
from tablebase.puzzles import get_puzzle
from tablebase.schema import Table
from tablebase.tables.store import Folder, Store


@pytest.fixture(scope="module")
def readers(outputs: Path) -> Readers:
    return Readers(Folder(outputs))


def test_a_file_is_opened_once(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, plain = list[str](), IndexReader.__init__

    def count(self: IndexReader, store: Store, table: Table, request: str = "") -> None:
        opened.append(table.index_file)
        plain(self, store, table, request)

    monkeypatch.setattr(IndexReader, "__init__", count)
    with pt.open_tables(str(outputs)) as tables:
        for state in ("378546201", "123456780", "283104765"):
            tables.answer("eight", state, path=True)
            tables.eight.probe(state, goal="edge" if state != "283104765" else None)
    assert opened == ["eight.idx", "eight_edge.idx"]


@pytest.mark.parametrize(
    ("name", "key", "options", "problem"),
    [
        ("hanoi", "1", {}, "There is no puzzle 'hanoi'"),
        ("eight", "378546201", {"turn": "A"}, "8-puzzle has no option 'turn'"),
        ("eight", "378546201", {"svg": "file.svg"}, "8-puzzle has no option 'svg'"),
        ("eight", None, {"path": True}, "A STATE is needed"),
        ("knight", "b1", {"to": "a3", "number": 0}, "--number cannot be combined with --to"),
        ("knight", "a1", {"rank": 0, "count": True}, "--rank cannot be combined with --count"),
        ("eight", "378546201", {"goal": ""}, "'' is not a goal"),
        ("senet", "ABAAABBB.B...A.", {"turn": ""}, "There is no side ''"),
        (None, "378546201", {}, "'None' is not a puzzle's name: it is of type NoneType, not text"),
    ],
)
def test_other_queries_are_refused(
    readers: Readers, name: str, key: str | None, options: dict[str, object], problem: str
) -> None:
    with pytest.raises((BadRequest, NotationError)) as caught:
        readers.answer(name, key, **options)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize("location", ["", "a\0b"])
def test_tables_are_somewhere(location: str) -> None:
    with pytest.raises(BadRequest, match="Tables are in a folder or at a URL, not in"):
        pt.open_tables(location)


def test_options_that_are_not_given_may_be_named(readers: Readers) -> None:
    answer = readers.answer("eight", "378546201", path=False)
    assert answer == readers.answer("eight", "378546201")


def test_options_are_parsed_when_a_query_is_made(readers: Readers) -> None:
    reader = readers.open("eight")
    for wrong in ({"goal": "top"}, {"distance": "-1"}):
        with pytest.raises((NotationError, BadRequest)):
            reader.make_query(**wrong)


PYTHON_TYPES = {
    "string": "str", "enum": "str", "boolean": "bool",
    **dict.fromkeys(("int8", "int16", "int32", "int64"), "int"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "table", "kind"),
    [("eight", 0, GoalAnswer), ("senet", 0, SenetAnswer), ("knight", 0, KnightAnswer),
     ("knight", -1, CountAnswer)],
)  # fmt: skip
def test_declared_facts_are_the_columns_of_a_table(
    name: str, table: int, kind: type[Answer]
) -> None:
    """Compare names, types and nulls of facts and columns."""
    columns = {column.name: column for column in get_puzzle(name).tables[table].columns}
    declared = ChainMap(*(each.__annotations__ for each in kind.__mro__[:-1]))
    common = columns.keys() & {*kind.facts}
    assert len(common) >= 4
    for fact in common:
        column, (type_name, *rest) = columns[fact], declared[fact].split(" | ")
        assert type_name == PYTHON_TYPES[column.kind], fact
        # an unreachable position is an error, not an answer
        assert rest or not column.nullable or fact in ("dice", "moves", "plies"), fact
    if table == 0:
        assert {*get_reader_class(name).columns} <= common
