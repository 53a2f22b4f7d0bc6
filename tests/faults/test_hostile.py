"""Tests of hostile input: a known exit code, a sentence, no traceback, no hang, no escapes."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import polars as pl
import pytest

from tests import usual_or_nightly
from tests.support.shell import SCRIPT, Said, program, run

WORDS = [
    *(b"", b" ", b"-", b"--", b"---", b"-1", b"0", b"a0", b"i9", b"0x0", b"8x8x8", b"-0x5"),
    *(b"NaN", b"1e9", b"999999999999999999999x1", b"9" * 100_000, b"123456780\n", b"1234567801"),
    *(b"\x1b[31mred\x1b[0m", b"a\x07b\x08c", b"\xff\xfe\xfd", b"\xed\xa0\x80"),
    *(text.encode() for text in ("１２３４５６７８０", "١٢٣٤٥٦٧٨٠", "²³¹", "a\u202eb")),
    *(b"../../etc/passwd", b"/dev/zero", b"%s%n{0}{}", b"[bold]x[/bold][/]"),
    *(b"'; drop table eight; --", b"AAAAAAABBBBBB.."),
]
COMMANDS = [
    line.split()
    for line in (
        b"query,query eight,query senet,query knight,query eight 123456780 --goal,"
        b"query knight a1 --to,query knight a1 --board,query knight a1 --board 5x5 --number,"
        b"query eight --input,query eight --format,query eight 123456780 --outputs,histogram,"
        b"status --outputs,precompute,precompute knight_tours_3x4,precompute --jobs,"
        b"verify --outputs,"
    ).split(b",")
]
"""Beginnings of command lines, of which the last is empty."""


def run_hostile(words: list[bytes], stdin: bytes = b"") -> Said:
    """Run `pipeline` with any bytes; a bug in it fails the test."""
    return run([program(), *map(os.fsdecode, words)], input=stdin, timeout=60)


def assert_handled(words: list[bytes], said: Said) -> None:
    assert said.code in (0, 1, 2, 3), (words, said.code, said.err[-500:])
    assert said.code == 0 or said.err, words
    assert len(said.err) < 20_000, words
    for stream in (said.out, said.err):
        assert "\x1b" not in stream.replace("\x1b[1m", "").replace("\x1b[0m", ""), words
        assert "\x07" not in stream, words


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: b" ".join(command).decode())
def test_hostile_words(command: list[bytes], outputs: Path, tmp_path: Path) -> None:
    draw = random.Random(b" ".join(command))
    for word in draw.sample(WORDS, usual_or_nightly(3, len(WORDS))):
        words = [*command, word]
        if command[:1] == [b"precompute"]:
            words += [b"--outputs", b"/dev/null/nowhere"]
        assert_handled(words, run_hostile(words))


@pytest.mark.parametrize("name", ["eight", "senet", "knight"])
def test_hostile_batches(name: str, outputs: Path) -> None:
    draw = random.Random(name)
    fragments = [*WORDS, b"123456780", b"a1", b"ABABABABAB.....", b"\n", b"\0", draw.randbytes(200)]
    for _ in range(usual_or_nightly(2, 100)):
        stdin = b" ".join(draw.choice(fragments) for _ in range(50))
        for kind in (b"csv", b"jsonl"):
            words = [b"query", name.encode(), b"--format", kind]
            assert_handled([b"batch"], run_hostile(words, stdin))


def test_a_key_of_a_megabyte_is_refused(outputs: Path) -> None:
    code, text, complaint = run_hostile([b"query", b"eight"], b"7" * 1_000_000)
    assert code == 2
    assert "1,000,000 digits" in text
    assert "1 key is invalid" in complaint


def test_a_stream_that_never_ends_is_refused(outputs: Path) -> None:
    code, text, complaint = run_hostile([b"query", b"eight", b"--input", b"/dev/zero"])
    assert (code, text) == (2, "")
    assert "has more than 2,097,152 bytes" in complaint


def test_an_input_may_be_a_named_pipe(outputs: Path, tmp_path: Path) -> None:
    os.mkfifo(fifo := tmp_path / "fifo.txt")
    with subprocess.Popen(["bash", "-c", f"echo 123456780 > {fifo}"]):
        code, text, _ = run_hostile([b"query", b"eight", b"--input", os.fsencode(fifo)])
    assert code == 0
    assert "123456780,corner,0" in text


def test_unusual_input_files(outputs: Path, tmp_path: Path) -> None:
    files = {
        "binary.parquet": random.Random(1).randbytes(5000),
        "empty.csv": b"",
        "ragged.csv": b'state,b\n123456780\n"unclosed,1\n\xff\xfe,2,3,4\n',
        "huge.csv": b"state\n" + b"8" * 2_000_000 + b"\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    pl.DataFrame({"state": [1, 2, 3]}).write_parquet(tmp_path / "numbers.parquet")
    for name in (*files, "numbers.parquet", "", "/dev/null"):
        words = [b"query", b"eight", b"--input", os.fsencode(tmp_path / name)]
        said = run_hostile(words)
        assert_handled(words, said)
        assert said.code == (0 if name in ("empty.csv", "/dev/null") else 2)


def test_a_pipe_that_is_closed_midway_ends_the_batch(outputs: Path) -> None:
    script = (
        f"yes 123456780 | head -500000 | {SCRIPT} query eight | head -1; echo ${{PIPESTATUS[2]}}"
    )
    result = run(["bash", "-c", script])
    assert result.out.splitlines()[-1] == "141"
    assert (result.code, result.err) == (0, "")
