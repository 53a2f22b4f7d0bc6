"""Claims about the files of published tables, their progress reports, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from puzzle_tablebase.errors import TableError, quote
from puzzle_tablebase.jit import Array
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tables.access import format_rebuild_command
from puzzle_tablebase.tables.manifest import Depth, Entry, File, IndexEntry
from puzzle_tablebase.tables.store import Store

Mask = npt.NDArray[np.bool_]
Content = Mapping[str, object]
Difference = tuple[object, object]
"""The value that was found and the value that was expected."""

MAX_SHOWN_VALUE = 200
"""Characters of a value that a message shows."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement about the content of one file. `passed` is None while it is being checked.

    `unit`: what is counted, such as the rows of a table, or the records of an index.
    """

    table: str
    file: str
    claim: str
    count: int
    unit: str = "rows"
    passed: bool | None = None

    @property
    def amount(self) -> str:
        """The count with its unit, for people."""
        return f"{self.count:,} {self.unit}"

    def to_dict(self) -> dict[str, object]:
        """Return the claim as plain values, the count by its unit."""
        named = {"table": self.table, "file": self.file, "claim": self.claim}
        return {**named, self.unit: self.count, "passed": self.passed}


Listener = Callable[[Claim, int], None]
"""A progress callback: a claim and how many of its rows or records are checked so far.

All are checked once `claim.passed` is true.
"""


def ignore_claim(claim: Claim, done: int) -> None:
    """Do nothing."""


class VerifyFailed(TableError):
    """A claim that does not hold: the first wrong row, its value and the expected one."""

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
        """Return the failure as plain values that JSON can hold."""
        return {
            **self.claim.to_dict(),
            "row": self.row,
            "content": self.content,
            "found": str(self.found),
            "expected": str(self.expected),
            "command": self.command,
        }


def _format_value(value: object) -> str:
    # a damaged file may hold any text, of any length and with control characters
    text = str(value)
    is_plain = text.isprintable() and len(text) <= MAX_SHOWN_VALUE
    return text if is_plain else quote(text, MAX_SHOWN_VALUE)


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """A claim being checked in a `with` statement; it passes if that ends without error."""

    claim: Claim
    store: Store
    command: str
    listener: Listener

    def __enter__(self) -> ClaimCheck:
        self.report_progress(0)
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.listener(replace(self.claim, passed=True), self.claim.count)

    def report_progress(self, done: int) -> None:
        """Report how many of the claim's rows or records are checked."""
        self.listener(self.claim, done)

    def refute(
        self, found: object, expected: object, row: int | None = None, cells: Content | None = None
    ) -> NoReturn:
        """Raise VerifyFailed; `cells` has the wrong row's values by column."""
        path, difference = self.store.locate(self.claim.file), (found, expected)
        raise VerifyFailed(self.claim, path, self.command, difference, row, cells or {})

    def require_equal(self, what: str, found: object, expected: object) -> None:
        """Refute the claim unless a value is as expected; `what` names the value."""
        if found != expected:
            self.refute(f"{what} {found}", expected)


@dataclass(frozen=True, slots=True)
class Rows:
    """Decoded rows of a table, with methods that refute a claim at the first row that differs.

    The methods' parameter `at` has the positions of the rows to check; without it, all are checked.
    """

    batch: pa.RecordBatch
    begin: int = 0
    """The number of the first row in the table."""

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def column(self, name: str) -> Any:
        """Return a column as an Arrow array."""
        return self.batch.column(name)

    def read_numbers(self, name: str) -> Array:
        """Return a column of integers, with 0 in place of nulls."""
        numbers: Array = self.column(name).cast(pa.int64()).fill_null(0).to_numpy()
        return numbers

    def read_cells(self, check: ClaimCheck, name: str, width: int) -> Array:
        """Return a text column as `width` bytes a row; refute the claim at another length."""
        column = self.column(name)
        lengths, widths = pc.binary_length(column), np.full(len(self), width)
        self.require_column(check, f"length of {name}", widths, found=lengths)
        _, offsets, data = column.buffers()
        edges = np.frombuffer(offsets, np.int32)[column.offset :][: len(column) + 1]
        return np.frombuffer(data, np.uint8)[edges[0] : edges[-1]].reshape(-1, width)

    def count_depths(self, depth: str) -> dict[tuple[str | None, int | None], int]:
        """Count the rows of each goal, if there are goals, at each value of a column.

        None of a table without that column.
        """
        if depth not in self.batch.schema.names:
            return {}
        goals = ["goal"] if "goal" in self.batch.schema.names else []
        table = pa.table({name: self.column(name) for name in [*goals, depth]})
        if goals:
            table = table.set_column(0, "goal", table["goal"].cast(pa.string()))
        counts = table.group_by([*goals, depth]).aggregate([([], "count_all")])
        return {(row.get("goal"), row[depth]): row["count_all"] for row in counts.to_pylist()}

    def require_none(
        self,
        check: ClaimCheck,
        wrong: Mask,
        describe: Callable[[int], Difference],
        at: Array | None = None,
    ) -> None:
        """Refute the claim at the first row that `wrong` marks.

        `describe` returns the found and the expected value at a position of `wrong`.
        """
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
        """Refute the claim unless a column, or `found`, equals `expected`, nulls included."""
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
        """Refute the claim unless the values strictly ascend.

        `before` is the value of the row before the first of these, if there is one.
        """
        first = [True] if before is None else values[:1] > before
        is_later = np.append(first, values[1:] > values[:-1])
        wrong, column = ~is_later[: len(values)], self.column(name)
        self.require_none(
            check, wrong, lambda row: (column[row], f"a {name} after the one before it")
        )


