"""The command check: batches in every format, summaries, exit codes, and a contest's checker."""

import json
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.queries.judged_columns import Summary
from tests.support.shell import Cli

STATE = "123450786"
ROWS = [
    (STATE, "D", "shortest"),
    (STATE, "LRD", "longer"),
    (STATE, "8 5", "illegal"),
    (STATE, "UX", "unreadable"),
    (STATE, "", "incomplete"),
    (STATE, "6", "shortest"),
    ("123456780", "", "shortest"),
]
RESULTS = [expected for *_, expected in ROWS]
FRAME = pl.DataFrame(ROWS, schema=["state", "answer", "expected"], orient="row")
SUMMARY = "pipeline: 4 of 7 solved, 3 shortest, mean excess 0.5\n"


def test_text_has_a_key_and_an_answer_on_each_line(cli: Cli, outputs: Path) -> None:
    lines = [
        f"{STATE} D",
        "",
        f"  {STATE}\tL R\tD ",
        "1 2 3 4 5 . 7 8 6 UX",
        "1 2 3 / 4 5 0 / 7 8 6 D",
        "123456780",
        f"{STATE} unreachable\r",
        "1 2 3",
    ]
    text = cli("check", "eight", stdin="\n".join(lines))
    rows = pl.read_csv(text.out.encode(), infer_schema=False)
    assert rows["result"].to_list() == [
        *("shortest", "longer", "unreadable", "shortest", "shortest", "unreadable", None)
    ]
    assert rows["state"][2] == "1 2 3 4 5 . 7 8 6"
    assert text.code == 2
    assert text.err.endswith("pipeline: 1 key is invalid. See the column error.\n")


def test_a_nul_is_judged_and_does_not_stop_a_batch(cli: Cli, tmp_path: Path) -> None:
    text = cli("check", "eight", stdin=f"{STATE} D\0\n{STATE} D\n")
    rows = pl.read_csv(text.out.encode(), infer_schema=False)
    assert (text.code, rows["result"].to_list()) == (0, ["unreadable", "shortest"])
    csv = f'state,answer\n{STATE},"D\0"\n{STATE},D\n{STATE}\0,D\n'
    target = tmp_path / "judged.parquet"
    words = ("check", "eight", "-", "--input-format", "csv", "--output", str(target))
    assert cli(*words, stdin=csv).code == 2
    judged = pl.read_parquet(target)
    assert judged["result"].to_list() == ["unreadable", "shortest", None]
    assert judged["problem"][0] == r"character 2, '\x00', is not a move: write U, D, L or R"
    assert judged["error"][2].startswith(r"'123450786\x00' is not an 8-puzzle state")


def test_the_words_after_a_key_are_one_answer(cli: Cli, outputs: Path) -> None:
    more = ("--outputs", str(outputs), "--json")
    apart, whole = (cli("check", "eight", STATE, *words, *more) for words in ("LRD", ["LRD"]))
    assert apart == whole
    assert json.loads(whole.out)["result"] == "longer"


def test_columns_have_the_names_that_options_give(cli: Cli, tmp_path: Path) -> None:
    source, lists = tmp_path / "moves.csv", tmp_path / "lists.parquet"
    source.write_text(f"board,moves,result\n{STATE},D,mine\n{STATE},RR,\n")
    pl.DataFrame({"board": [STATE], "moves": [[6]]}).write_parquet(lists)
    words = ("check", "eight", "--column", "board")
    more = ("--input", str(source), "--answer-column", "moves")
    for refused in (("--input", str(source)), ("--input", str(lists), *more[2:]), more):
        assert cli(*words, *refused)[:2] == (2, "")
    text = cli(*words, *more, "--prefix", "my_")
    assert text.out.splitlines()[1] == f"{STATE},D,mine,shortest,1,1,0,,,,1.0,"


def test_answers_of_json_lines_may_be_numbers(cli: Cli) -> None:
    lines = [
        '{"state": "123450786", "answer": "D", "x": 1.50}',
        '{"answer": 6, "state": 123450786}',
        '{"answer": "U\\u0000", "state": "123450786"}',
        '{"answer": ["D"], "state": "123450786"}',
        '{"state": "123456780"}',
    ]
    words = ("check", "eight", "-", "--input-format", "jsonl", "--format", "jsonl")
    text = cli(*words, stdin="\n".join(lines))
    assert text.code == 0
    rows = [json.loads(line) for line in text.out.splitlines()]
    assert list(rows[0].items())[:3] == [("state", "123450786"), ("answer", "D"), ("x", 1.5)]
    results = [row["result"] for row in rows]
    assert results == ["shortest", "shortest", "unreadable", "unreadable", "shortest"]


def test_scores_that_nobody_knows_count_for_nothing() -> None:
    summary, results = Summary(), ["shortest", "solved", None]
    summary.add(pl.DataFrame({"result": results, "score": [1.0, None, None], "excess": 0}))
    assert summary.to_dict()["mean_score"] == 1


def test_a_batch_is_judged_by_the_tables_of_the_folder_that_is_named(cli: Cli) -> None:
    words = ("check", "eight", "--input-format", "csv", "--outputs", "none")
    completed = cli(*words, stdin=f"state,answer\n{STATE},D\n")
    assert (completed.code, completed.out) == (3, "")
    assert "pipeline precompute eight --outputs none" in completed.err


def test_the_summary_may_be_json_and_strict_fails(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "answers.csv"
    FRAME.write_csv(source)
    words = ("check", "eight", "--input", str(source))
    text = cli(*words, "--json")
    assert text.code == 0
    assert json.loads(text.err) == {
        "answers": 7,
        "results": {name: RESULTS.count(name) for name in {*RESULTS}},
        "mean_excess": 1 / 2,
        "mean_score": pytest.approx((3 + 1 / 3) / 7),
    }
    text = cli(*words, "--strict")
    assert text.code == 1
    assert text.err == f"{SUMMARY}pipeline: Not shortest: 4 answers.\n"
    assert len(text.out.splitlines()) == 8
    assert cli("check", "eight", STATE, "D", "--strict").code == 0
    assert cli("check", "eight", STATE, "LRD", "--strict").code == 1


@pytest.mark.parametrize(
    ("words", "answers", "summary"),
    [
        ("eight", "", "0 of 0 solved"),
        ("eight --answers distances", f"{STATE} 1\n{STATE} D\n", "1 of 2 distances right"),
        ("knight --board 3x3", "a1 a1b3\na1 45\n", "0 of 2 solved"),
        ("senet", "ABAAABBB.B...A. 9-14 4x7\n", "1 of 1 solved, 1 shortest, mean excess 0.0"),
    ],
)
def test_batches_without_rows_or_of_other_puzzles_are_summed_up(
    cli: Cli, words: str, answers: str, summary: str
) -> None:
    text = cli("check", *words.split(), stdin=answers)
    assert (text.code, text.err) == (0, f"pipeline: {summary}\n")
    assert len(text.out.splitlines()) == 1 + len(answers.splitlines())
