"""The rules of sliding boards, and of the 8-puzzle, compared with slow and obvious ones."""

import itertools
import random
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from puzzle_tablebase.errors import NotationError, TablebaseError
from puzzle_tablebase.notation.sliding import GOALS
from puzzle_tablebase.puzzles import GoalPuzzle
from puzzle_tablebase.puzzles.board_arrays import sum_weights
from puzzle_tablebase.puzzles.sliding import EIGHT, PUZZLE, SlidingBoard, find_goal, parse_board
from tests import usual_or_nightly
from tests.support import oracles
from tests.support import sliding_oracle as oracle
from tests.support.board_layouts import SEPARATORS
from tests.support.strategies import eight_states

SMALL = ["2x2", "2x3", "3x2", "2x4", "3x3"]
BACK = {"U": "D", "D": "U", "L": "R", "R": "L"}
LARGE = ["4x2", "2x5", "5x2", "3x4", "4x3", "2x6", "6x2"]


@pytest.fixture(params=[*SMALL, *LARGE])
def board(request: pytest.FixtureRequest) -> SlidingBoard:
    return parse_board(request.param)


def choose_states(board: SlidingBoard) -> list[str]:
    """Return all states of a small board, or a sample of a large one's."""
    if board.cells <= 6:
        return ["".join(cells) for cells in itertools.permutations(board.example)]
    chance = random.Random(str(board))
    return ["".join(chance.sample(board.example, board.cells)) for _ in range(200)]


def test_moves_equal_those_of_the_oracle(board: SlidingBoard) -> None:
    for state in choose_states(board):
        expected = oracle.neighbours(state, board.height, board.width)
        assert list(board.moves(state)) == list(expected.items())


@given(st.data())
def test_each_move_is_taken_back_by_the_other_way(data: st.DataObject) -> None:
    """Walk on boards of up to 16 cells: back by the opposite letters, in the opposite order."""
    sides = st.tuples(st.integers(2, 8), st.integers(2, 8)).filter(lambda two: two[0] * two[1] < 17)
    board = SlidingBoard(*data.draw(sides, "sides"))
    start = state = "".join(data.draw(st.permutations(board.example), "state"))
    walk = ""
    for turn in data.draw(st.lists(st.integers(0, 3), max_size=20), "turns"):
        steps = [*board.moves(state)]
        letter, after = steps[turn % len(steps)]
        assert dict(board.moves(after))[BACK[letter]] == state
        assert board.can_reach(after, start)
        walk, state = walk + letter, after
    for letter in reversed(walk):
        state = dict(board.moves(state))[BACK[letter]]
    assert state == start


@pytest.mark.parametrize("name", ["2x2", "2x3", "3x2"])
def test_the_oracles_distances_are_those_of_its_moves(name: str) -> None:
    """Find the same states one by one: each but the goal has a neighbour that is nearer by one."""
    board = parse_board(name)
    known = oracle.distances(board.example, board.height, board.width)
    reached = [board.example]
    for state in reached:
        near = oracle.neighbours(state, board.height, board.width).values()
        reached += {*near} - {*reached}
        nearest = min(known[each] for each in near)
        assert known[state] == (nearest + 1 if state != board.example else 0)
    assert {*known} == {*reached}


@pytest.mark.parametrize("name", ["2x2", "2x3", "3x2"])
def test_can_reach_agrees_with_a_search(name: str) -> None:
    board = parse_board(name)
    for goal in choose_states(board)[:: 29 if board.cells == 6 else 1]:
        reached = oracle.distances(goal, board.height, board.width)
        for state in choose_states(board):
            assert board.can_reach(state, goal) == (state in reached)


@pytest.mark.parametrize("name", [*SMALL[:-1], pytest.param("3x3", marks=pytest.mark.nightly)])
def test_ranks_of_each_goal_are_one_to_one(name: str) -> None:
    board = parse_board(name)
    for goal in board.goals:
        reached = oracle.distances(goal, board.height, board.width)
        ranks = {board.rank(state): state for state in reached}
        assert sorted(ranks) == list(range(board.size))
        space = SlidingBoard(board.height, board.width, goal)
        assert all(space.unrank(rank) == state for rank, state in ranks.items())


