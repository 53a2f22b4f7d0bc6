"""Opened tables, their methods and their answers, sent to other processes."""

import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import puzzle_tablebase as pt
from queries.api import Tables
from queries.dispatch import Readers
from queries.reader import DefaultReader
from tablebase.puzzles import MODULES, get_puzzle
from tablebase.tables.store import Folder
from tests.support.jugs import PUZZLE as JUGS

QUESTIONS: list[Callable[[Tables], Any]] = [
    lambda tables: tables.eight.distance("378546201"),
    lambda tables: tables.eight.probe("378546201"),
    lambda tables: tables.eight.probe("378546201", "edge"),
    lambda tables: tables.eight.annotate(["378546201"]).rows(),
    lambda tables: tables.goals("eight").path("123450786"),
    lambda tables: tables.answer("eight", "378546201", path=True),
    lambda tables: tables.sliding("3x4").get("not a state", 0),
    lambda tables: tables.fifteen.get("not a state", 0),
    lambda tables: tables.senet.probe("ABAAABBB.B...A."),
    lambda tables: tables.knight.probe("b1", to="a3"),
    lambda tables: tables.knight.probe("a1", board="6x6", number=12345),
    lambda tables: tables.knight.count("a1", board="6x6"),
    lambda tables: tables.knight.sample(2, seed=7, board="5x5").rows(),
]


def send(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def test_tables_before_and_after_all_questions(outputs: Path) -> None:
    with pt.open_tables(str(outputs)) as tables:
        untouched = send(tables)
        expected = [ask(tables) for ask in QUESTIONS]
        used = send(tables)
        assert len(pickle.dumps(tables)) < 1000, "no table is sent, and no file"
    for copy in (untouched, used):
        with copy:
            assert repr(copy) == repr(tables)
            assert [ask(copy) for ask in QUESTIONS] == expected


def test_closed_tables_stay_closed(outputs: Path) -> None:
    """Keep methods from before the first question, and from after all."""
    with pt.open_tables(str(outputs)) as tables:
        before = tables.eight.distance
        for ask in QUESTIONS:
            ask(tables)
        eight, senet, knight = tables.eight, tables.senet, tables.knight
        lazy = eight.annotate(pl.LazyFrame({"state": ["378546201"]}))
        saved: list[Callable[[], object]] = [lazy.collect]
        saved += [partial(method, "378546201") for method in (before, eight.distance, eight.probe)]
        saved += [partial(senet.plies, "ABAAABBB.B...A."), partial(knight.probe, "b1")]
        for call in saved:
            call()
    saved += [partial(ask, tables) for ask in QUESTIONS]
    position = "ABABABABAB....."
    for closed in (send(tables).senet, send(tables.senet)):
        saved.append(partial(closed.probe, position))
    for call in saved:
        with pytest.raises(ValueError, match="are closed"):
            call()


@pytest.mark.parametrize("name", ["eight", "senet", "knight", "fifteen"])
def test_a_puzzles_tables_alone(outputs: Path, name: str) -> None:
    with pt.open_tables(str(outputs)) as tables:
        reader = getattr(tables, name)
        for _ in range(2):
            copy = send(reader)
            assert (type(copy), repr(copy)) == (type(reader), repr(reader))
            for ask in QUESTIONS[:1] + QUESTIONS[-3:]:
                ask(tables)


def test_the_registered_puzzles_are_not_copied(outputs: Path) -> None:
    readers = Readers(Folder(outputs))
    for name in MODULES:
        assert send(readers.open(name)).puzzle is get_puzzle(name)
    reader = send(DefaultReader(JUGS, Folder(outputs)))
    assert (type(reader), type(reader.puzzle)) == (DefaultReader, type(JUGS))
    assert reader.puzzle.example == JUGS.example


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_methods_in_a_process_pool(outputs: Path, method: str) -> None:
    states, squares = ["378546201", "123456780", "152703846"], ["a1", "b1"]
    with (
        pt.open_tables(str(outputs)) as tables,
        ProcessPoolExecutor(1, get_context(method)) as pool,
    ):
        for _ in range(2):  # before the first question, and after
            assert [*pool.map(tables.eight.distance, states)] == [27, 0, 8]
            assert [*pool.map(tables.eight.probe, states)] == [*map(tables.eight.probe, states)]
            tours = [*pool.map(tables.knight.probe, squares)]
            assert tours == [*map(tables.knight.probe, squares)]
            assert tables.eight.distance(states[0]) == 27
