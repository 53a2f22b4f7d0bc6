"""Batches: inputs and answers, row for row, compressed or not, and the errors that stop them."""

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl
import pyarrow as pa
import pytest
from puzzle_tablebase.queries.eight_columns import NO_RANK, rank_states

from puzzle_tablebase.errors import BadRequest, OutputError
from puzzle_tablebase.pipeline.single_query import OptionTexts
from puzzle_tablebase.queries import scans
from puzzle_tablebase.queries.answer import COMPRESSED_SUFFIXES
from puzzle_tablebase.queries.api import Tables
from puzzle_tablebase.queries.batch import (
    COMPRESSORS,
    Batch,
    choose_output_format,
    compress_output,
    run_batch,
)
from puzzle_tablebase.queries.batch_input import (
    CHUNK_BYTES,
    Input,
    KeyFormat,
    read_chunks,
    read_texts,
)
from puzzle_tablebase.queries.dispatch import open_reader
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.folder import Folder, Store
from tests.support.shell import Ask, Cli


def states(outputs: Path, count: int) -> pl.DataFrame:
    return pl.read_parquet(outputs / "eight.parquet").sample(count, seed=7, shuffle=True)


def read_keys(text: str, form: KeyFormat, chunk_bytes: int) -> list[str]:
    """Return the keys of a text, which is read so many bytes at a time."""
    source = Input("the test", "text", cast(BinaryIO, io.BytesIO(text.encode())))
    chunks = read_chunks(source, form, as_objects=False, chunk_bytes=chunk_bytes)
    return [key for chunk in chunks for key in read_texts(source, chunk, form.column)]


@pytest.mark.parametrize("chunk_bytes", [1, 7, 100, 1 << 21])
@pytest.mark.parametrize("space", [" ", "\n", "\r\n", "\t\t", " \n "])
def test_nine_numbers_on_one_line_or_nine_are_a_key(
    tables: Tables, chunk_bytes: int, space: str, outputs: Path
) -> None:
    keys = [*states(outputs, 20)["state"], "99999", "123456780", "123"]
    form = KeyFormat("state", tables.eight.key_cells)
    apart = [key if at % 3 else space.join(key) for at, key in enumerate(keys[:-1])]
    text = "\n".join(
        [*apart[:9], *("", " ".join(apart[10:20:3]), apart[9], *apart[11:]), "1\n2\n3"]
    )
    expected = [*keys[:9], *(apart[10:20:3]), keys[9], *keys[11:]]
    assert read_keys(text, form, chunk_bytes) == [key.replace(" ", "") for key in expected]


@pytest.mark.parametrize("space", [" ", "\t"])
def test_keys_may_stand_on_one_long_line(tables: Tables, space: str) -> None:
    form = KeyFormat("state", tables.eight.key_cells)
    count = CHUNK_BYTES // 4
    assert read_keys(f"123456780{space}" * count, form, CHUNK_BYTES) == ["123456780"] * count


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_all_output_formats_agree(
    ask_in_process: Ask, tmp_path: Path, outputs: Path, kind: str
) -> None:
    keys = [*states(outputs, 50)["state"], "bad", "1 2 3"]
    target = tmp_path / f"answers.{kind}"
    code, text, _ = ask_in_process("eight", "--output", str(target), text="\n".join(keys).encode())
    assert (code, text) == (2, "")
    if kind == "parquet":
        answers = pl.read_parquet(target)
    else:
        read = pl.read_csv if kind == "csv" else pl.read_ndjson
        answers = read(target, schema_overrides={"state": pl.String})
    names = ["state", "goal", "distance", "best_moves", "solutions"]
    expected = pl.read_parquet(outputs / "eight.parquet", columns=names)
    right = answers.head(50).select(names).with_columns(pl.col("best_moves").fill_null(""))
    assert (
        right.rows()
        == answers.select("state").join(expected, "state", maintain_order="left").rows()
    )
    assert "'b' is not one of the digits" in answers["error"][50]
    assert "it has 3 digits, not 9" in answers["error"][51]
    assert [*tmp_path.iterdir()] == [target], "nothing is left beside the answers"


