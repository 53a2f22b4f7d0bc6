"""The proof of a table without a proof of its own: row order, and its index against its rows."""

from __future__ import annotations

import pyarrow.compute as pc

from pipeline.verify.claims import Grade, ListedTable, Outcome, Seen
from pipeline.verify.index_records import check_records, iter_records
from pipeline.verify.table_rows import read_rows
from tablebase.schema import KIND_LETTERS

HOW = (
    "the files match the manifest and the table's own definition; no proof knows the rules of its "
    "rows and records"
)


def prove_generic(listed: ListedTable, earlier: Seen) -> Outcome:
    """Prove what a table's definition states about its rows, and report what is not proved."""
    if listed.definition.columns:
        _prove_rows(listed)
    else:
        _prove_content(listed)
    return listed.make_outcome(Grade.INTACT, HOW)


def _prove_content(listed: ListedTable) -> None:
    """Prove that the records of a table without rows are those that the manifest lists."""
    text = "every record decodes, and the content hash matches the manifest"
    with listed.begin_claim(text, index=True) as check:
        for begin, records in iter_records(listed, check):
            check.report_progress(begin + len(records))
    listed.note_missing_proofs(())


def _prove_rows(listed: ListedTable) -> None:
    table, rows = listed.definition, read_rows(listed)
    if table.sorted_by:
        with listed.begin_claim(f"the rows ascend by {', '.join(table.sorted_by)}") as check:
            sort_keys = [(name, "ascending") for name in table.sorted_by]
            order = pc.sort_indices(rows.batch, sort_keys=sort_keys)
            for name in table.sorted_by:
                rows.require_column(check, name, rows.column(name).take(order))
    if table.index:
        numeric = {c.name for c in table.columns if c.kind in KIND_LETTERS and not c.nullable}
        has_record_per_row = listed.index.records == len(rows)
        names = [name for name, _ in table.index]
        fields = [name for name in names if has_record_per_row and name in numeric]
        if fields:
            text = f"{', '.join(fields)}: each record matches its row"
            check_records(listed, text, {name: rows.read_numbers(name) for name in fields})
        unproved = (name for name in names if name not in fields)
        listed.note_missing_proof(unproved, "no column holds the same numbers", index=True)
