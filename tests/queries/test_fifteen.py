"""Queries of the 15-puzzle with the tables of 5-5-5: answers, options, batches and errors."""

import itertools
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

import puzzle_tablebase as pt
from puzzle_tablebase.errors import Undecided
from puzzle_tablebase.formats.index import BLOCK_BYTES, BODY_BYTES
from puzzle_tablebase.notation.sliding import CHARACTERS
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.puzzles.fifteen import BOARD, PARTITIONS, list_images, make_pattern_table
from puzzle_tablebase.queries.questions import SAMPLE
from puzzle_tablebase.queries.samples import SampleRequest, draw_set
from tests.support import sliding_oracle as oracle
from tests.support.reference_numbers import lines
from tests.support.shell import SCRIPT, Cli
from tests.support.tampered import change_header, link_copy, locate_record, replace_link, reseal

GOAL = "123456789abcdef0"
Query = Callable[..., tuple[int, str, str]]


@pytest.fixture
def query_fifteen(patterns_555: Path, cli: Cli) -> Query:
    return lambda *words: cli("query", "fifteen", *words, "--outputs", str(patterns_555))


def walk(state: str, solution: str) -> list[str]:
    return oracle.replay(state, solution, 4, 4)


def scramble(steps: int, seed: int) -> str:
    """Return a state some random moves away from the goal."""
    state, source = GOAL, random.Random(seed)
    for _ in range(steps):
        state = source.choice([*oracle.neighbours(state, 4, 4).values()])
    return state


def list_published(name: str) -> list[tuple[str, int]]:
    """Return the published boards of a label as text, each with its distance."""
    rows = [value.split() for label, value in lines("fifteen.txt") if label.startswith(name)]
    return [("".join(CHARACTERS[int(at)] for at in cells), int(most)) for most, *cells in rows]


@pytest.mark.parametrize("goal", [GOAL, "0123456789abcdef", "89a0b1c2d3e4f567", "fedcba9876540321"])
def test_goals_with_the_blank_in_a_corner(patterns_555: Path, goal: str) -> None:
    known = oracle.distances_near(goal, 4, 4, 12)
    with pt.open_tables(str(patterns_555)) as tables:
        for state in random.Random(4).sample(sorted(known), 40):
            answer = tables.fifteen.probe(state, goal)
            assert answer.distance == len(answer.solution) == known[state]
            assert walk(state, answer.solution)[-1] == goal
            assert tables.fifteen.heuristic(state, goal) == answer.heuristic <= answer.distance


def test_published_boards_have_the_published_distances(patterns_555: Path) -> None:
    boards = sorted(list_published("korf"), key=lambda board: board[1])[:12]
    frame = pl.DataFrame({"state": [state for state, _ in boards]})
    with pt.open_tables(str(patterns_555)) as tables:
        answers = [tables.fifteen.probe(state, "0123456789abcdef") for state, _ in boards]
        for answer, (state, distance) in zip(answers, boards, strict=True):
            assert answer.distance == len(answer.solution) == distance
            assert walk(state, answer.solution)[-1] == "0123456789abcdef"
        assert tables.fifteen.annotate(frame)["distance"].null_count() == len(frame)


def test_all_outputs_show_the_same_solution(query_fifteen: Query, tmp_path: Path) -> None:
    state = scramble(24, 2)
    facts = json.loads(query_fifteen(state.upper(), "--json", "--path")[1])
    assert facts["path"] == walk(state, facts["solution"])
    assert (
        f"\nsolution    {facts['solution']}\ntiles slid  {facts['tiles']}\n"
        in query_fifteen(state)[1]
    )
    assert query_fifteen(state, "--path")[1].splitlines() == facts["path"]
    assert query_fifteen(state, "--boards")[1].count("(tile ") == facts["distance"]
    picture = tmp_path / "solution.svg"
    assert query_fifteen(state, "--svg", str(picture))[0] == 0
    assert picture.read_text().count(">15<") == len(facts["path"])


QUICK = 11
"""One of the farthest boards: no search of it ends within seconds."""


