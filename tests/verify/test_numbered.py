"""`verify` proves the numbers of tours, and finds every kind of untruth about them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pipeline.making import numbered_tours
from pipeline.verify import VerifyFailed
from pipeline.verify.claims import Claim, Listener, Seen, unheard
from pipeline.verify.knight import numbered as proof
from pipeline.verify.knight.numbered import prove_numbered
from pipeline.verify.listed import Listed, check_files
from tablebase.packed import packed, unpacked
from tablebase.puzzle import Table
from tablebase.puzzles.knight import COUNTS, PUZZLE, cycles_table, numbers_table
from tablebase.puzzles.knight_board import Board, parse_board
from tablebase.puzzles.numbered_tours import Sweep
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests import first
from tests.support.falsified import Story
from tests.support.recorder import built
from tests.support.tour_lists import all_tours

Layer = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
Change = Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64]], Layer]


def table_of(board: str) -> Table:
    """Of "5x6 open", say, the numbers of open tours; else of closed ones."""
    name, _, kind = board.partition(" ")
    return (numbers_table if kind else cycles_table)(parse_board(name))


def proved(
    folder: Path, board: str, story: Listener = unheard, seen: Seen | None = None
) -> list[Claim]:
    """Prove the numbers of one board."""
    store, claims, table = Folder(folder), list[Claim](), table_of(board)

    def heard(claim: Claim, done: int) -> None:
        claims.extend([claim] if claim.passed else [])
        story(claim, done)

    listed = Listed(store, table.name, read_manifest(store)[table.name], PUZZLE, table, heard)
    check_files(listed)
    prove_numbered(listed, seen or {})
    return claims


def test_what_is_told_of_numbers(numbered: Path, golden: Callable[[str, str], None]) -> None:
    story = Story()
    proved(numbered, "10x3", story)
    golden("claims_knight_cycles", "".join(story))


def test_what_is_told_of_the_numbers_of_open_tours(
    numbered: Path, golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "FEW", 0)
    monkeypatch.setattr(proof, "SOME", 5)
    story, totals = Story(), [*map(len, all_tours(5, 4))]
    proved(numbered, "5x4 open", story, {COUNTS: {"5x4": {"tours": totals}}})
    golden("claims_knight_numbers", "".join(story))


def test_other_numbers_of_tours_than_counted_are_found(numbered: Path) -> None:
    totals = [*map(len, all_tours(5, 4))]
    totals[1], totals[3] = totals[1] + 1, totals[3] - 1
    with pytest.raises(VerifyFailed) as failed:
        proved(numbered, "5x4 open", seen={COUNTS: {"5x4": {"tours": totals}}})
    claim = "there are as many tours from each square as known (knight_counts)"
    assert failed.value.claim.claim == claim
    assert "found tours from b1: 7, expected 8" in str(failed.value)


BOARDS = "5x6", "6x5", "5x4 open", "8x3 open", "6x6"


@pytest.mark.parametrize("board", first(3, BOARDS))
def test_numbers_are_proved(numbered: Path, board: str) -> None:
    texts = [claim.claim for claim in proved(numbered, board)]
    assert len(texts) == len({*texts}) == 7
    which = "of a start is another" if "open" in board else "is another closed"
    assert any(text.startswith(f"each number {which} tour: ") for text in texts)


def test_some_numbers_of_many_are_proved(numbered: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "FEW", 9000)
    monkeypatch.setattr(proof, "SMALL", 0)
    claims = proved(numbered, "6x6")
    assert [claim.rows for claim in claims][-2:] == [9862, 200]
    assert claims[-1].claim == (
        "200 numbers are closed tours: it visits each square once, by knight's jumps; the tour "
        "gives its number back"
    )


def one_more(keys: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> Layer:
    return keys, numbers + (keys == keys[0])


def one_less(keys: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> Layer:
    return keys[1:], numbers[1:]


def of_another_state(keys: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> Layer:
    return np.append(keys[:-1], keys[-1] + 1), numbers


LAYERS, KNOWN = "each state's number is the sum", "as many (closed )?tours as known"
NUMBERS = "is another (closed )?tour"


OWN = 1 + Sweep(Board(4, 5), paths=True).longer
"""The first layer of a start's own."""
LAST = Sweep(Board(4, 5), paths=True).routes[1].cut
"""What passes the cut from a corner."""


@pytest.mark.parametrize(
    ("board", "layer", "change", "claim"),
    [
        ("5x6", 0, one_more, LAYERS),
        ("5x6", 5, one_more, LAYERS),
        ("5x6", 5, one_less, LAYERS),
        ("5x6", 9, of_another_state, LAYERS),
        ("5x6", 10, one_less, LAYERS),
        ("5x6", 11, one_more, KNOWN),
        ("5x6", 11, one_less, KNOWN),
        ("5x6", 11, of_another_state, NUMBERS),
        ("4x5 open", 3, one_more, LAYERS),
        ("4x5 open", OWN, one_more, LAYERS),
        ("4x5 open", OWN + 1, one_less, LAYERS),
        ("4x5 open", OWN + 2, of_another_state, LAYERS),
        ("4x5 open", LAST, one_more, KNOWN),
        ("4x5 open", LAST, of_another_state, NUMBERS),
    ],
)
def test_untruths_are_found(
    board: str,
    layer: int,
    change: Change,
    claim: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layers = numbered_tours._layers

    def written(*given: Any) -> list[Any]:
        found: list[Any] = [*layers(*given)]
        firsts, _, states = found[layer]
        found[layer] = [*packed(*change(*unpacked(firsts, states)), states.itemsize)]
        return found

    monkeypatch.setattr(numbered_tours, "_layers", written)
    built(tmp_path, PUZZLE, table_of(board))
    with pytest.raises(VerifyFailed, match=claim):
        proved(tmp_path, board)


@pytest.mark.parametrize(
    ("layer", "order", "claim"),
    [(12, -1, "layer after layer, the keys ascend"), (11, 1, "numbers are closed tours")],
)
def test_records_that_are_exchanged_are_found(
    layer: int, order: int, claim: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The records of a layer in another order, or with the numbers of other states."""
    layers = numbered_tours._layers

    def written(*given: Any) -> list[Any]:
        found: list[Any] = [*layers(*given)]
        firsts, sums, states = found[layer]
        found[layer] = [firsts[::order] + (order > 0), sums[::order], states[::order]]
        return found

    monkeypatch.setattr(numbered_tours, "_layers", written)
    monkeypatch.setattr(proof, "SMALL", 0)
    monkeypatch.setattr(proof, "FEW", 9000)
    built(tmp_path, PUZZLE, cycles_table(parse_board("6x6")))
    with pytest.raises(VerifyFailed, match=claim):
        proved(tmp_path, "6x6")
