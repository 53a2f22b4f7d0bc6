"""Keys that are the name of a file; `tests/golden/bad.txt` has other keys that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.shell import Ask


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
    for name in ("states", "my states", "123456780"):
        Path(name).touch()
    Path("folder").mkdir()
    for key, complaint in (
        ("states", "'states' is a file, not a state. Use --input states."),
        ("my states", "Use --input 'my states'."),
        ("folder", "'f' is not one of the digits"),
        *((name, "is not an 8-puzzle state") for name in ("a\0b", "\udcff", "x" * 5_000)),
    ):
        assert complaint in ask_in_process("eight", key)[2]
    assert ask_in_process("eight", "123456780")[0] == 0, "a key is a key"
