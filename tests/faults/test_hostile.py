"""Tests of hostile input: a known exit code, a sentence, no traceback, no hang, no escapes."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import polars as pl
import pytest

from tests import often
from tests.support.shell import SCRIPT, environment, program, run

WORDS = [
    b"",
    b" ",
    b"-",
    b"--",
    b"---",
    b"-1",
    b"0",
    b"\x1b[31mred\x1b[0m",
    b"a\x07b\x08c",
    b"\xff\xfe\xfd",
    b"\xed\xa0\x80",
    "１２３４５６７８０".encode(),
    "١٢٣٤٥٦٧٨٠".encode(),
    "²³¹".encode(),
    "a\u202eb\u0000"[:-1].encode(),
    b"123456780\n",
    b"1234567801",
    b"9" * 100_000,
    b"../../etc/passwd",
    b"/dev/zero",
    b"%s%n{0}{}",
    b"[bold]x[/bold][/]",
    b"'; drop table eight; --",
    b"AAAAAAABBBBBB..",
    b"a0",
    b"i9",
    b"0x0",
    b"999999999999999999999x1",
    b"8x8x8",
    b"-0x5",
    b"NaN",
    b"1e9",
]
COMMANDS: list[list[bytes]] = [
    [b"query", b"eight"],
    [b"query", b"eight", b"123456780", b"--goal"],
    [b"query", b"senet"],
    [b"query", b"knight"],
    [b"query", b"knight", b"a1", b"--to"],
    [b"query", b"knight", b"a1", b"--board"],
    [b"query", b"knight", b"a1", b"--board", b"5x5", b"--number"],
    [b"query", b"eight", b"--input"],
    [b"query", b"eight", b"--format"],
    [b"query", b"eight", b"123456780", b"--outputs"],
    [b"query"],
    [b"histogram"],
    [b"status", b"--outputs"],
    [b"precompute"],
    [b"precompute", b"knight_tours_3x4"],
    [b"precompute", b"--jobs"],
    [b"verify", b"--outputs"],
    [b""],
]


def run_bytes(
    words: list[bytes], stdin: bytes = b"", timeout: float = 60
) -> tuple[int, bytes, bytes]:
    result = subprocess.run(
        [os.fsencode(program()), *words],
        input=stdin,
        env=environment(),
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    return result.returncode, result.stdout, result.stderr


def assert_handled(words: list[bytes], result: tuple[int, bytes, bytes]) -> None:
    code, text, complaint = result
    assert code in (0, 1, 2, 3), (words, code, complaint[-500:])
    assert b"Traceback" not in complaint, words
    assert b"should not happen" not in complaint, (words, complaint[-500:])
    assert code == 0 or complaint, words
    for stream in (text, complaint):
        assert b"\x1b" not in stream.replace(b"\x1b[1m", b"").replace(b"\x1b[0m", b""), words
        assert b"\x07" not in stream, words
        assert len(complaint) < 20_000, words


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: b" ".join(command).decode())
def test_hostile_words(command: list[bytes], outputs: Path, tmp_path: Path) -> None:
    draw = random.Random(b" ".join(command))
    for word in draw.sample(WORDS, often(3, len(WORDS))):
        words = [*command, word]
        if command == [b"precompute"] or command[:1] == [b"precompute"]:
            words += [b"--outputs", b"/dev/null/nowhere"]
        assert_handled(words, run_bytes(words))


@pytest.mark.parametrize("name", ["eight", "senet", "knight"])
def test_hostile_batches(name: str, outputs: Path) -> None:
    draw = random.Random(name)
    fragments = [*WORDS, b"123456780", b"a1", b"ABABABABAB.....", b"\n", b"\0", draw.randbytes(200)]
    for _ in range(often(2, 100)):
        stdin = b" ".join(draw.choice(fragments) for _ in range(50))
        for kind in (b"csv", b"jsonl"):
            words = [b"query", name.encode(), b"--format", kind]
            assert_handled([b"batch"], run_bytes(words, stdin))


def test_a_key_of_a_megabyte_is_refused(outputs: Path) -> None:
    code, text, complaint = run_bytes([b"query", b"eight"], b"7" * 1_000_000)
    assert code == 2
    assert b"1,000,000 digits" in text
    assert b"1 key is invalid" in complaint


def test_a_stream_that_never_ends_is_refused(outputs: Path) -> None:
    code, text, complaint = run_bytes([b"query", b"eight", b"--input", b"/dev/zero"])
    assert (code, text) == (2, b"")
    assert b"has more than 4,194,304 bytes" in complaint
    endless = f"(echo 123456780; yes 7 | tr -d '\\n') | {SCRIPT} query eight --strict"
    said = run(["bash", "-c", endless])
    problem = "the item that starts on line 2 has more than 4,194,304 bytes"
    expected = f"pipeline: The input is not a list of keys: {problem}.\n"
    assert (said.code, said.err) == (2, expected)


def test_unusual_input_files(outputs: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo.txt"
    os.mkfifo(fifo)
    with subprocess.Popen(["bash", "-c", f"echo 123456780 > {fifo}"]):
        code, text, _ = run_bytes([b"query", b"eight", b"--input", os.fsencode(fifo)])
    assert code == 0
    assert b"123456780,corner,0" in text
    wrong = tmp_path / "wrong.parquet"
    pl.DataFrame({"state": [1, 2, 3]}).write_parquet(wrong)
    binary = tmp_path / "binary.parquet"
    binary.write_bytes(random.Random(1).randbytes(5000))
    empty = tmp_path / "empty.csv"
    empty.touch()
    ragged = tmp_path / "ragged.csv"
    ragged.write_bytes(b'state,b\n123456780\n"unclosed,1\n\xff\xfe,2,3,4\n')
    huge = tmp_path / "huge.csv"
    huge.write_text("state\n" + "8" * 2_000_000 + "\n")
    for path in (wrong, binary, empty, ragged, huge, tmp_path, Path("/dev/null")):
        words = [b"query", b"eight", b"--input", os.fsencode(path)]
        assert_handled(words, run_bytes(words))


def test_a_pipe_that_is_closed_midway_ends_the_batch(outputs: Path) -> None:
    script = (
        f"yes 123456780 | head -500000 | {SCRIPT} query eight | head -1; echo ${{PIPESTATUS[2]}}"
    )
    result = run(["bash", "-c", script])
    assert result.out.splitlines()[-1] == "141"
    assert (result.code, result.err) == (0, "")
