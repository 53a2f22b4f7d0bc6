"""Writer of `docs/format/cases.jsonl`: keys with their answers, for every kind of index.

Answers of the default tables are this program's, those of sliding boards and patterns come from
slow searches that share nothing with it. Deep distances of 3x4, and tours by rank, are constants
that tests compare with the tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

from puzzle_tablebase.puzzles import eight, senet
from puzzle_tablebase.puzzles.fifteen import PARTITIONS
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.queries.api import Tables
from tests.support import fifteen_oracle, sliding_oracle
from tests.support.index_vectors import BOARDS, list_distances, list_goals, list_views, rank_board
from tests.support.shell import ROOT

LIST = ROOT / "docs" / "format" / "cases.jsonl"
STATES = ("012345678", "123456780", "123804765", "378546201", "152703846", "867254301", "876543210")
GOALS = ("corner", "centre", "edge", "876543210", "503284167", "217408365", "418063275")
"""Goals of the 8-puzzle: three with a file or half of one, and four that are read turned, with the
blank on cells 9, 2, 5 and 4."""
NAMES = ("distance", "solutions", "best_moves", "solution")
"""The answer's names for a state."""
NOT_STATES = ("", "12345678", "1234567800", "123456789", "113456780", "１23456780")
POSITIONS = ("ABAAABBB.B...A.", senet.OPENING, ".....AAAAABBBBB", "BA.AB.BBA.AA..B")
NEVER = ("AAAAA.....BBBBB", "BBBBBAAAAA.....")
NOT_POSITIONS = ("ABABABABAB....", "ABABABABABA....", "ABABABABAC.....")
PAIRS = (("a1", "b1"), ("b1", "a3"), ("a5", "b1"), ("h8", "g8"), ("d4", "d5"))
NO_PAIRS = (("a1", "c3"), ("b1", "b1"), ("h8", "a1"))
NOT_PAIRS = (("i1", "a3"), ("b1", "a9"), ("b1", "a3x"))
DEEP: dict[tuple[str, str], dict[str, int | None]] = {
    ("3x4", "123456789ab0"): {
        "0369147a258b": 37,
        "3a1b87254960": 42,
        "3a1b87254906": 41,
        "3a1b87250964": 39,
        "0369147a25b8": None,
    },
    ("4x3", "123456789ab0"): {"ba9876543210": None},
}
"""Distances on boards with a bit for each state; None: the state does not reach the goal."""
LARGE = (
    ("3x4", "123456789ab0"),
    ("3x4", "5a10b3276894"),
    ("4x3", "123456789ab0"),
    ("4x3", "a90541b72368"),
)
"""Goals on such boards from which a walk begins; the greatest cell that they lie on is 12."""
NOT_BOARDS = (("2x3", "12345"), ("2x3", "123456"), ("3x4", "123456789abc"), ("3x4", "112345678ab0"))
TOURS = (
    (
        "knight_closed_ranks_5x6",
        None,
        5,
        "a1c2e1d3b2d1e3d5b6a4c3e2c1a2b4a6c5e6d4b5a3b1d2e4d6c4e5c6a5b3",
    ),
    ("knight_ranks_5x4", "a1", 20, "a1b3d4e2c1d3e1c2b4a2c3a4b2d1e3c4a3b1d2e4"),
    ("knight_ranks_5x4", "d1", 6, "d1e3c4b2a4c3e4d2b1a3c2a1b3d4e2c1a2b4d3e1"),
    ("knight_ranks_5x5", "b2", 31, "b2d1e3d5b4a2c1e2d4b5a3b1c3a4c5e4d2c4e5d3e1c2a1b3a5"),
    ("knight_ranks_5x5", "e3", 41, "e3d5b4a2c1e2d4b5a3b1d2e4c3d1b2a4c5b3a1c2e1d3e5c4a5"),
    ("knight_ranks_8x3", "h2", 0, "h2f3e1g2e3f1d2b1a3c2a1b3c1a2c3d1b2d3f2h1g3e2g1h3"),
    ("knight_ranks_8x3", "e3", 12, "e3g2e1d3b2d1c3a2c1b3a1c2a3b1d2f1h2f3g1e2g3h1f2h3"),
)
"""Table, start, rank, tour."""
NO_TOURS = (("knight_closed_ranks_5x6", None, 8), ("knight_ranks_5x5", "b1", 0))
UNREACHABLE = {"error": "unreachable"}
PATTERN = PARTITIONS["6-6-3"].make_tables()[0].name
Case = dict[str, Any]


def format_cases() -> str:
    """Format all cases, a JSON object on each line."""
    with open_tables(str(ROOT / "outputs")) as tables:
        cases = [
            *list_eight(tables),
            *list_boards(),
            *list_senet(tables),
            *list_pairs(tables),
            *list_patterns(),
            *list_tours(),
        ]
    return "".join(f"{json.dumps(case, ensure_ascii=True)}\n" for case in cases)


def read_cases(puzzle: str) -> list[Case]:
    """Read the cases of a puzzle from the published file."""
    cases = [json.loads(line) for line in LIST.read_text("utf-8").splitlines()]
    return [case for case in cases if case["puzzle"] == puzzle]


