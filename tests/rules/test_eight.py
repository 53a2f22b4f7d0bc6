"""The rules of the 8-puzzle: notation, ranks, moves, heuristics, and any goal as a named one."""

import re
from itertools import permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from puzzle_tablebase.errors import NotationError
from puzzle_tablebase.notation.sliding import GOALS
from puzzle_tablebase.puzzles.sliding import EIGHT
from tests import usual_or_nightly
from tests.support import oracles
from tests.support.board_layouts import SEPARATORS
from tests.support.strategies import eight_states

STATES = ["".join(digits) for digits in permutations("012345678")]
"""Every state, in notation order, by itertools alone."""


def test_ranks_number_every_state() -> None:
    assert len(STATES) == EIGHT.size
    assert [EIGHT.rank(state) for state in STATES] == list(range(EIGHT.size))
    assert [EIGHT.unrank(rank) for rank in range(EIGHT.size)] == STATES
    assert [state.decode() for state in EIGHT.list_states().tolist()] == STATES


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


def test_the_graph_has_every_move_of_a_state() -> None:
    number = {state: rank for rank, state in enumerate(STATES)}
    graph = EIGHT.make_graph()
    offsets, targets = graph.offsets.tolist(), graph.targets.tolist()
    letters = ["UDLR"[label] for label in graph.labels.tolist()]
    assert len(offsets) == len(STATES) + 1
    for rank in range(0, len(STATES), usual_or_nightly(11, 1)):
        state, edges = STATES[rank], slice(offsets[rank], offsets[rank + 1])
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