@pytest.mark.parametrize(
    "name",
    [
        *("2x2", "2x3"),
        pytest.param("2x4", marks=pytest.mark.slow),
        pytest.param("3x3", marks=pytest.mark.nightly),
    ],
)
def test_all_states_at_once_are_those_of_one_at_a_time(name: str) -> None:
    board = parse_board(name)
    for goal in board.goals:
        space = SlidingBoard(board.height, board.width, goal)
        states = [space.unrank(rank) for rank in range(space.size)]
        assert [state.decode() for state in space.list_states().tolist()] == states
        fast, slow = space.make_graph(), GoalPuzzle.make_graph(space)
        assert np.array_equal(fast.offsets, slow.offsets)
        assert np.array_equal(fast.targets, slow.targets)
        assert np.array_equal(fast.labels, slow.labels)
        boards = space.list_tiles()
        for feature in ("blank", "manhattan", "misplaced"):
            one = SlidingBoard(board.height, board.width)
            one.features = (feature,)
            expected = [one.compute_features(state, goal)[feature] for state in states]
            assert sum_weights(space, feature, goal, boards).tolist() == expected


def test_rank_matches_the_documented_example() -> None:
    """Compute the example that docs/format/ranks.md works out by hand."""
    board = parse_board("3x4")
    assert board.rank("3a1b87254960") == 11 * 19_958_400 + 4_774_561
    assert board.unrank(0) == "0369147a258b"
    assert board.unrank(board.size - 1) == board.unrank(239_500_799)


def test_goal_views_of_large_boards_preserve_moves(board: SlidingBoard) -> None:
    for goal, state in itertools.pairwise(choose_states(board)):
        view = board.view_goal(goal)
        assert view.map_state(goal) == view.table_goal in board.wide.goals
        seen = {after for _, after in board.wide.moves(view.map_state(state))}
        assert {view.map_state(after) for _, after in board.moves(state)} == seen
        assert board.can_reach(state, goal) == board.wide.can_reach(
            view.map_state(state), view.table_goal
        )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("3x3", text) for text in ("  \n", "133456789", "１２３４５６７８０", "12\x1b[31m")),
        *(("3x3", "3,7,8,5,4,6,2,,1"), ("2x3", "1 2 3 4 5"), ("3x4", "1 2 3 4 5 6 7 8 9 10 11")),
        *(("3x4", f"1 2 3 4 5 6 7 8 9 10 {last} 0") for last in ("12", "16")),
        ("3x4", "0000"),
    ],
)
def test_invalid_states_are_refused(name: str, text: str) -> None:
    for board in [parse_board(name), *([EIGHT] if name == "3x3" else [])]:
        with pytest.raises(NotationError) as reported:
            board.parse(text)
        assert reported.value.example.startswith(board.example)


@pytest.mark.parametrize(
    "text", ["", "3", "3xx4", "-3x4", "\u0663x4", "1x4", "3x0", "2x9", "5x4", "9" * 5000 + "x2"]
)
def test_invalid_boards_are_refused(text: str) -> None:
    with pytest.raises(NotationError):
        parse_board(text)
    assert {str(parse_board(text)) for text in ("3x4", " 3X4 ", "3×4")} == {"3x4"}


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("sliding_2x3", "sliding_2x3_6 sliding_2x3_5"),
        ("sliding_3x2", "sliding_2x3_6 sliding_2x3_5"),
        ("sliding_2x3_all", "sliding_2x3_6 sliding_2x3_5"),
        ("sliding_4x3", "sliding_3x4_12"),
        ("sliding_3x4_all", "sliding_3x4_12 sliding_3x4_11 sliding_3x4_8 sliding_3x4_7"),
        *((name, name) for name in ("sliding_3x4_7", "sliding_4x4_16")),
        ("sliding_3x5", "sliding_3x5_15"),
        *((f"sliding_{end}", "") for end in ("4x3_12", "3x4_1", "3X4")),
        *((name, "") for name in ("3x4", "eight", "")),
    ],
)
def test_a_name_stands_for_tables(name: str, tables: str) -> None:
    found = PUZZLE.find_tables(name)
    assert [table.name for table in found] == tables.split()
    is_small = name.startswith(("sliding_2x3", "sliding_3x2"))
    assert all(bool(table.columns) == is_small for table in found)
    assert [PUZZLE.find_table(table.name) is not None for table in found] == [True] * len(found)


