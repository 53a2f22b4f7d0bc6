"""A table that no proof here knows: its order, and its index against its rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.verify.claims import Said
from pipeline.verify.listed import Listed, check_records, read_rows
from tablebase.puzzle import KINDS


def prove_listing(listed: Listed) -> None:
    """Prove what a table's own words say of any rows, and say what is not proved."""
    table, rows = listed.known, read_rows(listed)
    if table.sorted_by:
        with listed.claims().claim(f"the rows ascend by {', '.join(table.sorted_by)}") as fact:
            keys = pa.table({name: rows.column(name) for name in table.sorted_by})
            ways = [(name, "ascending") for name in table.sorted_by]
            order = pc.sort_indices(keys, sort_keys=ways).to_numpy()

            def said(row: int) -> Said:
                have, want = (keys.slice(int(at), 1).to_pylist()[0] for at in (row, order[row]))
                return have, want

            rows.none(fact, order != np.arange(len(rows)), said)
    plain = {
        column.name for column in table.columns if column.kind in KINDS and not column.nullable
    }
    if table.index:
        dense = listed.entry["index"]["records"] == len(rows)
        names = [name for name, _ in table.index]
        fields = [name for name in names if dense and name in plain]
        if fields:
            text = f"{', '.join(fields)}: each record matches its row"
            check_records(listed, text, {name: rows.numbers(name) for name in fields})
        silent = [name for name in names if name not in fields]
        if silent:
            text = f"{', '.join(silent)}: not proved, because no column holds the same numbers"
            listed.claims(listed.index_file).claim(text).proved()
