"""Tests of what errors advise: calls in Python, commands at the shell, of the same facts."""

from collections.abc import Callable
from pathlib import Path

import pytest

import puzzle_tablebase as pt
from puzzle_tablebase.errors import FileChanged, NotAFolder, StoreError, Unreachable
from puzzle_tablebase.pipeline.terminal import format_error, format_rebuild
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.senet import PUZZLE as SENET
from puzzle_tablebase.puzzles.sliding import EIGHT, parse_board
from puzzle_tablebase.stores import Folder, make_damage_error, make_open_error
from puzzle_tablebase.stores.remote import RemoteStore

USUAL, OTHER, HOST = Folder("outputs"), Folder("my tables"), RemoteStore("https://a.org/t")
READ_ONLY = "The store is read-only: choose another one with --outputs."
PERMISSIONS = "cannot be read: permission denied. Check what is there and its permissions."
NETWORK = "Check the address, the network and the credentials."
SUPPORTED = "this program reads version 4."
HARD = "123456789abcde0f"

ADVICE: list[tuple[Exception, str, str, str]] = [
    (
        pt.TableMissing(USUAL, "eight.idx", "eight"),
        "outputs/eight.idx is not published.",
        "Call: pt.precompute('eight')",
        "Run: pipeline precompute eight",
    ),
    (
        pt.TableMissing(OTHER, "sliding_3x4_12.idx", "sliding_3x4"),
        "my tables/sliding_3x4_12.idx is not published.",
        "Call: pt.precompute('sliding_3x4', outputs='my tables')",
        "Run: pipeline precompute sliding_3x4 --outputs 'my tables'",
    ),
    (
        pt.TableMissing(HOST, "eight.idx", "eight"),
        "https://a.org/t/eight.idx is not published.",
        "",
        READ_ONLY,
    ),
    (
        pt.TableMissing(OTHER, "sliding_4x4_16.idx", "x", ("fifteen", HARD, "")),
        "my tables/sliding_4x4_16.idx is not published.",
        f"Call: tables.fifteen.probe('{HARD}')",
        f"Run: pipeline query fifteen {HARD} --outputs 'my tables'",
    ),
    (
        pt.StoreEmpty(OTHER, "manifest.json"),
        "There are no tables in my tables.",
        "Call: pt.precompute(outputs='my tables'), or: pt.copy_tables(ADDRESS, 'my tables')",
        "Run: pipeline precompute --outputs 'my tables', or: pipeline copy ADDRESS 'my tables'",
    ),
    (
        pt.StoreEmpty(HOST, "manifest.json"),
        "There are no tables in https://a.org/t.",
        "",
        READ_ONLY,
    ),
    (
        make_damage_error(OTHER, "senet", "its enum values differ"),
        "my tables/senet.parquet is damaged: its enum values differ.",
        "Call: pt.precompute('senet', force=True, outputs='my tables')",
        "Run: pipeline precompute senet --force --outputs 'my tables'",
    ),
    (
        make_damage_error(OTHER, "hanoi", "its enum values differ"),
        "my tables/hanoi.parquet is damaged: its enum values differ.",
        "Call: pt.precompute('hanoi', force=True, outputs='my tables')",
        "Run: pipeline remove hanoi --outputs 'my tables'",
    ),
    (
        pt.TableVersionError(USUAL, "manifest.json", 9, 4, ""),
        f"outputs/manifest.json has format version 9; {SUPPORTED} Update it, or rebuild.",
        "Call: pt.precompute(force=True)",
        "Run: pipeline precompute --force",
    ),
    (
        make_open_error(USUAL, "eight.idx", PermissionError(13, ""), "eight"),
        f"outputs/eight.idx {PERMISSIONS}",
        "Call: pt.precompute('eight')",
        "Run: pipeline precompute eight",
    ),
    (
        make_open_error(HOST, "eight.idx", Unreachable("HTTP status 503"), "eight"),
        f"https://a.org/t/eight.idx cannot be read: HTTP status 503. {NETWORK}",
        "",
        "",
    ),
    (
        make_open_error(HOST, "eight.idx", PermissionError(13, ""), "eight"),
        f"https://a.org/t/eight.idx {PERMISSIONS}",
        "",
        "",
    ),
    (
        make_open_error(HOST, "eight.idx", FileChanged("it has changed")),
        "https://a.org/t/eight.idx is damaged: it has changed.",
        "",
        "",
    ),
    (
        NotAFolder(HOST),
        "https://a.org/t is not a folder, and tables can only be built in folders.",
        "Build in a folder, then call: pt.copy_tables(FOLDER, 'https://a.org/t').",
        "Build in a folder, then run: pipeline copy FOLDER https://a.org/t.",
    ),
    (
        StoreError("s3://a/t", "since 2026, somebody is copying to it", is_claimed=True),
        "Cannot write to s3://a/t: since 2026, somebody is copying to it.",
        "If that copy was killed, pass take_over=True.",
        "If that copy was killed, add --take-over.",
    ),
    (
        StoreError("outputs", "no space left on device", "Free some space."),
        "Cannot write to outputs: no space left on device. Free some space.",
        "",
        "",
    ),
]


@pytest.mark.parametrize(("error", "problem", "call", "command"), ADVICE)
def test_a_program_is_told_what_to_call_and_a_shell_what_to_run(
    error: Exception, problem: str, call: str, command: str
) -> None:
    assert str(error) == f"{problem} {call}".rstrip()
    assert format_error(error) == f"{problem} {command}".rstrip()
    assert max(len(str(error)), len(f"pipeline: {format_error(error)}")) <= 2 * 80


def test_no_command_builds_in_a_host() -> None:
    assert format_rebuild("", HOST.outputs) == format_rebuild("eight", HOST.outputs) == ""


def test_a_file_that_has_changed_is_not_a_store_without_an_answer() -> None:
    """A retry after a timeout is for the same file only."""
    assert not issubclass(FileChanged, Unreachable)


GOLDEN = Path(__file__).parents[1] / "golden"
LINES = 2 * 80
"""The most characters of a message: two lines of a terminal."""
TEXTS = ("1" * 200, "x" * 1000, "ABABABABAB..... BBBBBAAAAA.....", "1 1 2 2 3 3 4", "133456789", "")


PARSERS: tuple[Callable[[str], object], ...] = (
    EIGHT.parse,
    EIGHT.parse_goal,
    parse_board("4x4").parse,
    parse_board("4x4").parse_goal,
)
PARSERS += (SENET.parse, KnightBoard(8, 8).parse_square)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("parse", PARSERS)
def test_whatever_is_typed_the_message_takes_two_lines(
    parse: Callable[[str], object], text: str
) -> None:
    with pytest.raises(pt.NotationError) as caught:
        parse(text)
    assert len(f"pipeline: {caught.value}") <= LINES


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.txt")), ids=lambda file: file.stem)
def test_no_message_of_the_golden_files_takes_more_lines(file: Path) -> None:
    messages = [line for line in file.read_text().splitlines() if line.startswith("pipeline: ")]
    assert [line for line in messages if len(line) > LINES] == []
