"""Answers to be judged, compared with a slow judge."""

from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from puzzle_tablebase.errors import BadRequest, NotationError, Undecided
from puzzle_tablebase.puzzles.sliding import parse_board
from puzzle_tablebase.queries import boards
from puzzle_tablebase.queries.fifteen_search import Solver
from puzzle_tablebase.queries.questions import CHECK
from puzzle_tablebase.queries.tables import Tables, open_tables
from tests import first, usual_or_nightly
from tests.support import sliding_oracle
from tests.support.check_oracle import (
    FACTS,
    change,
    is_path,
    judge_board,
    judge_distance,
    judge_senet,
    judge_tour,
    read_facts,
)
from tests.support.oracles import eight_distances, eight_neighbours, senet_successors
from tests.support.strategies import eight_states

LENGTH = usual_or_nightly(200_000, 10_000_000)
"""The length of a long text: following each of its moves takes time, if only in proportion."""
HOSTILE = [
    *("UD" * (LENGTH // 2), " " * LENGTH, "9" * LENGTH, "5-10 " * (LENGTH // 5)),
    *("26" * (LENGTH // 2), "x" * LENGTH, "UDLЯΩ", "\u212a1", "U\ud800", "\x1b[2J"),
]
NOISE = "UDLRUDLRUDLR12345678 ,udlrX90\0٣８Ü👍\n"


def open_board(request: pytest.FixtureRequest, board: str) -> Any:
    """Open the tables of a board, which is in bits if it has over ten cells."""
    folder = "small_boards" if len(parse_board(board).example) < 9 else "large_boards"
    return open_tables(str(request.getfixturevalue(folder))).sliding(board)


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


def make_answers() -> list[tuple[str, str]]:
    """Make states with answers of all results."""
    random, pairs = Random(1), list[tuple[str, str]]()
    while len(pairs) < 600:
        state = "".join(random.sample("012345678", 9))
        distances = eight_distances(find_goal(state))
        answers = [*walk(state, distances, random, random.choice([0, 0, 0.05, 0.5]))]
        letters = answers[0]
        answers += [change(answer, NOISE, random) for answer in answers]
        stated = ["unreachable", str(distances[state]), str(random.randrange(40)), ""]
        answers += [letters.lower(), random.choice(stated)]
        pairs += [(state, answer) for answer in answers]
    solved = [("123456780", answer) for answer in ("", "U", "UD", "RL", "6", "66", "8 5")]
    return [*pairs, *solved]


def require_facts(
    reader: Any, pairs: list[tuple[str, str]], expected: list[dict[str, object]], **options: Any
) -> pl.DataFrame:
    """Judge all pairs together, and require these facts of each."""
    frame = pl.DataFrame(pairs, schema=[reader._prober.columns[0], "answer"], orient="row")
    judged: pl.DataFrame = reader.check_frame(frame, **options)
    assert judged.columns == [*frame.columns, *FACTS[:-1], "problem", "score", "error"]
    assert judged["error"].is_null().all()
    assert judged.select(FACTS).to_dicts() == expected
    return judged


@pytest.mark.parametrize("goal", [None, "087654321"])  # which half of all states do not reach
def test_answers_are_judged_as_by_the_oracle(tables: Tables, goal: str | None) -> None:
    pairs = make_answers()
    expected = [
        judge_board(state, answer, to, eight_distances(to), 3)
        for state, answer in pairs
        for to in [goal or find_goal(state)]
    ]
    judged = require_facts(tables.eight, pairs, expected, goal=goal)
    results = {"incomplete", "illegal", "unreadable"}
    assert {*judged["result"]} == results | ({"shortest", "longer"} if goal is None else set())


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
    stated = judge_distance(answer, eight_distances(goal).get(state))
    judged = tables.eight.check(state, answer, goal=goal, answers="distances")
    assert read_facts(judged) == stated


@pytest.mark.parametrize("board", first(3, ["3x4", "3x2", "2x3", "5x2", "2x5"]))
def test_other_boards_are_judged_as_by_the_oracle(
    request: pytest.FixtureRequest, board: str
) -> None:
    rows, columns = map(int, board.split("x"))
    reader = open_board(request, board)
    goal = reader.puzzle.example
    near = sliding_oracle.distances_near(goal, rows, columns, 15)  # farther than an answer goes
    random = Random(3)
    pairs = list[tuple[str, str]]()
    starts = [state for state, distance in near.items() if distance < 8]
    for _ in range(200):
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
    require_facts(reader, pairs, expected)


@pytest.mark.parametrize("answer", HOSTILE, ids=count())
def test_hostile_answers_are_judged(tables: Tables, answer: str) -> None:
    state = "123450786"
    keys = {tables.eight: state, tables.senet: "ABAAABBB.B...A.", tables.knight: "a1"}
    for reader, key in keys.items():
        alone = reader.check(key, answer)
        assert alone.result in ("unreadable", "illegal", "incomplete", "longer")
        assert len(alone.problem or "") < 300
        assert (alone.problem or "").isprintable()


def test_a_key_that_is_no_state_is_refused(tables: Tables) -> None:
    for key in ("123", "113456780", "１23456780", "12345678\0"):
        with pytest.raises(NotationError):
            tables.eight.check(key, "U")
        frame = pl.DataFrame({"state": [key, "123456708", None], "answer": ["U", "R", "R"]})
        judged = tables.eight.check_frame(frame)
        assert judged["result"].to_list() == [None, "shortest", None]
        assert judged["error"].is_not_null().to_list() == [True, False, False]


def test_a_number_is_a_tile_unless_distances_are_judged(tables: Tables) -> None:
    frame = pl.DataFrame({"state": ["123456708", "123456780"], "answer": [1, 7]})
    assert tables.eight.check_frame(frame)["result"].to_list() == ["illegal", "illegal"]
    judged = tables.eight.check_frame(frame, answers="distances")
    assert judged["result"].to_list() == ["right", "wrong"]
    check = tables.eight.check
    assert check("123456708", 8).result == check("123456780", None).result == "shortest"
    assert check("123456780", None, answers="distances").result == "unreadable"
    with pytest.raises(BadRequest):
        tables.eight.check("123456780", "", answers="both")
    with pytest.raises(BadRequest):
        tables.knight.check("a1", "", answers="moves")


def test_frames_of_other_kinds_are_judged(tables: Tables) -> None:
    check = tables.eight.check_frame
    frame = pl.DataFrame({"board": ["123456708"] * 2, "moves": ["R", "UDR"], "mine": [1, 2]})
    for each in (frame, frame.to_arrow(), frame.to_pandas()):
        judged = check(each, "board", "moves", prefix="judged_")["judged_result"]
        assert [*map(str, judged)] == ["shortest", "longer"]
    assert check(frame.lazy(), "board", "moves").collect()["result"][1] == "longer"
    lists = pl.DataFrame({"state": ["123450786"], "answer": [[6]]})
    for columns in ((frame, "board"), (["123456708"],), (lists,)):
        with pytest.raises(BadRequest):
            check(*columns)


def test_lines_of_senet_are_judged_as_by_the_oracle(tables: Tables) -> None:
    random = Random(5)
    rows = tables.senet.scan("senet").select("position", "plies").collect()
    plies = dict(zip(*map(pl.Series.to_list, rows), strict=True))
    pairs = list[tuple[str, str]]()
    for _ in range(200):
        position, moves = "ABABABABAB.....", list[str]()
        for ply in range(random.randrange(9)):
            steps = senet_successors(position, "AB"[ply % 2])
            if not steps:
                break
            _, start, goal, is_swap, position = random.choice(steps)
            moves.append(f"{start}{'-x'[is_swap]}{goal}")
        side = "AB"[len(moves) % 2]
        swaps = [
            f"{start}x{goal}"  # many of which a neighbour guards
            for start in range(1, 15)
            for goal in range(start + 1, min(15, start + 5) + 1)
            if position[start - 1] == side and position[goal - 1] not in (side, ".")
        ]
        pairs += [(position, " ".join([*moves, swap])) for swap in swaps[:3]]
        for line in (" ".join(moves), tables.senet.line(position)):
            pairs.append((position, change(line, " 0123456789-x,A", random)))
        pairs.append((position, random.choice(["unreachable", "5", str(plies[position])])))
    unreached = [position for position, least in plies.items() if least is None]
    pairs += [(each, random.choice(["unreachable", "7", "1-6"])) for each in unreached[:20]]
    stated = [judge_distance(answer, plies[position]) for position, answer in pairs]
    require_facts(tables.senet, pairs, stated, answers="distances")
    expected = [judge_senet(position, answer, plies[position]) for position, answer in pairs]
    judged = require_facts(tables.senet, pairs, expected)
    results = {"shortest", "longer", "incomplete", "illegal", "unreadable"}
    assert {*judged["result"]} == results


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
    judged = require_facts(tables.knight, pairs, expected, board="6x6")
    assert {*judged["result"]} == {"tour", "closed tour", "incomplete", "illegal", "unreadable"}


@given(st.text("abcdefgh0123456789-x ,٣kA\0", max_size=20), st.sampled_from(["a1", "b1", "h8"]))
def test_any_text_is_judged_as_a_tour_and_as_a_line(
    tables: Tables, answer: str, start: str
) -> None:
    judged = tables.knight.check(start, answer)
    assert read_facts(judged) == judge_tour(start, answer, 8, 8)
    position = "ABAAABBB.B...A."
    assert read_facts(tables.senet.check(position, answer)) == judge_senet(position, answer, 2)


NAMES = {"U": "up", "D": "Down", "L": "LEFT", "R": "right"}
OTHER_WAY = str.maketrans("UDLR", "DURL")
WAYS: tuple[Any, ...] = (
    *(str.lower, " ".join, "-".join, " → ".join, list, str),
    *(lambda text: f"{text}.", lambda text: text[1:], lambda text: text[:-1]),
    lambda text: f"```text\n{text}\n```",
    lambda text: ", ".join(NAMES.get(mark, mark) for mark in text),
    *(lambda text: text.translate(OTHER_WAY), lambda text: f"{text.translate(OTHER_WAY)}DUUD"),
    *(lambda text: f"{text}UD", lambda text: f"{text}RL", lambda text: f"{text}LRDU"),
    *(lambda text: text * 9, lambda text: text[::-1], lambda text: f"{len(text)} {text}"),
)
"""Ways in which people and models write, or miss, a solution in letters."""
TEXTS = ("", "unreachable", "27", "2.5", "no", "\0", "U" * 2_001, "12 3", "15", "é")


@pytest.mark.parametrize("board", first(3, ["eight", "3x4", "3x2", "2x5"]))
@pytest.mark.parametrize(
    "options",
    [{}, {"moves_of": "tile"}, {"answers": "distances"}, {"goal": True}],
    ids=["moves", "tiles", "distances", "goal"],
)
def test_many_answers_are_judged_as_one_by_one(
    request: pytest.FixtureRequest,
    tables: Tables,
    board: str,
    options: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_eight, random = board == "eight", Random(11)
    reader: Any = tables.eight if is_eight else open_board(request, board)
    goal = "087654321" if is_eight else reader.puzzle.example
    options = options | ({"goal": goal} if "goal" in options else {})
    states = reader.sample(usual_or_nightly(6, 80), seed=5, goal=goal)["state"].to_list()
    states += ["bad", "1 2 3 4 5 6 7 8 0", reader.puzzle.example[::-1], goal]
    pairs = list[tuple[str, str]]()
    for state in states:
        solution = reader.get(state, solution=True, goal=options.get("goal"))
        letters, tiles = (solution.solution, solution.tiles) if solution else ("UDLR", "1234")
        ways = [str(way(letters)) for way in WAYS] + [tiles, " ".join(tiles), *TEXTS]
        ways += [str(len(letters)), str(len(letters) + 1), change(letters, NOISE, random)]
        ways += [" ".join(str(int(tile, 16)) for tile in tiles)]
        pairs += [(state, way) for way in ways]
    # solved, with more moves than are judged together
    letters = reader.get(states[0], solution=True, goal=options.get("goal")).solution
    back = letters[0].translate(OTHER_WAY)
    pairs.append((states[0], (letters[0] + back) * 1_000 + letters))
    frame = pl.DataFrame(pairs, schema=["state", "answer"], orient="row")
    with monkeypatch.context() as patch:  # judged as more answers are
        patch.setattr(boards, "FEW_ANSWERS", 0)
        patch.setattr(reader._prober, "max_single_keys", 0)
        assert reader._prober.can_judge_together(len(frame), reader._prober.parse(CHECK, options))
        judged = reader.check_frame(frame, **options)
    single = pl.concat(reader.check_frame(frame[at : at + 100], **options)
                       for at in range(0, len(frame), 100))  # fmt: skip
    assert_frame_equal(judged, single)
    results = {*judged["result"].drop_nulls()}
    is_number = "answers" in options
    known = {"right", "wrong"} if is_number else {"shortest", "longer", "illegal", "incomplete"}
    assert results == {*known, "unreadable"}


@pytest.mark.parametrize(
    ("answer", "meaning"),
    [
        ("D", ""),
        ("d", ""),
        ("L", ""),
        ("U", "; read as the way tiles slide, it is a shortest solution"),
        ("down", "; read as D, it is a shortest solution"),
        ('["D"]', "; read as D, it is a shortest solution"),
        ("```python\nD\n```", "; read as D, it is a shortest solution"),
        ("D.", "; read as D, it is a shortest solution"),
        ("Left - right → Down", "; read as LRD, it is a 3-move solution"),
        ("Up!", ""),
        ("left", ""),
        ("up", "; read as the way tiles slide, it is a shortest solution"),
        ("D\0", ""),
    ],
)
def test_a_problem_says_what_was_likely_meant(tables: Tables, answer: str, meaning: str) -> None:
    judged = tables.eight.check("123450786", answer)
    text = judged.problem or ""
    assert text.partition("; read ")[2] == meaning.partition("; read ")[2]
    assert judged.score == (1.0 if answer in "Dd" else 0.0)


def test_directions_may_be_those_of_tiles(tables: Tables, patterns_555: Path) -> None:
    check = tables.eight.check
    assert check("123450786", "U", moves_of="tile").result == "shortest"
    assert check("123450786", "6", moves_of="tile").result == "shortest"
    wrong = check("123450786", "D", moves_of="tile")
    assert (wrong.result, wrong.score) == ("incomplete", 0.0)
    assert wrong.problem == (
        "the goal is not reached; read as the way the blank moves, it is a shortest solution"
    )
    illegal = check("123450786", "UU", moves_of="tile")
    assert illegal.problem == "move 2, U: the blank is in the last row"
    with pytest.raises(BadRequest):
        check("123450786", "U", moves_of="hand")
    fifteen = open_tables(str(patterns_555)).fifteen
    assert fifteen.check("123456789abcde0f", "L", moves_of="tile").result == "shortest"
    small = fifteen.check("123456789abcde0f", "r")
    assert (small.result, small.score) == ("unreadable", 0.0)
    assert str(small.problem).endswith("; read as R, it is a 1-move solution")


def test_solutions_of_the_15_puzzle_are_judged_as_by_the_oracle(patterns_555: Path) -> None:
    fifteen = open_tables(str(patterns_555)).fifteen
    goal, random = "123456789abcdef0", Random(7)
    near = sliding_oracle.distances_near(goal, 4, 4, 16)
    pairs = list[tuple[str, str]]()
    for state in random.sample([each for each in near if near[each] < 13], 40):
        solution = fifteen.probe(state)
        letters, tiles = solution.solution, solution.tiles or ""
        numbers = " ".join(str(int(tile, 16)) for tile in tiles)
        answers = [letters, tiles, numbers, f"{letters}UD", letters[:-1], letters.lower()]
        pairs += [(state, change(answer, "UDLR1f x", random)) for answer in answers]
    pairs += [("213456789abcdef0", "U"), (goal, "unreachable"), (goal, "LR" * 3)]
    pairs += [("123456789abcde0f", each) for each in ("15", "f", " 15,", "1 5", "51", "16")]
    frame = pl.DataFrame(pairs, schema=["state", "answer"], orient="row")
    rows = fifteen.check_frame(frame).to_dicts()
    for (state, answer), row in zip(pairs, rows, strict=True):
        facts = judge_board(state, answer, goal, near, 4)
        for name in ("result", "length", "excess", "score", "step"):
            assert row[name] == facts[name], (state, answer, name)
    for state, answer in [(goal, "0"), (goal, "1"), ("213456789abcdef0", "unreachable")]:
        judged = fifteen.check(state, answer, answers="distances")
        assert read_facts(judged) == judge_distance(answer, near.get(state))


def test_nothing_is_searched_for_answers_that_the_bound_decides(
    patterns_555: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_: object) -> None:
        raise AssertionError("searched")

    monkeypatch.setattr(Solver, "search", search)
    fifteen = open_tables(str(patterns_555)).fifteen
    rows = {"123456789abcde0f": "R", "123456789ab0defc": "D"}
    frame = pl.DataFrame({"state": [*rows], "answer": [*rows.values()]})
    assert fifteen.check_frame(frame)["result"].to_list() == ["shortest", "shortest"]
    assert fifteen.check("fe169b4c0a73d852", 10, answers="distances").result == "wrong"


def test_a_solution_whose_shortest_length_is_not_found_in_time_is_solved(
    patterns_555: Path,
) -> None:
    fifteen = open_tables(str(patterns_555)).fifteen
    state = "fe169b4c0a73d852"
    solution = "UURRDDRULDDRUUULDDDLURULDRDLLUUURDDLURRRDLLLDRRULURRDDLULDRR"
    hard = fifteen.check(state, solution, time_limit=1e-6)
    assert (hard.result, hard.length, hard.score) == ("solved", len(solution), None)
    assert "Undecided after 1e-06 s" in (hard.problem or "")
    with pytest.raises(Undecided):
        fifteen.check(state, 80, time_limit=1e-6, answers="distances")
    frame = pl.DataFrame({"state": [state, "123456789abcde0f"] * 2, "answer": [solution, "R"] * 2})
    judged = fifteen.check_frame(frame, time_limit=0.001)
    assert judged["result"].to_list() == ["solved", "shortest"] * 2
