"""The rules of the 8-puzzle: notation, ranks, moves, heuristics, and any goal as a named one."""

import re
from itertools import permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from puzzle_tablebase.errors import NotationError
from puzzle_tablebase.puzzles.sliding import EIGHT as PUZZLE
from puzzle_tablebase.puzzles.sliding import GOALS
from tests import usual_or_nightly
from tests.support import oracles
from tests.support.strategies import eight_states, white_space

EIGHT = "it has 8 cells, not 9"
NINE = "tile 9 does not exist"
NO_BLANK = "the blank (0) is missing"
GOOD = "Example: 123456780 (0 is the blank)"


@pytest.fixture(scope="module")
def all_states() -> list[str]:
    """Return every state, in notation order, by itertools alone."""
    return ["".join(digits) for digits in permutations("012345678")]


# ---- notation and ranks ---------------------------------------------------------------------


def test_ranks_number_every_state(all_states: list[str]) -> None:
    assert len(all_states) == PUZZLE.size
    assert [PUZZLE.rank(state) for state in all_states] == list(range(PUZZLE.size))
    assert [PUZZLE.unrank(rank) for rank in range(PUZZLE.size)] == all_states
    assert [state.decode() for state in PUZZLE.list_states().tolist()] == all_states


@given(eight_states, st.lists(white_space, min_size=10, max_size=10))
def test_white_space_between_digits_is_ignored(state: str, gaps: list[str]) -> None:
    text = gaps[9] + "".join(digit + gap for digit, gap in zip(state, gaps[:9], strict=True))
    assert PUZZLE.parse(text) == state


# the boards of other sizes have the same reader: see test_sliding
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("  \n", "it is empty"),
        ("1", "it has 1 cell, not 9"),
        ("12345678", f"{EIGHT}, and may have lost a leading 0 when read as a number: 012345678"),
        ("1 2 3 4 5 6 7 8", f"{EIGHT}, and the blank is missing: write it as 0"),
        ("1234567800", "it has 10 cells, not 9, the blank (0) stands twice"),
        ("133456789", f"tile 3 stands twice, {NINE}, {NO_BLANK}, tile 2 is missing"),
        ("12345678a", f"tile a does not exist, {NO_BLANK}"),
        ("１２３４５６７８０", "'１' is neither a digit nor a tile's letter"),
        ("12\x1b[31m", r"'\x1b' is neither a digit nor a tile's letter"),
    ],
)
def test_invalid_states_are_explained(text: str, problem: str) -> None:
    with pytest.raises(NotationError) as caught:
        PUZZLE.parse(text)
    assert str(caught.value) == f"{text!r} is not an 8-puzzle state: {problem}. {GOOD}"
    assert (caught.value.text, caught.value.exit_code) == (text, 2)


@given(st.text(max_size=12) | st.text("012345678 ", min_size=9, max_size=12))
def test_any_text_but_a_state_is_rejected(text: str) -> None:
    cells = re.sub(r"[\s,;/|\[\](){}]", "", text).replace(".", "0").replace("_", "0")
    assume(sorted(cells) != list("012345678"))
    assume(sorted(cells) != list("12345678"))  # the blank may be a space: see test_board_text
    with pytest.raises(NotationError):
        PUZZLE.parse(text)


# ---- moves ----------------------------------------------------------------------------------


@given(eight_states)
def test_moves_equal_the_oracles_in_order(state: str) -> None:
    assert list(PUZZLE.moves(state)) == list(oracles.eight_neighbours(state).items())


@given(eight_states)
def test_no_move_changes_the_parity(state: str) -> None:
    goals = {PUZZLE.find_reachable_goal(after) for _, after in PUZZLE.moves(state)}
    assert goals == {PUZZLE.find_reachable_goal(state)}


def test_the_graph_has_every_move_of_a_state(all_states: list[str]) -> None:
    number = {state: rank for rank, state in enumerate(all_states)}
    graph = PUZZLE.make_graph()
    offsets, targets = graph.offsets.tolist(), graph.targets.tolist()
    letters = ["UDLR"[label] for label in graph.labels.tolist()]
    assert len(offsets) == len(all_states) + 1
    for rank in range(0, len(all_states), usual_or_nightly(11, 1)):
        state, edges = all_states[rank], slice(offsets[rank], offsets[rank + 1])
        result = list(zip(letters[edges], targets[edges], strict=True))
        expected = oracles.eight_neighbours(state)
        assert result == [(letter, number[after]) for letter, after in expected.items()], state


# ---- heuristics -----------------------------------------------------------------------------


@given(eight_states, eight_states)
def test_features_equal_the_oracles(state: str, goal: str) -> None:
    assert PUZZLE.compute_features(state, goal) == oracles.eight_features(state, goal)


# ---- any goal -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOALS)
def test_a_named_goal_maps_to_itself(name: str) -> None:
    view = PUZZLE.view_goal(GOALS[name])
    assert view.table_goal == name
    assert view.map_state("867254301") == "867254301"


@given(eight_states, eight_states)
def test_goal_views_lead_to_a_named_goal_and_preserve_neighbours(goal: str, state: str) -> None:
    view = PUZZLE.view_goal(goal)
    assert view.map_state(goal) == GOALS[view.table_goal]
    turned = view.map_state(state)
    assert sorted(turned) == sorted(state)
    after = sorted(map(view.map_state, oracles.eight_neighbours(state).values()))
    assert after == sorted(oracles.eight_neighbours(turned).values())
