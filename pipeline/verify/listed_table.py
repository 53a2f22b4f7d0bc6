"""A table that the manifest lists, as proofs see it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from pipeline.verify.claims import Claim, ClaimCheck, Listener
from pipeline.verify.verdicts import Grade, Outcome, Verdict
from tablebase.puzzle import Puzzle
from tablebase.schema import Table
from tablebase.tables.manifest import (
    Entry,
    File,
    IndexEntry,
)
from tablebase.tables.repair import format_rebuild_command
from tablebase.tables.state_counts import Depth
from tablebase.tables.store import Store

NO_RULE = "no rule defines it"


@dataclass(frozen=True, slots=True)
class ListedTable:
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
        self, text: str, rows: int | None = None, *, index: bool = False, force: bool = True
    ) -> ClaimCheck:
        """Return a check of a claim about all rows, `rows` of them, or the index's records.

        A build replaces a file with a wrong hash by itself. It replaces one with the hash in the
        manifest only with `--force`, so the repair command then needs `force`.
        """
        file = self.index.file if index else self.file
        total = self.index.records if index else self.entry.rows
        command = format_rebuild_command(self.name if self.puzzle else "", self.store, force=force)
        claim = Claim(self.name, file, text, total if rows is None else rows)
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

    def make_verdict(self, grade: Grade, how: str, board: str | None = None) -> Verdict:
        """Return a verdict on this table, or on one of its boards."""
        return Verdict(self.name, board, grade, how)

    def make_outcome(
        self,
        grade: Grade,
        how: str,
        result: object = None,
        depths: Mapping[Depth, int] | None = None,
    ) -> Outcome:
        """Return the outcome of a proof with one verdict on the whole table."""
        return Outcome((self.make_verdict(grade, how),), result, depths or {})
