"""Claims, of which every proof consists: a sentence, and the rows that contradict it.

A proof is a generator. It yields its claims in the order in which a reader would argue, and returns
what they prove. `run_claims` takes one claim after the other; the first difference refutes it.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
import polars as pl

from puzzle_tablebase.errors import (
    FileChanged,
    NotAFile,
    TablebaseError,
    TableError,
    Unreachable,
    explain_library_error,
    quote,
)
from puzzle_tablebase.formats.index import read_records
from puzzle_tablebase.formats.manifest import Entry, IndexEntry
from puzzle_tablebase.formats.parquet import scan_rows
from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.proofs.verdicts import Proved, TableVerdict
from puzzle_tablebase.resources import PROCESS_BYTES
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import RandomAccessFile, Store

MAX_SHOWN_VALUE = 200
"""Characters of a value that a message shows."""
Result = TypeVar("Result")


class Difference(NamedTuple):
    """A value that was found, and the expected one; `row`: of the table, or of its index.

    `content` shows a record as text; a row is shown as the file has it.
    """

    found: object
    expected: object
    row: int | None = None
    content: Mapping[str, object] | None = None


class Claim(NamedTuple):
    """A claim about a file, and an iterator of mismatches, or of row counts for the progress bar.

    The iterator runs when the claim is checked, so a claim comes after those on which it depends.
    `file`: by default the file with the rows.
    """

    text: str
    differences: Iterable[Difference | int]
    file: str = ""


Claims = Generator[Claim, None, Result]
Proof = Generator[Claim, None, Proved]


class PuzzleRules(Protocol):
    """A puzzle with goals, as a plugin gives it: states, moves and columns of its own as texts."""

    title: str
    letters: str

    @property
    def goals(self) -> Mapping[str, str]: ...
    def list_states(self) -> Array: ...
    def list_all_moves(self) -> Iterable[tuple[str, Array, Array]]: ...
    def compute_features(self, state: str, goal: str) -> Mapping[str, int]: ...


@dataclass(frozen=True, slots=True)
class ListedTable:
    """A table that the manifest lists; `table` is its definition, None if no puzzle here has it."""

    store: Store
    name: str
    entry: Entry
    table: Table | None
    depth: str
    """The column whose values the manifest counts, if the table has it."""
    rules: PuzzleRules | None
    """The rules of its puzzle with goals, for a proof without rules of its own."""
    opened: dict[str, RandomAccessFile] = field(default_factory=dict, init=False, repr=False)
    """The files that claims have read, by name: all claims are about the same bytes."""

    def open(self, file: str) -> RandomAccessFile:
        """Open a file of the table once, and return it."""
        if file not in self.opened:
            self.opened[file] = self.store.open_random_access(file)
        return self.opened[file]

    @property
    def file(self) -> str:
        """The file with the rows, or the index of a table without rows."""
        return self.entry.all_files[0].file

    @property
    def definition(self) -> Table:
        """The definition of a table that a puzzle defines."""
        assert self.table is not None
        return self.table

    @property
    def index(self) -> IndexEntry:
        """The manifest's entry for the index of a table that has one."""
        assert self.entry.index is not None
        return self.entry.index

    def describe(self, claim: Claim) -> dict[str, Any]:
        """Describe a claim that holds as plain values: table, file, text, and count by its unit."""
        file, count, unit = claim.file or self.file, self.entry.rows, "rows"
        if self.entry.index and (file == self.entry.index.file or not self.entry.parquet):
            count, unit = self.entry.index.records, "records"
        named = {"table": self.name, "file": file, "claim": claim.text}
        return {**named, unit: count, "passed": True}

    def claim_records(self, text: str, differences: Iterable[Difference | int]) -> Claim:
        """Return a claim about the records of the index."""
        return Claim(text, differences, self.index.file)

    def scan_rows(self, *columns: str) -> pl.LazyFrame:
        """Return all rows, or some columns of them, after a column with the number of the row."""
        rows = scan_rows(self.open(self.file), "row")
        chosen = rows.select("row", *columns) if columns else rows
        return chosen.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))

    def iter_records(self) -> Iterator[tuple[int, Array]]:
        """Yield the records of the index in chunks, each with the rank of its first record."""
        begin = 0
        with self.open(self.index.file).open_stream() as file:
            for records in read_records(file, self.definition, self.index.records):
                yield begin, records
                begin += len(records)


