"""The published cases: their ranks lead to their records. Each reader's tests ask the cases, and
`tests/index/test_document_reader.py` those of tours by rank.

The answers of the cases are the program's own: `make docs` writes them.
"""

from pathlib import Path

from queries.index_reader import IndexReader
from tablebase.puzzles.fifteen import PARTITIONS, Pattern
from tablebase.puzzles.fifteen import PUZZLE as FIFTEEN
from tablebase.tables.store import Folder
from tests.readers.test_example_readers import CODES
from tests.support.build_recorder import build_tables
from tests.support.default_tables import INDEXES
from tests.support.format_page import record_of
from tests.support.index_cases import read_cases

PUZZLES = ("eight", "senet", "knight")


def test_there_are_cases_of_every_kind() -> None:
    for puzzle in (*PUZZLES, "sliding"):
        kinds = {case.get("error") for case in read_cases(puzzle)}
        assert kinds == {None, *CODES}, puzzle
    assert {len(read_cases(puzzle)) > 5 for puzzle in ("fifteen", "ranks")} == {True}


def test_the_ranks_of_the_cases_lead_to_records_with_their_answers(outputs: Path) -> None:
    for case in (*read_cases("eight"), *read_cases("senet"), *read_cases("knight")):
        if "rank" not in case:
            continue
        record = record_of(outputs, INDEXES[f"{case['table']}.idx"], case["rank"])
        if case["puzzle"] == "eight":
            answer = case.get("answer", {"distance": 255, "solutions": 0})
            assert [*record] == [answer["distance"], answer["solutions"]]
        elif case["puzzle"] == "senet":
            plies = min(record[0], record[2])
            assert plies == (case["answer"]["plies"] if "answer" in case else 255)
        else:
            path = "".join(f"{'abcdefgh'[at % 8]}{at // 8 + 1}" for at in record)
            assert path == case["answer"]["path"]


def test_a_pattern_answers_as_the_cases_say(tmp_path: Path) -> None:
    (table,) = [each for each in PARTITIONS["6-6-3"].make_tables() if each.name == "fifteen_123"]
    build_tables(tmp_path, FIFTEEN, table)
    index = IndexReader(Folder(tmp_path), table)
    for case in read_cases("fifteen"):
        cells = [int(mark, 16) for mark in case["key"]]
        assert Pattern(4, 4, (1, 2, 3)).rank(cells) == case["rank"]
        assert index.read_record(case["rank"]) == (case["answer"]["distance"],)
