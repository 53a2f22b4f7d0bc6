"""The JavaScript package: its answers, its requests, and hosts that misbehave."""

import json
import random
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from puzzle_tablebase.errors import TablebaseError
from puzzle_tablebase.queries import open_tables
from tests.support.faults import PASSING, make_faults
from tests.support.format_page import read_cases
from tests.support.hosts import Answer, Request, reserve_port, serve
from tests.support.reader_programs import run, tool
from tests.support.shell import ROOT, environment
from tests.support.tampered import rewrite_index

PACKAGE = ROOT / "queries" / "javascript"
PROGRAM = ROOT / "tests" / "support" / "ask_javascript.mjs"
STATE, POSITION = "378546201", "ABAAABBB.B...A."
QUESTIONS = [["eight", STATE], ["senet", POSITION], ["knight", "b1", "a3"]]
FARTHEST = "0369147a258b"
BOARDS = ("2x5", "5x2", "3x4")
REASONS = {
    "all absent": "HTTP status 404: Not Found",
    "absent": "HTTP status 404: Not Found",
    "expired": "HTTP status 403: Request has expired",
    "failing": "HTTP status 500",
    "compressed parts": "the host compresses parts of files",
    "another part": "another part",
    "more": "733188 bytes instead of 733184",
    "large": "104,857,600 bytes",
    "blank": "block 0",
    "manifest of HTML": "it is not a manifest",
    "later manifest": "it is of format version 9, not 4",
}
"""Lasting faults, each with a fact that its message has."""

Told = dict[str, Any]


