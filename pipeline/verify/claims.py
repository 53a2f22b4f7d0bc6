"""Claims: what is said of a file, told as it is proved, and the failure that names a row."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NoReturn, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablebase.errors import TableError, quoted
from tablebase.tables.store import Store

Mask = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]
Content = Mapping[str, object]
Said = tuple[object, object]
"""What is found and what is expected."""
Seen = Mapping[str, Any]
"""What the proofs of the puzzle's tables before this one returned, by name."""

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


class Listener(Protocol):
    """Who is told how the proof goes."""

    def __call__(self, claim: Claim, done: int) -> None:
        """So many of the claim's rows are looked at; all of them once `claim.passed` is true."""


def workers() -> int:
    """How many threads a proof may keep busy."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2


def unheard(claim: Claim, done: int) -> None:
    """Tells nobody."""


class VerifyFailed(TableError):
    """A claim that does not hold: the first offending row, what it holds and what it should."""

    def __init__(
        self,
        claim: Claim,
        path: str,
        command: str,
        *,
        found: object,
        expected: object,
        row: int | None = None,
        content: Content | None = None,
    ) -> None:
        at = "" if row is None else f"row {row:,}{_said(content)}: "
        super().__init__(
            f"{path} fails a proof ({claim.claim}): {at}found {_shown(found)}, expected "
            f"{_shown(expected)}.",
            path,
            command,
        )
        self.claim = replace(claim, passed=False)
        self.row = row
        self.content = dict(content or {})
        self.found = found
        self.expected = expected

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


def _said(content: Content | None) -> str:
    if not content:
        return ""
    return " (" + ", ".join(f"{name} {_shown(value)}" for name, value in content.items()) + ")"


@dataclass(frozen=True, slots=True)
class Proof:
    """The claims made about one file; those that are proved are added to `proved`."""

    store: Store
    table: str
    file: str
    rows: int
    command: str
    report: Listener
    proved: list[Claim]

    def claim(self, text: str, rows: int | None = None) -> Fact:
        """Begin to prove a claim about all rows or so many; in a `with`, it is proved at its end.

        An error in the block leaves it unproved.
        """
        count = self.rows if rows is None else rows
        fact = Fact(self, Claim(self.table, self.file, text, count))
        fact.step(0)
        return fact


@dataclass(slots=True)
class Fact:
    """A claim under proof."""

    proof: Proof
    claim: Claim

    def of(self, file: str) -> Fact:
        """The same claim, to be refuted by one of the table's files."""
        return Fact(self.proof, replace(self.claim, file=file))

    def __enter__(self) -> Fact:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.proved()

    def step(self, done: int) -> None:
        self.proof.report(self.claim, done)

    def proved(self) -> None:
        self.claim = replace(self.claim, passed=True)
        self.proof.proved.append(self.claim)
        self.proof.report(self.claim, self.claim.rows)

    def refuted(
        self,
        found: object,
        expected: object,
        row: int | None = None,
        content: Content | None = None,
    ) -> NoReturn:
        raise VerifyFailed(
            self.claim,
            self.proof.store.full(self.claim.file),
            self.proof.command,
            found=found,
            expected=expected,
            row=row,
            content=content,
        )

    def same(self, found: object, expected: object, said: str = "{}") -> None:
        """Refute the claim unless two single values are equal, as they are said."""
        if found != expected:
            self.refuted(said.format(found), said.format(expected))


class Rows:
    """Decoded rows of a table, the first of them numbered `begin`, column by column."""

    def __init__(self, batch: pa.RecordBatch, begin: int = 0) -> None:
        self._batch = batch
        self.begin = begin

    def __len__(self) -> int:
        return int(self._batch.num_rows)

    def column(self, name: str) -> Any:
        """A column as Arrow has it."""
        return self._batch.column(name)

    def numbers(self, name: str, null: int = 0) -> Array:
        """A column as numbers or truth values, with a number in place of nulls."""
        column = self.column(name)
        if column.null_count:
            # a wider kind, so that what stands for a null is no value that the column can have
            wider = pa.int16() if pa.types.is_int8(column.type) else column.type
            column = column.cast(wider).fill_null(null)
        found: Array = column.to_numpy(zero_copy_only=False)
        return found

    def text(self, name: str, width: int) -> tuple[Array, Mask]:
        """A text column, a row of `width` bytes each, and a mark on rows of any other length.

        Where one is marked the bytes are all zero: that row is refuted before any is read.
        """
        column = self.column(name)
        _, offsets, data = column.buffers()
        begin, rows = column.offset, len(column)
        if not rows:
            return np.zeros((0, width), dtype=np.uint8), np.zeros(0, dtype=np.bool_)
        edges = np.frombuffer(offsets, dtype=np.int32)[begin : begin + rows + 1]
        other = np.diff(edges) != width
        if other.any():
            return np.zeros((rows, width), dtype=np.uint8), other
        cells = np.frombuffer(data, dtype=np.uint8)[edges[0] : edges[-1]]
        return cells.reshape(rows, width), other

    def content(self, row: int) -> Content:
        found: Content = self._batch.slice(row, 1).to_pylist()[0]
        return found

    def none(
        self, fact: Fact, wrong: Mask, said: Callable[[int], Said], rows: Array | None = None
    ) -> None:
        """Refute a claim at the first row that is marked; or whose, by `rows`, what is marked is.

        `said` tells of the first mark what is there and what should be.
        """
        marked = np.flatnonzero(wrong)
        if len(marked):
            of = marked if rows is None else rows[marked]
            row = int(of.min())
            at = int(marked[np.argmin(of)])
            fact.refuted(*said(at), self.begin + row, self.content(row))

    def equal(
        self, fact: Fact, column: str, found: Array, expected: Array, rows: Array | None = None
    ) -> None:
        """Refute a claim at the first row where two columns, of all rows or of these, differ."""
        self.none(
            fact, found != expected, lambda at: (f"{column} {found[at]}", f"{expected[at]}"), rows
        )

    def ascend(self, fact: Fact, column: str, places: Array, kind: str) -> None:
        """Refute a claim at the first row that does not come after the one before it."""
        text = self.column(column)
        after = np.diff(places, prepend=places[:1] - 1) > 0
        self.none(fact, ~after, lambda row: (f"{text[row]}", f"a {kind} after {text[row - 1]}"))
