"""A table that no proof here knows: its order, and its index against its rows or its entry."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.verify.manifest_checks import ListedTable, check_records, iter_records, read_rows
from pipeline.verify.verdicts import Grade, Outcome, Seen
from tablebase.puzzle import KIND_LETTERS
from tablebase.tables.content_hash import ContentHash
from tablebase.tables.parquet import to_arrow

HOW = (
    "the files match the manifest and the table's own definition; no proof knows the rules of its "
    "rows and records"
)


def prove_generic(listed: ListedTable, earlier: Seen) -> Outcome:
    """Prove what a table's own words say of any rows, and say what is not proved."""
    if listed.definition.columns:
        _prove_rows(listed)
    else:
        _prove_content(listed)
    return listed.make_outcome(Grade.INTACT, HOW)


def _prove_content(listed: ListedTable) -> None:
    """Prove that the records of an index alone are those that the manifest lists."""
    fields = listed.definition.list_fields()
    content = ContentHash(fields)
    text = "every record decodes, and the content hash matches the manifest"
    with listed.begin_claim(text, index=True) as check:
        for begin, found in iter_records(listed):
            # text of a fixed width comes as single bytes
            values = (
                found[of.name]
                if found[of.name].ndim == 1
                else found[of.name].copy().view(f"S{found[of.name].shape[1]}").ravel()
                for of in fields
            )
            arrays = [*map(to_arrow, fields, values)]
            content.update(pa.record_batch(arrays, [of.name for of in fields]))
            check.report_progress(begin + len(found))
        check.require_equal("content hash", content.hexdigest(), listed.entry.content)
    listed.note_missing_proofs(())


def _prove_rows(listed: ListedTable) -> None:
    table, rows = listed.definition, read_rows(listed)
    if table.sorted_by:
        with listed.begin_claim(f"the rows ascend by {', '.join(table.sorted_by)}") as check:
            ways = [(name, "ascending") for name in table.sorted_by]
            order = pc.sort_indices(rows.batch, sort_keys=ways)
            for name in table.sorted_by:
                rows.require_column(check, name, rows.column(name).take(order))
    if table.index:
        plain = {c.name for c in table.columns if c.kind in KIND_LETTERS and not c.nullable}
        dense = listed.index.records == len(rows)
        names = [name for name, _ in table.index]
        fields = [name for name in names if dense and name in plain]
        if fields:
            text = f"{', '.join(fields)}: each record matches its row"
            check_records(listed, text, {name: rows.read_numbers(name) for name in fields})
        silent = (name for name in names if name not in fields)
        listed.note_missing_proof(silent, "no column holds the same numbers", index=True)
