"""Tests of hostile input: a known exit code, a sentence, no traceback, no hang, no escapes."""

from __future__ import annotations

import os
import random
from pathlib import Path

import polars as pl
import pytest

from tests import usual_or_nightly
from tests.support.shell import Cli, Completed

WORDS = [
    *("", " ", "-", "--", "---", "-1", "0", "a0", "i9", "0x0", "8x8x8", "-0x5", "NaN", "1e9"),
    *("999999999999999999999x1", "9" * 9_000, "123456780\n", "1234567801", "\x1b[31mred\x1b[0m"),
    *("a\x07b\x08c", "\udcff\udcfe", "１２３４５６７８０", "١٢٣٤٥٦٧٨٠", "²³¹", "a\u202eb"),
    *("../../etc/passwd", "/dev/zero", "%s%n{0}{}", "[bold]x[/bold][/]", "'; drop table eight; --"),
    "AAAAAAABBBBBB..",
]
COMMANDS = (
    *("query", "query eight", "query senet", "query knight", "query eight 123456780 --goal"),
    *("query knight a1 --to", "query knight a1 --board", "query knight a1 --board 5x5 --number"),
    *("query eight --input", "query eight --format", "query eight 123456780 --outputs", ""),
    *("histogram", "status --outputs", "precompute", "precompute --jobs", "verify --outputs"),
)


def require_handled(words: object, completed: Completed) -> None:
    assert completed.code in (0, 1, 2, 3), (words, completed.code, completed.err[-500:])
    assert completed.code == 0 or completed.err, words
    assert len(completed.err) < 20_000, words
    for stream in (completed.out, completed.err):
        assert "\x1b" not in stream, words
        assert "\x07" not in stream, words


@pytest.mark.parametrize("command", COMMANDS)
def test_hostile_words(command: str, outputs: Path, cli: Cli) -> None:
    for word in random.Random(command).sample(WORDS, usual_or_nightly(6, len(WORDS))):
        words = [*command.split(), word]
        if command.startswith("precompute"):
            words += ["--outputs", f"{__file__}/nowhere"]
        require_handled(words, cli(*words))


@pytest.mark.parametrize("name", ["eight", "senet", "knight"])
def test_hostile_batches(name: str, outputs: Path, cli: Cli) -> None:
    draw = random.Random(name)
    noise = os.fsdecode(draw.randbytes(200))
    fragments = [*WORDS, "123456780", "a1", "ABABABABAB.....", "\n", "\0", noise]
    for _ in range(usual_or_nightly(4, 100)):
        stdin = " ".join(draw.choice(fragments) for _ in range(50))
        for file_format in ("csv", "jsonl"):
            completed = cli("query", name, "--format", file_format, stdin=stdin)
            require_handled(stdin, completed._replace(out=""))  # the keys come back as they are


def test_hostile_files(outputs: Path, tmp_path: Path, cli: Cli) -> None:
    files = {
        "binary.parquet": random.Random(1).randbytes(5000),
        "empty.csv": b"",
        "ragged.csv": b'state,b\n123456780\n"unclosed,1\n\xff\xfe,2,3,4\n',
        "huge.csv": b"state\n" + b"8" * 2_000_000 + b"\n",
        "long.txt": b"7" * 1_000_000,
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    pl.DataFrame({"state": [1, 2, 3]}).write_parquet(tmp_path / "numbers.parquet")
    for name in (*files, "numbers.parquet", "", "/dev/null", "/dev/zero"):
        completed = cli("query", "eight", "--input", str(tmp_path / name))
        require_handled(name, completed)
        assert completed.code == (0 if name in ("empty.csv", "/dev/null") else 2), name
