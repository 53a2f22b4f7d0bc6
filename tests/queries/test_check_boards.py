"""Answers for boards, judged one by one and together, compared with a slow judge."""

from pathlib import Path
from random import Random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queries import open_tables
from queries.api import Tables
from tablebase.errors import BadRequest, NotationError
from tests import first, long_run
from tests.support import sliding_oracle
from tests.support.check_oracle import COLUMNS, change, judge_board, read_facts
from tests.support.oracles import eight_distances, eight_neighbours
from tests.support.strategies import eight_states

NOISE = "UDLRUDLRUDLR12345678 ,udlrX90\0٣８Ü👍\n"
HOSTILE = {
    "ten megabytes of letters": "UD" * 5_000_000,
    "ten megabytes of nothing": " " * 10_000_000,
    "ten megabytes of tiles": "86" * 5_000_000,
    "ten megabytes of a digit": "9" * 10_000_000,
    "a million moves that undo each other": "LR" * 500_000,
    "full-width letters": "ＵＤＬＲ",
    "Cyrillic and Greek": "UDLЯΩ",
    "half a surrogate pair": "U\ud800",
    "a terminal's commands": "\x1b[2J",
    "a fraction": "2.0",
    "JSON": '["U","D"]',
}


def find_goal(state: str) -> str:
    """Return the goal that a state reaches: corner or centre."""
    corner, centre = "123456780", "123804765"
    return corner if state in eight_distances(corner) else centre


def walk(state: str, distances: dict[str, int], random: Random, loose: float) -> tuple[str, str]:
    """Walk towards the goal, but at random now and then; return letters and tiles."""
    letters = tiles = ""
    while distances.get(state) and len(letters) < 60:
        steps = eight_neighbours(state)
        best = [each for each in steps if distances[steps[each]] < distances[state]]
        letter = random.choice([*steps] if random.random() < loose else best)
        tiles += steps[letter][state.index("0")]
        letters += letter
        state = steps[letter]
    return letters, tiles


def make_answers(seed: int, count: int) -> list[tuple[str, str]]:
    """Make states with answers of all kinds."""
    random, pairs = Random(seed), list[tuple[str, str]]()
    while len(pairs) < count:
        state = "".join(random.sample("012345678", 9))
        distances = eight_distances(find_goal(state))
        answers = [*walk(state, distances, random, random.choice([0, 0, 0.05, 0.5]))]
        answers += [change(answer, NOISE, random) for answer in answers]
        claims = ["unreachable", str(distances[state]), str(random.randrange(40)), ""]
        pairs += [(state, answer) for answer in [*answers, random.choice(claims)]]
    return pairs[:count]


@pytest.mark.parametrize("goal", [None, "087654321"])  # which half of all states do not reach
def test_answers_one_by_one_and_together_are_judged_as_by_the_oracle(
    tables: Tables, goal: str | None
) -> None:
    pairs = make_answers(1, 1_000 if goal else 3_000)
    expected = [
        judge_board(state, answer, to, eight_distances(to), 3)
        for state, answer in pairs
        for to in [goal or find_goal(state)]
    ]
    frame = pl.DataFrame(pairs, schema=["state", "answer"], orient="row")
    judged = tables.eight.check_frame(frame, goal=goal)
    assert judged.columns == ["state", "answer", *COLUMNS, "error"]
    assert judged.select(COLUMNS).to_dicts() == expected
    assert judged["error"].is_null().all()
    kinds = {"incomplete", "illegal", "unreadable", "right", "wrong"}
    assert {*judged["result"]} == kinds | ({"shortest", "longer"} if goal is None else set())
    for (state, answer), facts in zip(pairs[::7], expected[::7], strict=True):
        assert read_facts(tables.eight.check(state, answer, goal=goal)) == facts


@given(
    eight_states,
    st.text(NOISE, max_size=12),
    st.sampled_from(["123456780", "123804765", "123456708", "087654321"]),
)
def test_any_text_is_judged_for_any_goal(
    tables: Tables, state: str, answer: str, goal: str
) -> None:
    expected = judge_board(state, answer, goal, eight_distances(goal), 3)
    assert read_facts(tables.eight.check(state, answer, goal=goal)) == expected


