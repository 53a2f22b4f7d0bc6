"""Tests of what `docs/index-format.md` says of each puzzle's records, against the real files."""

import struct
from itertools import combinations, pairwise
from math import factorial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from queries.api import Tables
from tablebase.puzzles import eight, senet
from tablebase.puzzles.knight import tables as knight
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.tables.index_format import BODY_BYTES
from tests.support.default_tables import INDEXES
from tests.support.format_page import (
    all_records,
    layout_of,
    number_in,
    numbers_in,
    parse_place,
    place_of,
    record_of,
    section,
    tables_under,
)

EIGHT = "8-puzzle: "
SENET = "Senet: "
KNIGHT = "Knight's tours: "
BOARD = KnightBoard(*knight.PAIRS_BOARD)

# ---- 8-puzzle -----------------------------------------------------------------


def _find_odd_states() -> npt.NDArray[np.bool_]:
    """Return for every state whether an odd number of tile pairs are out of order."""
    cells = eight.PUZZLE.list_states().view(np.uint8).reshape(-1, 9)
    odd = np.zeros(len(cells), dtype=np.bool_)
    for first, later in combinations(range(9), 2):
        odd ^= (cells[:, later] < cells[:, first]) & (cells[:, later] != ord("0"))
    return odd


def test_the_records_of_the_8_puzzle(outputs: Path) -> None:
    layout = tables_under(EIGHT)[0]
    for file in ("eight.idx", "eight_edge.idx"):
        assert layout_of(layout) == INDEXES[file].record_format
        assert [row["field"] for row in layout] == [name for name, _ in INDEXES[file].index]
        fields = all_records(outputs, INDEXES[file])
        assert len(fields) == factorial(9)
        unreached = fields[:, 0] == 255
        assert np.array_equal(unreached, fields[:, 1] == 0)
        assert np.array_equal(unreached, _find_odd_states() & (file == "eight_edge.idx"))


def test_the_goal_follows_from_the_pairs_out_of_order() -> None:
    even, odd = (row for row in tables_under(EIGHT)[1])
    in_eight, in_edge = list(even)[1:]
    assert even[in_eight] == _name_layout("corner")
    assert odd[in_eight] == _name_layout("centre")
    assert even[in_edge] == _name_layout("edge")
    assert not eight.is_odd(eight.LAYOUTS["corner"])
    assert not eight.is_odd(eight.LAYOUTS["edge"])
    assert eight.is_odd(eight.LAYOUTS["centre"])


def _name_layout(layout: str) -> str:
    return f"{eight.LAYOUTS[layout]}, called {layout}"


def test_the_worked_rank_of_the_8_puzzle() -> None:
    *rows, total = tables_under(EIGHT)[2]
    state = "".join(row["digit"] for row in rows)
    assert f"For `{state}`, the tiles alone" in section(EIGHT)
    for cell, row in enumerate(rows):
        after = [digit for digit in state[cell:] if digit < state[cell]]
        assert [int(row["cell"]), int(row["smaller digits after it"])] == [cell, len(after)]
        assert int(row["smaller tiles after it"]) == len(set(after) - {"0"})
        assert number_in(row["factorial"]) == factorial(8 - cell)
        assert number_in(row["product"]) == factorial(8 - cell) * len(after)
    assert number_in(total["product"]) == sum(numbers_in(rows, "product")) == eight.rank(state)
    pairs = number_in(total["smaller tiles after it"])
    assert pairs == sum(numbers_in(rows, "smaller tiles after it"))
    _, at = place_of(2, eight.rank(state))
    text = f"{pairs} is even: the goal is corner. [Its record](#a-worked-example) begins at byte"
    assert f"{text} {at:,}." in section(EIGHT)


def test_the_example_records_of_the_8_puzzle(outputs: Path) -> None:
    rows = tables_under(EIGHT)[3]
    assert {row["file"] for row in rows} == {"eight.idx", "eight_edge.idx"}
    for row in rows:
        table = INDEXES[row["file"]]
        rank = eight.rank(eight.parse(row["state"]))
        record = record_of(outputs, table, rank)
        assert (number_in(row["rank"]), *parse_place(row)) == (rank, *place_of(2, rank))
        assert bytes.fromhex(row["record"]) == record
        assert [int(row["distance"]), int(row["solutions"])] == list(record)


def test_the_worked_solution_of_the_8_puzzle(tables: Tables) -> None:
    rows = tables_under(EIGHT)[4]
    table = tables.eight
    states = [row["state"] for row in rows]
    assert f"From `{states[0]}`:" in section(EIGHT)
    assert states == table.path(states[0])
    assert "".join(row["taken"] for row in rows) == table.solution(states[0])
    for row in rows:
        state = row["state"]
        assert number_in(row["rank"]) == eight.rank(state)
        assert int(row["distance"]) == table.distance(state)
        after = [
            f"{letter} {table.distance(neighbour)}" for letter, neighbour in eight.moves(state)
        ]
        assert row["distances after each move"] == ", ".join(after)


# ---- Senet --------------------------------------------------------------------