@pytest.mark.parametrize("chunk_bytes", [8, 1 << 21])
def test_strict_names_the_line(tables: Tables, tmp_path: Path, chunk_bytes: int) -> None:
    source, target = tmp_path / "asked.txt", tmp_path / "answers.csv"
    source.write_text("123456780\n\n1 2 3 4 5 6 7 8 0\n1\n2\n\n123456780 oops\n")
    request = Batch(str(source), "csv", output=str(target), strict=True, chunk_bytes=chunk_bytes)
    with pytest.raises(BadRequest, match=r"^line 7: '12' is not.* leave out --strict\.$"):
        run_batch(tables.eight.make_query(), request, lambda rows: None)
    assert not list(tmp_path.glob("*answers*")), "a batch that stops leaves no file"


def test_invalid_keys_are_shown_without_control_characters(ask_in_process: Ask) -> None:
    word = "\x1b[2J" + 200 * "x"
    _, text, _ = ask_in_process("eight", text=word.encode())
    assert text.splitlines()[1].startswith(f"\ufffd[2J{96 * 'x'},,")
    table = f"state\n{word}\n".encode()
    _, text, _ = ask_in_process("eight", "--input-format", "csv", text=table)
    assert text.splitlines()[1].startswith(f"{word},,"), "what stands in a table is the user's"


def test_annotate_equals_a_join(outputs: Path, tables: Tables) -> None:
    annotate = tables.eight.annotate
    names = ["state", "goal", "distance", "best_moves", "solutions"]
    rows = pl.read_parquet(outputs / "eight.parquet", columns=names)
    keys = rows.select("state").sample(50_000, seed=3, with_replacement=True)
    odd = [None, "", "12345678", "112345678", "123456789", "１２３", "1" * 40]
    keys = pl.concat([keys, pl.DataFrame({"state": odd}), keys])
    joined = keys.join(rows, on="state", how="left", maintain_order="left")
    assert annotate(keys).equals(joined)
    assert annotate(keys.lazy()).collect().equals(joined)
    assert annotate(keys[7:1000]).equals(joined[7:1000])
    named = keys.rename({"state": "s"}).with_columns(n=1)
    assert annotate(named, "s").drop("n").rename({"s": "state"}).equals(joined)
    with pytest.raises(BadRequest, match="no text column 'state'"):
        annotate(named)
    assert annotate(keys.clear()).equals(joined.clear())


def test_annotate_takes_keys_that_are_all_nulls(tables: Tables) -> None:
    for name, reader in (("state", tables.eight), ("position", tables.senet)):
        result = reader.annotate(pl.DataFrame({name: [None, None]}), name)
        assert result.null_count().row(0) == (2,) * result.width


def test_answers_have_the_types_of_their_table(outputs: Path) -> None:
    keys = pl.Series(["b1", "z9", None, "b1", "x"])
    answers, bad = open_reader("knight", Folder(outputs)).make_query().answer_keys(keys)
    table = pl.read_parquet_schema(outputs / "knight_tours_8x8.parquet")
    for name, kind in answers.schema.items():
        assert kind == table.get(name, pl.String), name
    assert bad == [1, 4]
    assert answers["finish"].is_null().to_list() == [False, True, True, False, True]
    assert answers["error"].is_null().to_list() == [True, False, True, True, False]


@pytest.mark.parametrize("solutions", [(), ("--solutions",)])
def test_named_goals_have_the_tables_type_and_others_are_text(
    ask_in_process: Ask, tmp_path: Path, solutions: tuple[str, ...]
) -> None:
    target, named = tmp_path / "answers.parquet", pl.Enum(["corner", "centre", "edge"])
    for goal, kind in ("", named), ("edge", named), ("087654321", pl.String):
        options = (*(["--goal", goal] if goal else ()), *solutions, "--output", str(target))
        assert ask_in_process("eight", *options, text=b"378546201")[0] == 0
        assert pl.read_parquet_schema(target)["goal"] == kind


