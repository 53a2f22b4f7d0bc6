"""The columns that batches and `annotate` add to frames of any library, to lists and arrays."""

import itertools
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import BadRequest, NotationError
from puzzle_tablebase.queries import Tables, board_columns, open_reader
from puzzle_tablebase.queries.answer_frames import WHITE_SPACE
from puzzle_tablebase.stores.folder import Folder
from tests.support import oracles
from tests.support.asking import ask_many, ask_singly
from tests.support.oracles import eight_best_moves, eight_distances, eight_neighbours
from tests.support.shell import Ask

KEYS = {
    "eight": ["378546201", None, "no state", "152703846", "152703846"],
    "senet": ["ABAAABBB.B...A.", None, "BBBBBAAAAA.....", "ababababab....."],
    "knight": ["b1", None, "z9", "a1"],
}


@pytest.mark.parametrize("name", KEYS)
def test_every_kind_of_frame_gets_the_same_answers(tables: Tables, name: str) -> None:
    keys, annotate = KEYS[name], partial(getattr(tables, name).annotate, column="key")
    expected = annotate(pl.DataFrame({"key": keys}))
    assert expected["key"].to_list() == keys
    for listed in (keys, tuple(keys), pl.Series("other", keys)):
        assert annotate(listed).equals(expected)
    arrow = annotate(pa.table({"n": [*range(len(keys))], "key": keys}))
    assert isinstance(arrow, pa.Table)
    assert arrow.column_names == ["n", *expected.columns]
    assert arrow.drop_columns(["n"]).to_pylist() == expected.to_dicts()
    for text in (object, "str", "string[pyarrow]", "category"):
        frame = pd.DataFrame({"n": range(len(keys)), "key": keys}, index=[7] * len(keys))
        frame = frame.astype({"key": text})
        result = annotate(frame)
        assert [*result.columns] == ["n", *expected.columns]
        assert result.index.equals(frame.index)
        assert result[["n", "key"]].equals(frame)
        added = result.drop(columns=["n", "key"]).astype(object)
        rows = added.where(added.notna(), None).to_dict("records")
        assert rows == expected.drop("key").to_dicts()
        assert annotate(frame["key"]).equals(result.drop(columns="n"))


def test_numbers_as_keys_and_as_answers(tables: Tables) -> None:
    lost = [378546201, 87654321, None]  # the second without its leading 0
    assert tables.eight.annotate(lost)["distance"].to_list() == [27, 28, None]
    result = tables.eight.annotate(pd.DataFrame({"state": lost}))
    assert result["distance"].to_list() == [27, 28, pd.NA]
    assert pd.api.types.is_integer_dtype(result.dtypes["distance"]), "numbers stay whole"
    assert [*result["goal"].cat.categories] == ["corner", "centre", "edge"]


def test_frames_without_rows(tables: Tables) -> None:
    expected = tables.eight.annotate(pl.DataFrame({"state": []}, {"state": pl.String}))
    assert tables.eight.annotate([]).equals(expected)
    assert tables.eight.annotate(pl.Series([], dtype=pl.String)).equals(expected)
    frame = tables.eight.annotate(pd.DataFrame({"state": []}, dtype=str))
    assert ([*frame.columns], frame.empty) == (expected.columns, True)
    assert tables.eight.annotate(pa.table({"state": pa.array([], pa.string())})).num_rows == 0


TWICE = ["state", "state"]
REFUSED: list[Any] = [
    *(5, "378546201", {"state": ["1"]}, None, pd.Index(["378546201"]), [378546201, "152703846"]),
    pd.DataFrame({"state": ["378546201", ("a", 1), 5, None]}, dtype=object),
    pd.DataFrame({"state": [10**30, 378546201]}, dtype=object),
    *(pd.DataFrame([["1", "2"]], columns=TWICE), pa.table([["1"], ["2"]], names=TWICE)),
    *(make({"other": ["1"]}) for make in (pd.DataFrame, pa.table, pl.DataFrame, pl.LazyFrame)),
    *(make({"state": [True]}) for make in (pd.DataFrame, pl.DataFrame, pl.LazyFrame)),
    pl.DataFrame({"state": [[1, 2, 3]]}),
]
"""What cannot be annotated."""


@pytest.mark.parametrize("frame", REFUSED, ids=itertools.count())
def test_what_has_no_keys_is_refused(tables: Tables, frame: Any) -> None:
    with pytest.raises(BadRequest):
        tables.eight.annotate(frame)


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table, pl.DataFrame, pl.LazyFrame])
def test_no_column_is_replaced(tables: Tables, make: Any) -> None:
    frame = make({"state": ["378546201"], "distance": ["mine"]})
    with pytest.raises(BadRequest):
        tables.eight.annotate(frame)
    result = tables.eight.annotate(frame, prefix="its_")
    rows = pl.DataFrame(result.collect() if make is pl.LazyFrame else result)
    assert rows.select("distance", "its_distance").rows() == [("mine", 27)]