@dataclass(slots=True)
class TableResult:
    """The result for a table, or for the manifest: the claims that hold, and the verdicts.

    `file`: that of the last claim; `trouble`: why there is no verdict, though no claim is false.
    """

    table: str
    claims: list[dict[str, Any]] = field(default_factory=list)
    verdicts: list[TableVerdict] = field(default_factory=list)
    seconds: float = 0.0
    file: str = ""
    trouble: TablebaseError | None = None


class Observer(Protocol):
    """Receiver of the progress of a verification."""

    def on_progress(self, text: str, done: int, total: int) -> None: ...
    def on_claim(self, claim: Mapping[str, Any]) -> None: ...
    def on_result(self, result: TableResult) -> None: ...


class Silence:
    """Observer that shows nothing; a base class for others."""

    def on_progress(self, text: str, done: int, total: int) -> None:
        """Show how many rows or records have been compared for the current claim."""

    def on_claim(self, claim: Mapping[str, Any]) -> None:
        """Show a claim that holds."""

    def on_result(self, result: TableResult) -> None:
        """Show what was found of a table."""


class VerifyFailed(TableError):
    """A claim that does not hold: the first wrong row, its value and the expected one."""

    def __init__(
        self, claim: dict[str, Any], store: Store, file: str, difference: Difference
    ) -> None:
        self.found, self.expected, self.row, content = difference
        self.content = content or {}
        values = ", ".join(f"{name} {_format_value(value)}" for name, value in self.content.items())
        at = "" if self.row is None else f"row {self.row:,}{values and f' ({values})'}: "
        found, expected = map(_format_value, (self.found, self.expected))
        path = store.locate(file)
        text = f"{path} fails a proof ({claim['claim']}): {at}found {found}, expected {expected}."
        super().__init__(text, store, file, claim["table"], needs_force=True)
        self.claim = {**claim, "passed": False}

    def to_dict(self) -> dict[str, object]:
        """Return the failure as plain values that JSON can hold."""
        return {
            **self.claim,
            "row": self.row,
            "content": self.content,
            "found": str(self.found),
            "expected": str(self.expected),
        }


def _format_value(value: object) -> str:
    # a damaged file may hold any text, of any length and with control characters
    text = str(value)
    is_plain = text.isprintable() and len(text) <= MAX_SHOWN_VALUE
    return text if is_plain else quote(text, MAX_SHOWN_VALUE)


def run_claims(
    listed: ListedTable, claims: Claims[Result], result: TableResult, observer: Observer
) -> Result:
    """Run the claims about a table in turn; raise VerifyFailed at the first that does not hold.

    Return the generator's return value. The claims that hold, and the time, are added to `result`.
    """
    started, record = time.monotonic(), listed.describe(Claim("the files can be read", ()))
    try:
        while True:
            claim = next(claims)
            file = result.file = claim.file or listed.file
            record = listed.describe(claim)
            text, total = f"{file}: {claim.text}", record.get("rows", record.get("records", 0))
            observer.on_progress(text, 0, total)
            for difference in claim.differences:
                if isinstance(difference, Difference):
                    raise _make_failure(listed, file, record, difference)
                observer.on_progress(text, difference, total)
            result.claims.append(record)
            observer.on_claim(record)
    except StopIteration as end:
        return cast("Result", end.value)
    except BaseException as error:  # polars raises a BaseException when it panics
        reason = explain_library_error(error)
        if isinstance(error, OSError) and not is_trouble(error):
            reason = str(error)
        if not reason:
            raise
        wrong = Difference(reason, "rows that can be decoded")
        raise _make_failure(listed, result.file or listed.file, record, wrong) from error
    finally:
        claims.close()  # at once: a kept error would keep the generator, and the files it has open
        result.seconds += time.monotonic() - started


def _make_failure(
    listed: ListedTable, file: str, record: dict[str, Any], wrong: Difference
) -> VerifyFailed:
    """Make the error of a difference, with the cells of the row that it names."""
    is_row = listed.entry.parquet and file == listed.file
    if wrong.content is None and wrong.row is not None and is_row:
        cells = listed.scan_rows().slice(wrong.row, 1).drop("row").collect()
        wrong = wrong._replace(content=cells.to_dicts()[0])
    return VerifyFailed(record, listed.store, file, wrong)


def is_trouble(error: Exception) -> bool:
    """Return whether an error means that a file could not be read, not that its content is false.

    Arrow raises OSError for content too, but without the system's error number.
    """
    if isinstance(error, Unreachable | FileChanged | NotAFile):
        return True
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


# ---- comparisons ------------------------------------------------------------------------------


