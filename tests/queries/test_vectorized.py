"""The columns that a batch and `annotate` add: their names, their options, their values."""

import csv
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from puzzle_tablebase.errors import NotationError
from puzzle_tablebase.queries import board_columns
from puzzle_tablebase.queries.answer_frames import WHITE_SPACE
from puzzle_tablebase.queries.api import Tables
from puzzle_tablebase.queries.dispatch import open_reader
from puzzle_tablebase.stores.folder import Folder
from tests.support import oracles
from tests.support.asking import ask_many, ask_singly
from tests.support.shell import Ask

KEYS = {"eight": "378546201", "senet": "ABAAABBB.B...A.", "knight": "b1"}
FIRST = {"eight": "state", "senet": "position", "knight": "start"}


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize(
    ("name", "column"),
    [("eight", "distance"), ("eight", "error"), ("senet", "lines"), ("knight", "path")],
)
def test_a_batch_overwrites_no_column(ask: Ask, tmp_path: Path, name: str, column: str) -> None:
    source, target = tmp_path / "asked.csv", tmp_path / "answers.csv"
    source.write_text(f"{FIRST[name]},{column},note\n{KEYS[name]},mine,x\n,,\n")
    words = (name, "--input", str(source), "--output", str(target))
    code, text, complaint = ask(*words)
    assert (code, text, target.exists()) == (2, "", False)
    assert complaint == (
        f"pipeline: The column '{column}' exists already, and the answer would add another. "
        "Add a prefix to the names of the added columns: --prefix TEXT.\n"
    )
    assert ask(*words, "--prefix", "its_") == (0, "", "")
    first, second = rows_of(target.read_text())
    given = {FIRST[name]: KEYS[name], column: "mine", "note": "x"}
    assert list(first.items())[:3] == list(given.items())
    assert all(added.startswith("its_") for added in list(first)[3:])
    assert f"its_{column}" in first
    assert not any(second.values()), "a null key has neither answers nor an error"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("eight --goal crner", "'crner' is not a goal: "),
        ("knight --to a6 --board 5x5", "'a6' is not a square of 5x5"),
        ("knight --board zz", "'zz' is not a board"),
        ("knight --number x", "'x' is not a tour's number"),
        ("knight b1 --count --number 1", "--count cannot be combined with --number"),
        ("knight --number 1 --closed", "--number cannot be combined with --closed"),
    ],
)
def test_options_are_checked_before_any_row(ask: Ask, words: str, complaint: str) -> None:
    name, *options = words.split()
    for text in (b"", f"{KEYS[name]}\n{KEYS[name]}\n".encode()):
        code, output, result = ask(name, *options, text=text)
        assert (code, output, result.count("\n")) == (2, "", 1)
        assert complaint in result
    alone = ask(name, KEYS[name], *options)
    assert alone == (2, "", result), "a lone question is told the same"


@pytest.mark.parametrize("goal", ["centre", "center", "Centre", " CENTER ", "123804765"])
def test_a_goal_may_be_spelled_in_two_ways(ask: Ask, tables: Tables, goal: str) -> None:
    code, text, _ = ask("eight", "--goal", goal, text=b"283104765")
    assert (code, text.splitlines()[1]) == (0, "283104765,centre,4,U,1,")
    assert tables.eight.solution("283104765", goal) == "ULDR"
    alone = ask("eight", "283104765", "--goal", goal)[1]
    assert alone.splitlines()[4].startswith("goal   ")


