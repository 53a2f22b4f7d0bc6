"""`verify` proves the numbers of closed tours, and finds every kind of untruth about them."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pipeline.making import numbered_cycles
from pipeline.verify import VerifyFailed, prove
from pipeline.verify.claims import Claim, Listener, unheard
from pipeline.verify.knight import cycles
from pipeline.verify.listed import Listed, check_files
from tablebase.packed import packed, unpacked
from tablebase.puzzles.closed_tours import Contradiction, Numbers
from tablebase.puzzles.knight import PUZZLE, cycles_table
from tablebase.puzzles.knight_board import parse_board
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests import wide
from tests.support.falsified import Story
from tests.support.recorder import built

Layer = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
Change = Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64]], Layer]


def proved(folder: Path, board: str, story: Listener = unheard) -> list[Claim]:
    """Prove the numbers of one board."""
    store, claims, table = Folder(folder), list[Claim](), cycles_table(parse_board(board))

    def heard(claim: Claim, done: int) -> None:
        claims.extend([claim] if claim.passed else [])
        story(claim, done)

    listed = Listed(store, table.name, read_manifest(store)[table.name], PUZZLE, table, heard)
    check_files(listed)
    prove([listed])
    return claims


def test_what_is_told_of_numbers(numbered: Path, golden: Callable[[str, str], None]) -> None:
    story = Story()
    proved(numbered, "10x3", story)
    golden("claims_knight_cycles", "".join(story))


@pytest.mark.parametrize("board", ["5x6", "6x5", pytest.param("6x6", marks=wide)])
def test_numbers_are_proved(numbered: Path, board: str) -> None:
    texts = [claim.claim for claim in proved(numbered, board)]
    assert len(texts) == len({*texts}) == 7
    assert any(text.startswith("each number is another closed tour: ") for text in texts)


def test_some_numbers_of_many_are_proved(numbered: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycles, "FEW", 9000)
    monkeypatch.setattr(cycles, "SMALL", 0)
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


LAYERS, KNOWN = "each state's number is the sum", "as many closed tours as known"
NUMBERS = "closed tour"


@pytest.mark.parametrize(
    ("layer", "change", "claim"),
    [
        (0, one_more, LAYERS),
        (5, one_more, LAYERS),
        (5, one_less, LAYERS),
        (9, of_another_state, LAYERS),
        (10, one_less, LAYERS),
        (11, one_more, KNOWN),
        (11, one_less, KNOWN),
        (11, of_another_state, NUMBERS),
    ],
)
def test_untruths_are_found(
    layer: int,
    change: Change,
    claim: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layers = numbered_cycles._layers

    def written(*given: Any) -> list[Any]:
        found: list[Any] = [*layers(*given)]
        firsts, _, states = found[layer]
        found[layer] = [*packed(*change(*unpacked(firsts, states)), states.itemsize)]
        return found

    monkeypatch.setattr(numbered_cycles, "_layers", written)
    built(tmp_path, PUZZLE, cycles_table(parse_board("5x6")))
    with pytest.raises(VerifyFailed, match=claim):
        proved(tmp_path, "5x6")


@pytest.mark.parametrize(
    ("layer", "order", "claim"),
    [(12, -1, "layer after layer, the keys ascend"), (11, 1, NUMBERS)],
)
def test_records_that_are_exchanged_are_found(
    layer: int, order: int, claim: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The records of a layer in another order, or with the numbers of other states."""
    layers = numbered_cycles._layers

    def written(*given: Any) -> list[Any]:
        found: list[Any] = [*layers(*given)]
        firsts, sums, states = found[layer]
        found[layer] = [firsts[::order] + (order > 0), sums[::order], states[::order]]
        return found

    monkeypatch.setattr(numbered_cycles, "_layers", written)
    monkeypatch.setattr(cycles, "SMALL", 0)
    monkeypatch.setattr(cycles, "FEW", 9000)
    built(tmp_path, PUZZLE, cycles_table(parse_board("6x6")))
    with pytest.raises(VerifyFailed, match=claim):
        proved(tmp_path, "6x6")


Tours = Callable[[int], list[int]]


def no_tour(tour: Tours) -> list[int]:
    raise Contradiction("no state leads there")


@pytest.mark.parametrize(
    ("lie", "row", "found", "expected"),
    [
        (no_tour, 5, "no state leads there", "a closed tour"),
        (lambda tour: [*tour(5)[:-1], 0], 5, "[[]0, *, 0]", "every square once"),
        (lambda tour: [*tour(5), 0], 5, "[[]0, *, 0]", "every square once"),
        (lambda tour: tour(5)[1::-1] + tour(5)[2:], 5, "a1 to e1", "a jump"),
        (lambda tour: tour(4), 5, "a tour of a lower number", "another one"),
        (lambda tour: tour(5), None, "number of the tour of 5: 4", 5),
    ],
)
def test_numbers_that_are_not_of_other_tours_are_found(
    lie: Callable[[Tours], list[int]],
    row: int | None,
    found: str,
    expected: object,
    numbered: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def squares(self: Numbers, number: int, start: int) -> list[int]:
        asked.append(number)
        return lie(lambda of: true(self, of, start)) if number == 5 else true(self, number, start)

    true = Numbers.squares
    monkeypatch.setattr(Numbers, "squares", squares)
    back = {5: 4} if row is None else {}
    monkeypatch.setattr(Numbers, "number", lambda *given: back.get(asked[-1], asked[-1]))
    with pytest.raises(VerifyFailed) as caught:
        proved(numbered, "5x6")
    failure = caught.value
    assert (failure.row, failure.expected) == (row, expected)
    assert fnmatchcase(str(failure.found), found)
