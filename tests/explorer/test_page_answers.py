"""Tests of the explorer's answers, given in Node: those of the library and of oracles."""

import datetime
import itertools
import json
import math
import random
import re
import struct
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from puzzle_tablebase.errors import NoAnswer
from puzzle_tablebase.notation.senet import OPENING
from puzzle_tablebase.puzzles import senet
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.sliding import EIGHT, parse_board
from puzzle_tablebase.queries.explorer import iter_tables
from puzzle_tablebase.queries.files import TableFiles
from puzzle_tablebase.queries.prober import BaseProber, open_prober
from puzzle_tablebase.queries.sliding import SmallBoardProber
from puzzle_tablebase.stores import Folder
from tests import first, usual_or_nightly
from tests.support import oracles
from tests.support.querying import query_one
from tests.support.reader_programs import query_page, run, tool


def answer(
    reader: BaseProber, key: str, missing: dict[str, object], **given: Any
) -> dict[str, object]:
    """Return the facts of an answer, or those of a key without one."""
    try:
        return dict(query_one(reader, key, path=True, **given).to_dict())
    except NoAnswer:
        return missing


def require_facts(answers: list[Any], expected: list[dict[str, object]], least: set[str]) -> None:
    """Require the facts that both have to be equal, and the page to have at least some."""
    for answer, right in zip(answers, json.loads(json.dumps(expected)), strict=True):
        assert {name: right.get(name, known) for name, known in answer.items()} == answer
    assert least <= {name for answer in answers for name in answer}


def test_modules_that_need_no_browser() -> None:
    completed = run(tool("node"), "--test", Path(__file__).with_name("test_page_modules.mjs"))
    assert completed.code == 0, completed.out