@pytest.mark.parametrize("name", ["sliding", "sliding_4x4", "sliding_4x4_all", "sliding_03x4"])
def test_names_without_tables_are_refused(name: str) -> None:
    with pytest.raises(TablebaseError):
        PUZZLE.find_tables(name)
    assert PUZZLE.find_table(name) is None


def test_a_table_name_determines_board_and_goal() -> None:
    names, _ = PUZZLE.list_requests().values()
    assert len(names) == 10
    for name in names:
        board = parse_board(name.removeprefix("sliding_"))
        for table, goal in zip(board.wide.tables, board.wide.goals, strict=True):
            result = find_goal(table.name)
            assert result is not None
            assert (str(result[0]), result[1]) == (str(board.wide), goal)
            given = PUZZLE.find_example(table.name)
            assert given["board"] == str(board.wide)
            assert given.get("goal", board.wide.example) == goal


# ---- the 8-puzzle ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def states() -> list[str]:
    """Return every state, in notation order, by itertools alone."""
    return ["".join(digits) for digits in itertools.permutations("012345678")]


def test_ranks_number_every_state(states: list[str]) -> None:
    assert len(states) == EIGHT.size
    every = slice(None, None, usual_or_nightly(11, 1))  # 362,879 is a multiple: the last one too
    assert [EIGHT.rank(state) for state in states[every]] == [*range(EIGHT.size)][every]
    assert [EIGHT.unrank(rank) for rank in range(EIGHT.size)[every]] == states[every]
    assert [state.decode() for state in EIGHT.list_states().tolist()] == states


@given(st.text(max_size=12) | st.text("012345678 ", min_size=9, max_size=12))
def test_any_text_but_a_state_is_rejected(text: str) -> None:
    cells = re.sub(SEPARATORS, "", text).replace(".", "0").replace("_", "0")
    assume(sorted(cells) != list("012345678"))
    with pytest.raises(NotationError) as caught:
        EIGHT.parse(text)
    assert (caught.value.text, caught.value.exit_code) == (text, 2)


@given(eight_states, eight_states)
def test_moves_and_features_equal_the_oracles(state: str, goal: str) -> None:
    assert list(EIGHT.moves(state)) == list(oracles.eight_neighbours(state).items())
    assert EIGHT.compute_features(state, goal) == oracles.eight_features(state, goal)


def test_the_graph_has_every_move_of_a_state(states: list[str]) -> None:
    number = {state: rank for rank, state in enumerate(states)}
    graph = EIGHT.make_graph()
    offsets, targets = graph.offsets.tolist(), graph.targets.tolist()
    letters = ["UDLR"[label] for label in graph.labels.tolist()]
    assert len(offsets) == len(states) + 1
    for rank in range(0, len(states), usual_or_nightly(11, 1)):
        state, edges = states[rank], slice(offsets[rank], offsets[rank + 1])
        result = list(zip(letters[edges], targets[edges], strict=True))
        expected = oracles.eight_neighbours(state)
        assert result == [(letter, number[after]) for letter, after in expected.items()], state


@given(st.sampled_from([*GOALS.values()]) | eight_states, eight_states)
def test_goal_views_lead_to_a_named_goal_and_preserve_neighbours(goal: str, state: str) -> None:
    view = EIGHT.view_goal(goal)
    assert view.map_state(goal) == GOALS[view.table_goal]
    turned = view.map_state(state)
    assert turned == state or goal not in GOALS.values()
    assert sorted(turned) == sorted(state)
    after = sorted(map(view.map_state, oracles.eight_neighbours(state).values()))
    assert after == sorted(oracles.eight_neighbours(turned).values())