@pytest.mark.parametrize("board", first(2, ["3x4", "5x2", "2x5"]))
def test_other_boards_are_judged_as_by_the_oracle(large_boards: Path, board: str) -> None:
    rows, columns = map(int, board.split("x"))
    reader = open_tables(str(large_boards)).sliding(board)
    goal = reader.puzzle.example
    near = sliding_oracle.distances_near(goal, rows, columns, 20)
    random = Random(3)
    pairs = list[tuple[str, str]]()
    starts = [state for state, distance in near.items() if distance < 8]
    for _ in range(500):
        state = random.choice(starts)
        here, letters, tiles = state, "", list[str]()
        for _ in range(random.randrange(6)):
            steps = sliding_oracle.neighbours(here, rows, columns)
            letter = random.choice([*steps])
            tiles.append(steps[letter][here.index("0")])
            letters, here = letters + letter, steps[letter]
        numbers = " ".join(str(int(tile, 16)) for tile in tiles)
        answers = [letters, "".join(tiles), numbers]
        answers += [change(answer, NOISE, random) for answer in answers]
        pairs += [(state, answer) for answer in answers]
    expected = [judge_board(state, answer, goal, near, columns) for state, answer in pairs]
    frame = pl.DataFrame(pairs, schema=["state", "answer"], orient="row")
    assert reader.check_frame(frame).select(COLUMNS).to_dicts() == expected
    for (state, answer), facts in zip(pairs[::29], expected[::29], strict=True):
        assert read_facts(reader.check(state, answer)) == facts


@pytest.mark.parametrize(
    "answer",
    [
        # moves of ten megabytes are followed one by one
        pytest.param(
            text, id=name, marks=[long_run] * (len(text) >= 10_000_000 and text[0] in "U8")
        )
        for name, text in HOSTILE.items()
    ],
)
def test_hostile_answers_are_judged(tables: Tables, answer: str) -> None:
    state = "123450786"
    alone = tables.eight.check(state, answer)
    assert alone.result in ("unreadable", "illegal", "incomplete", "longer")
    assert len(alone.problem or "") < 300
    assert (alone.problem or "").isprintable()
    if "\ud800" not in answer:  # which no column can hold
        frame = pl.DataFrame({"state": [state] * 101, "answer": [answer, *["D"] * 100]})
        judged = tables.eight.check_frame(frame)
        assert judged["result"].to_list() == [alone.result, *["shortest"] * 100]
        assert judged["problem"].to_list() == [alone.problem, *[None] * 100]


def test_a_key_that_is_no_state_is_refused(tables: Tables) -> None:
    for key in ("123", "113456780", "１23456780", "12345678\0"):
        with pytest.raises(NotationError):
            tables.eight.check(key, "U")
        frame = pl.DataFrame({"state": [key, "123456708", None], "answer": ["U", "R", "R"]})
        judged = tables.eight.check_frame(frame)
        assert judged["result"].to_list() == [None, "shortest", None]
        assert judged["error"].is_not_null().to_list() == [True, False, False]


def test_a_claim_may_be_a_number(tables: Tables) -> None:
    frame = pl.DataFrame({"state": ["123456708", "123456780"], "answer": [1, 7]})
    assert tables.eight.check_frame(frame)["result"].to_list() == ["right", "wrong"]
    assert tables.eight.check("123456708", 1).result == "right"
    assert tables.eight.check("123456780", None).result == "shortest"
    assert tables.eight.check("123456780", 10**5_000).result == "unreadable"
    frame = pl.DataFrame({"state": ["123450786"], "answer": [[6]]})  # the tile 6, and no claim
    with pytest.raises(BadRequest, match="no text column 'answer' with answers"):
        tables.eight.check_frame(frame)


def test_frames_of_other_kinds_are_judged(tables: Tables) -> None:
    check = tables.eight.check_frame
    frame = pl.DataFrame({"board": ["123456708"] * 2, "moves": ["R", "UDR"], "mine": [1, 2]})
    for each in (frame, frame.to_arrow(), frame.to_pandas()):
        judged = check(each, "board", "moves", prefix="judged_")["judged_result"]
        assert [*map(str, judged)] == ["shortest", "longer"]
    lazy = check(frame.lazy(), "board", "moves").collect()
    assert lazy["result"].to_list() == ["shortest", "longer"]
    with pytest.raises(BadRequest, match="no text column 'answer' with answers"):
        check(frame, "board")
    with pytest.raises(BadRequest, match="is not a table"):
        check(["123456708"])