def test_values_masked_by_nulls_are_ignored() -> None:
    texts = pa.array(["123456780"] * 3 + ["1234567801234567"], pa.string_view())
    _, views, *more_buffers = texts.buffers()
    masked = pa.Array.from_buffers(
        pa.string_view(), 4, [pa.py_buffer(b"\x0d"), views, *more_buffers]
    )
    states = pl.Series("state", pl.from_arrow(masked))
    assert states.to_list() == ["123456780", None, "123456780", "1234567801234567"]
    assert (rank_states(states) == NO_RANK).to_list() == [False, True, False, True]


@pytest.mark.parametrize("size", [10, 12, 13, 16, 256 + 9, 512 + 9, 65536 + 9])
def test_longer_texts_are_no_states(size: int) -> None:
    texts = pl.Series("state", ["123456780" * (1 + size // 9)]).str.slice(0, size)
    assert texts.str.len_bytes().item() == size
    assert rank_states(texts).to_list() == [NO_RANK]


@pytest.mark.parametrize(
    ("name", "options", "keys"),
    [
        ("eight", {}, ["123456780", "378546201", "123804765"]),
        ("eight", {"goal": "087654321", "path": True}, ["123456780", "378546201", "123804765"]),
        ("senet", {}, ["ABABABABAB.....", "ABAAABBB.B...A.", "BBBBBAAAAA....."]),
        ("knight", {"board": "5x5"}, ["a1", "c3", "e5"]),
    ],
)
def test_a_batch_reads_a_table_once(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    name: str, options: OptionTexts, keys: list[str],
) -> None:  # fmt: skip
    """Count reads of the checksum, however many chunks and keys there are.

    Of a list of tours, the parts that are read are checked, not the file.
    """
    read: list[str] = []

    def scan_listed(store: Store, table: Table) -> pl.LazyFrame:
        read.append(table.file)
        return scan(store, table)

    scan = scans._scan_listed
    monkeypatch.setattr(scans, "_scan_listed", scan_listed)
    source, reported = tmp_path / "asked.txt", list[int]()
    source.write_text("".join(f"{key}\n" for key in keys))
    batch = Batch(str(source), "csv", str(tmp_path / "answers.csv"), chunk_bytes=1)
    query = open_reader(name, Folder(outputs)).make_query(**options)
    assert run_batch(query, batch, reported.append) == 0
    assert reported == [1, 2, 3], "each key was a stretch of its own"
    assert len(read) == (0 if name == "knight" else 1)


KEYS = b"378546201 123456780 bad"


def read_zstd(data: bytes) -> bytes:
    unpacked: bytes = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
    return unpacked


READERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".zst": read_zstd,
    ".zstd": read_zstd,
}


def test_every_suffix_that_is_read_is_written() -> None:
    assert {*COMPRESSORS} == {*COMPRESSED_SUFFIXES} == {*READERS}


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [("parquet", ".gz"), ("jsonl", ".zst"), *(("csv", each) for each in READERS)],
)
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
        packed.write(bytes(range(256)) * 1_000)  # some compressors write only when they close


@pytest.mark.parametrize("suffix", READERS)
def test_an_interrupted_output_leaves_no_file(
    ask_in_process: Ask, tmp_path: Path, suffix: str
) -> None:
    target = tmp_path / f"answers.csv{suffix}"
    code, _, complaint = ask_in_process("eight", "--strict", "--output", str(target), text=KEYS)
    assert (code, "'bad' is not an 8-puzzle state" in complaint) == (2, True)
    assert not [*tmp_path.iterdir()]