def require_equal(what: str, found: object, expected: object) -> Iterator[Difference]:
    """Yield a difference unless a value is as expected; `what` names the value."""
    if found != expected:
        yield Difference(f"{what} {found}", expected)


def find_rows(
    rows: pl.LazyFrame, is_wrong: pl.Expr, found: pl.Expr, expected: pl.Expr, what: str = ""
) -> Iterator[Difference]:
    """Yield the first row of a frame, by its column `row`, for which an expression holds.

    `what` names the value that is found.
    """
    wrong = rows.filter(is_wrong).select("row", found=found, expected=expected)
    for row, is_now, must_be in wrong.bottom_k(1, by="row").collect(engine="streaming").iter_rows():
        yield Difference(f"{what} {is_now}" if what else is_now, str(must_be), row)


def compare(rows: pl.LazyFrame, *names: str, **expected: str | pl.Expr) -> Iterator[Difference]:
    """Yield the first row in which a column, by name, is not as expected, nulls included.

    What is expected of a column of `names` is in the column `NAME, expected`.
    """
    for name, value in ({name: f"{name}, expected" for name in names} | expected).items():
        must_be = pl.col(value) if isinstance(value, str) else value
        is_wrong = ~pl.col(name).eq_missing(must_be)
        yield from find_rows(rows, is_wrong, pl.col(name), must_be, name)


def require_ascending(rows: pl.LazyFrame, name: str, key: str) -> Iterator[Difference]:
    """Yield the first row whose key is not greater than that of the row before; show a column."""
    is_wrong = pl.col(key) <= pl.col(key).shift()
    expected = pl.lit(f"a {name} after the one before it")
    yield from find_rows(rows, is_wrong, pl.col(name), expected)


def compare_records(
    listed: ListedTable, parts: Iterable[Mapping[str, Array]]
) -> Iterator[Difference | int]:
    """Yield the first record in which a field is not as expected.

    `parts`: the values of all fields, for consecutive records. Text of a fixed width is compared
    byte by byte, because numpy drops its trailing zeros.
    """
    chunks, records, begin = listed.iter_records(), np.empty(0), 0
    for part in parts:
        size, done = len(next(iter(part.values()))), 0
        while done < size:
            if not len(records):
                _, records = next(chunks, (begin, records))
            if not len(records):
                yield Difference(f"records {begin}", "more")
                return
            count = min(len(records), size - done)
            fields = {name: view_field(records[:count], name) for name in part}
            for name, found in fields.items():
                expected = part[name][done : done + count]
                # numpy would compare numbers with and without a sign as floats
                dtype = found.dtype if found.dtype == expected.dtype else np.int64
                is_wrong = found.astype(dtype, copy=False) != expected.astype(dtype, copy=False)
                wrong = is_wrong.reshape(count, -1).any(axis=1)
                for row in np.flatnonzero(wrong)[:1].tolist():
                    content = {field: values[row].tolist() for field, values in fields.items()}
                    text = f"{name} {content[name]}"
                    yield Difference(text, expected[row].tolist(), begin + row, content)
            begin, done, records = begin + count, done + count, records[count:]
            yield begin
    yield from require_equal("records", listed.index.records, begin)


def view_field(records: Array, name: str) -> Array:
    """Return a field's values; text of a fixed width as single bytes, with trailing zeros."""
    values = np.ascontiguousarray(records[name])
    if values.dtype.kind != "S":
        return values
    return values.view(np.uint8).reshape(len(values), values.dtype.itemsize)


class Prover(NamedTuple):
    """A proof of a kind of table, and its memory."""

    prove: Callable[..., Proof]
    """The function that takes the listed table."""
    estimate_memory: Callable[[Table], int]
    """The function that estimates the bytes of the process."""
    measure_arrays: Callable[[Table], tuple[int, int]] | None = None
    """For a proof that takes a `scratch`: the function that measures the bytes of the arrays that
    may be in a file, and of those in memory.
    """
    rests_on_proved: bool = False
    """Whether the proof takes the tables that are `proved` already, and comes after theirs."""


BYTES_PER_ROW = 1_600
"""Bytes of memory for each row of a table that is proved by joins: measured, Senet's are most."""


def estimate_joins(table: Table) -> int:
    """Estimate the bytes for a proof by joins of all rows."""
    return PROCESS_BYTES + BYTES_PER_ROW * (table.rows or 0)


def estimate_process(table: Table) -> int:
    """Return the bytes of a proof that needs little more than the program."""
    return PROCESS_BYTES