def find_places(texts: Any, known: Sequence[str]) -> Array:
    """Return the position of each text in `known`, or -1 for a text that is not in it."""
    places = pc.index_in(texts, value_set=pa.array(known, pa.string()))
    return np.asarray(places.fill_null(-1))


class Verdict(StrEnum):
    """The four verdicts, the strongest first."""

    PROVED = "proved"
    """Every row and record follows from the rules, by code that shares only the rules, the file
    formats and the task runner with the rest."""
    RECOUNTED = "recounted"
    """A second computation, by another method that it names, gives the same numbers."""
    PUBLISHED = "published"
    """The numbers agree with a published one that it cites, and nothing more was done."""
    INTACT = "intact"
    """The files are what the manifest lists; nothing about their content was shown."""


ORDER = tuple(Verdict)


@dataclass(frozen=True, slots=True)
class TableVerdict:
    """The verdict on a table, or on one of its boards if `board` is given.

    `how` states in a sentence what was checked and what was not.
    """

    table: str
    board: str | None
    verdict: Verdict
    how: str


@dataclass(frozen=True, slots=True)
class Proof:
    """The verdicts on a table, and results for the proofs of later tables."""

    verdicts: tuple[TableVerdict, ...]
    result: Any = None
    """Any value that a later proof of the same puzzle can use, such as counts."""
    depths: Mapping[Depth, int] = field(default_factory=dict)
    """The number of states of each goal at each distance, if the proof counted them."""

    @property
    def is_proved(self) -> bool:
        """Whether the table as a whole is proved."""
        return any(not each.board and each.verdict == Verdict.PROVED for each in self.verdicts)


Seen = Mapping[str, Proof]
"""The proofs of the tables before this one, by name."""


def find_weakest(verdicts: Iterable[TableVerdict]) -> dict[str, Verdict]:
    """Return each table's weakest verdict, which is its own where it has boards."""
    weakest: dict[str, Verdict] = {}
    for each in verdicts:
        name, verdict = each.table, each.verdict
        weakest[name] = max(weakest.get(name, verdict), verdict, key=ORDER.index)
    return weakest


def count_tables(verdicts: Iterable[TableVerdict]) -> dict[Verdict, int]:
    """Return how many tables have each verdict, the strongest first."""
    weakest = [*find_weakest(verdicts).values()]
    return {verdict: weakest.count(verdict) for verdict in ORDER if verdict in weakest}


def group_boards(verdicts: Sequence[TableVerdict]) -> list[tuple[Verdict, str, list[str]]]:
    """Return a table's verdicts, the strongest first: verdict, `how` text and boards.

    The list of boards is empty for a verdict on the whole table.
    """
    boards: dict[tuple[Verdict, str], list[str]] = {}
    for verdict in sorted(verdicts, key=lambda verdict: ORDER.index(verdict.verdict)):
        names = boards.setdefault((verdict.verdict, verdict.how), [])
        names.extend([verdict.board] if verdict.board else [])
    return [(verdict, how, names) for (verdict, how), names in boards.items()]


NO_RULE = "no rule defines it"


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table that the manifest lists; `puzzle` and `table` are None if no puzzle defines it."""

    store: Store
    name: str
    entry: Entry
    puzzle: Puzzle | None
    table: Table | None
    listener: Listener
    gaps: list[str] = field(default_factory=list)
    """The columns and index fields that have no proof."""

    @property
    def file(self) -> str:
        """The file with the rows, or the index of a table without rows."""
        return self.entry.all_files[0].file

    @property
    def parquet(self) -> File:
        """The manifest's entry for the file of a table that has rows."""
        assert self.entry.parquet is not None
        return self.entry.parquet

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

    def begin_claim(
        self,
        text: str,
        count: int | None = None,
        unit: str = "",
        *,
        index: bool = False,
        force: bool = True,
    ) -> ClaimCheck:
        """Return a check of a claim about all rows or, with `index`, the index's records.

        `count`: only so many of them, or so many of another unit.

        A build replaces a file with a wrong hash by itself. It replaces one with the hash in the
        manifest only with `--force`, so the repair command then needs `force`.
        """
        file = self.index.file if index else self.file
        is_index = index or not self.entry.parquet
        total = self.index.records if is_index else self.entry.rows
        command = format_rebuild_command(self.name if self.puzzle else "", self.store, force=force)
        unit = unit or ("records" if is_index else "rows")
        claim = Claim(self.name, file, text, total if count is None else count, unit)
        return ClaimCheck(claim, self.store, command, self.listener)

    def note_missing_proof(self, names: Iterable[str], why: str, *, index: bool = False) -> None:
        """Report, as a claim and a gap, that columns or index fields have no proof."""
        names = [*names]
        self.gaps.extend(names)
        if names:
            with self.begin_claim(f"{', '.join(names)}: not proved, because {why}", index=index):
                pass

    def note_missing_proofs(self, columns: Collection[str], fields: Collection[str] = ()) -> None:
        """Report every column and index field of the table that is not in the given ones."""
        table = self.definition
        self.note_missing_proof(
            (column.name for column in table.columns if column.name not in columns), NO_RULE
        )
        self.note_missing_proof(
            (name for name, _ in table.index if name not in fields), NO_RULE, index=True
        )

    def make_verdict(self, verdict: Verdict, how: str, board: str | None = None) -> TableVerdict:
        """Return a verdict on this table, or on one of its boards."""
        return TableVerdict(self.name, board, verdict, how)

    def make_proof(
        self,
        verdict: Verdict,
        how: str,
        result: object = None,
        depths: Mapping[Depth, int] | None = None,
    ) -> Proof:
        """Return a proof with one verdict on the whole table."""
        return Proof((self.make_verdict(verdict, how),), result, depths or {})
