"""The columns that batches and `annotate` add to frames of any library, to lists and arrays."""

import itertools
import json
from decimal import Decimal
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
from puzzle_tablebase.puzzles.sliding import EIGHT, SlidingBoard
from puzzle_tablebase.queries import board_columns
from puzzle_tablebase.queries.answer_frames import WHITE_SPACE
from puzzle_tablebase.queries.board_columns import normalize_keys
from puzzle_tablebase.queries.boards import EightProber
from puzzle_tablebase.queries.prober import open_prober
from puzzle_tablebase.queries.tables import Tables
from puzzle_tablebase.stores import Folder
from tests.support import oracles
from tests.support.batch_files import write_frame
from tests.support.board_layouts import write_layouts
from tests.support.oracles import eight_best_moves, eight_distances, eight_neighbours
from tests.support.querying import query_many, query_singly
from tests.support.shell import Cli
from tests.support.strategies import eight_states

KEYS = {
    "eight": ["378546201", None, "no state", "152703846", "152703846"],
    "senet": ["ABAAABBB.B...A.", None, "BBBBBAAAAA.....", "ababababab....."],
    "knight": ["b1", None, "z9", "a1"],
}


@pytest.fixture(scope="module", autouse=True)
def _rows_in_memory(tables: Tables) -> None:
    """Read all rows, by which few keys are then answered, too."""
    tables.eight._prober.load_rows(None)


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
    *(make({"state": [True]}) for make in (pd.DataFrame, pl.DataFrame, pl.LazyFrame)),
    pl.DataFrame({"state": [[1, 2, 3]]}),
]
"""What cannot be annotated."""


@pytest.mark.parametrize("frame", REFUSED, ids=itertools.count())
def test_what_has_no_keys_is_refused(tables: Tables, frame: Any) -> None:
    with pytest.raises(BadRequest):
        tables.eight.annotate(frame)


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table, pl.DataFrame, pl.LazyFrame])
def test_the_columns_that_there_are_are_named(tables: Tables, make: Any) -> None:
    with pytest.raises(BadRequest, match=r"no text column 'state'\. Columns: 'n', 'other'"):
        tables.eight.annotate(make({"n": [1], "other": ["378546201"]}))


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
# in a byte, either last number would be 8
rows |= st.permutations([*range(8), 264]) | st.permutations([*range(8), -248])


@given(st.lists(rows, min_size=1, max_size=6))
def test_arrays_are_answered_as_by_the_oracle(tables: Tables, cells: list[list[int]]) -> None:
    eight, known = tables.eight, eight_distances(GOAL)
    arrays = eight.arrays(GOAL)
    ranks, best = arrays.ranks(cells), arrays.best_moves(cells)
    distances, nexts = arrays.distances(cells).tolist(), arrays.neighbours(cells)
    assert arrays.distances(np.array(cells)).tolist() == distances
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
    arrays = eight.arrays()
    assert arrays.distances(pl.Series(["378546201"] * 2)).tolist() == [27, 27]
    assert arrays.distances(["378546201", "x", None]).tolist() == [27, -1, -1]
    assert arrays.distances([]).tolist() == []
    assert arrays.distances(np.zeros((0, 9), np.uint8)).tolist() == []
    assert np.array_equal(arrays.distances(None), arrays.distances())
    for states in ("378546201", [[1, 2]], np.zeros((2, 9)), pl.Series([["3", "7"]])):
        with pytest.raises(BadRequest):
            arrays.distances(states)


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
def test_a_batch_overwrites_no_column(query: Cli, tmp_path: Path, name: str, column: str) -> None:
    source, target = tmp_path / "keys.csv", tmp_path / "answers.csv"
    (key_column, key) = KNOWN[name]
    source.write_text(f"{key_column},{column},note\n{key},mine,x\n,,\n")
    words = (name, "--input", str(source), "--output", str(target))
    assert query(*words)[:2] == (2, "")
    assert not target.exists()
    assert query(*words, "--prefix", "its_") == (0, "", "")
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
def test_options_are_checked_before_any_row(query: Cli, words: str) -> None:
    name, *options = words.split()
    alone = query(name, KNOWN[name][1], *options)
    assert alone[:2] == (2, "")
    for text in (b"", f"{KNOWN[name][1]}\n".encode() * 2):
        assert query(name, *options, text=text) == alone


