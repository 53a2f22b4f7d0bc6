"""Keys that are something else: the name of a file, or several keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.shell import Ask

SEVERAL = "a single query answers one. Answer several with --input FILE, or from a pipe."


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("eight m.csv", "'m.csv' is the name of a file, not a state. Use --input m.csv."),
        ("eight M.PARQUET", "'M.PARQUET' is the name of a file, not a state. Use --input "),
        ("senet x/y.jsonl.gz", "'x/y.jsonl.gz' is the name of a file, not a position. Use"),
        ("knight m.txt", "'m.txt' is the name of a file, not a square. Use --input m.txt."),
        ("eight 378546201 m.csv", "'m.csv' is the name of a file, not a state."),
        ("eight m.csv --format csv", "'m.csv' is the name of a file, not a state."),
        ("eight 378546201 152703846", f"2 states are given, and {SEVERAL}"),
        ("eight 378546201 152703846 1 2", "is not an 8-puzzle state: it has 20 digits"),
        ("senet ABABABABAB..... ABAAABBB.B...A.", f"2 positions are given, and {SEVERAL}"),
        ("senet ABABABABAB..... BBBBBAAAAA.....", f"2 positions are given, and {SEVERAL}"),
        (
            "knight a1 b3",
            "2 squares are given, and a single query answers one. Did you mean a1 --to b3?",
        ),
        ("knight a1 --board 3x13", "Example: 13x3, the same board turned"),
        ("knight a1 b3 c5", f"3 squares are given, and {SEVERAL}"),
        ("eight 378546201 nothing", "'378546201 nothing' is not an 8-puzzle state"),
        ("eight 123456780 --format csv", "--format is for batches only."),
    ],
)
def test_what_a_key_is_instead(ask_in_process: Ask, words: str, problem: str) -> None:
    code, out, complaint = ask_in_process(*words.split())
    assert (code, out, complaint.count("\n")) == (2, "", 1)
    assert problem in complaint


@pytest.mark.parametrize(
    ("key", "options", "command"),
    [
        ("123456789abcde0f", "", "123456789abcde0f"),
        ("1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15", "", "123456789abcde0f"),
        ("f23456789abcde01", "--goal 0123456789abcdef", "f23456789abcde01 --goal 0123456789abcdef"),
        (None, "--hardest", "123456789abcdef0"),
    ],
)
def test_the_command_for_4x4_has_the_key(
    ask_in_process: Ask, key: str | None, options: str, command: str
) -> None:
    words = [*([key] if key else []), *options.split()]
    code, out, complaint = ask_in_process("sliding", *words, "--board", "4x4")
    assert (code, out) == (3, "")
    assert f" is not published. Run: pipeline query fifteen {command} --outputs " in complaint


def test_existing_files_are_recognized(
    ask_in_process: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("states").write_text("123456780")
    Path("my states").write_text("123456780")
    Path("123456780").write_text("")
    Path("folder").mkdir()
    assert (
        "'states' is a file, not a state. Use --input states."
        in ask_in_process("eight", "states")[2]
    )
    assert "Use --input 'my states'." in ask_in_process("eight", "my states")[2]
    assert ask_in_process("eight", "123456780")[0] == 0, "a key is a key"
    assert "'f' is not one of the digits" in ask_in_process("eight", "folder")[2]
    for name in ("a\0b", "\udcff", "x" * 5_000):
        assert "is not an 8-puzzle state" in ask_in_process("eight", name)[2]
