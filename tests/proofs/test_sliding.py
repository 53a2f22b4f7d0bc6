"""`verify` proves sliding boards, whole and in chunks, by moves that equal the oracle's."""

import json
import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from puzzle_tablebase.pipeline.proofs.sliding import find_first_wrong

from puzzle_tablebase.pipeline.proofs import sliding, verify
from puzzle_tablebase.pipeline.proofs.claims import Claim, ClaimCheck, VerifyFailed
from puzzle_tablebase.pipeline.proofs.files import iter_records
from puzzle_tablebase.puzzles.sliding import PUZZLE, SlidingBoard, parse_board
from puzzle_tablebase.tables.store import Folder
from tests.support import sliding_oracle as oracle
from tests.support.build_recorder import build_tables
from tests.support.tampered import (
    Story,
    change_byte,
    falsify,
    get_refutation,
    open_one,
    sha256,
)

NAME = "sliding_2x3_6"
NEIGHBOUR = "every state except the goal has a neighbour one move nearer, and none still nearer"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build_tables(tmp_path, PUZZLE, *PUZZLE.find_tables("sliding_2x3"))
    return tmp_path


def build_small_board() -> str:
    """Return hashes of a board's files, its proof's claims, and the error of a false record."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        build_tables(folder, PUZZLE, *PUZZLE.find_tables("sliding_2x3"))
        hashes = [sha256(file) for file in sorted(folder.glob("sliding*"))]
        claims = verify(Folder(folder)).claims
        claimed = [[claim.table, claim.file, claim.claim] for claim in claims]
        failure = falsify(folder, NAME, change_byte(100, 5))
        return json.dumps([hashes, claimed, str(failure).replace(place, "")], indent=1)


def test_boards_are_proved(folder: Path, golden: Callable[[str, str], None]) -> None:
    told = Story()
    verify(Folder(folder), listener=told)
    golden("claims_sliding", "".join(told))


@pytest.mark.parametrize("board", ["2x2", "2x4", "3x3"])
def test_boards_of_other_shapes_are_proved(board: str, tmp_path: Path) -> None:
    build_tables(tmp_path, PUZZLE, *PUZZLE.find_tables(f"sliding_{board}"))
    assert {verdict.verdict for verdict in verify(Folder(tmp_path)).verdicts} == {"proved"}


def split_records(monkeypatch: pytest.MonkeyPatch, name: str, rank: int | None = None) -> None:
    """Split a table's records into two chunks, optionally with a false 0 in the first."""

    def changed(published: Any, check: ClaimCheck) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        for begin, given in iter_records(published, check):
            result, middle = given.copy(), len(given) // 2
            if rank is not None and published.name == name:
                result["distance"][rank] = 0
            yield begin, result[:middle]
            yield begin + middle, result[middle:]

    monkeypatch.setattr(sliding, "iter_records", changed)


def test_records_may_come_in_chunks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split_records(monkeypatch, NAME)
    assert verify(Folder(folder)).claims


@pytest.mark.parametrize("goal", ["123450", "123405"])
def test_false_records_of_any_goal_and_chunk_are_detected(
    folder: Path, goal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_tables(folder, PUZZLE, *PUZZLE.find_tables("sliding_2x3_all"))
    name = f"sliding_2x3_{goal.index('0') + 1}"
    split_records(monkeypatch, name, 100)
    failure = get_refutation(folder, name)
    state = parse_board("2x3").unrank(100, goal)
    assert (failure.row, failure.content) == (100, {"state": state, "distance": 0})


def test_records_of_another_board_are_detected(folder: Path) -> None:
    with pytest.raises(VerifyFailed) as reported:
        sliding.Distances(open_one(folder, NAME), parse_board("2x4"), "12345670").prove()
    assert (reported.value.found, reported.value.expected) == ("records 360", 20160)


def test_progress_is_reported_by_chunk(folder: Path) -> None:
    reported: dict[str, list[int]] = {}

    def on_claim(claim: Claim, done: int) -> None:
        reported.setdefault(claim.claim, []).append(done)

    published, board = open_one(folder, NAME, on_claim), parse_board("2x3")
    sliding.Distances(published, board, board.example, chunk_orders=25).prove()
    assert reported[NEIGHBOUR] == [0, 150, 300, 360, 360]


Array = npt.NDArray[np.int64]


class Known(NamedTuple):
    """A board's true distances to a goal, by rank, and the kernels' other arguments."""

    board: SlidingBoard
    goal: str
    depth: Array
    near: list[list[int]]
    """The ranks of each rank's neighbours."""

    def describe(self, depth: Array) -> tuple[Array, Array, int, Array]:
        board, orders = self.board, self.board.orders
        states = [board.unrank(place * orders, self.goal) for place in range(board.cells)]
        odd = np.array([int(board.is_odd(state)) for state in states])
        return depth.astype(np.uint8), odd, board.line, np.array(board.weights)

    def first_wrong(self, depth: Array) -> tuple[int, int]:
        orders = self.board.orders
        for number in range(orders):
            for rank in range(number, self.board.size, orders):
                nearest = min(depth[near] for near in self.near[rank])
                if depth[rank] and nearest != depth[rank] - 1:
                    return rank, nearest
        return -1, 255


@pytest.fixture(scope="module", params=["2x2", "2x3", "2x3 of another goal", "2x4"])
def known_states(request: pytest.FixtureRequest) -> Known:
    height, width = map(int, request.param[:3].split("x"))
    board = SlidingBoard(height, width)
    goal = [*board.goals][-1 if "another" in request.param else 0]
    distances = oracle.distances(goal, height, width)
    states = [board.unrank(rank, goal) for rank in range(board.size if board.cells < 8 else 0)]
    near = [
        [board.rank(state) for state in oracle.neighbours(state, height, width).values()]
        for state in states
    ]
    depth = np.zeros(board.size, np.int64)
    for state, distance in distances.items():
        depth[board.rank(state)] = distance
    return Known(board, goal, depth, near)


def test_the_first_wrong_rank_is_returned(known_states: Known) -> None:
    """Find the first wrong rank order by order, and within an order by the blank's place."""
    orders = known_states.board.orders
    assert find_first_wrong(*known_states.describe(known_states.depth), 0, orders) == (-1, 255)
    for rank, value in product(range(len(known_states.near)), (-2, -1, 1, 2, 255)):
        depth = known_states.depth.copy()
        depth[rank] = value if value == 255 else abs(depth[rank] + value)
        if depth[rank] == known_states.depth[rank]:
            continue
        wrong = known_states.first_wrong(depth)
        reported = known_states.describe(depth)
        assert find_first_wrong(*reported, 0, orders) == wrong != (-1, 255)
        # each chunk of orders reports its own
        number = wrong[0] % orders
        assert find_first_wrong(*reported, 0, number) == (-1, 255)
        assert find_first_wrong(*reported, number, number + 1) == wrong
        later, _ = find_first_wrong(*reported, number + 1, orders)
        assert later < 0 or later % orders > number
