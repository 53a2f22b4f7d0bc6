"""`verify` proves ranking tables, and finds every kind of false value in them."""

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.proofs import TableResult, VerifyFailed, knight_ranks, prove
from puzzle_tablebase.pipeline.proofs.claims import Difference, ListedTable
from puzzle_tablebase.pipeline.proofs.knight_ranks import find_bad_layers, find_bad_records
from puzzle_tablebase.pipeline.proofs.tour_walker import HalfBoard
from puzzle_tablebase.pipeline.recipes.tour_keys import decode_layer, encode_layer
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import PUZZLE, make_ranking_table
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.checkpoints import Arrays
from puzzle_tablebase.stores.folder import Folder
from tests.support.build_recorder import build_tables
from tests.support.false_tables import IN_ORDER
from tests.support.tampered import replace_layer, run, story

Numbers = npt.NDArray[np.int64]
ANY = None
"""A number that a case does not name."""


def make_table(board: str) -> Table:
    """Return a ranking table: of open tours for "5x6 open", say, and of closed ones otherwise."""
    name, _, kind = board.partition(" ")
    return make_ranking_table(parse_board(name), closed=not kind)


def open_published(folder: Path, board: str) -> ListedTable:
    store, table = Folder(folder), make_table(board)
    return ListedTable(store, table.name, read_manifest(store)[table.name], PUZZLE, table)


def prove_board(folder: Path, board: str) -> TableResult:
    """Prove the ranking table of one board."""
    listed = open_published(folder, board)
    return run(listed, prove(listed, {}))


@pytest.mark.parametrize(
    ("board", "name"),
    [("10x3", "claims_knight_closed_ranks"), ("5x4 open", "claims_knight_ranks")],
)
def test_claims_about_ranks(
    ranked_boards: Path, golden: Callable[[str, str], None], board: str, name: str
) -> None:
    golden(name, story(prove_board(ranked_boards, board)))


BOARDS = [
    *("5x6", "6x5", "6x6", "5x4 open", "5x5 open"),
    pytest.param("8x3 open", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("board", BOARDS)
def test_ranks_are_proved(ranked_boards: Path, board: str) -> None:
    (verdict,) = prove_board(ranked_boards, board).verdicts
    assert verdict.verdict == "proved"


CHANGES: dict[str, Callable[[Numbers, Numbers], tuple[Numbers, Numbers]]] = {
    "add one": lambda keys, numbers: (keys, numbers + (keys == keys[0])),
    "add state": lambda keys, numbers: (np.append(keys, keys[-1] + 1), np.append(numbers, 1)),
    "remove one": lambda keys, numbers: (keys[1:], numbers[1:]),
    "remove last": lambda keys, numbers: (keys[:-1], numbers[:-1]),
    "change last state": lambda keys, numbers: (np.append(keys[:-1], keys[-1] + 1), numbers),
}
LAYERS = "every layer is counted again from the empty board: each state"
OWN = 1 + HalfBoard(KnightBoard(4, 5), is_open=True).longer
"""The first layer that a start does not share."""
LAST = OWN + 6 + 5
"""The layer of states that pass the cut from the square next to a corner."""


@pytest.mark.parametrize(
    ("board", "layer", "change", "found", "expected"),
    [
        ("5x6", 0, "add one", "ways to the state 0xaaaaa8000000 of layer 0: 2", 1),
        ("5x6", 5, "add one", "ways to the state 0x905628000001 of layer 5: 2", 1),
        ("5x6", 5, "remove one", "ways to the state 0x905628000001 of layer 5: 0", 1),
        ("5x6", 9, "add state", "ways to the state * of layer 9: 1", 0),
        ("5x6", 9, "change last state", "ways to the state * of layer 9: 0", 1),
        ("5x6", 10, "remove one", "ways to the state 0x945514000020 of layer 10: 0", 1),
        ("5x6", 10, "remove last", "ways to the state * of layer 10: 0", 1),
        ("5x6", 11, "add one", "ways to the state * of layer 11: 3", 2),
        ("5x6", 11, "remove one", "ways to the state * of layer 11: 0", 2),
        ("5x6", 11, "change last state", "ways to the state * of layer 11: 0", 2),
        ("4x5 open", OWN, "add one", "ways to the state * of layer 9: 2", 1),
        ("4x5 open", OWN + 2, "change last state", "ways to the state * of layer 11: 0", 1),
        ("4x5 open", LAST, "add one", "ways to the state * of layer 20: *", ANY),
        ("4x5 open", LAST + 1, "change last state", "ways to the state * of layer 21: 0", ANY),
    ],
)
def test_false_layers_are_detected(
    board: str,
    layer: int,
    change: str,
    found: str,
    expected: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def changed(records: Arrays) -> Iterable[Any]:
        firsts, _, states = records
        return encode_layer(*CHANGES[change](*decode_layer(firsts, states)), states.itemsize)

    replace_layer(monkeypatch, layer, changed)
    build_tables(tmp_path, PUZZLE, make_table(board))
    with pytest.raises(VerifyFailed) as caught:
        prove_board(tmp_path, board)
    assert caught.value.claim["claim"].startswith(LAYERS)
    assert fnmatchcase(str(caught.value.found), found)
    assert expected in (ANY, caught.value.expected)


@pytest.mark.parametrize("width", [700, 1_012])
def test_records_of_another_length_are_detected(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Divide a layer into records that hold fewer states than they can, or one more."""

    def divide(records: Arrays) -> Iterable[Any]:
        firsts, sums, states = encode_layer(*decode_layer(records[0], records[2]), width)
        return firsts, sums, states.astype(records[2].dtype)

    replace_layer(monkeypatch, 9, divide)
    build_tables(tmp_path, PUZZLE, make_table("5x6"))
    with pytest.raises(VerifyFailed) as caught:
        prove_board(tmp_path, "5x6")
    assert caught.value.claim["claim"] == IN_ORDER
    assert (caught.value.found, caught.value.expected) == ("layer 9", "one in order")


def split_records(listed: ListedTable) -> list[tuple[int, Any]]:
    """Return the records in two chunks."""
    every = np.concatenate([records for _, records in listed.iter_records()])
    return [(0, every[:5]), (5, every[5:])]


def test_the_record_of_a_later_chunk_is_named(
    ranked_boards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = open_published(ranked_boards, "5x6")
    chunks = split_records(listed)
    chunks[1][1]["before"][2] += 1
    monkeypatch.setattr(ListedTable, "iter_records", lambda self: iter(chunks))
    differences = [each for each in find_bad_records(listed) if not isinstance(each, int)]
    assert [wrong.row for wrong in differences][:1] == [7]


def test_progress_is_the_number_of_the_last_record(ranked_boards: Path) -> None:
    listed = open_published(ranked_boards, "5x6")
    half = HalfBoard(KnightBoard(5, 6), is_open=False)
    shown = [*find_bad_layers(listed, half)]
    assert shown == sorted({*range(1, 4), *shown, listed.index.records})


def test_a_layer_too_many_is_detected(ranked_boards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knight_ranks, "walk_layers", lambda half: iter(()))
    listed = open_published(ranked_boards, "5x6")
    half = HalfBoard(KnightBoard(5, 6), is_open=False)
    assert [*find_bad_layers(listed, half)] == [Difference("layer 0", "0 layers")]
