"""`verify` proves tables with one bit of each distance, and finds any bit that is false."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from pipeline.build import build
from pipeline.build_request import Request
from pipeline.verify import VerifyFailed
from pipeline.verify.sliding import layers, references
from pipeline.verify.sliding.layers import iter_layers
from tablebase.puzzles.sliding import PUZZLE, parse_board
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests.published.test_sliding import Quiet
from tests.support import sliding_oracle as oracle
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import change_header, edit_manifest, place, reseal, sha256
from tests.verify.test_sliding import prove_boards

NAME = "sliding_2x4_8"
GOAL = "12345670"


@pytest.fixture(autouse=True)
def _with_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat boards of 8 cells as large: they have only an index with a bit for each state."""
    treat_as_large(monkeypatch, 8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build(
        Request(Folder(tmp_path), [(PUZZLE, PUZZLE.find_tables("sliding_2x4"))]),
        Quiet(),
    )
    return tmp_path


def vouch(folder: Path, records: bytes) -> None:
    """Make the manifest and the index's header agree with changed records."""
    line = f"bits bits {hashlib.sha256(records).hexdigest()}\n"
    content = hashlib.sha256(line.encode()).hexdigest()
    index = folder / f"{NAME}.idx"
    index.write_bytes(change_header(index.read_bytes(), content=bytes.fromhex(content)))
    with edit_manifest(folder) as entries:
        entries[NAME]["content"] = content
        entries[NAME]["index"] |= {"sha256": sha256(index)}


def flip(folder: Path, ranks: list[int]) -> None:
    """Flip the bits of some states, in a table that agrees with itself otherwise."""
    index = folder / f"{NAME}.idx"
    data = bytearray(index.read_bytes())
    for rank in ranks:
        data[place(data, rank // 360) + rank % 360 // 8] ^= 1 << (rank % 8)
    index.write_bytes(reseal(data))
    begin = place(data, 0)
    vouch(folder, bytes(data[begin : begin + 45 * 56]))


@pytest.mark.parametrize("name", ["2x4", "3x3"])
def test_the_layers_of_the_proof_are_the_oracles(name: str) -> None:
    board = parse_board(name)
    for goal in board.layouts:
        known = oracle.distances(goal, board.height, board.width)
        depth = np.full(board.size, 255)
        for distance, found in iter_layers(board, goal):
            for at in found.list_places(distance):
                bits = np.unpackbits(found.bits[at], bitorder="little").view(bool)
                assert (depth[at * board.orders :][: board.orders][bits] == 255).all()
                depth[at * board.orders :][: board.orders][bits] = distance
        assert all(depth[board.rank(state)] == known[state] for state in known)


def test_a_table_of_bits_is_proved(folder: Path) -> None:
    claims = prove_boards(folder)
    assert [claim.claim for claim in claims][-3:] == [
        "the farthest states are as far as published (OEIS A151944)",
        "as many states are at each distance as published (OEIS A090035)",
        "as many states are at each distance as the proof counted",
    ]
    assert "each bit is bit 1 of the state's distance, layer by layer from the goal" in {
        claim.claim for claim in claims
    }


def test_the_rows_beside_a_table_of_bits_are_proved(tmp_path: Path) -> None:
    tables = PUZZLE.find_tables("sliding_2x4", with_rows=True)
    build(Request(Folder(tmp_path), [(PUZZLE, tables)]), Quiet())
    claims = {claim.claim: claim.rows for claim in prove_boards(tmp_path)}
    assert claims["every row is its rank's state, distance, best moves and manhattan"] == 20_160


@pytest.mark.parametrize("rank", [0, 1, 361, 7777, 20_159])
def test_a_wrong_bit_is_named_with_its_state(folder: Path, rank: int) -> None:
    state = parse_board("2x4").unrank(rank, GOAL)
    distance = oracle.distances(GOAL, 2, 4)[state]
    flip(folder, [rank])
    with pytest.raises(VerifyFailed) as reported:
        prove_boards(folder)
    error = reported.value
    assert (error.row, error.content) == (rank, {"state": state, "distance": distance})
    assert (error.found, error.expected) == (
        f"bit {1 - (distance >> 1 & 1)}",
        f"{distance >> 1 & 1}",
    )
    flip(folder, [rank])
    assert prove_boards(folder)


def test_values_that_go_in_a_circle_are_detected(folder: Path) -> None:
    """Add 2 to the values of all states but those near the goal: most neighbours still agree."""
    board, known = parse_board("2x4"), oracle.distances(GOAL, 2, 4)
    flip(folder, [board.rank(state) for state, distance in known.items() if distance > 12])
    with pytest.raises(VerifyFailed) as reported:
        prove_boards(folder)
    assert reported.value.content["distance"] == 13


def test_the_content_hash_is_computed_from_the_records(folder: Path) -> None:
    vouch(folder, b"other records")
    with pytest.raises(VerifyFailed, match="content hash"):
        prove_boards(folder)


def test_layers_are_compared_with_published_ones(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(references.LAYERS, NAME, references.LAYERS[NAME].replace(" 85", " 86"))
    with pytest.raises(VerifyFailed, match="OEIS A090035"):
        prove_boards(folder)


def test_states_out_of_reach_are_detected(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "move_tiles", lambda *arguments: None)
    with pytest.raises(VerifyFailed) as reported:
        prove_boards(folder)
    assert reported.value.expected == 20_160


def list_layer_sizes() -> str:
    return str(
        [
            int(np.bitwise_count(found.bits).sum())
            for _, found in iter_layers(parse_board("2x4"), GOAL)
        ]
    )


def test_the_manifest_lists_rows_of_360_states(folder: Path) -> None:
    entry = read_manifest(Folder(folder))[NAME]
    assert (entry.rows, entry.index and entry.index.records) == (56, 56)