@pytest.mark.parametrize("goal", ["center", " Centre ", "123804765"])
def test_a_goal_may_be_spelled_in_two_ways(query: Cli, tables: Tables, goal: str) -> None:
    code, text, _ = query("eight", "--goal", goal, text=b"283104765")
    assert (code, text.splitlines()[1]) == (0, "283104765,centre,4,U,1,")
    assert tables.eight.solution("283104765", goal) == "ULDR"


@pytest.mark.parametrize("goal", [None, "edge", "087654321"])
def test_paths_for_all_keys_together_equal_single_ones(outputs: Path, goal: str | None) -> None:
    """Answer keys and unanswerable ones, then so many of them that there are two chunks."""
    table = pl.read_parquet(outputs / "eight.parquet", columns=["state"])
    states = ["087654321", *table["state"].sample(60, seed=2), None, "", "123456789"]
    eight = open_prober("eight", Folder(outputs))
    assert isinstance(eight, EightProber)
    eight.max_single_keys = 0
    options: dict[str, Any] = {"path": True, "goal": goal}
    keys = pl.Series(states, dtype=pl.String)
    answers = query_many(eight, keys, **options)
    assert query_singly(eight, keys, **options).rows() == answers.rows()
    ends = answers["path"].str.split(" ").list.last().drop_nulls().unique()
    assert len(ends) == (2 if goal is None else 1)
    times = board_columns.CHUNK_ROWS // len(keys) + 2
    in_chunks = query_many(eight, pl.concat([keys] * times), **options)
    assert in_chunks.equals(pl.concat([answers] * times))
    assert query_many(eight, keys.clear(), **options).schema == answers.schema


def test_annotate_agrees_with_probe(tables: Tables, outputs: Path) -> None:
    table = pl.read_parquet(outputs / "senet.parquet")
    senet = pl.concat([table.gather_every(3779), table.filter(pl.col("plies").is_null())])
    names = [name for name in senet.columns if name != "position"]
    result = tables.senet.annotate(senet.select(position=pl.lit(" ") + pl.col("position")))
    assert result.select(names).equals(senet.select(names))
    squares = pl.DataFrame({"start": [oracles.square_name(8, at) for at in range(0, 64, 3)]})
    choices: list[dict[str, Any]] = [{}, {"to": "a3"}, {"closed": True}, {"board": "6x6"}]
    for options in (*choices, {"number": 31}):
        for row in tables.knight.annotate(squares, **options).iter_rows(named=True):
            answer = tables.knight.get(row.pop("start"), **options)
            assert row == {name: answer and getattr(answer, name) for name in row}


def test_white_space_equals_pythons() -> None:
    letters = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    found = pl.Series([letters]).str.extract_all(WHITE_SPACE)
    assert [*found[0]] == [letter for letter in letters if letter.isspace()]


def test_letters_of_senet_may_be_lower_case(query: Cli) -> None:
    (_, known), (small, plies) = KNOWN["senet"], ("abaaabbb.b...a.", {(): 2, ("--turn", "b"): 3})
    for turn, fewest in plies.items():
        _, first, second = query("senet", *turn, text=f"{small} {known}".encode()).out.splitlines()
        assert first == second.replace(known, small)
        assert second.startswith(f"{known},{fewest},2,3,")


TEXTS = ["378546201", "012345678", "378546 2_1", " 3 7 8\n 5 4 6\n 2 . 1", "3,7,8,5,4,6,2,_,1", "7"]
STATES = ["378546201", "012345678", "378546201", "378546201", "378546201", None]


