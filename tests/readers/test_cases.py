"""Every reader against `docs/format/cases.jsonl`; `test_board_readers.py` has its sliding boards,
and `tests/index/test_document_reader.py` its tours by rank."""

from pathlib import Path
from typing import Any

import pytest

from queries.api import Tables
from queries.index_reader import IndexReader
from tablebase.errors import NoAnswer, NotationError
from tablebase.puzzles.fifteen import PARTITIONS, Pattern
from tablebase.puzzles.fifteen import PUZZLE as FIFTEEN
from tablebase.tables.store import Folder
from tests.readers.test_example_readers import LINES
from tests.readers.test_javascript_reader import ask
from tests.support.build_recorder import build_tables
from tests.support.default_tables import INDEXES
from tests.support.format_page import record_of
from tests.support.index_cases import Case, read_cases
from tests.support.reader_programs import COMMANDS, run

PUZZLES = ("eight", "senet", "knight")
CODES = {"unreachable": 1, "malformed": 2}
"""The exit codes of the readers for a key without an answer."""


def test_there_are_cases_of_every_kind() -> None:
    for puzzle in (*PUZZLES, "sliding"):
        kinds = {case.get("error") for case in read_cases(puzzle)}
        assert kinds == {None, *CODES}, puzzle
    assert {len(read_cases(puzzle)) > 5 for puzzle in ("fifteen", "ranks")} == {True}


@pytest.mark.parametrize("puzzle", PUZZLES)
def test_the_program_answers_as_the_cases_say(tables: Tables, puzzle: str) -> None:
    for case in read_cases(puzzle):
        key, options = case["key"], {"goal": case["goal"]} if "goal" in case else {}
        if puzzle == "knight":
            key, options["to"] = key.split()
        if "error" in case:
            error = NoAnswer if case["error"] == "unreachable" else NotationError
            with pytest.raises(error):
                tables.answer(puzzle, key, **options)
            continue
        answer = tables.answer(puzzle, key, **options).to_dict()
        assert {name: answer[name] for name in case["answer"]} == case["answer"]


def test_the_package_answers_as_the_cases_say(outputs: Path) -> None:
    cases = [case for puzzle in PUZZLES for case in read_cases(puzzle)]
    told = ask(outputs, *map(make_question, cases))
    for case, each in zip(cases, told, strict=True):
        if "error" in case:
            assert each["error"][0] == CODES[case["error"]], case
        else:
            assert {name: each["answer"][name] for name in case["answer"]} == case["answer"]


def make_question(case: Case) -> list[Any]:
    """Make the package's question of a case."""
    if case["puzzle"] == "knight":
        return ["knight", *case["key"].split()]
    return [case["puzzle"], case["key"], {"goal": case["goal"]} if "goal" in case else {}]


@pytest.mark.parametrize("name", sorted(COMMANDS))
@pytest.mark.parametrize("puzzle", PUZZLES)
def test_a_reader_to_copy_answers_as_the_cases_say(
    name: str, puzzle: str, outputs: Path, tables: Tables, tmp_path: Path
) -> None:
    """Ask for all answers in one process; each key without an answer ends one of its own."""
    command = COMMANDS[name](tmp_path)
    cases = [case for case in read_cases(puzzle) if "goal" not in case]
    good = [case["key"] for case in cases if "answer" in case]
    said = run(*command, outputs, puzzle, stdin="\n".join(good))
    assert said.out.splitlines() == [LINES[puzzle](tables, key) for key in good]
    for case in cases:
        if "error" in case:
            words = case["key"].split() if puzzle == "knight" else [case["key"]]
            said = run(*command, outputs, puzzle, *words)
            assert (said.code, said.out) == (CODES[case["error"]], ""), case


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_reader_to_copy_refuses_malformed_boards(
    name: str, large_boards: Path, small_boards: Path, tmp_path: Path
) -> None:
    command = COMMANDS[name](tmp_path)
    for case in read_cases("sliding"):
        if case.get("error") == "malformed":
            folder = large_boards if case["board"] == "3x4" else small_boards
            assert run(*command, folder, case["board"], case["key"]).code == 2


def test_the_ranks_of_the_cases_lead_to_records_with_their_answers(outputs: Path) -> None:
    for case in (*read_cases("eight"), *read_cases("senet")):
        if "rank" in case:
            record = record_of(outputs, INDEXES[f"{case['table']}.idx"], case["rank"])
            if case["puzzle"] == "eight":
                answer = case.get("answer", {"distance": 255, "solutions": 0})
                assert [*record] == [answer["distance"], answer["solutions"]]
            else:
                plies = min(record[0], record[2])
                assert plies == (case["answer"]["plies"] if "answer" in case else 255)
    for case in read_cases("knight"):
        if "rank" in case:
            record = record_of(outputs, INDEXES["knight_tours_8x8.idx"], case["rank"])
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
