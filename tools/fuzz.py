"""Coverage-guided fuzzing of parsers and readers: `make fuzz`, for FUZZ_SECONDS.

For any bytes, a parser returns a value that stays the same when written and parsed again, or raises
a TablebaseError. A damaged index or manifest gives the published values, or raises; so does a walk
through a board's bits.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import struct
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import atheris

from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import Folder

with atheris.instrument_imports(include=["puzzle_tablebase"]):
    from puzzle_tablebase.errors import TablebaseError
    from puzzle_tablebase.formats.manifest import parse_manifest, read_versions
    from puzzle_tablebase.notation.senet import OPENING, parse_position
    from puzzle_tablebase.pipeline.build import precompute
    from puzzle_tablebase.pipeline.commands.puzzles import ROWS
    from puzzle_tablebase.pipeline.run import parse_simple_words
    from puzzle_tablebase.puzzles import senet, sliding
    from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
    from puzzle_tablebase.puzzles.sliding import EIGHT
    from puzzle_tablebase.queries.files import IndexReader
    from puzzle_tablebase.queries.tables import open_tables
    from puzzle_tablebase.registry import get_puzzle

SEEDS = ("123456780", "1 5 2 7 0 3 8 4 6", OPENING, "b1", "8x8", "--to c3 --closed b1")
FOLDER = Path(tempfile.mkdtemp())
OUTPUTS = Path(__file__).resolve().parents[1] / "outputs"
ENTRIES = read_versions(Folder(OUTPUTS))
BOARDS = ("2x3", "2x4")
"""The boards whose indexes are fuzzed: with a byte for each state, and with a bit."""
sliding.MAX_SMALL_CELLS = 7


class Index(NamedTuple):
    """An index with its bytes and its records, as they are published."""

    table: Table
    intact: bytes
    records: bytes

    def get_record(self, rank: int) -> tuple[object, ...]:
        width = struct.calcsize(self.table.record_format)
        return struct.unpack_from(self.table.record_format, self.records, rank * width)


def read_indexes() -> list[Index]:
    """Publish an index of each puzzle in the fuzzed folder, and return their contents."""
    shutil.copy(OUTPUTS / "manifest.json", FOLDER)
    tables = [get_puzzle(name).tables[0] for name in ("eight", "senet")]
    tables.append(get_puzzle("knight").tables[2])
    for table in tables:
        shutil.copy(OUTPUTS / table.index_file, FOLDER)
    precompute(*(f"sliding_{board}" for board in BOARDS), outputs=FOLDER, quiet=True)
    find_tables = get_puzzle("sliding").find_tables
    boards = [table for board in BOARDS for table in find_tables(f"sliding_{board}")]
    return [
        Index(
            table,
            (FOLDER / table.index_file).read_bytes(),
            bytes(IndexReader(Folder(FOLDER), table).read_records()),
        )
        for table in (*tables, *boards)
    ]


INDEXES = read_indexes()


def find_distance(board: str, state: str) -> int:
    """Find a board's distance in the fuzzed folder."""
    with open_tables(str(FOLDER)) as tables:
        return tables.sliding(board).distance(state)


with open_tables(str(FOLDER)) as opened:
    DISTANCES = {board: opened.sliding(board).sample(64).rows() for board in BOARDS}
"""Some states of each board, each with its goal and distance."""


def check_parsers(text: str) -> None:
    with contextlib.suppress(TablebaseError):
        state = EIGHT.parse(text)
        assert EIGHT.unrank(EIGHT.rank(state)) == state
    with contextlib.suppress(TablebaseError):
        position = parse_position(text)
        assert senet.unrank(senet.rank(position)) == position
    with contextlib.suppress(TablebaseError):
        board = parse_board(text)
        assert str(parse_board(str(board))) == str(board)
    with contextlib.suppress(TablebaseError):
        assert (
            KnightBoard(8, 8).name_square(KnightBoard(8, 8).parse_square(text))
            == text.strip().lower()
        )
    query = parse_simple_words(text.split(), ROWS)
    assert query is None or len(query[0]) <= len(text.split())


def check_index(data: bytes) -> None:
    """Read an index with some bytes replaced: every record is right, or reading it raises."""
    table, intact, records = index = INDEXES[data[0] % len(INDEXES)] if data else INDEXES[0]
    at = int.from_bytes(data[1:4], "little") % len(intact)
    changed = intact[:at] + data[4:] + intact[at + len(data[4:]) :]
    path, count = FOLDER / table.index_file, len(records) // struct.calcsize(table.record_format)
    path.write_bytes(changed)
    with contextlib.suppress(TablebaseError):
        reader = IndexReader(Folder(FOLDER), table)
        for rank in (0, at % count, count - 1):
            with contextlib.suppress(TablebaseError):
                assert reader.read_record(rank) == index.get_record(rank)
        reader.read_records()
        assert changed == intact
    for board, rows in DISTANCES.items():
        if table.name.startswith(f"sliding_{board}"):
            state, _, distance, *_ = rows[at % len(rows)]
            with contextlib.suppress(TablebaseError):
                assert find_distance(board, state) == distance


def check_manifest(text: bytes) -> None:
    with contextlib.suppress(TablebaseError):
        assert parse_manifest(text, Folder("fuzz")) == ENTRIES


def run_input(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    check_parsers(text)
    check_index(data)
    check_manifest(data)


def main() -> None:
    corpus = FOLDER / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(SEEDS):
        (corpus / str(number)).write_text(seed)
    seconds = os.environ.get("FUZZ_SECONDS", "60")
    limits = [f"-max_total_time={seconds}", "-max_len=4096", "-verbosity=0", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *limits, str(corpus)], run_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
