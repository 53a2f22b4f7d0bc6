"""Lines of Senet, knight's tours and solutions of the 15-puzzle, compared with a slow judge."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queries import open_tables
from queries.api import Tables
from queries.fifteen import FifteenReader
from tablebase.errors import Undecided
from tests.support import sliding_oracle
from tests.support.check_oracle import (
    COLUMNS,
    change,
    is_path,
    judge_board,
    judge_senet,
    judge_tour,
    read_facts,
)
from tests.support.oracles import knight_tours, senet_successors, square_name
from tests.support.shell import Cli

TOUR_COLUMNS = ("result", "length", "step", "problem", "score")
HOSTILE = {
    "ten megabytes of moves": "5-10 " * 2_000_000,
    "ten megabytes of squares": "a1c2" * 2_500_000,
    "ten megabytes of jumps": "26" * 5_000_000,
    "ten megabytes of one word": "x" * 10_000_000,
    "NUL": "a1\0c2",
    "digits of another script": "٣-٤",
    "full-width letters": "ａ１",
    "the Kelvin sign": "\u212a1",
    "half a surrogate pair": "5-10 \ud800",
    "a square off the board": "z9",
    "nothing": " \n",
}


def test_lines_of_senet_are_judged_as_by_the_oracle(tables: Tables) -> None:
    random = Random(5)
    rows = tables.senet.scan("senet").select("position", "plies").collect()
    plies = dict(rows.iter_rows())
    pairs = list[tuple[str, str]]()
    for _ in range(500):
        position, moves = "ABABABABAB.....", list[str]()
        for ply in range(random.randrange(9)):
            steps = senet_successors(position, "AB"[ply % 2])
            if not steps:
                break
            _, start, goal, is_swap, position = random.choice(steps)
            moves.append(f"{start}{'-x'[is_swap]}{goal}")
        for line in (" ".join(moves), tables.senet.line(position)):
            pairs.append((position, change(line, " 0123456789-x,A", random)))
        pairs.append((position, random.choice(["unreachable", "5", str(plies[position])])))
    unreached = [position for position, least in plies.items() if least is None]
    pairs += [(each, random.choice(["unreachable", "7", "1-6"])) for each in unreached[:20]]
    expected = [judge_senet(position, answer, plies[position]) for position, answer in pairs]
    frame = pl.DataFrame(pairs, schema=["position", "answer"], orient="row")
    assert tables.senet.check_frame(frame).select(COLUMNS).to_dicts() == expected
    results = {str(facts["result"]) for facts in expected}
    assert results > {"shortest", "longer", "incomplete", "illegal", "unreadable", "right"}
    for (position, answer), facts in zip(pairs[::9], expected[::9], strict=True):
        assert read_facts(tables.senet.check(position, answer)) == facts


def test_tours_are_judged_as_by_the_oracle(tables: Tables) -> None:
    random, pairs = Random(6), list[tuple[str, str]]()
    for start in ("a1", "c3", "f6", "b4"):
        for number in range(5):
            closed = tables.knight.probe(start, board="6x6", closed=True)
            tour = closed if number == 4 else tables.knight.probe(start, board="6x6", number=number)
            squares = [tour.path[at : at + 2] for at in range(0, len(tour.path), 2)]
            assert is_path(squares)
            jumps = "".join(str(jump) for jump in tour.jumps)
            for text in (tour.path, " ".join(squares).upper(), tour.path[:30], jumps, jumps[:9]):
                pairs.append((start, change(text, "abcfA1234569 ,-", random)))
    expected = [judge_tour(start, answer, 6, 6) for start, answer in pairs]
    frame = pl.DataFrame(pairs, schema=["start", "answer"], orient="row")
    judged = tables.knight.check_frame(frame, board="6x6")
    assert judged.select(TOUR_COLUMNS).to_dicts() == expected
    assert {*judged["result"]} == {"tour", "closed tour", "incomplete", "illegal", "unreadable"}
    assert judged["rank"].null_count() == len(judged)


def test_tours_have_their_ranks_where_there_are_some(ranked_boards: Path) -> None:
    knight = open_tables(str(ranked_boards)).knight
    tour = "".join(square_name(5, square) for square in knight_tours(5, 5, 0)[9])
    judged = knight.check("a1", tour, board="5x5")
    assert (judged.result, judged.rank) == ("tour", knight.rank(tour, board="5x5"))
    closed = knight.probe("a1", board="6x6", closed=True, rank=77)
    judged = knight.check("a1", closed.path, board="6x6")
    assert (judged.result, judged.rank) == ("closed tour", 77)


@given(st.text("abcdefgh12345678 ,٣k\0-", max_size=20), st.sampled_from(["a1", "b1", "h8"]))
def test_any_text_is_judged_as_a_tour(tables: Tables, answer: str, start: str) -> None:
    judged = tables.knight.check(start, answer)
    assert read_facts(judged, TOUR_COLUMNS) == judge_tour(start, answer, 8, 8)


@given(st.text("0123456789-x ,٣A\0", max_size=16))
def test_any_text_is_judged_as_a_line(tables: Tables, answer: str) -> None:
    position = "ABAAABBB.B...A."
    assert read_facts(tables.senet.check(position, answer)) == judge_senet(position, answer, 2)


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=[*HOSTILE])
def test_hostile_answers_are_judged(tables: Tables, answer: str) -> None:
    checks: tuple[Callable[..., Any], ...] = (tables.senet.check, tables.knight.check)
    for check, key in zip(checks, ("ABAAABBB.B...A.", "a1"), strict=True):
        judged = check(key, answer)
        assert judged.result in ("unreadable", "illegal", "incomplete")
        assert (judged.problem or "").isprintable()
        assert len(judged.problem or "") < 300


def test_solutions_of_the_15_puzzle_are_judged_as_by_the_oracle(patterns_555: Path) -> None:
    fifteen = open_tables(str(patterns_555)).fifteen
    goal, random = "123456789abcdef0", Random(7)
    near = sliding_oracle.distances_near(goal, 4, 4, 16)
    pairs = list[tuple[str, str]]()
    for state in random.sample([each for each in near if near[each] < 13], 40):
        solution = fifteen.probe(state)
        letters, tiles = solution.solution, solution.tiles
        assert tiles is not None
        numbers = " ".join(str(int(tile, 16)) for tile in tiles)
        answers = [letters, tiles, numbers, f"{letters}UD", letters[:-1], str(near[state])]
        pairs += [(state, change(answer, "UDLR1f x", random)) for answer in answers]
    pairs += [("213456789abcdef0", "unreachable"), (goal, "unreachable"), (goal, "LR" * 3)]
    frame = pl.DataFrame(pairs, schema=["state", "answer"], orient="row")
    for (state, answer), row in zip(pairs, fifteen.check_frame(frame).to_dicts(), strict=True):
        facts = judge_board(state, answer, goal, near, 4)
        for name in ("result", "length", "excess", "score", "step"):
            assert row[name] == facts[name], (state, answer, name)
    for state, answer in pairs[::13]:
        facts = judge_board(state, answer, goal, near, 4)
        assert fifteen.check(state, answer).result == facts["result"]


def test_nothing_is_searched_for_answers_that_the_bound_decides(
    patterns_555: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_: object) -> None:
        raise AssertionError("searched")

    monkeypatch.setattr(FifteenReader, "search", search)
    monkeypatch.setattr(FifteenReader, "open_compiled", search)
    fifteen = open_tables(str(patterns_555)).fifteen
    rows = {"fe169b4c0a73d852": "10", "123456789abcde0f": "R", "123456789ab0defc": "D"}
    frame = pl.DataFrame({"state": [*rows], "answer": [*rows.values()]})
    results = fifteen.check_frame(frame)["result"].to_list()
    assert results == ["wrong", "shortest", "shortest"]


def test_a_solution_whose_shortest_length_is_not_found_in_time_is_solved(
    patterns_555: Path,
) -> None:
    fifteen = open_tables(str(patterns_555)).fifteen
    state = "fe169b4c0a73d852"
    solution = fifteen.probe(state, not_shortest=True).solution
    hard = fifteen.check(state, solution, time_limit=1e-6)
    assert (hard.result, hard.length, hard.score) == ("solved", len(solution), None)
    assert "Undecided after 1e-06 s" in (hard.problem or "")
    with pytest.raises(Undecided):
        fifteen.check(state, 80, time_limit=1e-6)
    assert fifteen.check(state, 10).result == "wrong"
    frame = pl.DataFrame({"state": [state, "123456789abcde0f"] * 2, "answer": [solution, "R"] * 2})
    judged = fifteen.check_frame(frame, time_limit=0.001)
    assert judged["result"].to_list() == ["solved", "shortest"] * 2


def test_a_claim_that_no_search_decides_in_time_exits_as_a_query_does(
    patterns_555: Path, cli_in_process: Cli
) -> None:
    state = "fe169b4c0a73d852"
    words = ("--time-limit", "0.001", "--outputs", str(patterns_555))
    asked = cli_in_process("query", "fifteen", state, "--json", *words)
    claimed = cli_in_process("check", "fifteen", state, "80", "--json", *words)
    assert (claimed.code, {*json.loads(claimed.out)}) == (4, {*json.loads(asked.out)})
    assert claimed.err.startswith(f"pipeline: Undecided after 0.001 s: {state} needs ")
    rows = f"{state} 80\n{state} 10\n"
    for strict, code in (((), 0), (("--strict",), 1)):
        judged = cli_in_process("check", "fifteen", *words, *strict, stdin=rows)
        results = pl.read_csv(judged.out.encode())
        assert results["result"].to_list() == [None, "wrong"]
        assert "Undecided" in results["error"][0]
        assert judged.code == code
