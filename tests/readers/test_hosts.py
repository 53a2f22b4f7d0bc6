"""Lookups in tables at a host: few bytes, and one round of requests a move."""

import random
from pathlib import Path
from unittest.mock import patch

import polars as pl

from puzzle_tablebase.puzzles.sliding import parse_board
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.tables.range_file import RangeFile
from tests.support.hosts import serve

BOARD = parse_board("3x4")


def test_any_number_of_a_large_list_is_found_in_few_bytes(outputs: Path) -> None:
    columns = ["start", "number", "path"]
    rows = pl.read_parquet(outputs / "knight_tours_6x6.parquet", columns=columns)
    chosen = random.Random(31).sample(range(rows.height), 8)
    for start, number, path in rows[chosen].cast({"start": pl.String}).rows():
        with serve(outputs) as host, open_tables(host.url) as tables:
            assert tables.knight.probe(start, board="6x6", number=number).path == path
            assert host.sent < 1_000_000
            # by its statistics, which compare text, a group of several starts may have any
            assert len(host.requests) <= 4 + 12


def test_a_host_is_asked_once_for_each_move(large_boards: Path) -> None:
    with open_tables(str(large_boards)) as tables:
        states = map(BOARD.unrank, random.Random(31).sample(range(BOARD.size), 10))
        expected = {state: tables.sliding("3x4").path(state) for state in states}
    read = patch.object(RangeFile, "read_parts", autospec=True, side_effect=RangeFile.read_parts)
    with serve(large_boards) as host, open_tables(host.url) as tables, read as rounds:
        for state, path in expected.items():
            rounds.reset_mock()
            assert tables.sliding("3x4").distance(state) == len(path) - 1
            assert tables.sliding("3x4").path(state) == path
            # one more: the first also opens the index
            assert rounds.call_count <= len(path)
        assert all(request.span for request in host.requests[1:])