def test_the_records_of_senet(outputs: Path) -> None:
    table = INDEXES["senet.idx"]
    layout = tables_under(SENET)[0]
    assert layout_of(layout) == table.record_format
    assert [row["field"] for row in layout] == [name for name, _ in table.index]
    kind = np.dtype([(name, f"<u{struct.calcsize(letter)}") for name, letter in table.index])
    result = all_records(outputs, table).view(kind).ravel()
    fewest = np.minimum(result["plies_even"], result["plies_odd"])
    assert np.array_equal(result["lines"] == 0, fewest == 255)
    opening = np.arange(len(result)) == senet.rank(senet.OPENING)
    for side in ("even", "odd"):
        plies, last = result[f"plies_{side}"], result[f"last_{side}"]
        reached = plies != 255
        assert np.all(plies[reached] % 2 == (side == "odd"))
        assert np.array_equal(last == 0, ~reached | (opening & (side == "even")))
    largest = max(
        int(result[name][result[name] < 255].max()) for name in ("plies_even", "plies_odd")
    )
    text = (
        f"Plies are at most {largest}, the smaller of the two at most {fewest[fewest < 255].max()}."
    )
    assert text in " ".join(section(SENET).split())


def test_the_worked_rank_of_senet() -> None:
    rows = tables_under(SENET)[1]
    position = "".join(row["character"] for row in rows)
    assert f"For `{position}`:" in section(SENET)
    assert numbers_in(rows, "square") == list(range(1, 16))
    total = 0
    for at, row in enumerate(rows):
        remaining = {piece: position[at:].count(piece) for piece in ".AB"}
        assert [int(count) for count in row["left: . A B"].split()] == list(remaining.values())
        for smaller in ".A":
            arrangements = 0
            if smaller < row["character"] and remaining[smaller]:
                remaining_after = {**remaining, smaller: remaining[smaller] - 1}
                arrangements = factorial(sum(remaining_after.values()))
                for count in remaining_after.values():
                    arrangements //= factorial(count)
            shown = row[f"with {smaller} here"]
            assert arrangements == (number_in(shown) if shown else 0)
            total += arrangements
    assert total == senet.rank(position)
    text = " ".join(section(SENET).split())
    assert (
        f"columns, {total:,}, is the rank. A block holds {BODY_BYTES // 8} records of 8 bytes,"
        in text
    )
    block, at = place_of(8, total)
    assert f"record {total % 511} of block {block} and begins at byte" in text
    assert f"= {at:,}." in text


def test_the_example_records_of_senet(outputs: Path) -> None:
    table = INDEXES["senet.idx"]
    rows = tables_under(SENET)[2]
    assert len(rows) > 1
    for row in rows:
        rank = senet.rank(senet.parse(row["position"]))
        record = record_of(outputs, table, rank)
        assert (number_in(row["rank"]), *parse_place(row)) == (rank, *place_of(8, rank))
        assert bytes.fromhex(row["record"]) == record
        values = [number_in(row[name]) for name, _ in table.index]
        assert values == list(struct.unpack(table.record_format, record))


def test_the_worked_line_of_senet(outputs: Path, tables: Tables) -> None:
    """Follow each step as the document describes it."""
    table = INDEXES["senet.idx"]
    names = [name for name, _ in table.index]
    rows = tables_under(SENET)[3]
    for row, before in pairwise(rows):
        position, plies = row["position"], int(row["plies"])
        record = record_of(outputs, table, senet.rank(position))
        values = dict(zip(names, struct.unpack(table.record_format, record), strict=True))
        side = ("even", "odd")[plies % 2]
        assert row["field"] == f"last_{side}"
        assert [values[f"plies_{side}"], values[f"last_{side}"]] == [plies, int(row["last move"])]
        throw, start, end = (int(row[key]) for key in ("throw", "from", "to"))
        assert (16 * throw + start, start + throw) == (int(row["last move"]), end)
        squares = list(position)
        squares[start - 1], squares[end - 1] = squares[end - 1], squares[start - 1]
        assert (before["position"], int(before["plies"])) == ("".join(squares), plies - 1)
    assert rows[-1]["position"] == senet.OPENING
    assert f"The opening is\n`{senet.OPENING}`" in section(SENET)
    dice = [row["throw"] for row in rows[-2::-1]]
    assert "".join(dice) == tables.senet.probe(rows[0]["position"]).dice
    assert f"the line with the throws {', '.join(dice)}." in section(SENET)


# ---- knight -------------------------------------------------------------------


def test_the_records_of_the_knight(outputs: Path) -> None:
    table = INDEXES["knight_tours_8x8.idx"]
    layout = tables_under(KNIGHT)[0]
    assert layout_of(layout) == table.record_format
    tours = all_records(outputs, table)
    assert np.array_equal(32 * tours[:, 0].astype(int) + tours[:, 63] // 2, np.arange(len(tours)))
    for start in range(64):
        others = [end for end in range(64) if BOARD.is_light(end) != BOARD.is_light(start)]
        assert tours[32 * start : 32 * (start + 1), 63].tolist() == others
    assert "a1 is 0, b1 is 1, h8 is 63" in section(KNIGHT)
    assert [BOARD.name_square(square) for square in (0, 1, 63)] == ["a1", "b1", "h8"]


def test_the_example_records_of_the_knight(outputs: Path) -> None:
    table = INDEXES["knight_tours_8x8.idx"]
    rows = tables_under(KNIGHT)[1]
    assert len(rows) > 1
    for row in rows:
        ends = []
        for cell in (row["start"], row["finish"]):
            name, number = cell.split(" = ")
            ends.append(BOARD.parse_square(name))
            assert ends[-1] == int(number)
        rank = 32 * ends[0] + ends[1] // 2
        record = record_of(outputs, table, rank)
        assert (number_in(row["record"]), *parse_place(row)) == (rank, *place_of(64, rank))
        assert bytes.fromhex(row["first squares"]) == record[:4]
        assert bytes.fromhex(row["last squares"]) == record[-4:]