def test_a_time_limit_ends_with_what_is_known(
    query_fifteen: Query, cli: Cli, patterns_555: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (state, distance), near = list_published("farthest")[QUICK], scramble(30, 5)
    with pt.open_tables(str(patterns_555)) as tables:
        assert tables.fifteen.probe(near, time_limit=60) == tables.fifteen.probe(near)
        heuristic = tables.fifteen.heuristic(state)
        times = itertools.count(step=1e6)
        monkeypatch.setattr("puzzle_tablebase.queries.fifteen.monotonic", lambda: next(times))
        with pytest.raises(Undecided) as caught:
            tables.fifteen.probe(state, time_limit=60)
        assert tables.fifteen.get(state, "open", time_limit=60) == "open"
    assert heuristic <= caught.value.least <= distance
    assert query_fifteen(state, "--time-limit", "60")[:2] == (4, "")
    code, output, _ = query_fifteen(state, "--time-limit", "60", "--json")
    known = json.loads(output)
    assert (code, [*known], known["state"]) == (4, ["state", "least"], state)
    words = ("check", "fifteen", state, "80", "--answers", "distances", "--time-limit", "60")
    code, output, _ = cli(*words, "--json", "--outputs", str(patterns_555))
    assert (code, [*json.loads(output)]) == (4, ["state", "least"])
    with patch("puzzle_tablebase.pipeline.run.answer_fast", return_value=None):  # through Typer
        assert query_fifteen(state, "--time-limit", "60")[:2] == (4, "")
        code, output, _ = query_fifteen(state, "--time-limit", "60", "--json")
        assert (code, [*json.loads(output)]) == (4, ["state", "least"])


def test_a_sample_leaves_boards_open_that_take_too_long(
    cli: Cli, patterns_555: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hard, _ = list_published("farthest")[QUICK]
    ranks = np.array([BOARD.rank(state) for state in (GOAL, hard)])
    monkeypatch.setattr("puzzle_tablebase.queries.samples.draw_distinct", lambda *_: ranks)
    times = itertools.count(step=1e6)
    monkeypatch.setattr("puzzle_tablebase.queries.fifteen.monotonic", lambda: next(times))
    words = ("sample", "fifteen", "--size", "2", "--outputs", str(patterns_555), "--time-limit")
    code, out, errors = cli(*words, "60", "--solve", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["distance"] for row in rows] == [0, None]
    assert {row["goal"] for row in rows} == {GOAL}
    message = "pipeline: 1 board took longer: its distance is empty.\n"
    assert (code, errors) == (0, message)
    assert cli(*words, "60").err.startswith("pipeline: --time-limit needs --solve. ")
    assert cli(*words, "0", "--solve").code == 2


def test_all_boards_that_a_sample_leaves_open_are_counted(
    patterns_555: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draw a chunk for each board, the last of which is solved."""
    hard, _ = list_published("farthest")[QUICK]
    ranks = np.array([BOARD.rank(state) for state in (hard, hard, GOAL)])
    monkeypatch.setattr("puzzle_tablebase.queries.samples.draw_distinct", lambda *_: ranks)
    times = itertools.count(step=1e6)
    monkeypatch.setattr("puzzle_tablebase.queries.fifteen.monotonic", lambda: next(times))
    fifteen, notes = pt.open_tables(str(patterns_555)).fifteen, list[str]()
    options = fifteen._prober.parse(SAMPLE, {"solve": True, "time_limit": 60})
    drawn = draw_set(fifteen._prober, options, SampleRequest(3, chunk_numbers=1), notes.append)
    assert [row["distance"] for rows in drawn for row in rows.to_dicts()] == [None, None, 0]
    assert notes == ["2 boards took longer: their distance is empty."]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        *((state, 2) for state in ("123456789abcdef", "1123456789abcdef")),
        *((f"{GOAL} --goal {goal}", 2) for goal in ("edge", "123450789abcdef6")),
        *((f"{GOAL} --time-limit {text}", 2) for text in ("soon", "0", "٣", "1_0", "nan", "inf")),
        (f"{GOAL} --patterns 7-9", 2),
        (f"{GOAL} --patterns 7-8", 3),
        ("123456789abcdfe0", 1),
    ],
)
def test_errors(query_fifteen: Query, words: str, code: int) -> None:
    assert query_fifteen(*words.split())[:2] == (code, "")


def test_a_batch_answers_every_key(query_fifteen: Query, tmp_path: Path) -> None:
    states = [scramble(steps, steps) for steps in range(0, 60, 4)]
    keys = [*states, "nonsense", "123456789abcdfe0"]
    source, target = tmp_path / "keys.csv", tmp_path / "answers.jsonl"
    source.write_text("name,state\n" + "".join(f"{at},{key}\n" for at, key in enumerate(keys)))
    assert query_fifteen("--input", str(source), "--output", str(target), "--path")[0] == 2
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert [row["name"] for row in rows] == [*map(str, range(len(keys)))]
    for row, state in zip(rows, states, strict=False):
        assert row["error"] is None
        assert row["distance"] == len(row["solution"])
        assert row["path"].split() == walk(state, row["solution"])
        assert row["path"].split()[-1] == GOAL
    assert "not a state" in rows[-2]["error"]
    assert "cannot be reached" in rows[-1]["error"]


def test_an_interrupt_loses_no_row_that_is_answered(patterns_555: Path, tmp_path: Path) -> None:
    states = [scramble(20, seed) for seed in range(8)]
    farthest, _ = list_published("farthest")[0]
    keys = tmp_path / "keys.txt"
    keys.write_text("\n".join([*states, farthest, *states]))
    command = [str(SCRIPT), "query", "fifteen", "--input", str(keys)]
    command += ["--outputs", str(patterns_555)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        rows = [process.stdout.readline().decode() for _ in range(1 + len(states))]
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    assert [row.split(",")[0] for row in rows] == ["state", *states]
    assert (rest, errors, process.returncode) == (b"", b"", 130)


def test_frames_with_another_goal_and_a_time_limit(patterns_555: Path) -> None:
    near, goal = "1023456789abcdef", "0123456789abcdef"
    farthest, _ = list_published("farthest")[QUICK]
    with pt.open_tables(str(patterns_555)) as tables:
        answers = tables.fifteen.annotate([near, None, "nonsense", "2"], goal=goal)
        assert answers.rows()[0] == (near, goal, 1, 1, 1, "L")
        assert answers["goal"].to_list() == [goal, None, None, None]
        limited = tables.fifteen.annotate([farthest], time_limit=0.2)
        assert limited.rows() == [(farthest, None, None, None, None, None)]


def test_damaged_tables_never_answer(patterns_555: Path, tmp_path: Path) -> None:
    folder = link_copy(patterns_555, tmp_path)
    index = replace_link(folder / "fifteen_12356.idx")
    data = bytearray(index.read_bytes())
    for block in range(1, len(data) // 4096):
        data[block * 4096 + 7] ^= 1
    index.write_bytes(data)
    keys = tmp_path / "keys.txt"
    keys.write_text("".join(f"{scramble(40, seed)}\n" for seed in range(10)))
    for words in ([scramble(60, 9)], ["--input", str(keys)]):
        assert run_command(["query", "fifteen", *words, "--outputs", str(folder)]) == 3


def test_an_index_that_lacks_records_does_not_answer(patterns_555: Path, tmp_path: Path) -> None:
    folder = link_copy(patterns_555, tmp_path)
    index = replace_link(folder / "fifteen_478bc.idx")
    header_and_one = index.read_bytes()[: 2 * BLOCK_BYTES]
    index.write_bytes(change_header(header_and_one, count=BODY_BYTES))
    words = [scramble(60, 9), "--time-limit", "5", "--outputs", str(folder)]
    assert run_command(["query", "fifteen", *words]) == 3


def test_false_distances_end_a_search(patterns_555: Path, tmp_path: Path) -> None:
    """Let a state look far from the goal, and all others near, so that it goes down for ever."""
    folder, state = link_copy(patterns_555, tmp_path), scramble(60, 9)
    board = [CHARACTERS.index(mark) for mark in state]
    for pattern in PARTITIONS["5-5-5"]:
        index = replace_link(folder / make_pattern_table(pattern).index_file)
        data = bytearray(index.read_bytes())
        data[BLOCK_BYTES:] = bytes([1]) * (len(data) - BLOCK_BYTES)
        for image in list_images(4, 4):
            data[locate_record(data, pattern.rank(pattern.find_cells(image, board)))] = 254
        index.write_bytes(reseal(data))
    words = [state, "--time-limit", "5", "--outputs", str(folder)]
    assert run_command(["query", "fifteen", *words]) == 3


def count_seconds(pid: int) -> float:
    """Return the processor time that a process has used."""
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def test_an_interrupt_ends_a_search(patterns_555: Path) -> None:
    state, _ = list_published("farthest")[0]
    command = [str(SCRIPT), "query", "fifteen", state, "--outputs", str(patterns_555)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while count_seconds(process.pid) < 1:  # it starts in less, and searches for minutes
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=20)
    assert (output, errors, process.returncode) == (b"", b"", 130)
