"""A table that no proof here knows: its order, and its index against its rows or its entry."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.verify.manifest_checks import Listed, check_records, read_rows, records
from pipeline.verify.verdicts import Grade, Outcome, Seen
from tablebase.puzzle import KINDS
from tablebase.tables.content_hash import ContentHash
from tablebase.tables.parquet import to_arrow

HOW = (
    "the files match the manifest and the table's own definition; no proof knows the rules of its "
    "rows and records"
)


def prove_listing(listed: Listed, seen: Seen) -> Outcome:
    """Prove what a table's own words say of any rows, and say what is not proved."""
    if listed.known.columns:
        _prove_rows(listed)
    else:
        _prove_content(listed)
    return listed.outcome(Grade.INTACT, HOW)


def _prove_content(listed: Listed) -> None:
    """Prove that the records of an index alone are those that the manifest lists."""
    fields = listed.known.fields()
    content = ContentHash(fields)
    text = "every record decodes, and the content hash matches the manifest"
    with listed.claim(text, index=True) as fact:
        for begin, found in records(listed):
            # text of a fixed width comes as single bytes
            values = (
                found[of.name]
                if found[of.name].ndim == 1
                else found[of.name].copy().view(f"S{found[of.name].shape[1]}").ravel()
                for of in fields
            )
            arrays = [*map(to_arrow, fields, values)]
            content.update(pa.record_batch(arrays, [of.name for of in fields]))
            fact.step(begin + len(found))
        fact.same("content hash", content.hexdigest(), listed.entry.content)
    listed.name_unproved(())


def _prove_rows(listed: Listed) -> None:
    table, rows = listed.known, read_rows(listed)
    if table.sorted_by:
        with listed.claim(f"the rows ascend by {', '.join(table.sorted_by)}") as fact:
            ways = [(name, "ascending") for name in table.sorted_by]
            order = pc.sort_indices(rows.batch, sort_keys=ways)
            for name in table.sorted_by:
                rows.equal(fact, name, rows.column(name).take(order))
    if table.index:
        plain = {c.name for c in table.columns if c.kind in KINDS and not c.nullable}
        dense = listed.index.records == len(rows)
        names = [name for name, _ in table.index]
        fields = [name for name in names if dense and name in plain]
        if fields:
            text = f"{', '.join(fields)}: each record matches its row"
            check_records(listed, text, {name: rows.numbers(name) for name in fields})
        silent = (name for name in names if name not in fields)
        listed.unproved(silent, "no column holds the same numbers", index=True)