def list_eight(tables: Tables) -> Iterator[Case]:
    """Yield states without a goal, whose rank and record are given, and with one."""
    for state in STATES:
        answer = tables.eight.probe(state, solution=True).to_dict()
        case: Case = {"puzzle": "eight", "table": "eight", "key": state, "rank": eight.rank(state)}
        yield case | {"answer": {name: answer[name] for name in ("goal", *NAMES)}}
    for goal in GOALS:
        for state in ("378546201", "123804765", "102345678"):
            case = {"puzzle": "eight", "key": state, "goal": goal}
            found = tables.eight.get(state, None, goal=goal, solution=True)
            blank = eight.GOALS.get(goal, goal).index("0")
            if found or goal == "edge":
                case["table"] = "eight_edge" if blank % 2 else "eight"
                case |= {"rank": eight.rank(state)} if goal in eight.GOALS else {}
            if found is None:
                yield case | UNREACHABLE
            else:
                answer = found.to_dict()
                yield case | {"answer": {name: answer[name] for name in NAMES}}
    for text in NOT_STATES:
        yield {"puzzle": "eight", "key": text, "error": "malformed"}


def list_boards() -> Iterator[Case]:
    """Yield states of small boards, of one larger board, and texts that are no states."""
    for rows, columns, cell in BOARDS:
        for high, wide in dict.fromkeys([(rows, columns), (columns, rows)]):
            for goal in list_goals(high, wide, cell):
                for state, distance in list_distances(high, wide, goal).items():
                    yield make_board_case(f"{high}x{wide}", goal, state, distance)
    for (board, goal), states in DEEP.items():
        for state, distance in states.items():
            yield make_board_case(board, goal, state, distance)
    for board, goal in LARGE:
        yield from walk_away(board, goal)
    for board, text in NOT_BOARDS:
        yield {"puzzle": "sliding", "board": board, "key": text, "error": "malformed"}


def walk_away(board: str, goal: str) -> Iterator[Case]:
    """Yield states at the ends of walks of 7 and 14 moves from a goal, with their distances."""
    rows, columns = map(int, board.split("x"))
    known = sliding_oracle.distances_near(goal, rows, columns, 14)
    state, rng = goal, Random(goal)
    for step in range(15):
        if step % 7 == 0:
            yield make_board_case(board, goal, state, known[state])
        state = rng.choice([*sliding_oracle.neighbours(state, rows, columns).values()])


def make_board_case(board: str, goal: str, state: str, distance: int | None) -> Case:
    """Make a case; one that is laid in one way alone says as which state of the file it is read."""
    case: Case = {"puzzle": "sliding", "board": board, "goal": goal, "key": state}
    if distance is None:
        return case | UNREACHABLE
    rows, columns = map(int, board.split("x"))
    high, long = sorted((rows, columns))
    cell, read = min(views := list_views(rows, columns, goal, state))
    case["table"] = f"sliding_{high}x{long}_{cell}"
    if len(views) == 1:
        case |= {"read_as": read, "rank": rank_board(high, long, read)}
    return case | {"answer": {"distance": distance}}


def list_senet(tables: Tables) -> Iterator[Case]:
    for position in (*POSITIONS, *NEVER):
        case = {"puzzle": "senet", "table": "senet", "key": position, "rank": senet.rank(position)}
        found = tables.senet.get(position, None)
        if found is None:
            yield case | UNREACHABLE
        else:
            names = ("plies", "plies_even", "plies_odd", "lines", "dice", "moves")
            yield case | {"answer": {name: found.to_dict()[name] for name in names}}
    for text in NOT_POSITIONS:
        yield {"puzzle": "senet", "key": text, "error": "malformed"}


def list_pairs(tables: Tables) -> Iterator[Case]:
    for start, finish in PAIRS:
        answer = tables.knight.probe(start, to=finish)
        one, other = (
            ord(square[0]) - ord("a") + 8 * int(square[1]) - 8 for square in (start, finish)
        )
        case: Case = {"puzzle": "knight", "table": "knight_tours_8x8", "key": f"{start} {finish}"}
        case |= {"rank": 32 * one + other // 2}
        yield case | {"answer": {"closed": answer.closed, "path": answer.path}}
    for pairs, error in ((NO_PAIRS, "unreachable"), (NOT_PAIRS, "malformed")):
        for pair in pairs:
            yield {"puzzle": "knight", "key": " ".join(pair), "error": error}


@cache
def list_patterns() -> tuple[Case, ...]:
    """List placements of the smallest pattern: the cells of its tiles, their number, the moves."""
    tiles = [int(mark, 16) for mark in PATTERN.removeprefix("fifteen_")]
    known = fifteen_oracle.distances(4, 4, tiles)
    placements = [*fifteen_oracle.list_placements(16, len(tiles))]
    farthest = max(known, key=lambda cells: (known[cells], cells))
    chosen = {placements[0], placements[-1], farthest, *Random(15).sample(placements, 5)}
    return tuple(
        {
            "puzzle": "fifteen",
            "table": PATTERN,
            "key": "".join(f"{cell:x}" for cell in cells),
            "rank": placements.index(cells),
            "answer": {"distance": known[cells]},
        }
        for cells in sorted(chosen)
    )


def list_tours() -> Iterator[Case]:
    answers = [(*key, {"answer": {"path": path}}) for *key, path in TOURS]
    for table, start, rank, answer in (*answers, *((*key, UNREACHABLE) for key in NO_TOURS)):
        yield {"puzzle": "ranks", "table": table, "key": start, "rank": rank} | answer


if __name__ == "__main__":
    LIST.write_text(format_cases(), "utf-8")
