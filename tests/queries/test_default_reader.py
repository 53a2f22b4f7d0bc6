"""Readers of puzzles that have none of their own: a record of the index, a row of a table."""

import json
from pathlib import Path

import polars as pl
import pytest

from queries.batch import Batch, answer_all
from queries.dispatch import READERS, reader, respond
from tablebase.errors import BadRequest, NoAnswer, NotationError
from tablebase.puzzles.senet import PUZZLE as SENET
from tablebase.tables.store import Folder

POSITION = "ABAAABBB.B...A."


def test_a_state_is_answered_with_its_record(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(READERS, "senet")
    record = reader("senet", Folder(outputs)).index("senet").record(SENET.rank(POSITION))
    found = reader("senet", Folder(outputs)).facts(POSITION, {}).named()
    assert tuple(found.values()) == (POSITION, *record)
    assert record[0] == 2
    assert list(found) == ["position", *(name for name, _ in SENET.tables[0].index)]
    asked: dict[str, str | bool] = {"outputs": str(outputs)}
    assert json.loads(respond("senet", POSITION.lower(), {**asked, "json": True})) == found
    said = respond("senet", POSITION, asked).splitlines()
    assert [line.split() for line in said] == [[name, str(fact)] for name, fact in found.items()]
    with pytest.raises(NotationError):
        respond("senet", "AB", asked)
    keys, answers = tmp_path / "keys.txt", tmp_path / "answers.parquet"
    keys.write_text(f"{POSITION} AB\n")
    batch = Batch(str(keys), "parquet", str(answers))
    assert answer_all(reader("senet", Folder(outputs)), {}, batch, lambda _: None) == 1
    rows = pl.read_parquet(answers).rows()
    assert rows[0] == (POSITION, *record, None)
    assert rows[1][:6] == ("AB", None, None, None, None, None)


def test_a_null_is_not_the_number_that_stands_for_it(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(READERS, "senet")
    asks = reader("senet", Folder(outputs))
    rows = pl.read_parquet(outputs / "senet.parquet").sample(300, seed=1)
    positions = pl.Series(["ABABABABAB.....", "AAAAA.....BBBBB", *rows["position"]])
    answers, bad = asks.answers(positions, {})
    assert bad == []
    wanted = pl.read_parquet(outputs / "senet.parquet").select(
        "position", "plies_even", "plies_odd"
    )
    beside = positions.alias("position").to_frame().join(wanted, "position", maintain_order="left")
    assert answers.select("plies_even", "plies_odd").rows() == beside.drop("position").rows()
    assert answers["plies_odd"].null_count() > 1


def test_a_key_is_answered_with_its_row(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(READERS, "knight")
    every = pl.read_parquet(outputs / "knight_tours_5x5.parquet")
    first, path = every.row(0, named=True), str(outputs / "knight_tours_5x5.parquet")
    asks = reader("knight", Folder(outputs))
    with pytest.raises(BadRequest) as several:
        asks.facts("5x5", {})
    assert str(several.value) == (
        "The table knight_tours_5x5 has 1,728 rows for '5x5': its board does not tell them apart. "
        f"Read them from {path}."
    )
    assert asks.answers(pl.Series(["5x5"]), {})[0]["error"].to_list() == [str(several.value)]
    asks._rows = every.head(1)
    assert asks.facts("5x5", {}).named() == first
    with pytest.raises(NoAnswer) as caught:
        asks.facts("9x9", {})
    assert str(caught.value) == "The table knight_tours_5x5 has no row for '9x9'."
    answers, bad = asks.answers(pl.Series(["5x5", "9x9", None]), {})
    assert answers.rows()[0] == (*list(first.values())[1:], None)
    assert answers["error"].to_list() == [None, str(caught.value), None]
    assert bad == []


def test_a_state_without_an_index_is_answered_with_its_row(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(READERS, "senet")
    monkeypatch.setattr(SENET.tables[0], "index", ())
    found = reader("senet", Folder(outputs)).facts(POSITION.lower(), {}).named()
    assert (found["position"], found["plies"], found["dice"]) == (POSITION, 2, "53")
    assert found["plies_odd"] == 3
    unreached = reader("senet", Folder(outputs)).facts("AAAAA.....BBBBB", {})
    assert "dice\n" in unreached.words({}), "a null is shown as nothing"