@given(
    st.lists(
        eight_states.flatmap(lambda state: st.sampled_from([*write_layouts(state, 3)]))
        | st.text("12345678 0.", min_size=8, max_size=11)
        | st.none(),
        max_size=6,
    )
)
def test_whole_columns_are_read_as_single_texts(tables: Tables, texts: list[str | None]) -> None:
    keys = pl.Series(texts, dtype=pl.String)
    rows = tables.eight._prober.load_rows(None)
    states, ranks = rows.find_rows(keys)
    assert keys.to_list() == texts, "the column is not changed"
    for text, state, rank in zip(texts, states, ranks, strict=True):
        try:
            expected = EIGHT.parse(text or "")
        except NotationError:
            assert rank == rows.size
        else:
            assert (state, rank) == (expected, EIGHT.rank(expected))


@pytest.mark.parametrize("sides", [(2, 3), (3, 4), (2, 5)])
def test_whole_columns_of_a_sliding_board_are_read_as_single_texts(sides: tuple[int, int]) -> None:
    board = SlidingBoard(*sides)
    for state in (board.example, board.example[::-1], "10" + board.example[1:-1]):
        texts = pl.Series([*write_layouts(state, board.width)])
        assert {*normalize_keys(texts, board.cells)} == {state}
    texts = pl.Series(["3, 10, 1, 11, 8, 7, 2, 5, 4, 9, 6, 0", "10 123456789b0", "é10"])
    assert normalize_keys(texts, 12).to_list() == ["3a1b87254960", "10123456789b0", "é10"]
    numbers = pl.Series([" ".join(map(str, [*range(1, 16), 0]))])
    assert normalize_keys(numbers, 16).to_list() == ["123456789abcdef0"]


@pytest.mark.parametrize("file_format", ["csv", "jsonl", "parquet"])
def test_cells_with_boards_and_numbers_are_answered(
    query: Cli, tables: Tables, tmp_path: Path, file_format: str
) -> None:
    source = tmp_path / f"frame.{file_format}"
    source.write_bytes(
        write_frame(file_format, pl.DataFrame({"n": range(len(TEXTS)), "state": TEXTS}))
    )
    code, out, _ = query("eight", "--input", str(source), "--format", "jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    assert (code, [row["state"] for row in rows]) == (2, TEXTS), "a cell comes back as it was"
    for row, state in zip(rows, STATES, strict=True):
        assert row["distance"] == (state and tables.eight.distance(state))
    frame = pl.DataFrame({"n": ["a", "b", "c"], "state": [12345678, None, 378546201]})
    source.write_bytes(write_frame(file_format, frame))
    rows = ["a,12345678,corner,22,DR,2,", "b,,,,,,", "c,378546201,corner,27,ULR,15,"]
    assert query("eight", "--input", str(source))[1].splitlines()[1:] == rows
    # text stays text: it may have lost something else
    for text, words in ((b"12345678", ()), (b'{"state":"12345678"}', ("--input-format", "jsonl"))):
        assert query("eight", *words, text=text)[0] == 2


@pytest.mark.parametrize("dtype", [pl.Int32, pl.UInt64, pl.Int128, pl.Float64, pl.Decimal(12, 0)])
def test_numbers_get_their_lost_zero_back(dtype: pl.DataType, tables: Tables) -> None:
    numbers = pl.Series("state", [12345678, 378546201, None, 7, -12345678, 11345678], pl.Int64)
    column = numbers.cast(dtype, strict=False)
    frame = column.to_frame()
    answers = tables.eight.annotate(frame)
    assert answers["state"].equals(column), "the column itself stays a column of numbers"
    assert answers["distance"].to_list() == [22, 27, None, None, None, None]
    assert tables.eight.annotate(frame.lazy()).collect().equals(answers)
    errors = tables.eight.annotate(frame, errors="column")["error"]
    assert errors[5].startswith("'11345678' "), "with a 0 before it, it would be no state either"


def test_fractions_are_no_keys(tables: Tables) -> None:
    column = pl.Series("state", [378546201.5, float("nan"), float("inf"), 1e300, 12345678.0])
    assert tables.eight.annotate(column.to_frame())["distance"].to_list() == [None] * 4 + [22]
    fractions = pl.Series("state", [Decimal("1.5")])
    with pytest.raises(BadRequest):
        tables.eight.annotate(fractions.to_frame())
