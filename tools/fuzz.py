"""Coverage-guided fuzzing of parsers and readers: `make fuzz`, for FUZZ_SECONDS.

For any bytes, a parser returns a value that stays the same when written and parsed again, or raises
a TablebaseError. A damaged index or manifest gives the published values, or raises.
"""

from __future__ import annotations

import contextlib
import os
import struct
import sys
import tempfile
from pathlib import Path

import atheris

from puzzle_tablebase.stores import Folder

with atheris.instrument_imports(include=["puzzle_tablebase"]):
    from puzzle_tablebase.errors import TablebaseError
    from puzzle_tablebase.formats.manifest import parse_manifest, read_versions
    from puzzle_tablebase.notation.senet import OPENING, parse_position
    from puzzle_tablebase.pipeline.commands.puzzles import ROWS
    from puzzle_tablebase.pipeline.single_query import parse_simple_words
    from puzzle_tablebase.puzzles import senet
    from puzzle_tablebase.puzzles.knight import tables as knight
    from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
    from puzzle_tablebase.puzzles.sliding import EIGHT
    from puzzle_tablebase.queries.files import IndexReader

SEEDS = ("123456780", "1 5 2 7 0 3 8 4 6", OPENING, "b1", "8x8", "--to c3 --closed b1")
TABLE = knight.PUZZLE.tables[2]
FOLDER = Path(tempfile.mkdtemp())
OUTPUTS = Path(__file__).resolve().parents[1] / "outputs"
INTACT_INDEX = (OUTPUTS / TABLE.index_file).read_bytes()
ENTRIES = read_versions(Folder(OUTPUTS))
RECORDS = list(
    struct.iter_unpack(TABLE.record_format, IndexReader(Folder(OUTPUTS), TABLE).read_records())
)


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
    at = int.from_bytes(data[:3], "little") % len(INTACT_INDEX)
    changed = INTACT_INDEX[:at] + data[3:] + INTACT_INDEX[at + len(data[3:]) :]
    (FOLDER / TABLE.index_file).write_bytes(changed)
    with contextlib.suppress(TablebaseError):
        reader = IndexReader(Folder(FOLDER), TABLE)
        for rank in (0, at % len(RECORDS), len(RECORDS) - 1):
            with contextlib.suppress(TablebaseError):
                assert reader.read_record(rank) == RECORDS[rank]
        reader.read_records()
        assert changed == INTACT_INDEX


def check_manifest(text: bytes) -> None:
    with contextlib.suppress(TablebaseError):
        assert parse_manifest(text, Folder("fuzz")) == ENTRIES


def run_input(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    check_parsers(text)
    check_index(data)
    check_manifest(data)


def main() -> None:
    (FOLDER / "manifest.json").write_bytes((OUTPUTS / "manifest.json").read_bytes())
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
