"""The columns that a batch and `annotate` add: their names, their options, their values."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from puzzle_tablebase.queries import board_columns, open_reader
from puzzle_tablebase.queries.answer_frames import WHITE_SPACE
from puzzle_tablebase.queries.api import Tables
from puzzle_tablebase.stores.folder import Folder
from tests.support import oracles
from tests.support.asking import ask_many, ask_singly
from tests.support.shell import Ask

KEYS = {
    "eight": ("state", "378546201"), "senet": ("position", "ABAAABBB.B...A."),
    "knight": ("start", "b1"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "column"),
    [("eight", "distance"), ("eight", "error"), ("senet", "lines"), ("knight", "path")],
)
def test_a_batch_overwrites_no_column(ask: Ask, tmp_path: Path, name: str, column: str) -> None:
    source, target = tmp_path / "asked.csv", tmp_path / "answers.csv"
    (key_column, key) = KEYS[name]
    source.write_text(f"{key_column},{column},note\n{key},mine,x\n,,\n")
    words = (name, "--input", str(source), "--output", str(target))
    assert ask(*words)[:2] == (2, "")
    assert not target.exists()
    assert ask(*words, "--prefix", "its_") == (0, "", "")
    first, second = pl.read_csv(target, infer_schema=False).rows(named=True)
    given = {key_column: key, column: "mine", "note": "x"}
    assert list(first.items())[:3] == list(given.items())
    assert all(added.startswith("its_") for added in list(first)[3:])
    assert f"its_{column}" in first
    assert not any(second.values()), "a null key has neither answers nor an error"


@pytest.mark.parametrize(
    "words",
    ["eight --goal crner", "knight --to a6 --board 5x5", "knight b1 --count --number 1"],
)
def test_options_are_checked_before_any_row(ask: Ask, words: str) -> None:
    name, *options = words.split()
    alone = ask(name, KEYS[name][1], *options)
    assert alone[:2] == (2, "")
    for text in (b"", f"{KEYS[name][1]}\n".encode() * 2):
        assert ask(name, *options, text=text) == alone


@pytest.mark.parametrize("goal", ["center", " Centre ", "123804765"])
def test_a_goal_may_be_spelled_in_two_ways(ask: Ask, tables: Tables, goal: str) -> None:
    code, text, _ = ask("eight", "--goal", goal, text=b"283104765")
    assert (code, text.splitlines()[1]) == (0, "283104765,centre,4,U,1,")
    assert tables.eight.solution("283104765", goal) == "ULDR"


@pytest.mark.parametrize("goal", [None, "edge", "087654321"])
def test_paths_for_all_keys_together_equal_single_ones(outputs: Path, goal: str | None) -> None:
    """Answer keys and unanswerable ones, then so many of them that there are two chunks."""
    table = pl.read_parquet(outputs / "eight.parquet", columns=["state"])
    states = ["087654321", *table["state"].sample(60, seed=2), None, "", "123456789"]
    eight = open_reader("eight", Folder(outputs))
    options: dict[str, Any] = {"path": True, "goal": goal}
    keys = pl.Series(states, dtype=pl.String)
    answers = ask_many(eight, keys, **options)
    assert ask_singly(eight, keys, **options).rows() == answers.rows()
    ends = answers["path"].str.split(" ").list.last().drop_nulls().unique()
    assert len(ends) == (2 if goal is None else 1)
    times = board_columns.CHUNK_ROWS // len(keys) + 2
    in_chunks = ask_many(eight, pl.concat([keys] * times), **options)
    assert in_chunks.equals(pl.concat([answers] * times))
    assert ask_many(eight, keys.clear(), **options).schema == answers.schema


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


def test_letters_of_senet_may_be_lower_case(ask: Ask) -> None:
    (_, known), (small, plies) = KEYS["senet"], ("abaaabbb.b...a.", {(): 2, ("--turn", "b"): 3})
    for turn, fewest in plies.items():
        _, first, second = ask("senet", *turn, text=f"{small} {known}".encode()).out.splitlines()
        assert first == second.replace(known, small)
        assert second.startswith(f"{known},{fewest},2,3,")