@pytest.mark.parametrize("goal", [None, "edge", "087654321"])
def test_paths_for_all_keys_together_equal_single_ones(
    outputs: Path, tables: Tables, goal: str | None
) -> None:
    """Answer keys and unanswerable ones, then so many of them that there are two chunks."""
    table = pl.read_parquet(outputs / "eight.parquet", columns=["state"])
    states = ["087654321", *table["state"].sample(60, seed=2), None, "", "123456789"]
    eight = open_reader("eight", Folder(outputs))
    options: dict[str, Any] = {"path": True, "goal": goal}
    keys = pl.Series(states, dtype=pl.String)
    answers = ask_many(eight, keys, **options)
    for row, state in zip(answers.iter_rows(named=True), states, strict=True):
        answer = tables.eight.get(state or "", goal=goal)
        if answer is None:
            assert [value for name, value in row.items() if name != "error"] == [None] * 6
            assert (row["error"] is None) == (state is None)
            continue
        for name in ("goal", "distance", "best_moves", "solutions"):
            assert row[name] == getattr(answer, name), name
        assert row["solution"] == tables.eight.solution(answer.state, goal)
        assert row["path"].split() == tables.eight.path(answer.state, goal)
    times = board_columns.CHUNK_ROWS // len(keys) + 2
    in_chunks = ask_many(eight, pl.concat([keys] * times), **options)
    assert in_chunks.equals(pl.concat([answers] * times))
    assert ask_singly(eight, keys, **options).rows() == answers.rows()
    none = ask_many(eight, keys.clear(), **options)
    assert none.schema == answers.schema


def test_senet_path_as_a_column(ask: Ask, tmp_path: Path) -> None:
    text = b"ABAAABBB.B...A. BBBBBAAAAA..... ABABABABAB....."
    plain, ways = tmp_path / "plain.parquet", tmp_path / "ways.parquet"
    assert ask("senet", "--output", str(plain), text=text) == (0, "", "")
    assert ask("senet", "--path", "--output", str(ways), text=text) == (0, "", "")
    rows = pl.read_parquet(ways)
    assert rows["path"].to_list() == [
        "ABABABABAB..... ABABABAB.B...A. ABAAABBB.B...A.", None, "ABABABABAB....."
    ]  # fmt: skip
    assert rows["error"][1].endswith("no line of play from the opening leads to it.")
    assert {**pl.read_parquet_schema(plain), "path": pl.String} == dict(rows.schema)


def test_annotate_agrees_with_probe(tables: Tables, outputs: Path) -> None:
    table = pl.read_parquet(outputs / "senet.parquet")
    senet = pl.concat([table.gather_every(3779), table.filter(pl.col("plies").is_null())])
    names = [name for name in senet.columns if name != "position"]
    result = tables.senet.annotate(senet.select(position=pl.lit(" ") + pl.col("position")))
    assert result.select(names).equals(senet.select(names))
    squares = pl.DataFrame({"start": [oracles.square_name(8, at) for at in range(64)]})
    choices: list[dict[str, Any]] = [{}, {"to": "a3"}, {"closed": True}, {"board": "6x6"}]
    for options in (*choices, {"number": 31}):
        for row in tables.knight.annotate(squares, **options).iter_rows(named=True):
            answer = tables.knight.get(row.pop("start"), **options)
            assert row == {name: answer and getattr(answer, name) for name in row}


def test_white_space_equals_pythons() -> None:
    letters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    spaces = pl.Series(letters).str.contains(WHITE_SPACE)
    assert spaces.to_list() == [letter.isspace() for letter in letters]


@pytest.mark.parametrize("key", [None, 123456780, 1.5, b"123456780", ["1"], ("1", "2"), object()])
def test_keys_must_be_text(tables: Tables, key: Any) -> None:
    eight, senet, knight = tables.eight, tables.senet, tables.knight
    probes: list[Callable[..., object]] = [eight.probe, eight.distance, eight.path]
    probes += [senet.probe, knight.probe, partial(eight.probe, goal="centre")]
    if key is not None:  # None: the tours of all squares
        probes.append(knight.count)
    for probe in probes:
        with pytest.raises(NotationError, match=r"it is of type [a-zA-Z]+, not text"):
            probe(key)
    for get in (eight.get, senet.get, knight.get):
        assert get(key) is None
        assert get(key, default="none") == "none"