GOAL = "123456780"
rows = st.lists(st.integers(-2, 300), min_size=9, max_size=9) | st.permutations(range(9))


@given(st.lists(rows, min_size=1, max_size=6))
def test_arrays_are_answered_as_by_the_oracle(tables: Tables, cells: list[list[int]]) -> None:
    eight, known = tables.eight, eight_distances(GOAL)
    ranks, best = eight.ranks(cells), eight.best_moves(cells, GOAL)
    distances, nexts = eight.distances(cells, GOAL).tolist(), eight.neighbours(cells)
    assert eight.distances(np.array(cells), GOAL).tolist() == distances
    for at, row in enumerate(cells):
        state = "".join(map(str, row))
        if sorted(row) != [*range(9)]:
            assert (ranks[at], distances[at], best[at]) == (-1, -1, "")
            assert (nexts[at] == 255).all()
            continue
        assert eight.puzzle.unrank(ranks[at]) == state
        assert distances[at] == known.get(state, -1)
        assert best[at] == (eight_best_moves(state, known) if state in known else "")
        moves = eight_neighbours(state)
        assert dict(eight.moves(state)) == moves
        for letter, after in zip("UDLR", nexts[at].tolist(), strict=True):
            assert after == [*map(int, moves[letter])] if letter in moves else [255] * 9


def test_columns_and_lists_are_states_too(tables: Tables) -> None:
    eight, cells = tables.eight, [3, 7, 8, 5, 4, 6, 2, 0, 1]
    expected = eight.probe("378546201")
    for key in (cells, tuple(cells), np.array(cells, np.uint8), np.array(cells).reshape(3, 3)):
        assert eight.probe(key) == expected  # type: ignore[arg-type]
        assert eight.distance(key) == 27  # type: ignore[arg-type]
    assert eight.distances(pl.Series(["378546201"] * 2)).tolist() == [27, 27]
    assert eight.distances(["378546201", "x", None]).tolist() == [27, -1, -1]
    assert eight.distances([]).tolist() == []
    assert eight.distances(np.zeros((0, 9), np.uint8)).tolist() == []
    for states in (None, "378546201", [[1, 2]], np.zeros((2, 9)), pl.Series([["3", "7"]])):
        with pytest.raises(BadRequest):
            eight.distances(states)


@pytest.mark.parametrize(
    "key",
    [
        *(None, 123456780, b"123456780", ["1"], object(), {}),
        *([1.0] * 9, [True] * 9, [[[1]]], [], [0] * 9, [10**30] * 9),
        # both halves of the first three are in the dictionaries of ranks
        *("123412340", "123456781", "012301230", "123456789", "12345678", ""),
    ],
)
def test_what_is_no_key_is_refused(tables: Tables, key: Any) -> None:
    for reader in (tables.eight, tables.senet, tables.knight):
        with pytest.raises(NotationError):
            reader.probe(key)
        assert reader.get(key, default="none") == "none"
    for _ in range(2):  # the first call makes the dictionaries
        with pytest.raises(NotationError):
            tables.eight.distance(key)


def test_moves_are_applied(tables: Tables) -> None:
    assert tables.eight.apply(GOAL, "") == tables.eight.apply(GOAL, "UUDD") == GOAL
    assert tables.eight.apply(GOAL, "6, 5") == tables.eight.apply(GOAL, "UL") == "123405786"
    for moves in ("UR", "61", "UX"):
        with pytest.raises(BadRequest):
            tables.eight.apply(GOAL, moves)


KNOWN = {
    "eight": ("state", "378546201"), "senet": ("position", "ABAAABBB.B...A."),
    "knight": ("start", "b1"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "column"),
    [("eight", "distance"), ("eight", "error"), ("senet", "lines"), ("knight", "path")],
)
def test_a_batch_overwrites_no_column(ask: Ask, tmp_path: Path, name: str, column: str) -> None:
    source, target = tmp_path / "asked.csv", tmp_path / "answers.csv"
    (key_column, key) = KNOWN[name]
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
    alone = ask(name, KNOWN[name][1], *options)
    assert alone[:2] == (2, "")
    for text in (b"", f"{KNOWN[name][1]}\n".encode() * 2):
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
    (_, known), (small, plies) = KNOWN["senet"], ("abaaabbb.b...a.", {(): 2, ("--turn", "b"): 3})
    for turn, fewest in plies.items():
        _, first, second = ask("senet", *turn, text=f"{small} {known}".encode()).out.splitlines()
        assert first == second.replace(known, small)
        assert second.startswith(f"{known},{fewest},2,3,")
