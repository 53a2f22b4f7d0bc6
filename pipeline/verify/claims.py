"""Claims: what is said of a file, told as it is proved, and the failure that names a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablebase.errors import TableError, quoted
from tablebase.tables.store import Store

Mask = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]
Content = Mapping[str, object]
Said = tuple[object, object]
"""What is found and what is expected."""

LONGEST = 200
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


def unheard(claim: Claim, done: int) -> None:
    """Tells nobody."""


class VerifyFailed(TableError):
    """A claim that does not hold: the first offending row, what it holds and what it should."""

    def __init__(
        self, claim: Claim, path: str, command: str, said: Said, row: int | None, content: Content
    ) -> None:
        self.found, self.expected = said
        values = ", ".join(f"{name} {_shown(value)}" for name, value in content.items())
        at = "" if row is None else f"row {row:,}{values and f' ({values})'}: "
        found, expected = map(_shown, said)
        text = f"{path} fails a proof ({claim.claim}): {at}found {found}, expected {expected}."
        super().__init__(text, path, command)
        self.claim = replace(claim, passed=False)
        self.row = row
        self.content = content

    def facts(self) -> dict[str, object]:
        """The failure as plain values, as JSON can hold them."""
        return {
            **asdict(self.claim),
            "row": self.row,
            "content": self.content,
            "found": str(self.found),
            "expected": str(self.expected),
            "command": self.command,
        }


def _shown(value: object) -> str:
    # what a damaged file holds may be anything, control characters too, and of any length
    text = str(value)
    return text if text.isprintable() and len(text) <= LONGEST else quoted(text, LONGEST)


@dataclass(frozen=True, slots=True)
class Fact:
    """A claim under proof: proved at the end of its `with`, unless an error ends that."""

    claim: Claim
    store: Store
    command: str
    report: Listener

    def of(self, file: str) -> Fact:
        """The same claim, to be refuted by one of the table's files."""
        return replace(self, claim=replace(self.claim, file=file))

    def __enter__(self) -> Fact:
        self.step(0)
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.report(replace(self.claim, passed=True), self.claim.rows)

    def step(self, done: int) -> None:
        self.report(self.claim, done)

    def refuted(
        self, found: object, expected: object, row: int | None = None, cells: Content | None = None
    ) -> NoReturn:
        path, said = self.store.full(self.claim.file), (found, expected)
        raise VerifyFailed(self.claim, path, self.command, said, row, cells or {})

    def same(self, what: str, found: object, expected: object) -> None:
        """One thing is as expected."""
        if found != expected:
            self.refuted(f"{what} {found}", expected)


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

    def numbers(self, name: str, null: int = 0) -> Array:
        """A column of whole numbers, with one in place of nulls."""
        found: Array = self.column(name).cast(pa.int64()).fill_null(null).to_numpy()
        return found

    def cells(self, fact: Fact, name: str, width: int) -> Array:
        """A text column as bytes, so many to a row; refuted where a row has another length."""
        column = self.column(name)
        lengths, every = pc.binary_length(column), np.full(len(self), width)
        self.equal(fact, f"length of {name}", every, found=lengths)
        _, offsets, data = column.buffers()
        edges = np.frombuffer(offsets, np.int32)[column.offset :][: len(column) + 1]
        return np.frombuffer(data, np.uint8)[edges[0] : edges[-1]].reshape(-1, width)

    def none(
        self, fact: Fact, wrong: Mask, said: Callable[[int], Said], at: Array | None = None
    ) -> None:
        """No row is marked. `said` tells of a mark what is there and what should be."""
        marked = np.flatnonzero(wrong)
        if len(marked):
            rows = marked if at is None else at[marked]
            row = int(rows.min())
            content = self.batch.slice(row, 1).to_pylist()[0]
            fact.refuted(*said(int(marked[np.argmin(rows)])), self.begin + row, content)

    def equal(
        self, fact: Fact, what: str, expected: Any, at: Array | None = None, found: Any = None
    ) -> None:
        """A column, or what else is found, holds these values, and nulls where they are null."""
        if found is None:
            found = self.column(what) if at is None else self.column(what).take(at)
        found, expected = pa.array(found), pa.array(expected)
        nulls = pc.xor(found.is_null(), expected.is_null())
        differ = pc.or_(pc.not_equal(found, expected).fill_null(False), nulls)
        wrong = differ.to_numpy(zero_copy_only=False)
        self.none(fact, wrong, lambda row: (f"{what} {found[row]}", f"{expected[row]}"), at)

    def ascend(self, fact: Fact, name: str, values: Array, before: object = None) -> None:
        """Every row's value comes after that of the row before it; `before`: before these rows."""
        first = [True] if before is None else values[:1] > before
        after = np.append(first, values[1:] > values[:-1])
        wrong, column = ~after[: len(values)], self.column(name)
        self.none(fact, wrong, lambda row: (column[row], f"a {name} after the one before it"))


def places(texts: Any, known: Sequence[str]) -> Array:
    """Where each text stands among those that are known; -1 where it does not."""
    found = pc.index_in(texts, value_set=pa.array(known, pa.string()))
    return np.asarray(found.fill_null(-1))
