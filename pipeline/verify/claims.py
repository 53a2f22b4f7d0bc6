"""Claims: what is said of a file, told as it is proved, and the failure that names a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablebase.errors import TableError, quote
from tablebase.tables.store import Store

Mask = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]
Content = Mapping[str, object]
Difference = tuple[object, object]
"""What is found and what is expected."""

MAX_SHOWN_VALUE = 200
"""Characters of a value that a message shows."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing said of one file, over so many rows. `passed` is None while it is being proved."""

    table: str
    file: str
    claim: str
    rows: int
    passed: bool | None = None


Listener = Callable[[Claim, int], None]
"""Is told how many of a claim's rows are looked at; all of them once `claim.passed` is true."""


def ignore_claim(claim: Claim, done: int) -> None:
    """Tells nobody."""


class VerifyFailed(TableError):
    """A claim that does not hold: the first offending row, what it holds and what it should."""

    def __init__(
        self,
        claim: Claim,
        path: str,
        command: str,
        difference: Difference,
        row: int | None,
        content: Content,
    ) -> None:
        self.found, self.expected = difference
        values = ", ".join(f"{name} {_format_value(value)}" for name, value in content.items())
        at = "" if row is None else f"row {row:,}{values and f' ({values})'}: "
        found, expected = map(_format_value, difference)
        text = f"{path} fails a proof ({claim.claim}): {at}found {found}, expected {expected}."
        super().__init__(text, path, command)
        self.claim = replace(claim, passed=False)
        self.row = row
        self.content = content

    def to_dict(self) -> dict[str, object]:
        """The failure as plain values, as JSON can hold them."""
        return {
            **asdict(self.claim),
            "row": self.row,
            "content": self.content,
            "found": str(self.found),
            "expected": str(self.expected),
            "command": self.command,
        }


def _format_value(value: object) -> str:
    # what a damaged file holds may be anything, control characters too, and of any length
    text = str(value)
    return (
        text
        if text.isprintable() and len(text) <= MAX_SHOWN_VALUE
        else quote(text, MAX_SHOWN_VALUE)
    )


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """A claim under proof: proved at the end of its `with`, unless an error ends that."""

    claim: Claim
    store: Store
    command: str
    listener: Listener

    def for_file(self, file: str) -> ClaimCheck:
        """The same claim, to be refuted by one of the table's files."""
        return replace(self, claim=replace(self.claim, file=file))

    def __enter__(self) -> ClaimCheck:
        self.report_progress(0)
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.listener(replace(self.claim, passed=True), self.claim.rows)

    def report_progress(self, done: int) -> None:
        self.listener(self.claim, done)

    def refute(
        self, found: object, expected: object, row: int | None = None, cells: Content | None = None
    ) -> NoReturn:
        path, difference = self.store.locate(self.claim.file), (found, expected)
        raise VerifyFailed(self.claim, path, self.command, difference, row, cells or {})

    def require_equal(self, what: str, found: object, expected: object) -> None:
        """One thing is as expected."""
        if found != expected:
            self.refute(f"{what} {found}", expected)


@dataclass(frozen=True, slots=True)
class Rows:
    """Decoded rows of a table, the first of them numbered `begin`, and what refutes claims of them.

    Whatever differs, the first row that does is named. `at`: the rows that are meant; else all.
    """

    batch: pa.RecordBatch
    begin: int = 0

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def column(self, name: str) -> Any:
        """A column as Arrow has it."""
        return self.batch.column(name)

    def read_numbers(self, name: str, null: int = 0) -> Array:
        """A column of whole numbers, with one in place of nulls."""
        numbers: Array = self.column(name).cast(pa.int64()).fill_null(null).to_numpy()
        return numbers

    def read_cells(self, check: ClaimCheck, name: str, width: int) -> Array:
        """A text column as bytes, so many to a row; refuted where a row has another length."""
        column = self.column(name)
        lengths, every = pc.binary_length(column), np.full(len(self), width)
        self.require_column(check, f"length of {name}", every, found=lengths)
        _, offsets, data = column.buffers()
        edges = np.frombuffer(offsets, np.int32)[column.offset :][: len(column) + 1]
        return np.frombuffer(data, np.uint8)[edges[0] : edges[-1]].reshape(-1, width)

    def require_none(
        self,
        check: ClaimCheck,
        wrong: Mask,
        describe: Callable[[int], Difference],
        at: Array | None = None,
    ) -> None:
        """No row is marked. `said` tells of a mark what is there and what should be."""
        marked = np.flatnonzero(wrong)
        if len(marked):
            rows = marked if at is None else at[marked]
            row = int(rows.min())
            content = self.batch.slice(row, 1).to_pylist()[0]
            check.refute(*describe(int(marked[np.argmin(rows)])), self.begin + row, content)

    def require_column(
        self,
        check: ClaimCheck,
        what: str,
        expected: Any,
        at: Array | None = None,
        found: Any = None,
    ) -> None:
        """A column, or what else is found, holds these values, and nulls where they are null."""
        if found is None:
            found = self.column(what) if at is None else self.column(what).take(at)
        found, expected = pa.array(found), pa.array(expected)
        nulls = pc.xor(found.is_null(), expected.is_null())
        differ = pc.or_(pc.not_equal(found, expected).fill_null(False), nulls)
        wrong = differ.to_numpy(zero_copy_only=False)
        self.require_none(
            check, wrong, lambda row: (f"{what} {found[row]}", f"{expected[row]}"), at
        )

    def require_ascending(
        self, check: ClaimCheck, name: str, values: Array, before: object = None
    ) -> None:
        """Every row's value comes after that of the row before it; `before`: before these rows."""
        first = [True] if before is None else values[:1] > before
        after = np.append(first, values[1:] > values[:-1])
        wrong, column = ~after[: len(values)], self.column(name)
        self.require_none(
            check, wrong, lambda row: (column[row], f"a {name} after the one before it")
        )


def find_places(texts: Any, known: Sequence[str]) -> Array:
    """Where each text stands among those that are known; -1 where it does not."""
    places = pc.index_in(texts, value_set=pa.array(known, pa.string()))
    return np.asarray(places.fill_null(-1))