def test_the_page_holds_the_published_records(boards_page: Path) -> None:
    def hash_planes(file: Path, most: int) -> str:
        data = file.read_bytes()
        width, count = struct.unpack_from("<I4xQ", data, 8)
        blocks = [data[at : at + 4092 // width * width] for at in range(4096, len(data), 4096)]
        records = b"".join(blocks)[: width * count]
        return sha256(b"".join(records[at::width] for at in range(min(width, most)))).hexdigest()

    folder = boards_page.parent
    expected = {
        # without the numbers of Senet's lines, which the page counts
        table.name: hash_planes(folder / table.index_file, 4 if table.name == "senet" else 64)
        for _, table in iter_tables(Folder(folder))
        if table.index and not table.name.startswith("fifteen")
    }
    assert len(expected) > 10
    assert query_page(boards_page, ["planes"]) == [expected]


@pytest.mark.parametrize("name", first(3, ["eight", "2x3", "2x4", "3x3"]))
def test_boards_are_answered_as_by_query(boards_page: Path, name: str) -> None:
    draw, store = random.Random(name), Folder(boards_page.parent)
    board = parse_board("3x3" if name == "eight" else name)
    reader = (
        open_prober("eight", store)
        if name == "eight"
        else SmallBoardProber(board, TableFiles(store))
    )
    states = ["".join(draw.sample(board.example, len(board.example))) for _ in range(400)]
    pairs = [*zip(states[:200], states[200:], strict=True), *((state,) for state in states[:200])]
    expected = [
        answer(reader, state, {"state": state, "distance": None}, goal=goal[0] if goal else None)
        for state, *goal in pairs
    ]
    assert 50 < sum(one["distance"] is None for one in expected) < 250
    facts = {"goal", "best_moves", "best_tiles", "solution", "tiles", "path"}
    facts |= {"solutions"} if name == "eight" else set()
    require_facts(
        query_page(boards_page, *(["board", name, *words] for words in pairs)), expected, facts
    )


def test_boards_are_read_and_drawn(boards_page: Path) -> None:
    goals = (["hardest", "2x3", "123450"], ["hardest", "2x4", "12345670"])
    names = ("5", "20", "hardest")
    *drawn, read, problem, small, wide, one, two, three, four = query_page(
        boards_page,
        *(["draw", "eight", EIGHT.example, name] for name in names),
        ["board", "2x3", " 1,2,0 4 5/3", "123450"],
        ["problem", "2x3", "112x40"],
        *goals,
        *(["moves", "eight", "123456708", text] for text in ("7 7 8", "lrU", "L, R", "7 9 8")),
    )
    moves = one, two, three, four
    assert (read["state"], read["distance"], "x" in problem) == ("120453", 1, True)
    assert [move["letters"] for move in moves] == ["LRR", "LRU", "LR", "L"]
    assert [bool(move["problem"]) for move in moves] == [False, False, False, True]
    assert (small, wide) == (21, 36)
    answers = query_page(
        boards_page, *(["board", "eight", state, EIGHT.example] for state in drawn)
    )
    assert [one["distance"] for one in answers] == [5, 20, 31]


def test_the_puzzle_of_a_day_follows_from_the_date(boards_page: Path, outputs: Path) -> None:
    board, day = parse_board("2x4"), datetime.date(2026, 11, 26)
    days = (day - datetime.date(1970, 1, 1)).days

    def draw(count: int) -> int:
        """Return the day's number below `count`, as MurmurHash3 mixes the days."""
        mixed = days
        for factor in (0x85EBCA6B, 0xC2B2AE35):
            mixed = (mixed ^ (mixed >> 16)) * factor % 2**32
        return (mixed ^ (mixed >> 16)) % count

    rows = pl.read_parquet(outputs / "senet.parquet", columns=["position", "plies"])
    rows = rows.filter(pl.col("plies") > 0).sort("plies", maintain_order=True)
    levels = rows.partition_by("plies", maintain_order=True)
    questions: list[list[Any]] = [["today", "eight", days], ["today", "2x4", days], ["mostPlies"]]
    questions += [["target", level["plies"][0], days] for level in levels]
    eight, small, most, *targets = query_page(boards_page, *questions)
    assert eight["start"] == EIGHT.unrank(draw(math.factorial(9)))
    state = board.unrank(draw(math.factorial(8) // 2))
    assert small == {"start": state, "goal": board.example}
    assert most == len(levels)
    assert targets == [level[draw(level.height), 0] for level in levels]


def test_positions_are_answered_as_by_query(explorer: Path, outputs: Path) -> None:
    rng, reader = random.Random(15), open_prober("senet", Folder(outputs))
    positions = [senet.unrank(rng.randrange(senet.SIZE)) for _ in range(500)]
    positions += [OPENING, "BBBBBAAAAA....."]
    expected = [answer(reader, one, {"position": one, "plies": None}) for one in positions]
    answers = query_page(explorer, *(["senet", position] for position in positions))
    require_facts(answers, expected, {"plies_even", "plies_odd", "dice", "moves", "path"})
    reached = [one for one in expected if one["plies"] is not None][:20]
    counted = query_page(explorer, *(["lines", one["position"], one["plies"]] for one in reached))
    assert counted == [one["lines"] for one in reached]


def test_plies_to_a_target_are_those_of_the_oracle(explorer: Path, outputs: Path) -> None:
    """From positions of random games: the page searches back from the target, the oracle on."""
    rng, opening = random.Random(46), oracles.SENET_OPENING
    rows = pl.read_parquet(outputs / "senet.parquet", columns=["position", "plies"]).drop_nulls()
    sample = rows.sample(usual_or_nightly(8, 200), seed=46).rows()
    expected: list[Any] = [([position, opening, "A"], plies) for position, plies in sample]
    for _ in range(usual_or_nightly(4, 40)):
        position, side = opening, 0
        for _ in range(rng.randrange(10)):
            if moves := oracles.senet_successors(position, "AB"[side]):
                position, side = rng.choice(moves)[-1], 1 - side
        near, layer = {position: 0}, {position}
        for depth in range(1, 4):
            mover = "AB"[(side + depth - 1) % 2]
            layer = {to for one in layer for *_, to in oracles.senet_successors(one, mover)}
            near = dict.fromkeys(layer, depth) | near
        for depth in {*near.values()}:
            target = rng.choice(sorted(one for one, plies in near.items() if plies == depth))
            expected.append(([target, position, "AB"[side]], depth))
        # moves never lower the sum of the numbers of the occupied squares
        back = 0 if position == opening else None
        expected.append(([opening, position, "AB"[side]], back))
    assert {0, 1, 2, 3, None} <= {plies for _, plies in expected}
    answers = query_page(explorer, *(["measure", *question] for question, _ in expected))
    assert answers == [plies for _, plies in expected]


def test_no_guarded_piece_is_swapped_on_the_way_back(explorer: Path) -> None:
    """Measure what a swap of the piece on square 4 would leave, which another one guards."""
    questions = list[list[str]]()
    for position in ("A.BB.A.A.A.ABBB", "A..BBA.A.A.ABBB"):
        target = f"B{position[1:3]}A{position[4:]}"
        assert all(to != target for *_, to in oracles.senet_successors(position, "A"))
        questions.append(["measure", target, position, "A"])
    assert 1 not in query_page(explorer, *questions)


def test_tours_are_those_of_the_tables(explorer: Path, outputs: Path) -> None:
    """Small boards: the page finds a listed tour for exactly the pairs of squares that have one."""
    rng, wide = random.Random(64), KnightBoard(8, 8)
    for board in (KnightBoard(5, 5), KnightBoard(6, 6)):
        rows = pl.scan_parquet(outputs / f"knight_tours_{board}.parquet")
        joined = {*rows.select("start", "finish").unique().collect().rows()}
        every = [*itertools.product(board.name_squares(), repeat=2)]
        pairs = rng.sample(every, min(len(every), usual_or_nightly(625, 1296)))
        answers = query_page(explorer, *(["knight", str(board), *pair] for pair in pairs))
        for pair, tour in zip(pairs, answers, strict=True):
            assert bool(tour) == (pair in joined)
            if tour:  # a table lists all
                oracles.knight_check(board.files, board.ranks, tour)
                assert (*map(board.name_square, (tour[0], tour[-1])),) == pair
    reader = open_prober("knight", Folder(outputs))
    squares = [rng.sample(range(64), 2) for _ in range(400)]
    named = [[*map(wide.name_square, pair)] for pair in squares if wide.can_join(*pair)]
    expected = [query_one(reader, start, to=end).to_dict()["path"] for start, end in named]
    answers = query_page(explorer, *(["knight", "8x8", *pair] for pair in named))
    assert ["".join(map(wide.name_square, tour)) for tour in answers] == expected


def test_the_page_knows_whether_a_tour_can_be_completed(explorer: Path, outputs: Path) -> None:
    """Compare with the tables, after each number of squares, for random walks of a knight."""
    rng = random.Random(5)
    questions = list[tuple[str, list[int], int]]()
    for board, start, walks in ((KnightBoard(5, 5), "a1", 15), (KnightBoard(6, 6), "c3", 12)):
        rows = pl.scan_parquet(outputs / f"knight_tours_{board}.parquet")
        tours = rows.filter(start=start).select("path").collect()["path"]
        for _ in range(walks):
            walk = re.findall("..", tours[rng.randrange(len(tours))])[: rng.randrange(1, 20)]
            for _ in range(rng.randrange(4)):  # it may leave all tours
                here = board.parse_square(walk[-1])
                onward = map(board.name_square, board.list_neighbours(here))
                if free := [name for name in onward if name not in walk]:
                    walk.append(rng.choice(free))
            count = int(tours.str.starts_with("".join(walk)).sum())
            questions.append((str(board), [board.parse_square(name) for name in walk], count))
    answers = query_page(
        explorer, *(["complete", board, squares] for board, squares, _ in questions)
    )
    assert len({count > 0 for _, _, count in questions}) == 2
    for (_, squares, count), answer in zip(questions, answers, strict=True):
        assert answer["isProven"]
        assert (answer["tour"] or [])[: len(squares)] == (squares if count else [])
