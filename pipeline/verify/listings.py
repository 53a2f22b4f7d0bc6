"""A table that no proof here knows: its order, and its index against its rows."""

from __future__ import annotations

import pyarrow.compute as pc

from pipeline.verify.listed import Listed, check_records, read_rows
from tablebase.puzzle import KINDS


def prove_listing(listed: Listed) -> None:
    """Prove what a table's own words say of any rows, and say what is not proved."""
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