def ask(place: object, *questions: list[Any]) -> list[Told]:
    """Ask the package; return for each question what it answered and what that took."""
    ended = subprocess.run(
        [tool("node"), str(PROGRAM), str(place)],
        input="\n".join(map(json.dumps, questions)),
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert ended.stderr == ""
    return [json.loads(line) for line in ended.stdout.splitlines()]


def test_answers_are_those_of_the_program(outputs: Path, large_boards: Path) -> None:
    """Ask random keys, keys written as at the shell, and all cases."""
    rng = random.Random(31)
    states = ["".join(rng.sample("012345678", 9)) for _ in range(40)]
    goals = ["".join(rng.sample("012345678", 9)) for _ in range(10)]
    squares = [f"{file}{rank}" for file in "abcdefgh" for rank in range(1, 9)]
    asked: list[tuple[str, str, dict[str, Any]]] = [("eight", state, {}) for state in states]
    asked += [
        ("eight", state, {"goal": goal})
        for goal in (*goals, "edge")
        for state in (*states[:2], *[goal][: goal != "edge"])
    ]
    asked += [("senet", "".join(rng.sample("AAAAABBBBB.....", 15)), {}) for _ in range(20)]
    pairs = [rng.sample(squares, 2) for _ in range(20)]
    pairs += [case["key"].split() for case in read_cases("knight")]
    asked += [("knight", start, {"to": finish}) for start, finish in (*pairs, (" B1 ", "A3"))]
    for case in (*read_cases("eight"), *read_cases("senet")):
        asked.append(
            (case["puzzle"], case["key"], {"goal": case["goal"]} if "goal" in case else {})
        )
    asked += [
        ("eight", "1 5 2 / 7 . 3 / 8 4 6", {}),
        ("eight", "[[3, 7, 8], [5, 4, 6], [2, 0, 1]]", {"goal": "1 2 3 4 5 6 7 _ 8"}),
        ("senet", "a b a b a b a b a b _ _ _ _ _", {}),
    ]
    told = ask(outputs, *([name, key, options.get("to", options)] for name, key, options in asked))
    assert {each.get("error", [0])[0] for each in told} == {0, 1, 2}
    require_answers(outputs, asked, told)
    with open_tables(str(large_boards)) as tables:
        boards = {name: tables.sliding(name).sample(10, seed=5)["state"] for name in BOARDS}
    wide = [("3x4", "1 2 3 4 | 5 6 7 8 | 9 10 0 11")]
    wide += [(board, state) for board, states in boards.items() for state in states]
    *told, listed = ask(large_boards, *(["sliding", *words] for words in wide), ["listBoards"])
    require_answers(large_boards, [("sliding", key, {"board": name}) for name, key in wide], told)
    assert all(each["progress"] == each["answer"]["distance"] for each in told)
    assert listed["answer"] == {"2x5": ["1234567890"], "3x4": ["123456789ab0"]}


def require_answers(
    folder: Path, asked: list[tuple[str, str, dict[str, Any]]], told: list[Told]
) -> None:
    """Require the facts, or the codes of errors, of the program."""
    with open_tables(str(folder)) as tables:
        for (puzzle, key, options), each in zip(asked, told, strict=True):
            if "error" in each:
                with pytest.raises(TablebaseError) as caught:
                    tables.answer(puzzle, key, **options)
                assert each["error"][0] == caught.value.exit_code
                continue
            expected = tables.answer(puzzle, key, **options).to_dict()
            answer = each["answer"]
            path = answer.pop("path") if "solution" in answer else []
            assert answer == {name: expected[name] for name in answer} != {}
            assert len(path) == len(answer.get("solution", "")) + bool(path)


def test_what_is_no_key_is_refused(outputs: Path) -> None:
    questions: list[list[Any]] = [
        question
        for empty in ("", 0, None, "9x9", "3x", "03x4")
        for question in (
            *(["eight", empty], ["senet", empty], ["sliding", empty, STATE]),
            *(["knight", empty, "a3"], ["knight", "b1", empty], ["eight", STATE, {"goal": empty}]),
        )
    ]
    questions.remove(["eight", STATE, {"goal": None}])  # it is not given
    for question, each in zip(questions, ask(outputs, *questions), strict=True):
        assert each["error"][0] == 2, question


def test_an_answer_takes_few_requests(outputs: Path, large_boards: Path) -> None:
    with serve(outputs) as host:
        told = ask(host.url, *QUESTIONS)
        assert [each["requests"] for each in told] == [2, 3, 1]
        assert [each["rounds"] for each in told] == [2, 2, 1]
        parts = [request for request in host.requests if request.span]
        assert {request.headers["accept-encoding"] for request in parts} == {"identity"}
    with serve(large_boards) as host:
        short, whole, packed, again = ask(
            host.url,
            ["sliding", "2x5", "9876543210", {"solution": False}],
            ["sliding", "2x5", "9876543210"],
            ["sliding", "3x4", FARTHEST],
            ["sliding", "3x4", FARTHEST],
        )
        assert "solution" not in short["answer"]
        assert short["rounds"] == 3, "one more, to see whether the host supports ranges"
        assert whole["rounds"] <= whole["answer"]["distance"]
        assert packed["rounds"] <= packed["answer"]["distance"] == 37
        assert packed["bytes"] < 400_000
        assert again["requests"] == 0


def test_passing_faults_change_no_answer_and_lasting_ones_are_told(outputs: Path) -> None:
    expected = [each["answer"] for each in ask(outputs, *QUESTIONS)]
    names, size = [*PASSING, *REASONS], len(QUESTIONS)
    with serve(outputs, make_faults(names)) as host:
        places = [f"{host.url}/{quote(name)}" for name in names]
        words = [question for place in places for question in (["open", place], *QUESTIONS)]
        told = ask(outputs, *words)
    for at, (name, url) in enumerate(zip(names, places, strict=True)):
        answers = told[at * size : (at + 1) * size]
        if name in PASSING:
            assert [each.get("answer") for each in answers] == expected, (name, answers)
            continue
        code, message, _ = answers[0]["error"]
        assert code == 3, name
        assert message.startswith((f"{url}/manifest.json cannot be", f"{url}/eight.idx cannot be"))
        assert REASONS[name] in message


def test_a_place_that_is_not_there_is_told() -> None:
    with reserve_port() as port:
        for place in (f"http://127.0.0.1:{port}/tables", "/no/folder"):
            (told,) = ask(place, ["eight", STATE])
            assert told["error"][0] == 3
            assert told["error"][1].startswith(f"{place}/manifest.json cannot be read: ")


def test_a_table_published_anew_is_opened_once_more(copy: Path) -> None:
    questions = [["senet", POSITION], ["senet", "ABABABABAB....."]]
    with serve(copy) as host:

        def publish(request: Request, answer: Answer) -> None:
            if request.name == "senet.idx" and len(host.requests) == 4:
                rewrite_index(copy)
                host.fault = None

        host.fault = publish
        told = ask(host.url, *questions, ["senet", ".....BBBBBAAAAA"])
        assert [each["answer"]["plies"] for each in told[:2]] == [2, 0]
        assert [request.name for request in host.requests].count("manifest.json") == 2
        last = host.requests[-1]
        assert "no-cache" in last.headers.get("cache-control", "")


def test_index_files_are_read_by_many_questions_at_once() -> None:
    program = Path(__file__).with_name("test_index_file.mjs")
    text = run(tool("node"), "--test", program)
    assert text.code == 0, text.out
