"""Outputs compressed by the ends of their names: they are read back, and never incomplete."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from queries.answer import COMPRESSED_SUFFIXES
from queries.batch import COMPRESSORS, choose_output_format, compress_output
from tablebase.errors import OutputError
from tests.support.shell import Ask, Cli

KEYS = b"378546201 123456780 bad"


def read_zstd(data: bytes) -> bytes:
    unpacked: bytes = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
    return unpacked


READERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zst": read_zstd,
    ".zstd": read_zstd,
}


def test_every_suffix_that_is_read_is_written() -> None:
    assert {*COMPRESSORS} == {*COMPRESSED_SUFFIXES} == {*READERS}


@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_batches_are_compressed_by_suffix(
    ask_in_process: Ask, tmp_path: Path, kind: str, suffix: str
) -> None:
    plain, packed = tmp_path / f"plain.{kind}", tmp_path / f"packed.{kind}{suffix.upper()}"
    written = []
    for target in (plain, packed, packed):
        code, out, _ = ask_in_process("eight", "--output", str(target), text=KEYS)
        assert (code, out) == (2, "")
        written.append(target.read_bytes())
    assert READERS[suffix](written[1]) == written[0]
    assert written[2] == written[1], "the same answers give the same bytes"
    # and the program reads what it has written
    words = ("--input", str(packed), "--column", "state", "--prefix", "again_")
    code, out, _ = ask_in_process("eight", *words)
    assert code == 2
    assert "378546201,corner,27,ULR,15,,corner,27,ULR,15," in out


def test_samples_are_compressed(cli_in_process: Cli, outputs: Path, tmp_path: Path) -> None:
    target = tmp_path / "sample.csv.gz"
    words = ("sample", "eight", "--size", "700", "--seed", "2", "--outputs", str(outputs))
    assert cli_in_process(*words, "--output", str(target)).code == 0
    assert gzip.decompress(target.read_bytes()).decode() == cli_in_process(*words).out
    assert pl.read_csv(target).height == 700


def test_a_format_is_found_before_the_compression() -> None:
    assert choose_output_format("x.parquet.zst", None) == "parquet"
    assert choose_output_format("x.gz", None) == "csv"
    assert choose_output_format("x.gz", "jsonl") == "jsonl"


class Full(io.BytesIO):
    """A file on a full disk."""

    def write(self, data: object) -> int:
        raise OutputError("'x'", "the disk is full")


@pytest.mark.parametrize("suffix", READERS)
def test_a_failed_write_is_reported(suffix: str) -> None:
    with pytest.raises(OutputError), compress_output(Full(), suffix) as packed:
        packed.write(bytes(range(256)) * 10_000)  # some compressors write only when they close


@pytest.mark.parametrize("suffix", READERS)
def test_an_interrupted_output_leaves_no_file(
    ask_in_process: Ask, tmp_path: Path, suffix: str
) -> None:
    target = tmp_path / f"answers.csv{suffix}"
    code, _, complaint = ask_in_process("eight", "--strict", "--output", str(target), text=KEYS)
    assert (code, "'bad' is not an 8-puzzle state" in complaint) == (2, True)
    assert not [*tmp_path.iterdir()]
