"""The walker of the proofs counts closed tours and states, and numbers and closes matchings."""

import random
from pathlib import Path

import numpy as np
import pytest

from puzzle_tablebase.pipeline.proofs import knight_tours
from puzzle_tablebase.pipeline.proofs.tour_walker import (
    MATCHING_BITS,
    HalfBoard,
    close_matchings,
    decode_state,
    list_sources,
    make_matching_code,
    walk,
)
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import make_ranking_table
from tests.support.tampered import prove_one


def test_the_walker_counts_each_closed_tour_once() -> None:
    for (files, ranks), tours in (((3, 10), 16), ((5, 6), 8), ((4, 5), 0)):
        assert walk(HalfBoard(KnightBoard(files, ranks), is_open=False)) == {None: tours}


def test_matchings_are_numbered_in_order() -> None:
    """Decode each matching of up to four pairs and encode it again, with other cells between."""
    mate, seen = np.empty(20, dtype=np.int64), set[tuple[int, ...]]()
    for pairs, count in ((1, 1), (2, 3), (3, 15), (4, 105)):
        cells = sorted(random.Random(pairs).sample(range(18), 2 * pairs))
        needs, before = sum(1 << 2 * cell for cell in cells), [-1]
        for number in range(count):
            assert decode_state(needs << MATCHING_BITS | number, mate) == needs
            assert make_matching_code(needs, mate) == number
            mates = [cells.index(mate[cell]) for cell in cells]
            assert before < mates
            assert all(mates[mates[end]] == end != mates[end] for end in range(2 * pairs))
            before = mates
            seen.add(tuple(mates))
    assert len(seen) == 124


@pytest.mark.parametrize("pairs", [1, 2, 3, 4])
def test_matchings_are_closed_as_by_trying_all(pairs: int) -> None:
    count, cells = [1, 1, 3, 15, 105][pairs], range(2 * pairs)
    needs, mates = sum(1 << 2 * cell for cell in cells), []
    for number in range(count):
        mate = np.empty(20, dtype=np.int64)
        decode_state(needs << MATCHING_BITS | number, mate)
        mates.append(mate.tolist())
    values = np.array([random.Random(number).randrange(1000) for number in range(count)])

    def closes(one: list[int], other: list[int]) -> bool:
        end, visited = other[one[0]], 2
        while end:
            end, visited = other[one[end]], visited + 2
        return visited == 2 * pairs

    expected = [
        sum(int(values[at]) for at, other in enumerate(mates) if closes(one, other))
        for one in mates
    ]
    spare = np.zeros_like(values)
    assert close_matchings(values.copy(), spare, pairs, *list_sources(pairs)).tolist() == expected


BOARDS = ["6x5", "6x6", "5x4 open", "5x5 open", pytest.param("8x3 open", marks=pytest.mark.slow)]


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("records", [1, 3, knight_tours.PART_RECORDS])
def test_ranks_are_proved(
    ranked_boards: Path, board: str, records: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knight_tours, "PART_RECORDS", records)
    """Make few records or many at a time."""
    name, _, suffix = board.partition(" ")
    table = make_ranking_table(parse_board(name), closed=not suffix)
    (verdict,) = prove_one(ranked_boards, table.name).verdicts
    assert verdict.verdict == "proved"
