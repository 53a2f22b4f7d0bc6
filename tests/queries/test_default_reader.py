"""The default reader of puzzles without their own: a record of the index, or a row of a table."""

from pathlib import Path

import polars as pl
import pytest

from queries.batch import Batch, run_batch
from queries.dispatch import READERS, open_reader
from queries.reader import ignore_progress
from tablebase.errors import BadRequest, NoAnswer
from tablebase.puzzles.senet import PUZZLE as SENET
from tablebase.tables.store import Folder

POSITION = "ABAAABBB.B...A."


def test_a_state_is_answered_with_its_record(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors and text are in `tests/plugins/test_other_kinds.py`."""
    monkeypatch.delitem(READERS, "senet")
    reader = open_reader("senet", Folder(outputs))
    record = reader.open_index("senet").read_record(SENET.rank(POSITION))
    result = reader.make_query().answer(POSITION).to_dict()
    assert tuple(result.values()) == (POSITION, *record)
    assert record[0] == 2
    assert list(result) == ["position", *(name for name, _ in SENET.tables[0].index)]
    keys, answers = tmp_path / "keys.txt", tmp_path / "answers.parquet"
    keys.write_text(f"{POSITION} AB\n")
    batch = Batch(str(keys), "parquet", str(answers))
    assert run_batch(reader.make_query(), batch, ignore_progress) == 1
    rows = pl.read_parquet(answers).rows()
    assert rows[0] == (POSITION, *record, None)
    assert rows[1][:6] == ("AB", None, None, None, None, None)


def test_nulls_are_not_their_stored_numbers(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(READERS, "senet")
    rows = pl.read_parquet(
        outputs / "senet.parquet", columns=["position", "plies_even", "plies_odd"]
    )
    ends = rows.filter(pl.col("position").is_in(["ABABABABAB.....", "AAAAA.....BBBBB"]))
    wanted = pl.concat([ends, rows.sample(300, seed=1)])
    query = open_reader("senet", Folder(outputs)).make_query()
    answers, bad = query.answer_keys(wanted["position"])
    assert bad == []
    assert answers.select("plies_even", "plies_odd").rows() == wanted.drop("position").rows()
    assert answers["plies_odd"].null_count() > 1


def test_a_key_is_answered_with_its_row(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(READERS, "knight")
    path = outputs / "knight_tours_5x5.parquet"
    row = pl.read_parquet(path, n_rows=1)
    reader = open_reader("knight", Folder(outputs))
    with pytest.raises(BadRequest) as several:
        reader.make_query().answer("5x5")
    assert str(several.value) == (
        "The table knight_tours_5x5 has 1,728 rows for '5x5': its board does not tell them apart. "
        f"Read them from {path}."
    )
    answers, _ = reader.make_query().answer_keys(pl.Series(["5x5"]))
    assert answers["error"].to_list() == [str(several.value)]
    reader._kept["rows"] = row
    assert reader.make_query().answer("5x5").to_dict() == row.row(0, named=True)
    with pytest.raises(NoAnswer) as caught:
        reader.make_query().answer("9x9")
    assert str(caught.value) == "The table knight_tours_5x5 has no row for '9x9'."
    answers, bad = reader.make_query().answer_keys(pl.Series(["5x5", "9x9", None]))
    assert answers.rows()[0] == (*row.row(0)[1:], None)
    assert answers["error"].to_list() == [None, str(caught.value), None]
    assert bad == []


def test_a_state_without_an_index_is_answered_with_its_row(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(READERS, "senet")
    monkeypatch.setattr(SENET.tables[0], "index", ())
    result = open_reader("senet", Folder(outputs)).make_query().answer(POSITION.lower()).to_dict()
    assert (result["position"], result["plies"], result["dice"]) == (POSITION, 2, "53")
    assert result["plies_odd"] == 3
    unreached = open_reader("senet", Folder(outputs)).make_query().answer("AAAAA.....BBBBB")
    assert "dice\n" in unreached.to_text(), "a null is shown as nothing"
