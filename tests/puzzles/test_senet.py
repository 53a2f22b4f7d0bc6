"""The rules of Senet: notation, ranks, moves of both sides, and the graph that is searched."""

import re
from collections import defaultdict
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from puzzle_tablebase.errors import NotationError
from puzzle_tablebase.notation.senet import OPENING, format_move
from puzzle_tablebase.puzzles.senet import PUZZLE, SIZE, moves, swap_squares
from tests.support import oracles
from tests.support.board_layouts import SEPARATORS
from tests.support.strategies import senet_positions


def list_positions() -> list[str]:
    """List every position, in notation order: one of its first 8 squares, one of the others."""
    ends = defaultdict[tuple[int, ...], list[str]](list)
    for marks in product(".AB", repeat=7):
        ends[tuple(map(marks.count, ".AB"))].append("".join(marks))
    return [
        "".join(marks) + end
        for marks in product(".AB", repeat=8)
        for end in ends[tuple(5 - marks.count(mark) for mark in ".AB")]
    ]


def test_every_position_is_numbered() -> None:
    expected = list_positions()
    assert len(expected) == SIZE
    assert [position.decode() for position in PUZZLE.list_states().tolist()] == expected
    for number in range(0, SIZE, 97):
        assert PUZZLE.unrank(number) == expected[number]
        assert PUZZLE.rank(expected[number]) == number


NO_POSITIONS = [
    *(" \t", "A", "B" * 15, "AAAAAAABBB.....", "ABABABABAB....", "ababababab....c"),
    *("ABABA-BABAB....", "ABABABABAB00000", "ABABABABAB    ", "ABAAABBB B   A", "ＡBABABABAB....."),
]


@given(st.sampled_from(NO_POSITIONS) | st.text(alphabet=".AB ", max_size=17) | st.text(max_size=17))
def test_any_text_but_a_position_is_rejected(text: str) -> None:
    squares = re.sub(SEPARATORS, "", text).replace("_", ".").upper()
    assume(sorted(OPENING) != sorted(squares))
    with pytest.raises(NotationError) as caught:
        PUZZLE.parse(text)
    assert (caught.value.text, caught.value.exit_code) == (text, 2)


@given(senet_positions)
def test_a_printed_position_can_be_pasted_back(position: str) -> None:
    pieces = "".join(f"{piece:>3}" for piece in position)
    squares = "".join(f"{square:3}" for square in range(1, 16))
    for text in (pieces, f"{pieces}\n{squares}", f"{pieces}\n{squares}\n\n"):
        assert PUZZLE.parse(text) == position
    with pytest.raises(NotationError):
        PUZZLE.parse(squares)


@given(senet_positions, st.sampled_from("AB"))
def test_moves_equal_the_oracles_in_order(position: str, mover: str) -> None:
    expected = oracles.senet_successors(position, mover)
    assert list(moves(position, mover)) == [
        (throw, start, after) for throw, start, _, _, after in expected
    ]
    for throw, start, target, is_swap, after in expected:
        assert format_move(position, throw, start) == f"{start}{'x' if is_swap else '-'}{target}"
        assert swap_squares(position, start, target) == after
        assert swap_squares(after, start, target) == position


def test_the_graph_has_every_move_of_both_sides() -> None:
    graph = PUZZLE.make_graph()
    assert len(graph.offsets) == 2 * SIZE + 1
    assert graph.offsets[-1] == len(graph.targets) == len(graph.labels)
    chosen = [*range(0, SIZE, 397), PUZZLE.rank(OPENING), SIZE - 1]
    edges = 0
    for rank in chosen:
        position = PUZZLE.unrank(rank)
        for side, mover in enumerate("AB"):
            node = rank + side * SIZE
            result = slice(graph.offsets[node], graph.offsets[node + 1])
            targets, labels = graph.targets[result].tolist(), graph.labels[result].tolist()
            after = oracles.senet_successors(position, mover)
            assert labels == [throw * 16 + start for throw, start, *_ in after], (position, mover)
            assert targets == [PUZZLE.rank(move[4]) + (1 - side) * SIZE for move in after]
            edges += len(after)
    assert len(chosen) > 1900
    assert edges > 8 * len(chosen)
